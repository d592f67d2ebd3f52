# SPDX-License-Identifier: Apache-2.0
"""Pages of a log with bookmarks are the log, and cost what the log costs."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lochan.errors import InvalidInput
from lochan.kv.drivers.memory import MemoryStore
from lochan.model.ids import CommitId
from lochan.model.instant import Instant
from lochan.model.records import Commit
from lochan.refs.log import Bookmark, Question, log, log_page
from lochan.refs.tables import RepositoryTables
from support.clock_world import Counting
from support.histories import (
    ENVIRONMENT,
    Shape,
    ids,
    new_tables,
    shapes,
    store_history,
    tables_of,
)
from support.tree_strategies import examples


def paged(tables: RepositoryTables, asked: Question, size: int) -> list[CommitId]:
    """Put pages together, each from the bookmark of the one before."""
    found: list[CommitId] = []
    bookmark: Bookmark | None = None
    while True:
        page = log_page(tables, asked, size, bookmark)
        assert len(page.commits) <= size
        assert len(found) <= 1_000, "pages without end"
        found += ids(list(page.commits))
        bookmark = page.following
        if bookmark is None:
            return found


def is_even(commit: Commit, _: Commit | None) -> bool:
    return int(commit.message.split()[1]) % 2 == 0


@st.composite
def braids(draw: st.DrawFn) -> Shape:
    """Draw a history in which nearly everything is behind the last commit, dates at random."""
    shape: Shape = [((), draw(st.integers(0, 5)))]
    for place in range(1, draw(st.integers(2, 10))):
        near = st.integers(max(0, place - 3), place - 1)
        parents = draw(st.lists(near, min_size=1, max_size=2, unique=True))
        shape.append((tuple(parents), draw(st.integers(0, 5))))
    return shape


@given(braids(), st.integers(1, 4))
@example([((), 5), ((0,), 6), ((0,), 1), ((1, 2), 7)], 3)
@examples(250)
def test_no_commit_comes_twice_or_is_passed_over_where_dates_are_wrong(
    shape: Shape, size: int
) -> None:
    tables = new_tables()
    head = store_history(tables, shape)[-1]
    assert paged(tables, Question(head.id), size) == ids(log(tables, head.id))


@given(braids() | shapes(), st.data())
@examples(120)
def test_pages_are_the_log_whatever_is_asked_and_however_wrong_the_dates(
    shape: Shape, data: st.DataObject
) -> None:
    tables = new_tables()
    commits = store_history(tables, shape)
    asked = Question(
        commits[-1].id,
        first_parent=data.draw(st.booleans()),
        since=data.draw(st.none() | st.integers(0, 4).map(Instant)),
        stop_at=data.draw(st.none() | st.sampled_from(ids(commits))),
        touches=data.draw(st.sampled_from([None, is_even])),
    )
    whole = log(
        tables,
        asked.commit_id,
        first_parent=asked.first_parent,
        since=asked.since,
        stop_at=asked.stop_at,
        touches=asked.touches,
    )
    assert paged(tables, asked, data.draw(st.integers(1, 4))) == ids(whole)


def braided(count: int) -> Shape:
    """Two lines that merge each other now and then."""
    shape: Shape = [((), 0), ((0,), 1)]
    for place in range(2, count):
        parents = (place - 2, place - 1) if place % 7 == 0 else (place - 2,)
        shape.append((parents, place))
    return shape


@pytest.mark.parametrize("first_parent", [False, True])
def test_a_log_read_by_pages_reads_hardly_more_than_at_once(*, first_parent: bool) -> None:
    store = MemoryStore(ENVIRONMENT)
    head = store_history(tables_of(store), braided(400))[-1]
    counting = Counting(store)
    asked = Question(head.id, first_parent=first_parent)
    once = len(list(log(tables_of(counting), head.id, first_parent=first_parent)))
    walked = counting.reads
    paged_ids = paged(tables_of(counting), asked, 10)

    assert len(paged_ids) == once
    assert counting.reads - walked < 1.5 * walked


def test_a_bookmark_says_no_more_where_nothing_follows() -> None:
    tables = new_tables()
    first, second = store_history(tables, [((), 1), ((0,), 2)])
    page = log_page(tables, Question(second.id), 1)
    assert page.following == Bookmark(second.id, (first.id,))
    assert log_page(tables, Question(second.id), 2).following is None
    with pytest.raises(InvalidInput):
        log_page(tables, Question(second.id), 0)
