# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput, NotFound, Unavailable
from lochan.model.ids import CommitId
from lochan.model.instant import Instant
from lochan.model.records import Commit
from lochan.refs.log import log
from support.histories import (
    Shape,
    assert_every_failure_is_raised,
    ids,
    new_tables,
    shapes,
    store_history,
)
from support.tree_strategies import examples


def naive_log(
    commits: list[Commit], head: Commit, *, first_parent: bool = False, since: int = 0
) -> list[CommitId]:
    """Look through all commits for the next one, each time from the beginning."""
    by_id = {commit.id: commit for commit in commits}
    shown: list[CommitId] = []
    while True:
        open_ids = {head.id}
        for name in shown:
            open_ids.update(by_id[name].parents[:1] if first_parent else by_id[name].parents)
        left = [by_id[name] for name in open_ids - set(shown)]
        left = [commit for commit in left if commit.creation_date >= since]
        if not left:
            return shown
        shown.append(max(left, key=lambda commit: (commit.creation_date, commit.id)).id)


@given(shapes(), st.data())
@examples(120)
def test_the_log_is_what_a_naive_search_gives(shape: Shape, data: st.DataObject) -> None:
    tables = new_tables()
    commits = store_history(tables, shape)
    head = data.draw(st.sampled_from(commits))
    first_parent, since = data.draw(st.booleans()), data.draw(st.integers(0, 4))
    found = ids(log(tables, head.id, first_parent=first_parent, since=Instant(since)))
    assert found == naive_log(commits, head, first_parent=first_parent, since=since)


@given(shapes(), st.integers(1, 5), st.sampled_from([1, 2, 3]))
@examples(60)
def test_pages_put_together_are_the_whole_log(shape: Shape, size: int, every: int) -> None:
    tables = new_tables()
    head = store_history(tables, shape)[-1]
    wanted = touching(lambda commit: int(commit.message.split()[1]) % every == 0)
    touches = wanted if every > 1 else None
    pages: list[CommitId] = []
    after: CommitId | None = None
    while page := ids(log(tables, head.id, after=after, limit=size, touches=touches)):
        pages += page
        after = page[-1]
    assert pages == ids(log(tables, head.id, touches=touches))


@given(shapes(), st.data())
@examples(60)
def test_stop_at_is_the_last_commit_given(shape: Shape, data: st.DataObject) -> None:
    tables = new_tables()
    commits = store_history(tables, shape)
    whole = ids(log(tables, commits[-1].id))
    stop = data.draw(st.sampled_from(commits)).id
    expected = whole[: whole.index(stop) + 1] if stop in whole else whole
    assert ids(log(tables, commits[-1].id, stop_at=stop)) == expected


def touching(judge: Callable[[Commit], bool]) -> Callable[[Commit, Commit | None], bool]:
    def touches(commit: Commit, parent: Commit | None) -> bool:
        assert commit.parents == ((parent.id,) if parent else ())
        return judge(commit)

    return touches


@given(shapes())
@examples(60)
def test_a_log_by_path_gives_the_single_parent_commits_that_touch_it(shape: Shape) -> None:
    tables = new_tables()
    commits = store_history(tables, shape)
    wanted = {commit.id for commit in commits[::2]}
    found = ids(log(tables, commits[-1].id, touches=touching(lambda one: one.id in wanted)))
    whole = log(tables, commits[-1].id)
    assert found == [one.id for one in whole if one.id in wanted and len(one.parents) < 2]


def test_commits_of_one_date_come_by_descending_id() -> None:
    tables = new_tables()
    *sides, merge = store_history(tables, [((), 5), ((), 5), ((), 5), ((0, 1, 2), 7)])
    expected = sorted(ids(sides), reverse=True)
    assert ids(log(tables, merge.id)) == [merge.id, *expected]


def test_since_looks_behind_no_older_commit() -> None:
    tables = new_tables()
    # The middle commit was made on a machine whose clock was behind.
    _, _, head = store_history(tables, [((), 9), ((0,), 1), ((1,), 10)])
    assert ids(log(tables, head.id, since=Instant(5))) == [head.id]


def test_stop_at_ends_a_log_by_path_even_where_it_touches_nothing() -> None:
    tables = new_tables()
    a, b, c = store_history(tables, [((), 1), ((0,), 2), ((1,), 3)])
    found = log(tables, c.id, stop_at=b.id, touches=touching(lambda one: one.id != b.id))
    assert ids(found) == [c.id]
    assert ids(log(tables, c.id, touches=touching(lambda one: one.id != b.id))) == [c.id, a.id]


def test_a_limit_is_exact_and_reads_no_further() -> None:
    tables = new_tables()
    a, b, c = store_history(tables, [((), 1), ((0,), 2), ((1,), 3)])
    tables.commits.delete(a.id.encode())
    assert ids(log(tables, c.id, limit=2)) == [c.id, b.id]
    assert ids(log(tables, c.id, limit=0)) == []
    with pytest.raises(InvalidInput):
        log(tables, c.id, limit=-1)


def test_going_on_after_a_commit_that_is_not_in_the_log_is_not_its_end() -> None:
    tables = new_tables()
    a, b = store_history(tables, [((), 1), ((), 2)])
    with pytest.raises(NotFound):
        list(log(tables, b.id, after=a.id))


def test_rel_H9_a_failing_read_is_never_the_end_of_a_log() -> None:
    tables = new_tables()
    a, _, _, d = store_history(tables, [((), 0), ((0,), 1), ((0,), 2), ((1, 2), 3)])
    assert_every_failure_is_raised(tables, lambda broken: list(log(broken, d.id)))
    always = touching(lambda _: True)
    assert_every_failure_is_raised(tables, lambda broken: list(log(broken, d.id, touches=always)))
    tables.commits.delete(a.id.encode())
    with pytest.raises(NotFound):
        list(log(tables, d.id))


def test_what_touches_raises_goes_through() -> None:
    def touches(_: Commit, __: Commit | None) -> bool:
        raise Unavailable("the tree cannot be read")

    tables = new_tables()
    (a,) = store_history(tables, [((), 0)])
    with pytest.raises(Unavailable):
        list(log(tables, a.id, touches=touches))
