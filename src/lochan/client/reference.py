# SPDX-License-Identifier: Apache-2.0
"""Anything that names a commit, with what can be read there: objects, history, differences."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import IO, Any, Literal

from lochan.client import html
from lochan.client.commit import Commit, known_commit
from lochan.client.pages import items
from lochan.client.stored_object import StoredObject
from lochan.client.transport import Transport
from lochan.shapes import commits
from lochan.shapes.objects import ListObjectsQuery, ObjectStats, ObjectStatsList
from lochan.shapes.provenance import ProvenanceGraph, ProvenanceQuery
from lochan.shapes.refs import (
    Diff,
    DiffList,
    DiffRefsQuery,
    FindMergeBaseResult,
    Merge,
    MergeResult,
)

_SHOWN = 20
Anything = object  # which is a verb inside the class


class Reference:
    """A branch, tag or commit by any name: `main`, `v1.0`, `main~2`, the beginning of a hash."""

    def __init__(
        self, transport: Transport, repository_id: str, id_: str, commit_id: str = ""
    ) -> None:
        """Name a reference; whether it exists shows when it is used."""
        self._transport = transport
        self.repository_id = repository_id
        self.id = id_
        self.commit_id = commit_id  # as a list told when it gave this reference; else empty

    @property
    def uri(self) -> str:
        """Give the address: lochan://repository/ref."""
        return f"lochan://{self.repository_id}/{self.id}"

    def object(self, path: str) -> StoredObject:
        """Name an object here."""
        return StoredObject(self._transport, self.repository_id, self.id, path)

    def open(self, path: str, mode: str = "rb", **options: Any) -> IO[Any]:  # noqa: ANN401 - passed on
        """Open an object here as a file."""
        return self.object(path).open(mode, **options)

    def objects(
        self,
        prefix: str = "",
        *,
        delimiter: str = "",
        after: str = "",
        max_amount: int | None = None,
        user_metadata: bool = True,
        presign: bool = False,
    ) -> Iterator[ObjectStats]:
        """Give the objects below a prefix, in order; with a delimiter also prefixes, once each."""

        def fetch(behind: str, amount: int) -> ObjectStatsList:
            query = ListObjectsQuery(
                prefix=prefix,
                delimiter=delimiter,
                after=behind,
                amount=amount,
                user_metadata=user_metadata,
                presign=presign,
            )
            return self._transport.call(
                "GET", self._at("objects", "ls"), ObjectStatsList, query=query
            )

        return items(fetch, after=after, max_amount=max_amount)

    def log(
        self,
        *,
        max_amount: int | None = None,
        after: str = "",
        objects: Sequence[str] = (),
        prefixes: Sequence[str] = (),
        first_parent: bool = False,
        since: datetime | None = None,
        stop_at: str = "",
    ) -> Iterator[Commit]:
        """Give the commits from here back, newest first; by paths, those that changed one."""

        def fetch(behind: str, amount: int) -> commits.CommitList:
            query = commits.LogCommitsQuery(
                after=behind,
                amount=amount,
                objects=tuple(objects),
                prefixes=tuple(prefixes),
                first_parent=first_parent,
                since=since,
                stop_at=stop_at,
            )
            return self._transport.call("GET", self._at("commits"), commits.CommitList, query=query)

        found = items(fetch, after=after, max_amount=max_amount)
        return (known_commit(self._transport, self.repository_id, one) for one in found)

    def get_commit(self) -> Commit:
        """Give the commit that is meant, now."""
        path = ("repositories", self.repository_id, "commits", self.id)
        found = self._transport.call("GET", path, commits.Commit)
        return known_commit(self._transport, self.repository_id, found)

    def diff(
        self,
        other: "Reference | Commit | str",
        *,
        type_: Literal["two_dot", "three_dot"] = "three_dot",
        prefix: str = "",
        delimiter: str = "",
        after: str = "",
        max_amount: int | None = None,
        include_right_stats: bool = False,
    ) -> Iterator[Diff]:
        """Give what `other` has changed: since the two parted, or (two_dot) against this one."""

        def fetch(behind: str, amount: int) -> DiffList:
            query = DiffRefsQuery(
                after=behind,
                amount=amount,
                prefix=prefix,
                delimiter=delimiter,
                type=type_,
                include_right_stats=include_right_stats,
            )
            return self._transport.call("GET", self._at("diff", str(other)), DiffList, query=query)

        return items(fetch, after=after, max_amount=max_amount)

    def merge_base(self, destination: "Reference | str") -> FindMergeBaseResult:
        """Give the commit where this and another reference parted."""
        path = self._at("merge", str(destination))
        return self._transport.call("GET", path, FindMergeBaseResult)

    def merge_into(
        self,
        destination: "Reference | str",
        *,
        message: str = "",
        metadata: dict[str, str] | None = None,
        strategy: Literal["", "source-wins", "dest-wins"] = "",
        squash: bool = False,
        allow_empty: bool = False,
        force: bool = False,
    ) -> str:
        """Bring what is here to a branch, and give its new commit's id. Raises Conflict."""
        body = Merge(
            message=message,
            metadata=metadata or {},
            strategy=strategy,
            squash_merge=squash,
            allow_empty=allow_empty,
            force=force,
        )
        path = self._at("merge", str(destination))
        return self._transport.call("POST", path, MergeResult, body=body).reference

    def provenance(
        self, direction: Literal["up", "down"] = "up", path: str = ""
    ) -> ProvenanceGraph:
        """Give all that made this commit, or all that was made of it; of a file, the datums too."""
        query = ProvenanceQuery(direction=direction, path=path)
        return self._transport.call("GET", self._at("provenance"), ProvenanceGraph, query=query)

    def _at(self, *rest: str) -> tuple[str, ...]:
        return ("repositories", self.repository_id, "refs", self.id, *rest)

    def __str__(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.uri}>"

    def __eq__(self, other: Anything) -> bool:
        return (
            isinstance(other, Reference)
            and (self.repository_id, self.id) == (other.repository_id, other.id)
            and self._transport is other._transport
        )

    def __hash__(self) -> int:
        return hash((self.repository_id, self.id))

    def _repr_html_(self) -> str:
        rows = [
            (row.id[:12], row.message, row.committer, html.moment(row.record.creation_date))
            for row in self.log(max_amount=_SHOWN)
        ]
        return html.table(
            f"{type(self).__name__.lower()} {self.uri}", ("commit", "message", "by", "at"), rows
        )
