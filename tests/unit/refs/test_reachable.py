# SPDX-License-Identifier: Apache-2.0
import msgspec
from hypothesis import given
from hypothesis import strategies as st

from lochan.kv.faulty import Faulty, no_faults
from lochan.model.ids import CommitId
from lochan.model.records import Commit
from lochan.refs.commits import add_commit
from lochan.refs.reachable import reachable
from support.histories import (
    ENVIRONMENT,
    Shape,
    assert_every_failure_is_raised,
    commit_of,
    new_tables,
    put_branch,
    put_tag,
    shapes,
    store_history,
    tables_of,
)
from support.tree_strategies import examples


def closure(commits: list[Commit], roots: list[Commit]) -> set[CommitId]:
    found = {root.id for root in roots}
    for commit in reversed(commits):  # children come after their parents
        if commit.id in found:
            found.update(commit.parents)
    return found


@given(shapes(), st.data())
@examples(150)
def test_reachable_commits_are_those_behind_a_branch_or_tag(
    shape: Shape, data: st.DataObject
) -> None:
    tables = new_tables()
    commits = store_history(tables, shape)
    if data.draw(st.booleans(), "generations are not known"):
        commits = [msgspec.structs.replace(commit, generation=0) for commit in commits]
        for commit in commits:
            add_commit(tables, commit)
    some = st.lists(st.sampled_from(commits), max_size=3, unique_by=lambda commit: commit.id)
    heads, tagged, wanted = data.draw(some), data.draw(some), data.draw(some)
    for number, commit in enumerate(heads):
        put_branch(tables, f"b{number}", commit)
    for number, commit in enumerate(tagged):
        put_tag(tables, f"t{number}", commit)
    found = list(reachable(tables, wanted))
    assert len(found) == len(set(found))
    assert set(found) == closure(commits, heads + tagged) & {commit.id for commit in wanted}


def test_the_search_reads_only_what_is_younger() -> None:
    tables = new_tables()
    commits = store_history(tables, [((), 0), *[((place,), 0) for place in range(200)]])
    put_branch(tables, "main", commits[-1])
    dangling = commit_of("a crashed attempt", [commits[195]])
    add_commit(tables, dangling)
    counted = Faulty(tables.commits.store, no_faults, ENVIRONMENT)
    assert list(reachable(tables_of(counted), [dangling])) == []
    assert counted.calls < 16


def test_rel_H9_no_failure_makes_a_commit_unreachable() -> None:
    tables = new_tables()
    a, b = store_history(tables, [((), 0), ((0,), 0)])
    put_branch(tables, "main", b)
    put_tag(tables, "v1", b)
    assert_every_failure_is_raised(tables, lambda broken: list(reachable(broken, [a])))
