# SPDX-License-Identifier: Apache-2.0
"""Text over bytes that are stored when they are closed, unless they are given up before."""

import io
from types import TracebackType
from typing import IO, Any, Protocol, cast


class Discardable(Protocol):
    """A stream of bytes that can be given up."""

    def discard(self) -> None:
        """Forget what was written."""


class TextWriter(io.TextIOWrapper):
    """Text over a writer; an exception in a `with` block discards it, too."""

    def __init__(self, writer: Discardable, **options: Any) -> None:  # noqa: ANN401 - passed on
        """Encode to a writer."""
        super().__init__(cast("IO[bytes]", writer), **options)
        self._writer = writer

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._writer.discard()
        super().__exit__(kind, error, trace)
