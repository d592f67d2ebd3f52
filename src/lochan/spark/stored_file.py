# SPDX-License-Identifier: Apache-2.0
"""An object of a store as a seekable file; one of several blocks likewise."""

import io
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from lochan.errors import InvalidInput
from lochan.objects.store import ObjectStore, Span


class Segment(NamedTuple):
    """So many bytes from an offset on of a stored object."""

    store: ObjectStore
    address: str
    offset: int
    size: int


class StoredFile(io.RawIOBase):
    """Segments, one after the other, read by ranges."""

    def __init__(self, name: str, segments: Sequence[Segment]) -> None:
        """Read these segments."""
        super().__init__()
        self.name = name
        self._segments = segments
        self._size = sum(segment.size for segment in segments)
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

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        """Fill a buffer from here on."""
        view = memoryview(buffer).cast("B")
        done, start = 0, 0
        for segment in self._segments:
            first = max(self._place + done - start, 0)
            last = min(first + len(view) - done, segment.size)
            if first < last:
                span = Span(segment.offset + first, segment.offset + last)
                with segment.store.get(segment.address, span) as reading:
                    for chunk in reading:
                        view[done : done + len(chunk)] = chunk
                        done += len(chunk)
            start += segment.size
        self._place += done
        return done
