# SPDX-License-Identifier: Apache-2.0
"""What the operating system refuses, told as our error."""

from collections.abc import Iterator
from contextlib import contextmanager

from lochan.errors import Unavailable


@contextmanager
def told(what: str, *but: type[OSError]) -> Iterator[None]:
    """Turn an OSError inside the block into Unavailable, but for the kinds that the caller awaits.

    Requires: nothing in the block has been applied when it fails.
    """
    try:
        yield
    except but:
        raise
    except OSError as error:
        raise Unavailable(f"{what}: {error.strerror}") from error
