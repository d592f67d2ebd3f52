# SPDX-License-Identifier: Apache-2.0
"""An object at a reference: described, opened as a file, downloaded."""

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, Final

import httpx

from lochan.client import html
from lochan.client.content import Progress
from lochan.client.reader import ObjectReader, open_reader
from lochan.client.transport import Transport, chunks_of
from lochan.errors import InvalidInput, NotFound, Unavailable
from lochan.shapes.objects import GetObjectQuery, ObjectStats, StatObjectQuery

_READING: Final = frozenset({"r", "rt", "rb"})


class StoredObject:
    """An object by its path; whether it exists shows when it is used."""

    def __init__(self, transport: Transport, repository_id: str, ref: str, path: str) -> None:
        """Name an object."""
        self._transport = transport
        self.repository_id = repository_id
        self.ref = ref
        self.path = path

    @property
    def uri(self) -> str:
        """Give the address: lochan://repository/ref/path."""
        return f"lochan://{self.repository_id}/{self.ref}/{self.path}"

    def stat(self, *, presign: bool = False) -> ObjectStats:
        """Give what is known of it, if asked with a signed URL as address. Raises NotFound."""
        query = StatObjectQuery(path=self.path, presign=presign)
        return self._transport.call("GET", self._at("objects", "stat"), ObjectStats, query=query)

    def exists(self) -> bool:
        """Say whether it is there; a repository or ref that is not counts as no."""
        try:
            self.stat()
        except NotFound:
            return False
        return True

    def open(self, mode: str = "rb", **options: Any) -> IO[Any]:  # noqa: ANN401 - those of the builtin
        """Open it as a file: "rb", or "r" for text with `encoding`, `errors` and `newline`."""
        if mode not in _READING:
            raise InvalidInput(f"{self.uri} can be read here, not opened with {mode!r}")
        return open_reader(self.reader(), text="b" not in mode, **options)

    def reader(self) -> ObjectReader:
        """Give its bytes as an unbuffered, seekable file. Raises NotFound."""
        return ObjectReader(self.stat(), self._fetch)

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """Give its bytes, or those from `start` up to `stop`, with one request."""
        if stop is not None and stop <= start:
            return b""
        whole = start == 0 and stop is None
        last = "" if stop is None else str(stop - 1)
        headers = {} if whole else {"range": f"bytes={start}-{last}"}
        try:
            with self._fetch(headers) as response:
                return response.read()
        except InvalidInput as error:
            if error.code == "invalid-range":  # behind the end there is nothing
                return b""
            raise

    def download(
        self, target: str | os.PathLike[str] | IO[bytes], *, progress: Progress | None = None
    ) -> int:
        """Write its bytes to a file, and give their number; a file by its path appears whole."""
        if not isinstance(target, str | os.PathLike):
            return self._write(target, progress)
        path = Path(target)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name[:200]}.{self._transport.environment.new_id()}.part")
        try:
            with part.open("xb") as file:
                count = self._write(file, progress)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return count

    def _write(self, file: IO[bytes], progress: Progress | None) -> int:
        done = 0
        with self._fetch({}) as response:
            said = response.headers.get("content-length")
            total = int(said) if said else None
            for chunk in chunks_of(response):
                file.write(chunk)
                done += len(chunk)
                if progress is not None:
                    progress(done, total)
        if total is not None and done != total:
            raise Unavailable(f"{self.uri} broke off after {done} of {total} bytes; try again")
        return done

    def _fetch(self, headers: dict[str, str]) -> AbstractContextManager[httpx.Response]:
        query = GetObjectQuery(path=self.path)
        return self._transport.download(self._at("objects"), query=query, headers=headers)

    def _at(self, *rest: str) -> tuple[str, ...]:
        return ("repositories", self.repository_id, "refs", self.ref, *rest)

    def __str__(self) -> str:
        return self.uri

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.uri}>"

    def _repr_html_(self) -> str:
        stats = self.stat()
        return html.facts(
            self.uri,
            {
                "size": html.size(stats.size_bytes),
                "modified": html.moment(stats.mtime),
                "type": stats.content_type or "",
                "checksum": stats.checksum,
                **(stats.metadata or {}),
            },
        )
