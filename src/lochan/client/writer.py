# SPDX-License-Identifier: Apache-2.0
"""An object as a file that is written.

Bytes gather in memory, and on disk when they become many; closing the file uploads them. So an
object appears whole or not at all: leaving a `with` block by an exception, or `discard`, uploads
nothing. A text file over a writer (`lochan.text_writer`) keeps to the same.
"""

import io
import os
from collections.abc import Callable
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, Any, Final

from lochan.shapes.objects import ObjectStats

SPOOLED_BYTES: Final = 8 << 20

Upload = Callable[[IO[bytes]], ObjectStats]


class ObjectWriter(io.RawIOBase):
    """The bytes of an object to be."""

    def __init__(self, name: str, upload: Upload, *, autocommit: bool = True) -> None:
        """Upload to an object when it is closed; without `autocommit`, when `commit` is called."""
        super().__init__()
        self.name = name
        self.stats: ObjectStats | None = None  # what became of it, once it is uploaded
        self._upload = upload
        self._autocommit = autocommit
        self._spool: IO[bytes] = SpooledTemporaryFile(SPOOLED_BYTES)  # noqa: SIM115 - commit ends it
        self._is_over = False

    def writable(self) -> bool:
        """Say that it can be written."""
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer
        """Add bytes; of what is discarded nothing is kept."""
        if self.closed:
            raise ValueError(f"{self.name} is closed")
        count = memoryview(data).nbytes
        if not self._is_over:
            self._spool.write(data)
        return count

    def seekable(self) -> bool:
        """Say that any place can be written: nothing is sent before the end."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        return 0 if self._is_over else self._spool.seek(offset, whence)

    def tell(self) -> int:
        """Say where the next write goes."""
        return 0 if self._is_over else self._spool.tell()

    def commit(self) -> None:
        """Upload what was written, once. Raises what the upload raises; there is no second try."""
        if self._is_over:
            return
        self._is_over = True
        with self._spool:
            self._spool.seek(0)
            self.stats = self._upload(self._spool)

    def discard(self) -> None:
        """Forget what was written: nothing is uploaded any more."""
        self._is_over = True
        self._spool.close()

    def close(self) -> None:
        """End the writing, and upload unless that waits for `commit`."""
        if self.closed:
            return
        try:
            if self._autocommit:
                self.commit()
        finally:
            super().close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.discard()
        super().__exit__(kind, error, trace)

    def __del__(self) -> None:
        # A writer that nobody closed was given up: nothing half-written may appear.
        if not self.closed:
            self.discard()
        super().__del__()
