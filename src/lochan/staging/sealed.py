# SPDX-License-Identifier: Apache-2.0
"""The algebra of sealed tokens: one function owns it (reliability property G12).

`sealed_tokens` is stored newest first. A committer remembers the tokens it covers, `mine`; when it
comes to publish, the branch shows `current`. Tokens are only ever added at the front (a seal) and
taken from the back (a commit of the oldest ones), so what is left of mine is a run at the back:

        mine       c b a          what a committer covers
        current    d c b          d was sealed later; an earlier commit took a
        left       c b            still to be committed
        newer      d              stays sealed behind it
"""

from enum import Enum
from typing import NamedTuple

from lochan.errors import Internal
from lochan.model.ids import StagingToken

Tokens = tuple[StagingToken, ...]


class Overlap(Enum):
    """Who else has committed tokens of ours."""

    NOBODY = "nobody"  # all of mine are still sealed
    EARLIER = "earlier"  # an earlier commit took the older part
    LATER = "later"  # a later commit took all of mine


class Trim(NamedTuple):
    """What is left of a committer's tokens, and what stays sealed when they are committed."""

    overlap: Overlap
    left: Tokens
    newer: Tokens


def trim(mine: Tokens, current: Tokens) -> Trim:
    """Hold a committer's tokens against the branch's; Internal where they contradict the rule."""
    present = set(current)
    left = tuple(token for token in mine if token in present)
    if left != mine[: len(left)] or left != current[len(current) - len(left) :]:
        raise Internal(f"sealed tokens {current} are no continuation of {mine}")
    newer = current[: len(current) - len(left)]
    if len(left) == len(mine):
        return Trim(Overlap.NOBODY, left, newer)
    return Trim(Overlap.EARLIER if left else Overlap.LATER, left, newer)
