# SPDX-License-Identifier: Apache-2.0
"""Sweep up behind jobs: fragments and manifests of those that ended a while ago.

Nothing under `_work/` is ever linked, so nothing of an output can be lost. They are kept for a
while after the end, for whoever looks at the shards of a job that failed, and for attempts that go
on behind a driver's back. Logs stay: datum indexes name them. What no job is known for stays, too;
its rows may be on their way from a backup.
"""

from lochan.model.instant import NANOSECONDS, from_seconds
from lochan.model.records import Repository
from lochan.objects.walk import walk
from lochan.operations.lake import Lake
from lochan.pipelines.attempts.manifests import LOG
from lochan.pipelines.model.records import Job
from lochan.pipelines.model.tables import PipelineTables
from lochan.pipelines.model.work import WORK


def sweep_work(lake: Lake, repository: Repository, older_s: float) -> int:
    """Delete what jobs left in a repository that ended so long ago; count the objects."""
    objects = lake.storage(repository.storage_namespace).objects
    table = PipelineTables.of(lake.store).jobs
    before = from_seconds(lake.environment.now()) - int(older_s * NANOSECONDS)
    over: dict[str, bool] = {}
    doomed: list[str] = []
    for listed in walk(objects, f"{WORK}/"):
        job, _, rest = listed.address.removeprefix(f"{WORK}/").partition("/")
        if job not in over:
            found = table.find(job.encode())
            over[job] = found is not None and _is_over(found.record, before)
        if over[job] and not rest.endswith(f"/{LOG}"):
            doomed.append(listed.address)
    for address in doomed:
        objects.delete(address)
    return len(doomed)


def _is_over(job: Job, before: int) -> bool:
    return job.state.is_end and job.finished <= before
