# SPDX-License-Identifier: Apache-2.0
"""What a datum's code writes: `out`, a private part of the output.

    out.write("2024/a.txt", "text or bytes, or an iterable of bytes")
    out.put("2024/b.parquet", "/some/local/file")             or an open file
    with out.open("2024/c.csv", "w") as file: ...             wb (the default) takes bytes

Each file goes to the object store under a fresh address below data/, through the durable driver,
and is hashed on the way: its e_tag is the hex SHA-256 of its bytes, so that whoever appends files
of several datums has the hashes of blocks at hand. A file that is opened gathers in memory, and on
disk when it is large, and is stored when it is closed; one that an exception ends is not stored. As
in a folder, a path that is written again is replaced.

Nobody sees any of it before the job publishes. What no job links is left to the collector.
"""

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, Any, Final, cast

from lochan.environment import Environment
from lochan.errors import InvalidInput, Unavailable
from lochan.model.codec import encode_entry
from lochan.model.entry import DEFAULT_CONTENT_TYPE, AddressType, Entry
from lochan.model.instant import from_seconds
from lochan.objects.store import IF_ABSENT, Body, Chunk
from lochan.pipelines.attempts.accepted_rows import valid_output_key
from lochan.pipelines.attempts.input_files import key_of
from lochan.pipelines.attempts.places import Place
from lochan.pipelines.model.datum import OutputFile
from lochan.text_writer import TextWriter

_CHUNK: Final = 1 << 20
_SPOOLED: Final = 8 << 20
_MAX_DESCRIPTION_BYTES: Final = 64 << 10  # as put_object has it: a listing holds many entries
_Store = Callable[[IO[bytes]], None]


