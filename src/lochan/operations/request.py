# SPDX-License-Identifier: Apache-2.0
"""What is asked of a branch when it shall move: a tree, where it goes, and what is said of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lochan.errors import LochanError
from lochan.model.ids import MetaRangeId
from lochan.model.instant import EPOCH, Instant
from lochan.model.records import Clock, Commit, Provenance
from lochan.operations.allowed import Action
from lochan.operations.branch_reads import BranchRead
from lochan.refs.kinship import Kinship


@dataclass(frozen=True, slots=True)
class Said:
    """What goes into a commit record besides the tree and its place in history."""

    committer: str
    message: str
    metadata: Mapping[str, str]
    creation_date: Instant
    started: Instant = EPOCH
    finished: Instant = EPOCH
    provenance: tuple[Provenance, ...] = ()


@dataclass(frozen=True, slots=True)
class Tip:
    """Where the next commit of a branch goes: on `head`, which may itself be unpublished yet.

    `clocks` is the clock that the commit will have. `kinship` knows the unpublished ones.
    """

    head: Commit
    clocks: tuple[Clock, ...]
    kinship: Kinship


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tree that is to become the head; `source` is a merge's second parent."""

    tree: MetaRangeId
    source: Commit | None = None


# Says what to put on a tip. It may be asked again, of another tip, and must have no effect.
Make = Callable[[Tip], Candidate]
Answer = Commit | LochanError


@dataclass(eq=False, slots=True)
class Request:
    """What one caller wants of a branch, which was `began` when it asked.

    Without `make` it wants what is staged to be committed.
    """

    said: Said
    began: BranchRead
    make: Make | None = None
    allow_empty: bool = False
    action: Action = Action.COMMIT
    force: bool = False
    answer: Answer | None = None
