# SPDX-License-Identifier: Apache-2.0
"""Multipart uploads on any store: parts are objects, and completing copies them into one.

    _work/uploads/<upload>/<number, 5 digits>    a part
    _work/uploads/<upload>/address               the address it is for, while the upload lives

Completing streams the parts through this process into one put, so the object appears whole under
the put's own precondition. It costs one more copy than a store that joins parts by itself; S3 does
(drivers/cloud). A crash leaves objects under `_work/uploads/` and nowhere else; whoever collects
garbage drops those that are old.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from lochan.environment import Environment
from lochan.errors import InvalidInput, NotFound
from lochan.objects.store import (
    ALWAYS,
    IF_ABSENT,
    Body,
    ObjectInfo,
    ObjectStore,
    Part,
    Precondition,
    check_address,
)
from lochan.objects.walk import walk

MAX_PARTS = 10_000  # S3's limit
UPLOADS = "_work/uploads"
_MARKER = "address"
_UPLOAD = re.compile(r"[0-9a-f]{32}\Z")


class JoinedUploads:
    """`Uploads` over the plain verbs of a store."""

    def __init__(self, store: ObjectStore, environment: Environment) -> None:
        """Keep parts in the same store as the objects that they become."""
        self._store = store
        self._environment = environment

    def create(self, address: str) -> str:
        """Begin an upload and name it."""
        check_address(address)
        upload = self._environment.new_id()
        self._store.put(f"{_folder(upload)}{_MARKER}", address.encode(), when=IF_ABSENT)
        return upload

    def put_part(
        self, address: str, upload: str, number: int, body: Body, *, size: int | None = None
    ) -> Part:
        """Store one part, over a former one of the same number."""
        self._check(address, upload)
        check_part_number(number)
        info = self._store.put(_part(upload, number), body, size=size)
        return Part(number, info.etag, info.size)

    def parts(self, address: str, upload: str) -> tuple[Part, ...]:
        """Name the stored parts by number."""
        self._check(address, upload)
        names = walk(self._store, _folder(upload))
        found = ((listed.address.rpartition("/")[2], listed.info) for listed in names)
        return tuple(Part(int(name), i.etag, i.size) for name, i in found if name != _MARKER)

    def complete(
        self, address: str, upload: str, parts: Sequence[Part], *, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        """Join parts into the object, then drop them."""
        stored = {part.number: part for part in self.parts(address, upload)}
        check_parts(parts)
        for part in parts:
            if part.number not in stored or stored[part.number].etag != part.etag:
                raise _not_stored(part)
        size = sum(stored[part.number].size for part in parts)
        info = self._store.put(address, self._joined(upload, parts), size=size, when=when)
        self.abort(address, upload)
        return info

    def abort(self, address: str, upload: str) -> None:  # noqa: ARG002  the contract names both
        """Drop the parts, and last the record of the upload, so that a repeat finds the rest."""
        if _UPLOAD.match(upload):
            names = [listed.address for listed in walk(self._store, _folder(upload))]
            self._store.delete(*names)  # digits sort before the marker's letters

    def _joined(self, upload: str, parts: Sequence[Part]) -> Iterator[bytes]:
        for part in parts:
            with self._store.get(_part(upload, part.number)) as reading:
                if reading.info.etag != part.etag:
                    raise _not_stored(part)
                yield from reading

    def _check(self, address: str, upload: str) -> None:
        if not _UPLOAD.match(upload):
            raise NotFound(f"there is no upload {upload[:40]!r}", code="upload-not-found")
        try:
            marker = self._store.get(f"{_folder(upload)}{_MARKER}").read()
        except NotFound as error:
            message = f"there is no upload {upload}; it was completed, aborted or never created"
            raise NotFound(message, code="upload-not-found") from error
        if marker != address.encode():
            message = f"upload {upload} is for another address than {address}"
            raise NotFound(message, code="upload-not-found")


def check_part_number(number: int) -> None:
    """Refuse a part number that no store takes."""
    if not 1 <= number <= MAX_PARTS:
        raise InvalidInput(f"parts are numbered from 1 to {MAX_PARTS}, not {number}")


def check_parts(parts: Sequence[Part]) -> None:
    """Refuse a list of parts that is empty or out of order."""
    numbers = [part.number for part in parts]
    if not numbers:
        raise InvalidInput("an upload is completed with at least one part")
    if any(left >= right for left, right in pairwise(numbers)):
        raise InvalidInput("parts are named in ascending order, each once", code="invalid-parts")


def _not_stored(part: Part) -> InvalidInput:
    message = f"part {part.number} with etag {part.etag} is not stored; put it again"
    return InvalidInput(message, code="invalid-parts", number=part.number)


def _folder(upload: str) -> str:
    return f"{UPLOADS}/{upload}/"


def _part(upload: str, number: int) -> str:
    return f"{_folder(upload)}{number:05d}"
