# SPDX-License-Identifier: Apache-2.0
"""What fsck says: one finding for each thing that is not as it should be.

error     something that was promised is missing or wrong
warning   nothing is lost, but something does not work, or is slower than it should be
note      what crashes leave behind; it is mended on the way, or by the cleaner
"""

from enum import Enum, StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


_RESTORE = "restore it from a backup, or delete what needs it"
_FILE = "fetch the file from a backup of the object store; its name is its content's hash"
_REPAIR = "run repair: it can be computed again"
_NOTHING = "nothing; it is mended when somebody needs it"


class Kind(Enum):
    """What can be wrong: a stable word, how bad it is, and what to do."""

    UNREADABLE_RECORD = ("unreadable-record", Severity.ERROR, _RESTORE)
    MISNAMED_RECORD = ("misnamed-record", Severity.ERROR, _RESTORE)
    MISSING_COMMIT = ("missing-commit", Severity.ERROR, _RESTORE)
    DAMAGED_COMMIT = ("damaged-commit", Severity.ERROR, _RESTORE)
    WRONG_GENERATION = ("wrong-generation", Severity.ERROR, _RESTORE)
    WRONG_CLOCK = ("wrong-clock", Severity.ERROR, _RESTORE)
    PLACE_GIVEN_TWICE = ("place-given-twice", Severity.ERROR, "report it: this must not happen")
    WRONG_LINE = ("wrong-line", Severity.ERROR, "reset the branch to its head")
    WRONG_CLOCK_ROW = ("wrong-clock-row", Severity.ERROR, _REPAIR)
    MISSING_CLOCK_ROW = ("missing-clock-row", Severity.NOTE, _NOTHING)
    WRONG_REACH_ROW = ("wrong-reach-row", Severity.ERROR, _REPAIR)
    MISSING_REACH_ROW = ("missing-reach-row", Severity.ERROR, _REPAIR)
    LEFT_REACH_ROW = ("left-reach-row", Severity.NOTE, "nothing, or run repair; nobody counts it")
    UNCHECKED_ROWS = ("unchecked-rows", Severity.NOTE, "mend the findings above, then run fsck")
    MISSING_METARANGE = ("missing-metarange", Severity.ERROR, _FILE)
    DAMAGED_METARANGE = ("damaged-metarange", Severity.ERROR, _FILE)
    MISSING_RANGE = ("missing-range", Severity.ERROR, _FILE)
    DAMAGED_RANGE = ("damaged-range", Severity.ERROR, _FILE)
    UNREADABLE_ENTRY = ("unreadable-entry", Severity.ERROR, "delete the object, or put it again")
    WRONG_IDENTITY = ("wrong-identity", Severity.ERROR, "delete the object, or put it again")
    MISSING_OBJECT = ("missing-object", Severity.ERROR, "restore the object, or delete it here")
    CHANGED_OBJECT = ("changed-object", Severity.ERROR, "restore the object, or put it again")
    UNREADABLE_STAGED_ROW = ("unreadable-staged-row", Severity.ERROR, "put the object again")
    SHARED_TOKEN = ("shared-token", Severity.ERROR, "commit one of the branches, then report it")
    MISSING_DEFAULT_BRANCH = ("missing-default-branch", Severity.WARNING, "create the branch")
    UNREADABLE_NOTE = ("unreadable-note", Severity.WARNING, "delete the note")
    NOTE_ABOUT_THE_LIVING = ("note-about-the-living", Severity.ERROR, "delete the note; report it")
    UNFINISHED_REPOSITORY = ("unfinished-repository", Severity.NOTE, "let the cleaner run")

    def __init__(self, word: str, severity: Severity, advice: str) -> None:
        """Keep what the value says."""
        self.word = word
        self.severity = severity
        self.advice = advice


class Finding(NamedTuple):
    """One thing that is wrong: what kind of thing, where it is, and how it shows."""

    kind: Kind
    where: str
    what: str

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return self.kind.severity

    @property
    def advice(self) -> str:
        """What to do about it."""
        return self.kind.advice

    def __str__(self) -> str:
        return f"{self.severity}: {self.kind.word}: {self.where}: {self.what}; {self.advice}"
