# SPDX-License-Identifier: Apache-2.0
"""What the operating system refuses, told as our error."""

from types import TracebackType

from lochan.errors import Unavailable


class told:  # noqa: N801  it reads as a clause: with told("not stored"): ...
    """Turns an OSError inside the block into Unavailable, but for the kinds that the caller awaits.

    Requires: nothing in the block has been applied when it fails.
    """

    __slots__ = ("_but", "_what")

    def __init__(self, what: str, *but: type[OSError]) -> None:
        """Say what has not come about."""
        self._what = what
        self._but = but

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell."""
        if isinstance(error, OSError) and not isinstance(error, self._but):
            raise Unavailable(f"{self._what}: {error.strerror}") from error
