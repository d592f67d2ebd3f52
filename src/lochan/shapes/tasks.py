# SPDX-License-Identifier: Apache-2.0
"""Tasks: work that goes on behind the answer, and is asked about until it is done."""

from typing import Annotated

from msgspec import Meta, Struct

from lochan.shapes.fields import Timestamp
from lochan.shapes.refs import RefsDump

TaskId = Annotated[str, Meta(description="Names the task when it is asked about.")]
Done = Annotated[bool, Meta(description="Whether it is over, well or not.")]
Failure = Annotated[str, Meta(description="Why it failed; absent if it did not.")]


class TaskInfo(Struct, frozen=True, kw_only=True):
    """A dump or restore that has begun."""

    id: TaskId


class TaskCreation(Struct, frozen=True, kw_only=True):
    """A preparation of garbage collection that has begun."""

    id: TaskId


class TaskQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which dump or restore is meant."""

    task_id: Annotated[str, Meta(min_length=1, description="What beginning it answered.")]


class RepositoryDumpStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a dump has come."""

    id: TaskId
    done: Done
    update_time: Timestamp
    error: Failure | None = None
    refs: RefsDump | None = None


class RepositoryRestoreStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a restore has come."""

    id: TaskId
    done: Done
    update_time: Timestamp
    error: Failure | None = None
