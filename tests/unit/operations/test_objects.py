# SPDX-License-Identifier: Apache-2.0
"""Objects of a branch: put, read, list and delete, before anything is committed."""

import msgspec
import pytest
from hypothesis import strategies as st

from lochan.errors import NotFound, PredicateFailed, RepositoryDeleting, RepositoryNotFound
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import RepositoryState
from lochan.operations.delete_objects import delete_objects
from lochan.operations.put_object import put_object
from lochan.operations.read_object import read_entry, stat_object
from lochan.refs.tables import repositories
from support.lakes import MAIN, Stage, open_stage


def put(stage: Stage, key: bytes, body: bytes) -> None:
    put_object(stage.lake, stage.repository, MAIN, ObjectKey(key), body)


def read(stage: Stage, key: bytes) -> bytes:
    entry = stat_object(stage.lake, stage.repository, MAIN, ObjectKey(key))
    with read_entry(stage.lake, stage.repository, entry) as reading:
        return reading.read()


def test_what_was_put_is_read_back() -> None:
    stage = open_stage()
    put(stage, b"a/b.csv", b"one")
    put(stage, b"a/b.csv", b"two")
    assert read(stage, b"a/b.csv") == b"two"


def test_what_was_deleted_is_not_found() -> None:
    stage = open_stage()
    put(stage, b"a", b"one")
    delete_objects(stage.lake, stage.repository, MAIN, [ObjectKey(b"a"), ObjectKey(b"never")])
    with pytest.raises(NotFound, match="no object 'a'"):
        read(stage, b"a")


def test_a_branch_that_is_not_there_takes_no_bytes() -> None:
    stage = open_stage()
    with pytest.raises(NotFound, match="no branch 'dev'"):
        put_object(stage.lake, stage.repository, BranchName("dev"), ObjectKey(b"a"), b"x")
    assert stage.storage.objects.list("data/").entries == ()


def put_first(stage: Stage, key: bytes, body: bytes) -> None:
    where = (stage.lake, stage.repository, MAIN, ObjectKey(key))
    put_object(*where, body, condition=lambda shown: shown is None)


def test_a_put_that_must_be_first_is_refused_when_it_is_not() -> None:
    stage = open_stage()
    put_first(stage, b"a", b"one")
    with pytest.raises(PredicateFailed, match="is not as the request expects"):
        put_first(stage, b"a", b"two")
    assert read(stage, b"a") == b"one"


def test_rel_R17_a_deleted_repository_takes_no_writes() -> None:
    stage = open_stage()
    put(stage, b"a", b"one")
    table = repositories(stage.lake.store)
    name = stage.repository.repository_id.encode()
    deleting = RepositoryState.DELETING
    table.set(name, msgspec.structs.replace(stage.repository, repository_state=deleting))
    with pytest.raises(RepositoryDeleting):
        put(stage, b"a", b"two")
    table.delete(name)
    with pytest.raises(RepositoryNotFound):
        put(stage, b"a", b"two")


keys = st.text("ab/", min_size=1, max_size=4).map(str.encode)
