# SPDX-License-Identifier: Apache-2.0
"""An object of a store as a seekable file; one of several blocks likewise."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from lochan.client.seekable import Seekable
from lochan.objects.store import ObjectStore, Span


class Segment(NamedTuple):
    """So many bytes from an offset on of a stored object."""

    store: ObjectStore
    address: str
    offset: int
    size: int


class StoredFile(Seekable):
    """Segments, one after the other, read by ranges."""

    def __init__(self, name: str, segments: Sequence[Segment]) -> None:
        """Read these segments."""
        super().__init__(name, sum(segment.size for segment in segments))
        self._segments = segments

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
