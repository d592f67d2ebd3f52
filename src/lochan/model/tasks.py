# SPDX-License-Identifier: Apache-2.0
"""The record of work that goes on behind the answer to a request, and its bytes (tasks.proto).

The rules of the bytes are those of `codec`: canonical, unknown fields kept, Corruption for what is
no such message.
"""

import msgspec

from lochan.model import tasks_pb2 as wire
from lochan.model.ids import BranchName, CommitId, MetaRangeId
from lochan.model.instant import Instant
from lochan.model.message import (
    decoded,
    encoding,
    instant_of,
    message_bytes,
    timestamp_of,
    unknown_fields,
)


class TaskResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a task: an import's commit, or a dump's metaranges."""

    commit_id: CommitId = CommitId("")
    commits_meta_range_id: MetaRangeId = MetaRangeId("")
    tags_meta_range_id: MetaRangeId = MetaRangeId("")
    branches_meta_range_id: MetaRangeId = MetaRangeId("")


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """How far a task has come; it failed if it is done and has an error.

    `updated_at` is renewed for as long as the process lives that works on it (`owner`). A task that
    is `committing` can no longer be cancelled. `branch` is what an import goes to. `report` is
    JSON: what came of a collection or a storage report.
    """

    id: str
    operation: str
    updated_at: Instant
    owner: str
    done: bool = False
    progress: int = 0
    error: str = ""
    error_code: str = ""
    committing: bool = False
    branch: BranchName = BranchName("")
    result: TaskResult = TaskResult()
    report: str = ""
    unknown: bytes = b""


def encode_task(record: Task) -> bytes:
    """Encode a task."""
    result = record.result
    with encoding("task"):
        message = wire.Task(
            id=record.id,
            done=record.done,
            updated_at=timestamp_of(record.updated_at),
            progress=record.progress,
            error=record.error,
            operation=record.operation,
            owner=record.owner,
            error_code=record.error_code,
            committing=record.committing,
            branch=record.branch,
            report=record.report,
        )
        if result != TaskResult():
            message.result.CopyFrom(wire.TaskResult(**msgspec.structs.asdict(result)))
        return message_bytes(message, record.unknown)


def decode_task(data: bytes, where: str = "a task's record") -> Task:
    """Decode a task."""
    message = decoded(wire.Task, data, where)
    found = message.result
    return Task(
        id=message.id,
        operation=message.operation,
        updated_at=instant_of(message.updated_at, where),
        owner=message.owner,
        done=message.done,
        progress=message.progress,
        error=message.error,
        error_code=message.error_code,
        committing=message.committing,
        branch=BranchName(message.branch),
        result=TaskResult(
            commit_id=CommitId(found.commit_id),
            commits_meta_range_id=MetaRangeId(found.commits_meta_range_id),
            tags_meta_range_id=MetaRangeId(found.tags_meta_range_id),
            branches_meta_range_id=MetaRangeId(found.branches_meta_range_id),
        ),
        report=message.report,
        unknown=unknown_fields(message),
    )
