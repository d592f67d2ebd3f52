# SPDX-License-Identifier: Apache-2.0
"""The verbs of 2016 that read: commits, files at a commit, and what came between two commits."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import IO

import httpx

from lochan.client.commit import Commit, known_commit
from lochan.client.content import Progress
from lochan.client.pages import items
from lochan.client.transport import Transport, chunks_of
from lochan.shapes import commits
from lochan.shapes.clocks import CommitClocks, CommitClocksQuery, Kinship, KinshipQuery
from lochan.shapes.pfs import (
    CommitInfo,
    CommitInfoList,
    DiffRow,
    DiffRowList,
    DiffsQuery,
    FileInfo,
    FileInfoList,
    FileQuery,
    HistoryQuery,
    InspectCommitQuery,
    ListCommitQuery,
    ListFileQuery,
)


class PfsReads:
    """What can be read by the verbs of 2016; a commit is named by hash, repo/branch/int or ref."""

    def __init__(self, transport: Transport, repository_id: str) -> None:
        """Read from a repository."""
        self._transport = transport
        self.repository_id = repository_id

    def inspect_commit(self, commit: str) -> CommitInfo:
        """Describe a commit, open or finished."""
        query = InspectCommitQuery(commit=commit)
        return self._transport.call("GET", self._at("inspect-commit"), CommitInfo, query=query)

    def list_commit(
        self, branch: str = "", *, after: str = "", max_amount: int | None = None
    ) -> Iterator[CommitInfo]:
        """Give the commits of a branch, or of all; along each line parents come first."""

        def fetch(behind: str, amount: int) -> CommitInfoList:
            query = ListCommitQuery(branch=branch, after=behind, amount=amount)
            return self._transport.call("GET", self._at("list-commit"), CommitInfoList, query=query)

        return items(fetch, after=after, max_amount=max_amount)

    def inspect_file(self, path: str, commit: str, *, since: str = "") -> FileInfo:
        """Describe a path at a commit, or what came to it after `since`."""
        query = FileQuery(path=path, to_commit=commit, from_commit=since)
        return self._transport.call("GET", self._at("inspect-file"), FileInfo, query=query)

    def get_file(self, path: str, commit: str, *, since: str = "") -> bytes:
        """Give a file's bytes at a commit, or those that came after `since`."""
        with self._fetch(path, commit, since) as response:
            return response.read()

    def download_file(
        self,
        path: str,
        commit: str,
        target: IO[bytes],
        *,
        since: str = "",
        progress: Progress | None = None,
    ) -> int:
        """Write a file's bytes to an open file as they come, and give their number."""
        done = 0
        with self._fetch(path, commit, since) as response:
            said = response.headers.get("content-length")
            for chunk in chunks_of(response):
                target.write(chunk)
                done += len(chunk)
                if progress is not None:
                    progress(done, int(said) if said else None)
        return done

    def list_file(
        self, commit: str, path: str = "", *, after: str = "", max_amount: int | None = None
    ) -> Iterator[FileInfo]:
        """Give what lies directly in a directory of a commit."""

        def fetch(behind: str, amount: int) -> FileInfoList:
            query = ListFileQuery(commit=commit, path=path, after=behind, amount=amount)
            return self._transport.call("GET", self._at("list-file"), FileInfoList, query=query)

        return items(fetch, after=after, max_amount=max_amount)

    def history(
        self,
        commit: str,
        *,
        since: str = "",
        strict: bool = False,
        after: str = "",
        max_amount: int | None = None,
    ) -> Iterator[Commit]:
        """Give the commits up to one, without those that are behind `since`."""

        def fetch(behind: str, amount: int) -> commits.CommitList:
            query = HistoryQuery(
                to_commit=commit, from_commit=since, strict=strict, after=behind, amount=amount
            )
            return self._transport.call("GET", self._at("history"), commits.CommitList, query=query)

        found = items(fetch, after=after, max_amount=max_amount)
        return (known_commit(self._transport, self.repository_id, one) for one in found)

    def diffs(
        self, commit: str, path: str = "", *, after: str = "", max_amount: int | None = None
    ) -> Iterator[DiffRow]:
        """Tell what a commit did, path by path, or to one file."""

        def fetch(behind: str, amount: int) -> DiffRowList:
            query = DiffsQuery(commit=commit, path=path, after=behind, amount=amount)
            return self._transport.call("GET", self._at("diffs"), DiffRowList, query=query)

        return items(fetch, after=after, max_amount=max_amount)

    def clocks(self, commit: str) -> CommitClocks:
        """Give a commit's clock, and both its names."""
        path = ("repositories", self.repository_id, "clocks", "commit")
        query = CommitClocksQuery(commit=commit)
        return self._transport.call("GET", path, CommitClocks, query=query)

    def kinship(self, one: str, other: str) -> Kinship:
        """Tell what two commits are to each other."""
        path = ("repositories", self.repository_id, "clocks", "kinship")
        return self._transport.call("GET", path, Kinship, query=KinshipQuery(one=one, other=other))

    def _fetch(self, path: str, commit: str, since: str) -> AbstractContextManager[httpx.Response]:
        query = FileQuery(path=path, to_commit=commit, from_commit=since)
        return self._transport.download(self._at("get-file"), query=query)

    def _at(self, verb: str) -> tuple[str, ...]:
        return ("repositories", self.repository_id, "pfs", verb)
