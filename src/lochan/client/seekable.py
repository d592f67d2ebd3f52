# SPDX-License-Identifier: Apache-2.0
"""A file of known size that is read at any place; who derives from it fills buffers from there."""

import io
import os

from lochan.errors import InvalidInput


class Seekable(io.RawIOBase):
    """Where the next read begins, and how one gets elsewhere."""

    def __init__(self, name: str, size: int) -> None:
        """Begin at the start."""
        super().__init__()
        self.name = name
        self._size = size
        self._place = 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that it can be read at any place."""
        return True

    def tell(self) -> int:
        """Say where the next read begins."""
        return self._place

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place, counted from the start, from here or from the end."""
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}
        if whence not in starts or starts[whence] + offset < 0:
            raise InvalidInput(f"there is no place {offset} (from {whence}) in {self.name}")
        self._place = starts[whence] + offset
        return self._place
