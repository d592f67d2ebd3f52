# SPDX-License-Identifier: Apache-2.0
"""Conditional writes of one key, and what others do to it meanwhile."""

from collections.abc import Callable, Iterator
from hashlib import md5

from lochan.errors import Conflict, PredicateFailed
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Commit
from lochan.operations.conditions import Condition, if_match
from lochan.operations.put_object import put_object
from lochan.operations.seal import seal
from support.branch_content import (
    committed_and_cleaned,
    content,
    delete,
    put,
    record,
)
from support.lakes import MAIN, Stage

DEV = BranchName("dev")
KEY = ObjectKey(b"a")
OURS = b"ours"
Story = Callable[[Stage], object]


def put_if(stage: Stage, body: bytes, condition: Condition) -> bool | None:
    """Put; None where nobody can tell whether it was done."""
    try:
        put_object(stage.lake, stage.repository, MAIN, KEY, body, condition=condition)
    except PredicateFailed:
        return False
    except Conflict as error:
        if error.code != "write-overtaken":
            raise
        return None
    return True


def is_now(body: bytes) -> Condition:
    return if_match(md5(body, usedforsecurity=False).hexdigest())


def value(stage: Stage) -> bytes | None:
    return content(stage).get(b"a")


def commits(stage: Stage) -> Iterator[Commit]:
    for _, each in stage.lake.tables(stage.repository).commits.scan():
        yield each


def sealed(stage: Stage) -> None:
    seal(stage.lake, stage.repository, MAIN)


def nothing(stage: Stage) -> None:
    """Leave a lake as it is."""


def one(stage: Stage) -> None:
    put(stage, b"a", b"0")


def one_committed(stage: Stage) -> None:
    one(stage)
    record(stage)


def one_deleted(stage: Stage) -> None:
    one(stage)
    delete(stage, b"a")


def deleted(stage: Stage) -> bool:
    delete(stage, b"a")
    return True


def of_another(stage: Stage) -> None:
    """Change another key, so that there is something to commit."""
    put(stage, b"x", b"x")


def commit_another(stage: Stage) -> None:
    of_another(stage)
    record(stage)


SEALS: dict[str, Story] = {
    "sealed": sealed,
    "committed": record,
    "committed and cleaned": committed_and_cleaned,
}
