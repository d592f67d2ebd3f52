# SPDX-License-Identifier: Apache-2.0
"""Look at a shard as at a branch, while its job runs or after it failed.

A finished attempt's files, over the commit that the job builds on, become a commit of a hidden
branch of the output's repository. Nothing is copied, and the job does not know of it. The branch is
named like the private branch of a job, so the collector takes it away with those that were left
behind (`operations.gc`): it keeps what it shows alive until then.
"""

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from lochan.errors import InvalidInput, NotFound, NotUnique
from lochan.model.ids import BranchName, CommitId, MetaRangeId
from lochan.model.records import Commit, Repository
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit_tree
from lochan.operations.gc.still_there import still_there
from lochan.operations.lake import Lake
from lochan.pipelines.attempts.fragment import read_fragment
from lochan.pipelines.datums.datum_objects import addresses_in
from lochan.pipelines.jobs import shard_view
from lochan.pipelines.jobs.pin import repository_of
from lochan.pipelines.model.datum import DatumRow, hashed
from lochan.pipelines.model.records import Job
from lochan.pipelines.model.work import Manifest
from lochan.refs.commits import get_commit

SHARD = "lochan.shard"
_DIGITS = 32


class ShownShard(msgspec.Struct, frozen=True, kw_only=True):
    """A finished attempt of a shard, and the branch that shows it, if somebody asked for one."""

    number: int
    attempt: str
    datums: int
    failed: int
    files: int
    bytes: int
    milliseconds: int
    branch: str = ""


def list_shards(lake: Lake, job: Job) -> tuple[ShownShard, ...]:
    """Give the finished shards of a job; while it runs, those so far."""
    return tuple(_shown(one) for one in shard_view.list_shards(lake, job))


def show_shard(lake: Lake, job: Job, number: int) -> tuple[ShownShard, Commit]:
    """Make a shard's files a hidden branch; the same attempt gives the same branch.

    Raises: NotFound where no attempt of the shard has come to its end, or what it wrote is gone.
    """
    output, manifest = repository_of(lake, job.output_repository), _finished(lake, job, number)
    objects = lake.storage(output.storage_namespace).objects
    _require_there(lake, output, read_fragment(objects, manifest.fragment))
    name = _branch(job, manifest)
    with suppress(NotUnique):
        create_branch(lake, output, name, CommitId(job.base), hidden=True)
    commit = _committed(lake, output, name, shard_view.shard_tree(lake, job, number), job, number)
    return _shown(manifest, branch=name), commit


def branch_of(lake: Lake, job: Job, number: int) -> BranchName:
    """Name the branch that shows a shard, be it there or not. Raises NotFound as `show_shard`."""
    return _branch(job, _finished(lake, job, number))


def _finished(lake: Lake, job: Job, number: int) -> Manifest:
    found = (one for one in shard_view.list_shards(lake, job) if one.shard == number)
    manifest = next(found, None)
    if manifest is None or not job.base:
        message = (
            f"shard {number} of job {job.id} has not finished; `lochan job shards` lists those"
        )
        raise NotFound(message, code="shard-not-found")
    return manifest


def _require_there(lake: Lake, output: Repository, rows: Iterable[DatumRow]) -> None:
    """Refuse to show what was collected since the job ended, or is about to be."""
    needed = {address for row in rows for address in addresses_in(row) or ()}
    if needed - still_there(lake, output, needed):
        message = "what the shard wrote was collected since; run the job's pipeline again"
        raise NotFound(message, code="shard-not-found")


def _committed(
    lake: Lake, output: Repository, name: BranchName, tree: MetaRangeId, job: Job, number: int
) -> Commit:
    said = CommitRequest(
        job.pipeline, f"shard {number} of job {job.id}", {SHARD: f"{job.id}/{number}"}
    )
    try:
        return commit_tree(lake, output, name, tree, said)
    except InvalidInput as error:
        if error.code != "no-changes":
            raise
    head = lake.branches.fresh(output, name).record.commit_id
    return get_commit(lake.tables(output), head)


def _branch(job: Job, manifest: Manifest) -> BranchName:
    drawn = hashed([job.id.encode(), str(manifest.shard).encode(), manifest.attempt.encode()])
    return BranchName(f"job-{drawn.hex()[:_DIGITS]}")


def _shown(manifest: Manifest, *, branch: str = "") -> ShownShard:
    return ShownShard(
        number=manifest.shard,
        attempt=manifest.attempt,
        datums=manifest.processed + manifest.failed,
        failed=manifest.failed,
        files=manifest.files,
        bytes=manifest.bytes,
        milliseconds=manifest.milliseconds,
        branch=branch,
    )
