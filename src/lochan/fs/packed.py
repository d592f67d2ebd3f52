# SPDX-License-Identifier: Apache-2.0
"""A file that is compressed on its way; closing it closes what lies below.

fsspec's wrappers leave the file below to the garbage collector, which would be too late to tell
anybody that an upload failed.
"""

import io
from types import TracebackType
from typing import Any

from fsspec.compression import compr


class PackedFile(io.BufferedIOBase):
    """What is read from or written to a file, packed by one of fsspec's codecs."""

    def __init__(self, file: Any, codec: str, mode: str) -> None:  # noqa: ANN401 - a file of ours
        """Pack to, or unpack from, a file."""
        super().__init__()
        self._file = file
        self._packed = compr[codec](file, mode=mode[0])
        self._reads = mode[0] == "r"

    def readable(self) -> bool:
        """Say whether it is read."""
        return self._reads

    def writable(self) -> bool:
        """Say whether it is written."""
        return not self._reads

    def seekable(self) -> bool:
        """Say whether it is read at any place, if slowly."""
        return self._reads

    def read(self, size: int | None = -1, /) -> bytes:
        """Give bytes, unpacked."""
        return bytes(self._packed.read(-1 if size is None else size))

    def read1(self, size: int = -1, /) -> bytes:
        """Give bytes, unpacked."""
        return self.read(size)

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - any buffer
        """Add bytes, which are packed."""
        self._packed.write(data)
        return memoryview(data).nbytes

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a place of what is unpacked."""
        return int(self._packed.seek(offset, whence))

    def tell(self) -> int:
        """Say which byte of what is unpacked comes next."""
        return int(self._packed.tell())

    def discard(self) -> None:
        """Forget what was written."""
        self._file.discard()

    def close(self) -> None:
        """Write what is still to be packed, and close the file below."""
        if self.closed:
            return
        try:
            self._packed.close()
            self._file.close()
        finally:
            super().close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None and not self._reads:
            self.discard()
        super().__exit__(kind, error, trace)
