# SPDX-License-Identifier: Apache-2.0
"""The report counts what refs hold, together and each alone."""

from lochan.model.ids import TagName
from lochan.operations.storage_report import storage_report
from lochan.operations.tags import create_tag
from support.collected_lake import Ground
from support.lakes import MAIN


def test_what_refs_share_is_counted_once() -> None:
    ground = Ground.open()
    ground.put("a", b"1234")
    dev = ground.branch("dev", ground.commit())
    ground.put("b", b"12", branch=dev)
    ground.commit(dev)
    ground.put("c", b"123")
    ground.commit()
    found = storage_report(*ground.where)
    assert (found.objects, found.size) == (3, 9)
    by_ref = {one.ref: (one.size, one.unique_size, one.shared_size) for one in found.refs}
    assert by_ref == {"main": (7, 3, 4), "dev": (6, 2, 4)}


def test_refs_may_be_named_and_tags_are_refs() -> None:
    ground = Ground.open()
    ground.put("a", b"1234")
    create_tag(*ground.where, TagName("v1"), ground.commit())
    ground.delete("a")
    ground.commit()
    assert [one.unique_size for one in storage_report(*ground.where).refs] == [0, 4]
    assert storage_report(*ground.where, ["main~1", MAIN]).size == 4


def test_an_empty_repository_holds_nothing() -> None:
    assert storage_report(*Ground.open().where).size == 0
