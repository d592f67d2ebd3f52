# SPDX-License-Identifier: Apache-2.0
"""Names and ids, each a type of its own, and the rules for those that people choose.

A `valid_...` function takes what somebody typed or sent and gives the typed name, or raises
`InvalidInput` saying what is wrong and what is allowed. Code that makes an id itself (a hash, a
token) wraps it in the type directly. The rules are lakeFS's, so that names are accepted by both.
"""

import re
from typing import NewType, NoReturn

from lochan.errors import InvalidInput

RepositoryId = NewType("RepositoryId", str)
BranchName = NewType("BranchName", str)
TagName = NewType("TagName", str)
Ref = NewType("Ref", str)  # a branch, tag or commit, with modifiers: main~2
CommitId = NewType("CommitId", str)
OpenCommitId = NewType("OpenCommitId", str)  # of a commit that was started; 32 hex digits
RangeId = NewType("RangeId", str)
MetaRangeId = NewType("MetaRangeId", str)
StagingToken = NewType("StagingToken", str)
UniqueIdentifier = NewType("UniqueIdentifier", str)
StorageNamespace = NewType("StorageNamespace", str)
LineageId = NewType("LineageId", str)  # one line of first-parent commits; docs/formats/records.md
ObjectKey = NewType("ObjectKey", bytes)  # bytes from stores to stories, text only at the edges

# The tree without entries has no file, and this id.
EMPTY_TREE = MetaRangeId("")
# How a branch names the empty tree as its compacted base, where no id means that it has none.
COMPACTED_TO_NOTHING = MetaRangeId("-")
MAX_KEY_BYTES = 1024

# ASCII and fullmatch: \w would take any script's letters, and $ a trailing line feed.
_REPOSITORY = re.compile(r"[a-z0-9][a-z0-9-]{2,62}")
_BRANCH = re.compile(r"\w[-\w]*", re.ASCII)
_REF = re.compile(r"\S+", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{64}")
_UNIQUE = re.compile(r"[0-9a-z]{8,64}")
_TAG_SEQUENCES = ("..", "@{", "/")
_TAG_ENDINGS = (".", ".lock")
_TAG_FORBIDDEN = re.compile(r"[\x00-\x20\x7f^:?*\[\\]")
_SHOWN = 80


def _refuse(kind: str, value: str | bytes, rule: str) -> NoReturn:
    shown = repr(value if len(value) <= _SHOWN else value[:_SHOWN]) + "..." * (len(value) > _SHOWN)
    code = f"invalid-{kind.replace(' ', '-')}"
    raise InvalidInput(f"{shown} is not a valid {kind}: {rule}", code=code, value=value)


def valid_repository_id(text: str) -> RepositoryId:
    """Accept a repository's name."""
    if not _REPOSITORY.fullmatch(text):
        rule = "3 to 63 lower-case letters, digits and hyphens, not starting with a hyphen"
        _refuse("repository id", text, rule)
    return RepositoryId(text)


def valid_branch_name(text: str) -> BranchName:
    """Accept a branch's name."""
    if not _BRANCH.fullmatch(text):
        rule = "letters, digits, underscores and hyphens, not starting with a hyphen"
        _refuse("branch name", text, rule)
    return BranchName(text)


def valid_tag_name(text: str) -> TagName:
    """Accept a tag's name; nearly git's rules, without slashes."""
    if not text or text == "@":
        _refuse("tag name", text, "at least one character, and not @ alone")
    if found := next((part for part in _TAG_SEQUENCES if part in text), None):
        _refuse("tag name", text, f"it must not contain {found!r}")
    if found := next((end for end in _TAG_ENDINGS if text.endswith(end)), None):
        _refuse("tag name", text, f"it must not end in {found!r}")
    if match := _TAG_FORBIDDEN.search(text):
        rule = f"{match[0]!r} is forbidden, as are spaces, control characters and ^ : ? * [ \\"
        _refuse("tag name", text, rule)
    return TagName(text)


def valid_ref(text: str) -> Ref:
    """Accept what may name a commit; whether it does is known only by resolving it."""
    if not _REF.fullmatch(text):
        _refuse("ref", text, "at least one character and no white space")
    return Ref(text)


def is_commit_id(text: str) -> bool:
    """Say whether a text could be a commit's id."""
    return _HASH.fullmatch(text) is not None


def valid_commit_id(text: str) -> CommitId:
    """Accept a whole commit id; a shortened one is a ref."""
    if not _HASH.fullmatch(text):
        _refuse("commit id", text, "64 lower-case hexadecimal digits")
    return CommitId(text)


def valid_range_id(text: str) -> RangeId:
    """Accept the name of a range file."""
    if not _HASH.fullmatch(text):
        _refuse("range id", text, "64 lower-case hexadecimal digits")
    return RangeId(text)


def valid_meta_range_id(text: str) -> MetaRangeId:
    """Accept the name of a metarange file; the empty tree's is the empty string."""
    if text and not _HASH.fullmatch(text):
        _refuse("metarange id", text, "64 lower-case hexadecimal digits, or nothing")
    return MetaRangeId(text)


def valid_unique_identifier(text: str) -> UniqueIdentifier:
    """Accept what tells a repository from earlier ones of its name."""
    if not _UNIQUE.fullmatch(text):
        _refuse("unique identifier", text, "8 to 64 lower-case letters and digits")
    return UniqueIdentifier(text)


def valid_storage_namespace(text: str) -> StorageNamespace:
    """Accept an address in an object store; its driver says whether it can be used."""
    scheme, separator, rest = text.partition("://")
    if not (scheme and separator and rest) or not _REF.fullmatch(text):
        _refuse("storage namespace", text, "a store and a place in it, as in s3://bucket/prefix")
    return StorageNamespace(text)


def valid_object_key(path: str | bytes) -> ObjectKey:
    """Accept an object's path: any 1 to 1024 bytes; text counts as UTF-8."""
    try:
        key = path.encode() if isinstance(path, str) else bytes(path)
    except UnicodeEncodeError as error:
        message = f"the object path holds half of a surrogate pair at character {error.start}"
        raise InvalidInput(message, code="invalid-object-path", value=path) from error
    if not 1 <= len(key) <= MAX_KEY_BYTES:
        _refuse("object path", path, f"1 to {MAX_KEY_BYTES} bytes; this one has {len(key)}")
    return ObjectKey(key)


def new_staging_token(repository: RepositoryId, branch: BranchName, unique_id: str) -> StagingToken:
    """Name a fresh staging area; `unique_id` comes from the Environment.

    Repository and branch are there for people who look into the store: nobody parses a token.
    """
    return StagingToken(f"{repository}-{branch}:{unique_id}")
