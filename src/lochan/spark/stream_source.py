# SPDX-License-Identifier: Apache-2.0
"""A branch as a stream: what each commit added, commit after commit.

The line of first parents is followed: a merge is one commit, which brings all that it merged. An
offset is the last commit that was read, with its depth (generation) for people who look at it:

    {"depth": 17, "commit": "<64 digits>"}        depth 0 and no commit: before the first

Offsets are all the state there is, so a query goes on from its checkpoint anywhere. A commit's
files are read as that commit has them, whatever was committed since.

    option               means
    startingCommit       the first commit to be read: earliest (default), latest (what comes after
                         now), or a ref
    onChange             what is done with files that a commit changed or removed:
                           fail      the query stops and says which (default)
                           ignore    only new files are read
                           rewrite   changed files are read again, whole; removed ones are ignored
                           skip      a commit with any such file is passed over
    maxCommitsPerBatch   1: a commit is a micro-batch. More share one, each by itself
    maxFilesPerBatch     no further commit is taken when so many files are reached

A branch that was reset, so that the last commit read is no longer on its line, stops the query.
Trigger.Once asks for everything at once, and so is given all commits in one batch.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from lochan.client.commit import Commit
from lochan.client.repository import Repository
from lochan.errors import Conflict, InvalidInput
from lochan.model.uri import Uri
from lochan.spark.batch_read import FilesPartition, packed, read_files
from lochan.spark.commit_files import ChangedFile, changed_files, folder_of
from lochan.spark.known_lake import KnownLake
from lochan.spark.planned import require_ref
from lochan.spark.reach import OPTION, PinnedFile, Reach, find_reach

_POLICIES: Final = ("fail", "ignore", "rewrite", "skip")
_UNLIMITED: Final = (1 << 31) - 1
_BEGINNING: Final[dict[str, Any]] = {"depth": 0, "commit": ""}
Offset = dict[str, Any]


class CommitStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the commits of a branch in their order."""

    def __init__(
        self, known: KnownLake, uri: Uri, options: Mapping[str, str], schema: StructType
    ) -> None:
        """Follow a branch. Raises InvalidInput for options that mean nothing."""
        require_ref(uri)
        self._known = known
        self._uri = uri
        self._options = dict(options)
        self._schema = schema
        self._policy = options.get("onChange", "fail")
        if self._policy not in _POLICIES:
            message = f"onChange is one of {', '.join(_POLICIES)}, not {self._policy!r}"
            raise InvalidInput(message, code="invalid-option")
        self._most_commits = _count(options, "maxCommitsPerBatch", 1)
        self._most_files = _count(options, "maxFilesPerBatch", _UNLIMITED)
        self._target: Offset | None = None

    def initialOffset(self) -> Offset:  # noqa: N802 - as Spark calls it
        """Say where a new query begins: before the first commit that it is to read."""
        wanted = self._options.get("startingCommit", "earliest")
        if wanted == "earliest":
            return dict(_BEGINNING)
        with self._known.opened() as lake:
            repository = lake.repository(self._uri.repository)
            if wanted == "latest":
                return _offset(repository.commit(self._uri.ref))
            first = repository.commit(wanted)
            if not first.parents:
                return dict(_BEGINNING)
            return _offset(repository.commit(first.parents[0]))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - as Spark calls it
        """Say that batches are limited; by how many commits and files is known here."""
        return ReadMaxFiles(self._most_files)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - as Spark calls it
        """Remember the head: what comes later is not for this run."""
        with self._known.opened() as lake:
            self._target = _offset(lake.repository(self._uri.repository).commit(self._uri.ref))

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802 - as Spark calls it
        """Say up to which commit the next batch goes."""
        with self._known.opened() as lake:
            repository = lake.repository(self._uri.repository)
            head = self._target["commit"] if self._target else self._uri.ref
            ahead = commits_between(repository, start, head)
            if not ahead:
                return start
            if isinstance(limit, ReadAllAvailable):
                return _offset(ahead[-1])
            reach = self._reach(repository)
            taken = self._within_limits(repository, reach, ahead[: self._most_commits])
        return _offset(taken)

    def reportLatestOffset(self) -> Offset | None:  # noqa: N802 - as Spark calls it
        """Tell where the branch is now."""
        with self._known.opened() as lake:
            return _offset(lake.repository(self._uri.repository).commit(self._uri.ref))

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """Share out the files of the commits behind `start` up to `end`."""
        with self._known.opened() as lake:
            repository = lake.repository(self._uri.repository)
            reach = self._reach(repository)
            files: list[tuple[PinnedFile, str]] = []
            for commit in commits_between(repository, start, end["commit"]):
                files += self._files(repository, reach, commit)
        folder = folder_of(self._uri.path)
        return [FilesPartition(reach, folder, task) for task in packed(files)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Give the rows of some files."""
        assert isinstance(partition, FilesPartition)  # noqa: S101 - our own, come back
        return read_files(partition, self._schema, self._options)

    def _reach(self, repository: Repository) -> Reach:
        return find_reach(self._known, repository, self._options.get(OPTION, ""))

    def _within_limits(
        self, repository: Repository, reach: Reach, ahead: Sequence[Commit]
    ) -> Commit:
        """Give the last commit that still fits; the first always does."""
        taken, count = ahead[0], 0
        if self._most_files == _UNLIMITED:
            return ahead[-1]
        for commit in ahead:
            count += len(self._files(repository, reach, commit))
            if count > self._most_files and commit is not ahead[0]:
                break
            taken = commit
        return taken

    def _files(
        self, repository: Repository, reach: Reach, commit: Commit
    ) -> list[tuple[PinnedFile, str]]:
        """List the files of a commit that are to be read. Raises Conflict by the policy."""
        before = repository.commit(commit.parents[0]).meta_range_id if commit.parents else ""
        changed = list(changed_files(reach, before, commit, self._uri.path))
        others = [one for one in changed if one.kind != "added"]
        if others and self._policy == "fail":
            raise _not_added(commit, others)
        if others and self._policy == "skip":
            return []
        wanted = {"added", "changed"} if self._policy == "rewrite" else {"added"}
        return [
            (one.file, one.kind) for one in changed if one.kind in wanted and one.file is not None
        ]


def commits_between(repository: Repository, start: Offset, end: str) -> list[Commit]:
    """List the commits behind an offset up to a ref, oldest first, by first parents.

    Raises Conflict where the offset's commit is not on that line.
    """
    last = start["commit"]
    if not last:
        return list(repository.ref(end).log(first_parent=True))[::-1]
    found: list[Commit] = []
    for commit in repository.ref(end).log(first_parent=True, stop_at=last):
        if commit.id == last:
            return found[::-1]
        found.append(commit)
    message = f"commit {last}, up to which this query has read, is no longer in the history of"
    raise Conflict(
        f"{message} {end!r}; start with a new checkpoint and option startingCommit",
        code="history-changed",
    )


def _offset(commit: Commit) -> Offset:
    return {"depth": commit.record.generation, "commit": commit.id}


def _count(options: Mapping[str, str], name: str, default: int) -> int:
    said = options.get(name, str(default))
    if not said.isascii() or not said.isdigit() or int(said) == 0:
        raise InvalidInput(f"{name} is a number from 1 up, not {said!r}", code="invalid-option")
    return int(said)


def _not_added(commit: Commit, others: Sequence[ChangedFile]) -> Conflict:
    first = others[0]
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    return Conflict(
        f"commit {commit.id} {first.kind} {first.path!r}{more}; a stream reads what is added:"
        " say what to do by option onChange: ignore, rewrite or skip",
        code="stream-file-changed",
    )
