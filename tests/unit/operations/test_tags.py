# SPDX-License-Identifier: Apache-2.0
"""Tags are made once, on commits that are part of history, and keep them findable."""

from contextlib import suppress
from itertools import count

import msgspec
import pytest

from lochan.environment import RealEnvironment
from lochan.errors import AlreadyExists, Conflict, LochanError, NotFound, NotUnique
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.ids import CommitId, ObjectKey, TagName
from lochan.model.records import Commit
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.hard_reset import hard_reset
from lochan.operations.lake import Lake
from lochan.operations.put_object import put_object
from lochan.operations.tags import create_tag, delete_tag
from lochan.refs.tags import list_tags
from support.lakes import MAIN, Stage, open_stage

V1 = TagName("v1.0")
FAULTS = [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]


def committed(stage: Stage, key: bytes = b"a") -> Commit:
    put_object(stage.lake, stage.repository, MAIN, ObjectKey(key), b"one")
    return commit(stage.lake, stage.repository, MAIN, CommitRequest("ada", "one"))


def tags_of(stage: Stage) -> list[str]:
    return [tag.tag_id for tag in list_tags(stage.lake.tables(stage.repository))]


def test_a_tag_stays_with_its_commit() -> None:
    stage = open_stage()
    one = committed(stage)
    assert create_tag(stage.lake, stage.repository, V1, one).commit_id == one.id
    two = committed(stage, b"b")
    hard_reset(stage.lake, stage.repository, MAIN, one)
    create_tag(stage.lake, stage.repository, TagName("v2"), two)  # no branch has it any more
    found = {t.tag_id: t.commit_id for t in list_tags(stage.lake.tables(stage.repository))}
    assert found == {"v1.0": one.id, "v2": two.id}


def test_a_name_is_taken_once_by_tags_and_branches_together() -> None:
    stage = open_stage()
    one = committed(stage)
    create_tag(stage.lake, stage.repository, V1, one)
    with pytest.raises(NotUnique):
        create_tag(stage.lake, stage.repository, V1, one)
    with pytest.raises(AlreadyExists, match="there is a branch 'main'"):
        create_tag(stage.lake, stage.repository, TagName(MAIN), one)


def test_a_commit_that_no_branch_ever_had_gets_no_tag() -> None:
    stage = open_stage()
    lost = msgspec.structs.replace(committed(stage), id=CommitId("0" * 64))
    with pytest.raises(Conflict, match="never published"):
        create_tag(stage.lake, stage.repository, V1, lost)
    assert tags_of(stage) == []


def test_a_deleted_tag_frees_its_name_and_its_commit_stays() -> None:
    stage = open_stage()
    one = committed(stage)
    create_tag(stage.lake, stage.repository, V1, one)
    delete_tag(stage.lake, stage.repository, V1)
    with pytest.raises(NotFound, match=r"no tag 'v1.0'"):
        delete_tag(stage.lake, stage.repository, V1)
    create_tag(stage.lake, stage.repository, V1, one)
    assert tags_of(stage) == ["v1.0"]


@pytest.mark.parametrize("verb", ["create", "delete"])
@pytest.mark.parametrize("fault", FAULTS)
def test_rel_H15_a_tag_whose_answer_was_lost_is_there_or_not(fault: Fault, verb: str) -> None:
    world = RealEnvironment()
    for number in count(1):
        stage = open_stage(MemoryStore(world), world)
        one = committed(stage)
        if verb == "delete":
            create_tag(stage.lake, stage.repository, V1, one)
        faulty = Faulty(stage.lake.store, fail_nth(number, fault), world)
        lake = Lake.of(faulty, world, stage.lake.storage)
        done = False
        with suppress(LochanError, Crashed):
            if verb == "create":
                create_tag(lake, stage.repository, V1, one)
            else:
                delete_tag(lake, stage.repository, V1)
            done = True
        wanted = tags_of(stage) == (["v1.0"] if verb == "create" else [])
        assert wanted == done or (wanted and fault is Fault.CRASH_AFTER)
        if faulty.calls < number:
            assert done
            return
