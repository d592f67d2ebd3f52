# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with one call to a store: the words in which plans of failure are written.

    OK             the call goes through
    Delay(s)       the environment sleeps first, then the call goes through
    ERROR          Unavailable; the call never reached the store
    LOST_REQUEST   UnknownOutcome; the call never reached the store, but the caller cannot know
    LOST_RESPONSE  UnknownOutcome; the store did its part, whatever it answered
    CRASH_BEFORE   the calling process dies; the call never reached the store
    CRASH_AFTER    the calling process dies; the store did its part
    ZOMBIE         UnknownOutcome now, and the write takes effect later: no store may do that; it
                   is here to show that callers or checkers notice one that does (KV only)

`lochan.kv.faulty` and `lochan.objects.faulty` carry plans out.
"""

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """What happens to one call; see the module's table."""

    OK = "ok"
    ERROR = "error"
    LOST_REQUEST = "lost request"
    LOST_RESPONSE = "lost response"
    CRASH_BEFORE = "crash before"
    CRASH_AFTER = "crash after"
    ZOMBIE = "zombie"


@dataclass(frozen=True, slots=True)
class Delay:
    """The call goes through after this long."""

    seconds: float


class Crashed(BaseException):
    """The process died here: no handler of ordinary errors may survive it."""
