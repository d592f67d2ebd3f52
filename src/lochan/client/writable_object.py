# SPDX-License-Identifier: Apache-2.0
"""An object on a branch: uploaded, written as a file, copied, renamed, deleted."""

from collections.abc import Mapping
from functools import partial
from typing import IO, Any, Final, cast

from lochan.client.content import Progress, Uploadable, content_of
from lochan.client.stored_object import StoredObject
from lochan.client.upload import Target, upload_object
from lochan.client.writer import ObjectWriter
from lochan.errors import InvalidInput
from lochan.shapes.objects import (
    CopyObjectQuery,
    DeleteObjectQuery,
    ObjectCopyCreation,
    ObjectQuery,
    ObjectRename,
    ObjectsRenamed,
    ObjectStageCreation,
    ObjectStats,
    UpdateObjectUserMetadata,
)
from lochan.text_writer import TextWriter

_WRITING: Final = frozenset({"w", "wt", "wb", "x", "xt", "xb"})


class WritableObject(StoredObject):
    """An object of a branch."""

    def upload(  # noqa: PLR0913 - what can be said of an upload
        self,
        data: Uploadable,
        *,
        content_type: str = "",
        metadata: Mapping[str, str] | None = None,
        if_none_match: bool = False,
        if_match: str = "",
        presign: bool | None = None,
        progress: Progress | None = None,
        force: bool = False,
    ) -> ObjectStats:
        """Store bytes, a text, a file by its Path, an open file, or chunks.

        `if_none_match` refuses to replace an object, `if_match` replaces only the one that has this
        checksum. With `presign` the bytes go to the object store and not through the server, which
        is what large ones do unless it is False, where the store is not the server's own disk.
        Raises: PredicateFailed; Conflict where nobody can tell whether it was written: look.
        """
        conditions = {"if-none-match": "*"} if if_none_match else {}
        if if_match:
            conditions["if-match"] = f'"{if_match}"'
        target = Target(
            self.repository_id,
            self.ref,
            self.path,
            content_type=content_type,
            metadata=metadata or {},
            conditions=conditions,
            force=force,
        )
        return upload_object(self._transport, target, content_of(data), progress, presign=presign)

    def open(self, mode: str = "rb", **options: Any) -> IO[Any]:  # noqa: ANN401 - those of the builtin
        """Open it as a file: to read, to write ("w", "wb") or to make ("x", "xb").

        For text there are `encoding`, `errors` and `newline`; for writing also what `upload` takes.
        """
        if mode not in _WRITING:
            if "a" in mode or "+" in mode:
                message = f"{self.uri} cannot be opened with {mode!r}: objects are replaced whole"
                raise InvalidInput(message, code="no-append")
            return super().open(mode, **options)
        text = {
            name: options.pop(name) for name in ("encoding", "errors", "newline") if name in options
        }
        writer = self.writer(if_none_match="x" in mode, **options)
        if "b" in mode:
            return cast("IO[bytes]", writer)  # a file, if not by inheritance
        return TextWriter(writer, **{"encoding": "utf-8", **text})

    def writer(self, *, autocommit: bool = True, **options: Any) -> ObjectWriter:  # noqa: ANN401 - those of upload
        """Give a file to write to; closing it uploads, leaving its block by an error does not.

        Without `autocommit` it is uploaded when its `commit` is called.
        """
        upload = partial(self.upload, **options)
        return ObjectWriter(self.path, upload, autocommit=autocommit)

    def copy(
        self,
        path: str,
        *,
        branch: str = "",
        force: bool = False,
    ) -> "WritableObject":
        """Copy it to a path, here or on another branch; bytes are shared where that is safe."""
        copied = WritableObject(self._transport, self.repository_id, branch or self.ref, path)
        copied.copy_from(self.path, self.ref, force=force)
        return copied

    def copy_from(self, path: str, ref: str = "", *, force: bool = False) -> ObjectStats:
        """Make it a copy of an object at a path of any reference."""
        body = ObjectCopyCreation(src_path=path, src_ref=ref or self.ref, force=force, shallow=True)
        return self._transport.call(
            "POST",
            self._branch_at("objects", "copy"),
            ObjectStats,
            query=CopyObjectQuery(dest_path=self.path),
            body=body,
        )

    def stage(
        self,
        address: str,
        *,
        checksum: str,
        size_bytes: int,
        mtime: int | None = None,
        content_type: str = "",
        metadata: Mapping[str, str] | None = None,
        force: bool = False,
    ) -> ObjectStats:
        """Make it an object whose bytes lie at an address of a store already."""
        body = ObjectStageCreation(
            physical_address=address,
            checksum=checksum,
            size_bytes=size_bytes,
            mtime=mtime,
            content_type=content_type,
            metadata=dict(metadata or {}),
            force=force,
        )
        query = ObjectQuery(path=self.path)
        path = self._branch_at("objects")
        return self._transport.call("PUT", path, ObjectStats, query=query, body=body)

    def rename(
        self, path: str, *, overwrite: bool = False, force: bool = False
    ) -> "WritableObject":
        """Give it another path; no bytes move. Raises AlreadyExists unless it may overwrite."""
        body = ObjectRename(source=self.path, destination=path, overwrite=overwrite, force=force)
        self._transport.call(
            "POST", self._branch_at("objects", "rename"), ObjectsRenamed, body=body
        )
        return WritableObject(self._transport, self.repository_id, self.ref, path)

    def delete(self, *, force: bool = False) -> None:
        """Take it away; one that is not there is no error."""
        query = DeleteObjectQuery(path=self.path, force=force)
        self._transport.send("DELETE", self._branch_at("objects"), query=query)

    def set_metadata(self, metadata: Mapping[str, str]) -> None:
        """Give it other metadata instead of what it has."""
        self._transport.send(
            "PUT",
            self._branch_at("objects", "stat", "user_metadata"),
            query=ObjectQuery(path=self.path),
            body=UpdateObjectUserMetadata(set=dict(metadata)),
        )

    def _branch_at(self, *rest: str) -> tuple[str, ...]:
        return ("repositories", self.repository_id, "branches", self.ref, *rest)
