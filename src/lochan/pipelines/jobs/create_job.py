# SPDX-License-Identifier: Apache-2.0
"""CreateJob as seed 002 says it: N branches, one for each shard, squashed into one commit.

    1. the datums of all inputs are planned, and packed into N shards
    2. each shard is run by the engine; tasks return manifests, and touch no key-value store
    3. for each shard: start_commit on a branch of its own off the output's head, its files, in the
       order of its datums, finish_commit
    4. merge_commits with squash brings all branches to the output as one commit
    5. the branches go

Nothing of the output's branch is touched before step 4, so a shard that fails leaves it as it was.
A shard sees the base and its own files alone. Files that several shards write come one after the
other, in the order of the shards. The commit goes right behind the job's base or nowhere, carries
the job's id, and is looked for first: who creates the same job again gets the same commit.

This is the seed's contract in its own words, and the measure of `run_job`, which keeps it without
branches: both give the same tree. It knows nothing of earlier jobs; files that are there are
replaced if a shard writes them, and stay if none does.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from lochan.errors import NotFound
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry
from lochan.model.ids import BranchName, CommitId
from lochan.model.records import Commit, Repository
from lochan.operations.branches import delete_branch
from lochan.operations.lake import Lake
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.link_file import link_file
from lochan.operations.open_commits.merge_commits import merge_commits
from lochan.operations.open_commits.put_file import Mode, put_file
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.read_entry import read_entry
from lochan.pipelines.attempts.fragment import read_fragment
from lochan.pipelines.datums.plan import plan
from lochan.pipelines.datums.shards import pack
from lochan.pipelines.jobs.publish import find_commit_of, provenance_of
from lochan.pipelines.jobs.run_datums import job_task
from lochan.pipelines.model.commit_metadata import JOB, PIPELINE, VERSION
from lochan.pipelines.model.records import Job, PipelineVersion
from lochan.pipelines.model.work import Engine, Manifest, Progress


@dataclass(frozen=True, slots=True)
class Creation:
    """What is asked for: a job that is pinned, the version of its pipeline, and how many shards."""

    job: Job
    version: PipelineVersion
    output: Repository
    parallelism: int


def create_job(lake: Lake, wanted: Creation, engine: Engine) -> Commit:
    """Run a job by N real branches; gives its commit, the earlier one if there is one.

    Raises: JobFailed for a datum, after which the output is as it was; Conflict, code
    file-and-directory, or slot-taken when the output has moved; Refused.
    """
    job, insisting = wanted.job, lake.forcing()  # the branch may belong to the job's pipeline
    branch = BranchName(job.output_branch)
    found = find_commit_of(lake, wanted.output, branch, job.id, CommitId(job.base))
    if found is not None:
        return found
    manifests = sorted(_run(lake, wanted, engine), key=lambda manifest: manifest.shard)
    branches: list[BranchName] = []
    try:
        commits = [_shard_commit(lake, wanted, manifest, branches).id for manifest in manifests]
        return _squash(insisting, wanted, commits)
    finally:
        for name in branches:
            with suppress(NotFound):
                delete_branch(insisting, wanted.output, name)


def _run(lake: Lake, wanted: Creation, engine: Engine) -> Iterator[Manifest]:
    spec = wanted.version.spec
    planned = plan(lake, spec, wanted.version.digest, wanted.job.pins)
    shards = pack(planned.run, spec.datum, engine.cores, wanted.parallelism)
    yield from engine.run(job_task(lake, wanted.job, wanted.version), shards, _tell_nobody)


def _shard_commit(
    lake: Lake, wanted: Creation, manifest: Manifest, branches: list[BranchName]
) -> Commit:
    """Commit what a shard wrote to a branch of its own, off the output's base."""
    name = BranchName(f"job-{lake.environment.new_id()}")
    opened = start_commit(
        lake, wanted.output, wanted.job.base, name, provenance=provenance_of(wanted.job)
    )
    branches.append(name)
    for key, entries in _files(lake, wanted, manifest).items():
        if len(entries) == 1:
            link_file(lake, wanted.output, opened.id, key, entries[0])
            continue
        for number, entry in enumerate(entries):
            mode = Mode.APPEND if number else Mode.OVERWRITE
            with read_entry(lake, wanted.output, entry) as body:
                put_file(lake, wanted.output, opened.id, key, body, mode=mode)
    said = f"shard {manifest.shard} of job {wanted.job.id}"
    return finish_commit(lake, wanted.output, opened.id, message=said)


def _files(lake: Lake, wanted: Creation, manifest: Manifest) -> dict[bytes, list[Entry]]:
    """Give what a shard's datums wrote under each path, in the order of the datums."""
    objects = lake.storage(wanted.output.storage_namespace).objects
    found: dict[bytes, list[Entry]] = {}
    for row in read_fragment(objects, manifest.fragment):
        for output in row.outputs:
            found.setdefault(output.key, []).append(decode_entry(output.entry))
    return found


def _squash(lake: Lake, wanted: Creation, commits: Sequence[CommitId]) -> Commit:
    job = wanted.job
    [made] = merge_commits(
        lake,
        wanted.output,
        commits,
        parent=job.base,
        branch=job.output_branch,
        squash=True,
        committer=job.pipeline,
        message=f"job {job.id}",
        metadata={JOB: job.id, PIPELINE: job.pipeline, VERSION: job.version},
    )
    return made


def _tell_nobody(_: Progress) -> None:
    """Hear how far the engine is."""
