# SPDX-License-Identifier: Apache-2.0
"""A datum: the smallest part of the input that the code is run on, and what became of it.

    datum id     H(count, then for each file: input name, repository, key, captures)
    datum hash   H(datum id, transform digest, then for each file that is no reference: content)
    content      of an object its identity; of a folder H(key and identity of each member)

Every field is preceded by its length, so no two lists of fields give the same bytes. Branch names
are in neither: a branch that reads the same files reuses what others have computed.

A folder that a glob matches is one *file* here: `key` ends with a slash, and `members` are all the
objects below it. An object is a file with itself as its only member.

Datums have an order of their own (`order_of`): that of the names and keys of what they read, which
no job has a say in. Numbers are for one plan only: they follow that order, and the next plan counts
anew.

Plans have a hundred thousand of these. They hold bytes and each other, never in a circle, so that
Python's collector of circles need not walk them (gc=False).
"""

from collections.abc import Callable, Iterable
from enum import Enum
from hashlib import sha256

import msgspec


class Member(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One object of an input: where it is in the tree, and its entry there, encoded."""

    key: bytes
    identity: bytes
    entry: bytes


class DatumFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one input gives to a datum."""

    input: str
    repository: str
    key: bytes
    captures: tuple[str, ...]
    members: tuple[Member, ...]
    reference: bool = False

    @property
    def size(self) -> int:
        """Count how many objects it has."""
        return len(self.members)


class Datum(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the code is run on once. `number` is its place in the plan."""

    id: bytes
    hash: bytes
    files: tuple[DatumFile, ...]
    number: int = 0
    bytes: int = 0  # of its members, for packing


class DatumState(Enum):
    """What became of a datum in the job whose index has it."""

    PROCESSED = "processed"
    FAILED = "failed"  # quarantined: without output, and run again by the next job


class OutputFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One object that a datum wrote: its key in the output, and its entry, encoded."""

    key: bytes
    entry: bytes


class Source(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One input of a datum, without its content, as the index keeps it."""

    input: str
    repository: str
    key: bytes
    identity: bytes  # its content


class DatumRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A datum in an index: what it was made of, and what it made."""

    id: bytes
    hash: bytes
    state: DatumState
    sources: tuple[Source, ...]
    outputs: tuple[OutputFile, ...] = ()
    number: int = 0
    job: str = ""  # that ran it
    shard: int = 0
    bytes: int = 0
    milliseconds: int = 0
    reason: str = ""  # of a failure
    log: str = ""  # address of the shard attempt's log, in the output's namespace


def order_of(parts: Iterable[DatumFile | Source]) -> tuple[tuple[str, bytes], ...]:
    """Say where a datum stands among all others, and so where what it appends does."""
    return tuple((part.input, part.key) for part in parts)


def datum_id(files: tuple[DatumFile, ...]) -> bytes:
    """Name a datum by what is read, not by what is in it."""
    fields = [str(len(files)).encode()]
    for file in files:
        fields += [file.input.encode(), file.repository.encode(), file.key]
        fields += [str(len(file.captures)).encode()]
        fields += [capture.encode() for capture in file.captures]
    return hashed(fields)


def datum_hash(
    id: bytes,  # noqa: A002 - the page's word
    digest: bytes,
    files: Iterable[DatumFile],
    content_of: Callable[[DatumFile], bytes] | None = None,
) -> bytes:
    """Name a datum by its content and by what is done with it."""
    content = content_of or file_content
    return hashed([id, digest, *(content(file) for file in files if not file.reference)])


def file_content(file: DatumFile) -> bytes:
    """Name the content of a file: an object's identity, or a hash over all that a folder holds."""
    if not file.key.endswith(b"/") and len(file.members) == 1:
        return file.members[0].identity
    return hashed([part for one in file.members for part in (one.key, one.identity)])


def source_of(file: DatumFile) -> Source:
    """Keep of a file what tells it apart."""
    return Source(file.input, file.repository, file.key, file_content(file))


def datums_hash(datums: Iterable[Datum]) -> str:
    """Name what a shard computes: its manifest says it, and a resumed job compares it."""
    return hashed([datum.hash for datum in datums]).hex()


def hashed(fields: list[bytes]) -> bytes:
    """Hash fields, each behind its length: 32 bytes."""
    parts = [part for field in fields for part in (len(field).to_bytes(8), field)]
    return sha256(b"".join(parts)).digest()
