# SPDX-License-Identifier: Apache-2.0
"""When each branch of a simulated lake stood at which commit, seen where the store is written.

A reset makes keys show what the head holds at the moment of its swap, and who asked for it cannot
know which head that was. So it counts as a write, over the whole time it took, of what each head of
that time held; one that was never answered, of what each head held until the end.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Pair, Present, Versioned
from lochan.model.codec import decode_branch
from lochan.model.ids import BranchName, CommitId
from lochan.model.keys import BRANCHES
from lochan.model.records import Branch
from lochan.testing.simulation.history import Operation, Result


class _Stood(NamedTuple):
    """A branch came to a commit, or to its end, after so many stamps of the history."""

    stamp: int
    branch: str
    commit: CommitId | None


class Heads:
    """A store on its way to another, that remembers where branches stood."""

    def __init__(
        self, store: MemoryStore, branches: Iterable[Branch], stamps: Callable[[], int]
    ) -> None:
        self._store = store
        self._stamps = stamps
        self._stood = [_Stood(-1, one.branch_id, one.commit_id) for one in branches]

    def during(self, branch: BranchName, operation: Operation) -> Iterator[CommitId]:
        """Give the heads that a branch had while an operation went on."""
        last: CommitId | None = None
        for stamp, name, commit in self._stood:
            if name != branch:
                continue
            if stamp < operation.invocation:
                last = commit
            elif operation.result is Result.PENDING or stamp < operation.response:
                yield from [commit] if commit else []
        yield from [last] if last else []

    def get(self, partition: bytes, key: bytes) -> Versioned:
        return self._store.get(partition, key)

    def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        self._store.set(partition, key, value)
        self._note(key, value)

    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        self._store.set_if(partition, key, value, predicate)
        self._note(key, value)

    def delete(self, partition: bytes, key: bytes) -> None:
        self._store.delete(partition, key)
        self._note(key, None)

    def delete_if(self, partition: bytes, key: bytes, predicate: Present) -> None:
        self._store.delete_if(partition, key, predicate)
        self._note(key, None)

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        return self._store.scan(partition, start)

    def close(self) -> None:
        self._store.close()

    def _note(self, key: bytes, value: bytes | None) -> None:
        if key.startswith(BRANCHES):
            name = key.removeprefix(BRANCHES).decode()
            commit = decode_branch(value).commit_id if value is not None else None
            self._stood.append(_Stood(self._stamps(), name, commit))
