# SPDX-License-Identifier: Apache-2.0
"""What became of a write whose answer was lost, where a story has more than one write (H15).

A store may say "applied or not, I do not know". Then a story looks again before it concludes
anything, and what it finds is judged by a unique identifier, never by a name. A story that has
begun must not end with plain Unavailable, which promises that nothing was applied.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from lochan.errors import Unavailable, UnknownOutcome

# Each lost round of a story about one record means that somebody else went a step further, and the
# life of a repository or a user has three steps: this bounds only a store that never says what it
# did.
ATTEMPTS: Final = 16


def surely(write: Callable[[], None]) -> None:
    """Do an idempotent write, and once more if nobody can say whether it was applied."""
    try:
        write()
    except UnknownOutcome:
        write()


@contextmanager
def begun(what: str) -> Iterator[None]:
    """Turn Unavailable into UnknownOutcome: part of the story may be in effect."""
    try:
        yield
    except UnknownOutcome:
        raise
    except Unavailable as error:
        message = f"{what} has begun and did not end: {error.message}; look, then repeat it"
        raise UnknownOutcome(message) from error
