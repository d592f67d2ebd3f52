# SPDX-License-Identifier: Apache-2.0
import pytest

from lochan.errors import AlreadyExists, Conflict, NotFound, NotUnique, UnknownOutcome
from lochan.faults import Fault
from lochan.kv.faulty import fail_nth
from lochan.model.ids import CommitId, TagName
from lochan.model.records import Tag
from lochan.refs.seek import following
from lochan.refs.tables import RepositoryTables
from lochan.refs.tags import create_tag, delete_tag, get_tag, list_tags
from support.histories import (
    assert_every_failure_is_raised,
    commit_of,
    faulty,
    new_tables,
    put_branch,
)

V1 = TagName("v1")
# create_tag asks for a branch and a commit of the name first; its write is the third call.
CREATE = 3


@pytest.fixture
def tables() -> RepositoryTables:
    return new_tables()


def tag(name: str, commit: str = "c1") -> Tag:
    return Tag(tag_id=TagName(name), commit_id=CommitId(commit))


def test_a_tag_that_was_created_is_read_back(tables: RepositoryTables) -> None:
    create_tag(tables, tag("v1"))
    assert get_tag(tables, V1).record == tag("v1")


def test_a_tag_that_is_not_there_is_not_found(tables: RepositoryTables) -> None:
    with pytest.raises(NotFound) as missing:
        get_tag(tables, V1)
    assert missing.value.code == "tag-not-found"


def test_a_tag_is_made_once_and_never_moved(tables: RepositoryTables) -> None:
    create_tag(tables, tag("v1"))
    for again in (tag("v1"), tag("v1", "c2")):
        with pytest.raises(NotUnique):
            create_tag(tables, again)
    assert get_tag(tables, V1).record == tag("v1")


def test_a_tag_takes_no_name_of_a_branch_or_commit(tables: RepositoryTables) -> None:
    commit = commit_of("a")
    tables.commits.set(commit.id.encode(), commit)
    put_branch(tables, "main", commit)
    for name in ("main", commit.id):
        with pytest.raises(AlreadyExists) as taken:
            create_tag(tables, tag(name))
        assert not isinstance(taken.value, NotUnique)
    assert list(list_tags(tables)) == []


def test_rel_H15_a_lost_answer_to_a_create_that_landed_is_success(tables: RepositoryTables) -> None:
    create_tag(faulty(tables, fail_nth(CREATE, Fault.LOST_RESPONSE)), tag("v1"))
    assert get_tag(tables, V1).record == tag("v1")


def test_rel_H15_a_lost_create_stays_unknown(tables: RepositoryTables) -> None:
    with pytest.raises(UnknownOutcome):
        create_tag(faulty(tables, fail_nth(CREATE, Fault.LOST_REQUEST)), tag("v1"))
    create_tag(tables, tag("v1", "c2"))
    with pytest.raises(UnknownOutcome):
        create_tag(faulty(tables, fail_nth(CREATE, Fault.LOST_RESPONSE)), tag("v1"))
    assert get_tag(tables, V1).record == tag("v1", "c2")


def test_a_tag_that_was_deleted_is_gone(tables: RepositoryTables) -> None:
    create_tag(tables, tag("v1"))
    stored = get_tag(tables, V1)
    delete_tag(tables, stored)
    with pytest.raises(NotFound):
        delete_tag(tables, stored)


def test_rel_H18_a_late_delete_spares_a_tag_put_elsewhere_since(tables: RepositoryTables) -> None:
    create_tag(tables, tag("v1"))
    late = get_tag(tables, V1)
    delete_tag(tables, get_tag(tables, V1))
    create_tag(tables, tag("v1", "c2"))
    with pytest.raises(Conflict):
        delete_tag(tables, late)
    assert get_tag(tables, V1).record == tag("v1", "c2")


def test_rel_H15_a_lost_delete_is_judged_by_what_is_there(tables: RepositoryTables) -> None:
    create_tag(tables, tag("v1"))
    stored = get_tag(tables, V1)
    with pytest.raises(UnknownOutcome):
        delete_tag(faulty(tables, fail_nth(1, Fault.LOST_REQUEST)), stored)
    delete_tag(faulty(tables, fail_nth(1, Fault.LOST_RESPONSE)), stored)
    assert tables.tags.find(b"v1") is None


def test_tags_are_listed_and_sought_by_name(tables: RepositoryTables) -> None:
    for name in ("v1.2", "v1", "v3"):
        create_tag(tables, tag(name))
    tables.tags.store.set(tables.tags.partition, b"tagsx", b"beyond the prefix")
    assert [found.tag_id for found in list_tags(tables)] == ["v1", "v1.2", "v3"]
    assert [found.tag_id for found in list_tags(tables, "v1.2")] == ["v1.2", "v3"]
    assert [found.tag_id for found in list_tags(tables, following("v1"))] == ["v1.2", "v3"]
    assert [found.tag_id for found in list_tags(tables, "v2")] == ["v3"]
    assert_every_failure_is_raised(tables, lambda broken: list(list_tags(broken)))
