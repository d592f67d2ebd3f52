# SPDX-License-Identifier: Apache-2.0
"""A client in a simulated lake: the product's stories, each written into the scene's history.

"Nothing to commit" is a commit whose tree is the head's: it says that this holds everything.

A client is told of errors and lives on. Where nothing fails, no store may be said to have failed.
"""

from collections.abc import Callable, Mapping

from lochan.errors import (
    AlreadyExists,
    Conflict,
    Gone,
    InvalidInput,
    NotFound,
    PredicateFailed,
    Refused,
    Unavailable,
)
from lochan.kernel.records import Record
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Commit
from lochan.operations import delete_objects as deleting
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.conditions import Condition
from lochan.operations.lake import Lake
from lochan.operations.list_objects import list_objects
from lochan.operations.put_object import stage_entry
from lochan.operations.read_object import stat_committed, stat_object
from lochan.refs.cleaner import Cleaner
from lochan.testing.simulation.history import Listing
from support.lakes import MAIN
from support.simulated_ground import SNAPSHOTS, entry_of, tag_of
from support.simulated_lake import Broken, Scene

KEYS = ("a", "b", "c")  # all that scenes ever write
ANSWERS = (NotFound, Gone, AlreadyExists, Conflict, InvalidInput, Refused)
Work = Callable[[], object]


def absent(record: Record | None) -> bool:
    """If-None-Match: *."""
    return record is None


class Client:
    """One caller of a lake."""

    def __init__(self, scene: Scene, name: str, lake: Lake | None = None) -> None:
        self.scene = scene
        self.name = name
        self.lake = lake or scene.lake()
        self.errors = scene.errors.setdefault(name, [])
        self._requests = 0
        self._where = (self.lake, scene.repository)

    def does(self, *works: Work, node: str | None = None) -> "Client":
        """Make a process that does one thing after another."""

        def work() -> None:
            for each in works:
                each()

        self.scene.world.spawn(work, self.name, node=node)
        return self

    def put(
        self, key: str, tag: str, branch: str = MAIN, condition: Condition | None = None
    ) -> Work:
        where = (*self._where, BranchName(branch), ObjectKey(key.encode()))
        name = f"{branch}:{key}"

        def work() -> None:
            if condition is None:
                stage_entry(*where, entry_of(tag))
                return
            self._stage_if(key, tag, branch, condition)
            self.scene.won.append(name)

        return self._writes({name: tag}, work)

    def _stage_if(self, key: str, tag: str, branch: str, condition: Condition) -> None:
        """Put on a condition; the scene is told of one that must be in no commit, or may be."""
        where = (*self._where, BranchName(branch), ObjectKey(key.encode()))
        try:
            stage_entry(*where, entry_of(tag), condition=condition)
        except PredicateFailed as error:  # it may have been seen for a while (G5)
            self.scene.refused.append((f"{branch}:{key}", tag))
            raise Conflict("refused") from error
        except Conflict:
            self.scene.overtaken.append((f"{branch}:{key}", tag))
            raise

    def delete(self, key: str, branch: str = MAIN) -> Work:
        where = (*self._where, BranchName(branch), [ObjectKey(key.encode())])
        return self._writes({f"{branch}:{key}": None}, lambda: deleting.delete_objects(*where))

    def get(self, key: str, branch: str = MAIN, times: int = 1) -> Work:
        def work() -> None:
            for _ in range(times):
                self._told(lambda: self._read(key, branch))

        return work

    def _read(self, key: str, branch: str) -> str | None:
        def look() -> str | None:
            where = (*self._where, BranchName(branch), ObjectKey(key.encode()))
            try:
                return stat_object(*where).address
            except NotFound as error:
                if error.code != "object-not-found":
                    raise
                return None

        return self.scene.history.read(f"{branch}:{key}", look)

    def listing(self, amount: int = 1000, branch: str = MAIN) -> Work:
        """List a branch, page by page."""

        def page(after: str) -> Listing:
            where = (*self._where, BranchName(branch))
            found = list_objects(*where, after=after.encode(), amount=amount)
            rows = [
                (f"{branch}:{row.key.decode()}", tag_of(row))
                for row in found.items
                if isinstance(row, Record)
            ]
            last = rows[-1][0] if found.has_more else None
            return Listing(f"{branch}:{after}" if after else "", last, tuple(rows))

        def next_page(after: str) -> str | None:
            pages: list[Listing] = []

            def one() -> Listing:
                pages.append(page(after))
                return pages[0]

            self.scene.history.list(f"{branch}:", one)
            last = pages[0].last
            return last.removeprefix(f"{branch}:") if last else None

        def work() -> None:
            after: str | None = ""
            while after is not None:
                after = next_page(after)

        return lambda: self._told(work)

    def commit(self, branch: str = MAIN, *, message: str | None = None) -> Work:
        def work() -> None:
            said = self._request() if message is None else message
            request = CommitRequest(self.name, said)
            made: list[Commit] = []
            self.scene.history.commit(lambda: self._commit(branch, request, made), f"{branch}:")
            self.scene.acknowledged.append((BranchName(branch), made[0].id))

        return lambda: self._told(work)

    def _commit(
        self, branch: str, request: CommitRequest, made: list[Commit]
    ) -> tuple[str, Mapping[str, str]]:
        name = BranchName(branch)
        try:
            made.append(commit(*self._where, name, request))
        except InvalidInput as error:
            if error.code != "no-changes":
                raise
            head = self.lake.branches.fresh(self.scene.repository, name).record.commit_id
            made.append(self.lake.tables(self.scene.repository).commits.get(head.encode()).record)
        return made[0].id, self.scene.tree(branch, made[0])

    def look_back(self, commit: str, key: str) -> Work:
        """Read a commit of the ground: it is the same for ever (G14)."""
        found = self.scene.ground.commits[commit]
        expected = SNAPSHOTS.tree(found.meta_range_id)[key]

        def work() -> None:
            entry = stat_committed(*self._where, found.id, ObjectKey(key.encode()))
            if entry.address != expected:
                raise Broken(f"G14: {commit} held {expected} at {key}, and now {entry.address}")

        return lambda: self._told(work)

    def sweep(self, times: int = 1, *, grace_s: float = 600) -> Work:
        """Clean; the clock stands, so that notes stay until the end and late writes are found."""

        def work() -> None:
            for _ in range(times):
                cleaned = Cleaner(self.scene.store, self.lake.environment, grace_s=grace_s).run()
                if cleaned.skipped and not self.scene.faulty:
                    raise Broken(f"the cleaner skipped {cleaned.skipped}")

        return work

    def _request(self) -> str:
        self._requests += 1
        return f"{self.name} {self._requests}"

    def _writes(self, changes: Mapping[str, str | None], work: Work) -> Work:
        return lambda: self._told(lambda: self.scene.history.writes(changes, work))

    def _told(self, work: Work) -> None:
        expected = (*ANSWERS, Unavailable) if self.scene.faulty else ANSWERS
        try:
            work()
        except expected as error:
            self.errors.append(error)
