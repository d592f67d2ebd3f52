# SPDX-License-Identifier: Apache-2.0
"""A job: any number of reads and writes, then one commit or nothing.

    with branch.job("nightly") as job:
        ...                        read and write job.uri("path"), or job.branch

    1  make a hidden branch, job-<32 digits>, at the head of the destination
    2  the block reads and writes there: it sees what it wrote, and nobody else does
    3  commit, unless nothing changed
    4  merge into the destination as one commit, the moment at which all appears
    5  delete the hidden branch, whatever happened

The commit says whose it is, in its metadata:

    lochan.job      the job's name
    lochan.job-id   which run of it; drawn, or said by the caller

A run whose id the destination's history has already brings nothing a second time: its block runs,
and what it wrote is dropped. So a scheduler may start a run again that it lost sight of. That is
looked up at the beginning and again before the merge, among the newest thousand commits. Two runs
of one id that end at the same moment are not kept apart.

A merge whose answer was lost is looked up in the same way. A process that is killed leaves the
hidden branch behind, which nobody sees; when nothing has happened on it for a week, servers and
`lochan gc run` delete it.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar

from lochan.errors import LochanError, Refused, UnknownOutcome

JOB: Final = "lochan.job"
JOB_ID: Final = "lochan.job-id"
LOOKED_AT: Final = 1000
_BRANCH: Final = re.compile(r"job-[0-9a-f]{32}\Z")


class JobBranch(Protocol):
    """What a job needs of a branch."""

    id: str

    @property
    def uri(self) -> str:
        """Give its address."""

    def create(self, source: str, /, *, hidden: bool) -> object:
        """Make the branch."""

    def uncommitted(self, *, max_amount: int | None) -> Iterator[object]:
        """Give what is staged."""

    def commit(self, message: str, metadata: dict[str, str] | None, /) -> object:
        """Commit what is staged."""

    def get_commit(self) -> Any:  # noqa: ANN401 - a commit; only its id is looked at
        """Give the commit that the branch is at."""

    def log(self, *, max_amount: int | None, first_parent: bool) -> Iterator[Any]:
        """Give commits, newest first."""

    def merge_into(
        self, destination: str, /, *, message: str, metadata: dict[str, str] | None, squash: bool
    ) -> str:
        """Merge into another branch."""

    def delete(self) -> None:
        """Delete the branch."""


Branch = TypeVar("Branch", bound=JobBranch)


@dataclass(slots=True)
class Job(Generic[Branch]):
    """One run of a job, while its block is open and after."""

    name: str
    id: str
    branch: Branch  # private; what is staged there is the job's
    metadata: dict[str, str] = field(default_factory=dict)
    commit_id: str = ""  # of the destination, when the job is done, or was before it began

    def uri(self, path: str = "") -> str:
        """Give an address that the job reads and writes: lochan://repository/job-.../path."""
        return f"{self.branch.uri}/{path}"


def is_job_branch(name: str) -> bool:
    """Say whether a branch is the private one of a job."""
    return _BRANCH.match(name) is not None


def job_branch_name(drawn: str) -> str:
    """Name the private branch of a job by a drawn id."""
    return f"job-{drawn}"


@contextmanager
def run_job(destination: Branch, job: Job[Branch], *, is_named: bool) -> Iterator[Job[Branch]]:
    """Give a job whose branch is merged when the block ends well, and dropped when it does not.

    `is_named` says that the caller chose the run's id, so that it may have run before.
    """
    _require_clean(destination)
    hidden = job.branch
    hidden.create(destination.id, hidden=True)
    try:
        began = hidden.get_commit().id
        job.commit_id = find_run(destination, job.id) if is_named else ""
        yield job
        if next(iter(hidden.uncommitted(max_amount=1)), None) is not None:
            hidden.commit(job.name, _said(job))
        if is_named and not job.commit_id:
            job.commit_id = find_run(destination, job.id)
        if not job.commit_id and hidden.get_commit().id != began:
            job.commit_id = _merge(destination, job)
    except BaseException as error:
        _delete_after(hidden, error)
        raise
    hidden.delete()


def find_run(destination: JobBranch, job_id: str) -> str:
    """Give the commit of a run that the history of a branch has; else nothing."""
    for commit in destination.log(max_amount=LOOKED_AT, first_parent=True):
        if commit.metadata.get(JOB_ID) == job_id:
            return str(commit.id)
    return ""


def _merge(destination: JobBranch, job: Job[Branch]) -> str:
    try:
        return job.branch.merge_into(
            destination.id, message=job.name, metadata=_said(job), squash=True
        )
    except UnknownOutcome:
        if found := find_run(destination, job.id):
            return found
        raise


def _said(job: Job[Branch]) -> dict[str, str]:
    return {**job.metadata, JOB: job.name, JOB_ID: job.id}


def _require_clean(destination: JobBranch) -> None:
    """Refuse early what the merge would refuse after all the work."""
    if next(iter(destination.uncommitted(max_amount=1)), None) is not None:
        message = f"branch {destination.id!r} has uncommitted changes; commit or reset them first"
        raise Refused(message, code="dirty-branch")


def _delete_after(hidden: JobBranch, error: BaseException) -> None:
    """Delete the branch of a job that failed; that failure is the one to be told."""
    try:
        hidden.delete()
    except LochanError as second:
        error.add_note(f"the hidden branch {hidden.id} could not be deleted: {second}")
