# SPDX-License-Identifier: Apache-2.0
"""The verbs of 2016: commits that are started, get files put into them, and are finished.

These are ours, not lakeFS's, and keep the seed's names. Commits are named in query parameters,
since repo/branch/int has slashes in it; an open commit by the id that start-commit answered.

    start-commit     StartCommit          OpenCommit
    finish-commit    FinishCommit         commits.Commit
    cancel-commit    CancelCommit         nothing
    inspect-commit   InspectCommitQuery   CommitInfo
    list-commit      ListCommitQuery      CommitInfoList
    put-file         PutFileQuery, bytes  nothing
    get-file         FileQuery            bytes
    inspect-file     FileQuery            FileInfo
    delete-file      DeleteFileQuery      nothing
    list-file        ListFileQuery        FileInfoList
    history          HistoryQuery         commits.CommitList
    merge-commits    MergeCommits         MergedCommits
    diffs            DiffsQuery           DiffRowList
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from lochan.shapes.clocks import Clock, CommitId, CommitName
from lochan.shapes.commits import Commit, Message
from lochan.shapes.fields import (
    BranchName,
    ByteCount,
    Checksum,
    Metadata,
    ObjectPath,
    Timestamp,
)
from lochan.shapes.pages import DEFAULT_AMOUNT, After, Amount, Pagination
from lochan.shapes.provenance import AllProvenance, DirectProvenance, Provenance

AnyCommit = Annotated[
    str,
    Meta(
        pattern=r"^[^ \t\n\r\f\v]+$",
        min_length=1,
        description="A commit by hash, repo/branch/int or any ref, or an open one by its id.",
    ),
]
FilePath = Annotated[
    str, Meta(max_length=1024, description="Names with one slash between them; empty is the root.")
]
Blockrefs = Annotated[
    list[str],
    Meta(description="Blocks in order, by hex SHA-256; or an object put whole, by address."),
]
Since = Annotated[str, Meta(description="Leave out what was there at this commit already.")]
OpenCommitId = Annotated[str, Meta(min_length=1, description="What start-commit answered as `id`.")]


class StartCommit(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Where a commit begins: behind a parent, on a branch, or both; with neither, on a new one."""

    parent: AnyCommit | None = None
    branch: BranchName | None = None
    provenance: list[Provenance] = []


class OpenCommit(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A commit that was started."""

    id: OpenCommitId
    branch: Annotated[str, Meta(description="The branch that it will be on.")]
    parent: Annotated[str, Meta(description="Hash of the commit whose files it shows.")] = ""
    started: Timestamp


class FinishCommit(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """An open commit to be published."""

    id: OpenCommitId
    message: Message = ""
    metadata: Metadata = {}


class CancelCommit(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """An open commit to be given up."""

    id: OpenCommitId
    error: Annotated[str, Meta(min_length=1, description="Why it failed.")] = "cancelled"


class CommitInfo(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A commit, open or not; of an open one `ID` is its id, and `id` and `finished` are absent."""

    ID: CommitName
    repo: Annotated[str, Meta(description="Name of the repository.")]
    clocks: list[Clock]
    started: Timestamp
    finished: Timestamp | None = None
    provenance: AllProvenance
    direct_provenance: DirectProvenance = []
    id: CommitId = ""
    error: Annotated[str, Meta(description="Why it failed, if it did.")] = ""


class CommitInfoList(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page of commits; along each line parents come first."""

    pagination: Pagination
    results: list[CommitInfo]


class InspectCommitQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which commit to describe."""

    commit: AnyCommit


class ListCommitQuery(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A page of a branch's commits, or of all branches'."""

    branch: Annotated[str, Meta(description="The branch; all without it.")] = ""
    after: After = ""
    amount: Amount = DEFAULT_AMOUNT


class PutFileQuery(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Where the bytes of the body go."""

    commit: OpenCommitId
    path: ObjectPath
    mode: Annotated[
        Literal["append", "overwrite"],
        Meta(description="Behind what the file has, or instead of it."),
    ] = "append"


class DeleteFileQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which file, or directory, is deleted."""

    commit: OpenCommitId
    path: ObjectPath


class FileQuery(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A path at a commit, or what came to it since another."""

    path: ObjectPath
    to_commit: AnyCommit
    from_commit: Since = ""


class FileInfo(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A path of a commit."""

    path: Annotated[str, Meta(description="The path from the root.")]
    kind: Annotated[Literal["file", "directory"], Meta(description="What the path is.")]
    size: ByteCount
    modified: Timestamp | None = None
    checksum: Checksum = ""
    blockrefs: Blockrefs = []


class FileInfoList(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page of what lies directly in a directory, in order of the paths."""

    pagination: Pagination
    results: list[FileInfo]


class ListFileQuery(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A page of a directory."""

    commit: AnyCommit
    path: FilePath = ""
    after: After = ""
    amount: Amount = DEFAULT_AMOUNT


class HistoryQuery(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A page of the commits between two."""

    to_commit: AnyCommit
    from_commit: Since = ""
    strict: Annotated[
        bool, Meta(description="Refuse a `from_commit` that is no ancestor of `to_commit`.")
    ] = False
    after: After = ""
    amount: Amount = DEFAULT_AMOUNT


class MergeCommits(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Commits to be merged to the place that `parent` and `branch` name, as in start-commit."""

    from_commits: Annotated[list[AnyCommit], Meta(min_length=1, description="What is merged.")]
    parent: AnyCommit | None = None
    branch: BranchName | None = None
    squash: Annotated[bool, Meta(description="Make one commit instead of a copy of each.")] = False
    message: Message = ""
    metadata: Metadata = {}


class MergedCommits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The commits that a merge made; none if everything was there."""

    commits: list[Commit]


class Append(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One step of what a commit did to a path."""

    children: Annotated[
        dict[str, bool], Meta(description="Names that came to a directory, or (false) left it.")
    ]
    blockrefs: Blockrefs
    delete: Annotated[bool, Meta(description="Whether all that was there before goes.")]


class DiffRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a commit did to a path: the seed's Diff."""

    ID: Annotated[str, Meta(description="The commit's name, a colon and the path.")]
    repo: Annotated[str, Meta(description="Name of the repository.")]
    commit: CommitName
    path: Annotated[str, Meta(description="The path; the root's is empty.")]
    delete: Annotated[bool, Meta(description="Whether any step deletes.")]
    clocks: list[Clock]
    appends: list[Append]
    size: ByteCount


class DiffRowList(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page of what a commit did; a directory comes behind all that lies in it."""

    pagination: Pagination
    results: list[DiffRow]


class DiffsQuery(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A page of what a commit did, to all paths or to one file."""

    commit: AnyCommit
    path: Annotated[str, Meta(max_length=1024, description="The file; all without it.")] = ""
    after: After = ""
    amount: Amount = DEFAULT_AMOUNT
