# SPDX-License-Identifier: Apache-2.0
"""Collections and storage reports: begun as tasks, and asked about until they are done."""

from typing import Annotated

from msgspec import Meta, Struct, field

from lochan.shapes.errors import Error
from lochan.shapes.fields import Timestamp
from lochan.shapes.tasks import Done, TaskId

_DAY_H = 24.0
Nanoseconds = Annotated[int, Meta(description="Nanoseconds since 1970.")]
Progress = Annotated[int, Meta(ge=0, description="What was looked at so far.")]


class CollectionCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How to collect."""

    plan: Annotated[bool, Meta(description="Say what a run would do, and do nothing.")] = False
    grace_hours: Annotated[
        float, Meta(ge=0, le=1e6, description="How long an object must be dead.")
    ] = 2 * _DAY_H
    most_percent: Annotated[
        float, Meta(ge=0, le=100, description="Refuse to move more of the store than that.")
    ] = 50.0
    force: Annotated[bool, Meta(description="Move more than that, too.")] = False
    idle_days: Annotated[
        float,
        Meta(
            ge=0, le=1e6, description="Delete private branches on which nothing happened so long."
        ),
    ] = 7.0


class CollectionUndo(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which run to undo."""

    run: Annotated[str, Meta(description="The run; else the latest.")] = ""


class Amount(Struct, frozen=True, kw_only=True):
    """So many objects, of so many bytes."""

    count: Annotated[int, Meta(ge=0, description="Objects.")]
    size: Annotated[int, Meta(ge=0, description="Bytes.")]


class CollectionReport(Struct, frozen=True, kw_only=True):
    """What a run found and did, or would do now."""

    run: Annotated[str, Meta(description="Names the run.")]
    is_plan: Annotated[bool, Meta(description="Whether nothing was done.")]
    time: Nanoseconds
    listed: Amount
    young: Annotated[int, Meta(ge=0, description="Objects that are too young to be looked at.")]
    dead: Amount
    due: Amount
    waiting: Amount
    moved: Annotated[int, Meta(ge=0, description="Objects that went to the trash.")] = 0
    next_due: Nanoseconds = 0
    commits_kept: Annotated[int, Meta(ge=0, description="Commits that the rules keep.")] = 0
    commits_expired: Annotated[int, Meta(ge=0, description="Commits that they do not.")] = 0
    ranges: Annotated[int, Meta(ge=0, description="Ranges that were marked.")] = 0
    branches_removed: Annotated[int, Meta(ge=0, description="Private branches left behind.")] = 0
    partitions: Annotated[dict[str, Amount], Meta(description="Where most of the dead lie.")] = (
        field(default_factory=dict)
    )
    examples: Annotated[list[str], Meta(description="Some of the dead.")] = field(
        default_factory=list
    )


class CollectionUndone(Struct, frozen=True, kw_only=True):
    """A run that was undone."""

    run: Annotated[str, Meta(description="The run.")]
    count: Annotated[int, Meta(ge=0, description="Objects that came back.")]


class CollectionStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a collection, its plan or its undoing has come."""

    id: TaskId
    done: Done
    update_time: Timestamp
    progress: Progress = 0
    error: Error | None = None
    report: CollectionReport | None = None
    undone: CollectionUndone | None = None


class StorageReportCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What to report on."""

    refs: Annotated[
        list[str], Meta(max_length=1000, description="Refs; else all branches and tags.")
    ] = field(default_factory=list)


class RefUsage(Struct, frozen=True, kw_only=True):
    """What one ref holds, with others and alone."""

    ref: Annotated[str, Meta(description="The ref.")]
    commit_id: Annotated[str, Meta(description="Its commit.")]
    objects: Annotated[int, Meta(ge=0, description="Objects that it shows.")]
    size: Annotated[int, Meta(ge=0, description="Their bytes.")]
    unique_objects: Annotated[int, Meta(ge=0, description="Objects that no other shows.")]
    unique_size: Annotated[int, Meta(ge=0, description="Their bytes.")]


class StorageReport(Struct, frozen=True, kw_only=True):
    """What refs hold, all together and each."""

    objects: Annotated[int, Meta(ge=0, description="Objects of all together.")]
    size: Annotated[int, Meta(ge=0, description="Their bytes.")]
    refs: list[RefUsage]


class StorageReportStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a storage report has come."""

    id: TaskId
    done: Done
    update_time: Timestamp
    progress: Progress = 0
    error: Error | None = None
    report: StorageReport | None = None
