# SPDX-License-Identifier: Apache-2.0
"""A branch: objects are staged on it, commits move it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Literal, Self

from lochan.client.branch_objects import BranchObjects
from lochan.client.commit import Commit, known_commit
from lochan.client.imports import Import
from lochan.client.job import Job, job_branch_name, run_job
from lochan.client.pages import items
from lochan.client.reference import Reference
from lochan.client.transaction import transact
from lochan.errors import AlreadyExists
from lochan.shapes import commits
from lochan.shapes.branches import (
    BranchCreation,
    CherryPickCreation,
    CommitOverrides,
    DeleteBranchQuery,
    DiffBranchQuery,
    HardResetQuery,
    ResetCreation,
    RevertCreation,
)
from lochan.shapes.refs import Diff, DiffList, Ref


class Branch(BranchObjects):
    """A branch by its name; whether it exists shows when it is used."""

    def create(
        self, source: Reference | Commit | str, *, exist_ok: bool = False, hidden: bool = False
    ) -> Self:
        """Make the branch at a reference of the repository. Raises AlreadyExists."""
        body = BranchCreation(name=self.id, source=str(source), hidden=hidden)
        try:
            self._transport.send(
                "POST", ("repositories", self.repository_id, "branches"), body=body
            )
        except AlreadyExists:
            if not exist_ok:
                raise
        return self

    def delete(self, *, force: bool = False) -> None:
        """Delete the branch, and what is staged on it; its commits stay."""
        self._transport.send("DELETE", self._branch_at(), query=DeleteBranchQuery(force=force))

    @property
    def head(self) -> Commit:
        """Give the commit that the branch is at, now."""
        found = self._transport.call("GET", self._branch_at(), Ref)
        return Reference(self._transport, self.repository_id, found.commit_id).get_commit()

    def commit(
        self,
        message: str,
        metadata: dict[str, str] | None = None,
        *,
        date: datetime | None = None,
        allow_empty: bool = False,
        force: bool = False,
    ) -> Commit:
        """Commit what is staged. Raises InvalidInput where nothing is, and none is allowed."""
        body = commits.CommitCreation(
            message=message,
            metadata=metadata or {},
            date=None if date is None else int(date.timestamp()),
            allow_empty=allow_empty,
            force=force,
        )
        path = self._branch_at("commits")
        made = self._transport.call("POST", path, commits.Commit, body=body)
        return known_commit(self._transport, self.repository_id, made)

    def uncommitted(
        self,
        prefix: str = "",
        *,
        delimiter: str = "",
        after: str = "",
        max_amount: int | None = None,
    ) -> Iterator[Diff]:
        """Give what is staged and not committed, in order of the paths."""

        def fetch(behind: str, amount: int) -> DiffList:
            query = DiffBranchQuery(prefix=prefix, delimiter=delimiter, after=behind, amount=amount)
            return self._transport.call("GET", self._branch_at("diff"), DiffList, query=query)

        return items(fetch, after=after, max_amount=max_amount)

    def revert(
        self,
        reference: Reference | Commit | str,
        *,
        parent_number: int = 0,
        message: str = "",
        metadata: dict[str, str] | None = None,
        allow_empty: bool = False,
    ) -> Commit:
        """Undo a commit by a new one; of a merge, say against which parent (from 1).

        The server does not tell the new commit: what is given is the head right afterwards.
        """
        body = RevertCreation(
            ref=str(reference),
            parent_number=parent_number,
            commit_overrides=_overrides(message, metadata),
            allow_empty=allow_empty,
        )
        self._transport.send("POST", self._branch_at("revert"), body=body)
        return self.head

    def cherry_pick(
        self,
        reference: Reference | Commit | str,
        *,
        parent_number: int | None = None,
        message: str = "",
        metadata: dict[str, str] | None = None,
    ) -> Commit:
        """Make the changes of a commit here, too; of a merge, say against which parent."""
        body = CherryPickCreation(
            ref=str(reference),
            parent_number=parent_number,
            commit_overrides=_overrides(message, metadata),
        )
        path = self._branch_at("cherry-pick")
        made = self._transport.call("POST", path, commits.Commit, body=body)
        return known_commit(self._transport, self.repository_id, made)

    def reset_changes(
        self,
        path: str = "",
        *,
        path_type: Literal["object", "common_prefix", "reset"] = "reset",
        force: bool = False,
    ) -> None:
        """Drop what is staged: all, of one object, or below a prefix."""
        body = ResetCreation(type=path_type, path=path, force=force)
        self._transport.send("PUT", self._branch_at(), body=body)

    def reset_to(self, reference: Reference | Commit | str, *, force: bool = False) -> None:
        """Set the branch to another commit; what is staged must be committed or dropped before."""
        query = HardResetQuery(ref=str(reference), force=force)
        self._transport.send("PUT", self._branch_at("hard_reset"), query=query)

    def import_data(
        self, message: str = "", metadata: dict[str, str] | None = None, *, force: bool = False
    ) -> Import:
        """Begin to say what is imported: `branch.import_data("m").prefix(...).run()`."""
        return Import(self._transport, self.repository_id, self.id, message, metadata, force=force)

    def transact(
        self, message: str, metadata: dict[str, str] | None = None, *, squash: bool = True
    ) -> AbstractContextManager["Branch"]:
        """Do all that a block does at once, or nothing of it.

        with branch.transact("load day 4") as tx:
            tx.object("day=4/rows.parquet").upload(path)

        `squash` makes one commit of it; without, the block's commits stay behind a merge.
        """
        name = f"tx-{self._transport.environment.new_id()}"
        hidden = Branch(self._transport, self.repository_id, name)
        return transact(self.id, hidden, message, metadata, squash=squash)

    def job(
        self,
        name: str,
        metadata: dict[str, str] | None = None,
        *,
        id: str = "",  # noqa: A002 - the word for it
    ) -> AbstractContextManager[Job["Branch"]]:
        """Do any number of reads and writes, then make one commit of them, or nothing.

        with branch.job("nightly") as job:
            lochan.spark.write(frame, job.uri("events"))

        A run with an `id` that the branch's history has brings nothing a second time. Raises
        Refused for a branch with uncommitted changes.
        """
        drawn = self._transport.environment.new_id()
        private = Branch(self._transport, self.repository_id, job_branch_name(drawn))
        job = Job(name, id or drawn, private, metadata or {})
        return run_job(self, job, is_named=bool(id))


def _overrides(message: str, metadata: dict[str, str] | None) -> CommitOverrides | None:
    if not message and not metadata:
        return None
    return CommitOverrides(message=message, metadata=metadata or {})
