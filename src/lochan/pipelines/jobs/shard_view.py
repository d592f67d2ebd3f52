# SPDX-License-Identifier: Apache-2.0
"""Look at a shard as if it were a branch: the job's base, with what the shard has written upon it.

Each shard's latest whole attempt is shown, while the job runs, and after it failed. A view is a
tree like others, made when somebody asks; nothing names it, and nothing is published by it. No
other shard's files are in it.
"""

from lochan.errors import NotFound
from lochan.model.ids import CommitId, LineageId, MetaRangeId
from lochan.model.instant import from_seconds
from lochan.model.records import Clock
from lochan.operations.lake import Lake
from lochan.pipelines.attempts.fragment import read_fragment
from lochan.pipelines.attempts.manifests import find_manifests
from lochan.pipelines.jobs.pin import find_base, repository_of
from lochan.pipelines.jobs.squash import Outcome, Squash
from lochan.pipelines.model.records import Job
from lochan.pipelines.model.work import Manifest
from lochan.refs.commits import get_commit


def list_shards(lake: Lake, job: Job) -> tuple[Manifest, ...]:
    """Give what is finished of a job, by the number of the shard; of a later driver rather."""
    output = repository_of(lake, job.output_repository)
    objects = lake.storage(output.storage_namespace).objects
    found: dict[int, Manifest] = {}
    for manifest in find_manifests(objects, job.id):
        before = found.get(manifest.shard)
        if before is None or _epoch(manifest) >= _epoch(before):
            found[manifest.shard] = manifest
    return tuple(found[number] for number in sorted(found))


def shard_tree(lake: Lake, job: Job, shard: int) -> MetaRangeId:
    """Make the tree that a shard sees. Raises NotFound for one that has finished nothing."""
    manifest = next((one for one in list_shards(lake, job) if one.shard == shard), None)
    if manifest is None or not job.base:
        message = f"job {job.id} has finished no shard {shard}"
        raise NotFound(message, code="shard-not-found", job=job.id, shard=shard)
    output = repository_of(lake, job.output_repository)
    base = find_base(lake, job, get_commit(lake.tables(output), CommitId(job.base)))
    objects = lake.storage(output.storage_namespace).objects
    rows = tuple(read_fragment(objects, manifest.fragment))
    # A view decides nothing: where datums collide it shows the last, whatever the job would do.
    squash = Squash(lake, output, base.below, Outcome(rows=rows), "last")
    now = from_seconds(lake.environment.now())
    return squash.onto(Clock(LineageId(job.id), 0), now).tree


def _epoch(manifest: Manifest) -> int:
    """Read the epoch of an attempt from where its fragment lies: _work/jobs/<job>/<epoch>/..."""
    return int(manifest.fragment.split("/")[3])