class Out:
    """The files that one try of a datum writes."""

    def __init__(self, place: Place, environment: Environment) -> None:
        """Write into the output's namespace."""
        self._place = place
        self._environment = environment
        self._files: dict[bytes, OutputFile] = {}
        self._open: list[bytes] = []
        self._is_over = False
        self.bytes = 0

    def write(
        self,
        path: str | bytes,
        data: str | Body,
        *,
        content_type: str = DEFAULT_CONTENT_TYPE,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Store a file."""
        body = data.encode() if isinstance(data, str) else data
        self._store(self._key(path), body, content_type, metadata)

    def put(
        self,
        path: str | bytes,
        source: str | os.PathLike[str] | IO[bytes],
        *,
        content_type: str = DEFAULT_CONTENT_TYPE,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Store a copy of a local file, or the rest of an open one."""
        key = self._key(path)
        if isinstance(source, str | os.PathLike):
            with Path(source).open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                self._store(key, _pieces(file), content_type, metadata, size)
        else:
            self._store(key, _pieces(source), content_type, metadata)

    def open(
        self,
        path: str | bytes,
        mode: str = "wb",
        *,
        encoding: str = "utf-8",
        content_type: str = DEFAULT_CONTENT_TYPE,
        metadata: Mapping[str, str] | None = None,
    ) -> IO[Any]:
        """Open a file to be written, which is stored when it is closed: wb takes bytes, w text."""
        if mode not in {"wb", "w", "wt"}:
            raise InvalidInput(f"an output is opened with wb or w, not {mode!r}")
        key = self._key(path)

        def store(spool: IO[bytes]) -> None:
            size = spool.seek(0, io.SEEK_END)
            spool.seek(0)
            self._store(key, _pieces(spool), content_type, metadata, size)

        writer = _Writer(key, store, self._open)
        opened = writer if mode == "wb" else _TextWriter(writer, encoding=encoding)
        return cast("IO[Any]", opened)

    def end(self) -> tuple[OutputFile, ...]:
        """Take no more; give what was written, by key. Raises InvalidInput for an open file."""
        self._is_over = True
        if self._open:
            named = ", ".join(repr(key.decode(errors="replace")) for key in self._open)
            message = f"output {named} was opened and not closed; open it in a with block"
            raise InvalidInput(message, code="output-not-closed")
        return tuple(self._files[key] for key in sorted(self._files))

    def discard(self) -> None:
        """Take no more, whoever still has it."""
        self._is_over = True

    def _key(self, path: str | bytes) -> bytes:
        key = path.removeprefix(b"/") if isinstance(path, bytes) else key_of(path)
        return valid_output_key(key)

    def _store(
        self,
        key: bytes,
        body: Body,
        content_type: str,
        metadata: Mapping[str, str] | None,
        size: int | None = None,
    ) -> None:
        if self._is_over:
            message = f"{key!r} is written when its datum is over; wait for threads that write"
            raise InvalidInput(message, code="datum-over")
        address = self._place.addresses.new(key.decode(errors="replace"))
        hashed = _Hashed(body)
        stored: Body = body if isinstance(body, bytes) else hashed
        self._place.objects.put(address, stored, size=size, when=IF_ABSENT)
        entry = Entry(
            address=address,
            last_modified=from_seconds(self._environment.now()),
            size=hashed.size,
            e_tag=hashed.digest,
            metadata=metadata or {},
            address_type=AddressType.RELATIVE,
            content_type=content_type,
        )
        encoded = encode_entry(entry)
        if len(encoded) > _MAX_DESCRIPTION_BYTES:
            message = f"what is said of {key!r} has more than {_MAX_DESCRIPTION_BYTES} bytes"
            raise InvalidInput(f"{message}; shorten its metadata", code="description-too-large")
        self._files[key] = OutputFile(key, encoded)
        self.bytes += hashed.size


class _Hashed:
    """A body that counts and hashes itself as it is read; bytes are hashed at once."""

    def __init__(self, body: Body) -> None:
        self._sha256 = sha256()
        self.size = 0
        self._body: Iterable[Chunk] = ()
        if isinstance(body, bytes | bytearray | memoryview):
            self._add(body)
            self._body = (body,)
        else:
            self._body = self._added(body)

    def __iter__(self) -> Iterator[Chunk]:
        yield from self._body

    @property
    def digest(self) -> str:
        return self._sha256.hexdigest()

    def _added(self, body: Iterable[Chunk]) -> Iterator[Chunk]:
        for piece in body:
            self._add(piece)
            yield piece

    def _add(self, piece: Chunk) -> None:
        self._sha256.update(piece)
        self.size += memoryview(piece).nbytes


class _Writer(io.RawIOBase):
    """The bytes of a file to be; closing it stores them, an exception in its block does not."""

    def __init__(self, key: bytes, store: _Store, unclosed: list[bytes]) -> None:
        super().__init__()
        self.name = key.decode(errors="surrogateescape")
        self._key = key
        self._store = store
        self._unclosed = unclosed
        self._spool: IO[bytes] = SpooledTemporaryFile(_SPOOLED)  # noqa: SIM115 - close ends it
        self._is_discarded = False
        unclosed.append(key)

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer
        try:
            return self._spool.write(data)
        except OSError as error:
            raise Unavailable(f"{self.name!r} cannot be gathered: {error.strerror}") from error

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._spool.seek(offset, whence)

    def tell(self) -> int:
        return self._spool.tell()

    def discard(self) -> None:
        """Forget what was written."""
        self._is_discarded = True

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        with self._spool:
            self._unclosed.remove(self._key)
            if not self._is_discarded:
                self._store(self._spool)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.discard()
        super().__exit__(kind, error, trace)

    def abandon(self) -> None:
        """End it unstored; it stays in `unclosed`, which fails the datum."""
        if not self.closed:
            self._spool.close()
            super().close()

    def __del__(self) -> None:
        self.abandon()


class _TextWriter(TextWriter):
    """Text over a writer; one that nobody closed is abandoned with it."""

    def __init__(self, writer: _Writer, encoding: str) -> None:
        super().__init__(writer, encoding=encoding)
        self._abandon = writer.abandon

    def __del__(self) -> None:
        self._abandon()  # otherwise Python would close it, whenever it likes


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_CHUNK):
        yield piece
