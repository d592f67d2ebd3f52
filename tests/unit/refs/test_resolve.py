# SPDX-License-Identifier: Apache-2.0
"""What each kind of ref means, by example."""

from functools import partial

import msgspec
import pytest

from lochan.errors import InvalidInput, NotFound
from lochan.model.ids import CommitId, LineageId
from lochan.model.records import Clock, Commit, Ordinal
from lochan.refs.clock_index import ClockIndex
from lochan.refs.commits import add_commit
from lochan.refs.expression import Sign
from lochan.refs.resolve import Resolved, resolve
from lochan.refs.tables import RepositoryTables
from support.clock_world import REPOSITORY as CLOCKED
from support.clock_world import Counting, World
from support.histories import (
    REPOSITORY,
    assert_every_failure_is_raised,
    branch_of,
    commit_of,
    new_tables,
    put_branch,
    put_tag,
    store_history,
)


@pytest.fixture
def tables() -> RepositoryTables:
    return new_tables()


def with_ids(tables: RepositoryTables, *names: str) -> list[Commit]:
    """Store commits under ids of our choosing, without parents: their beginnings can collide."""
    commits = []
    for name in names:
        commits.append(msgspec.structs.replace(commit_of(name), id=CommitId(name.ljust(64, "0"))))
        add_commit(tables, commits[-1])
    return commits


def refused(tables: RepositoryTables, ref: str) -> NotFound:
    with pytest.raises(NotFound) as error:
        resolve(tables, ref)
    return error.value


def test_a_branch_means_its_head_and_what_is_staged(tables: RepositoryTables) -> None:
    (commit,) = store_history(tables, [((), 0)])
    branch = put_branch(tables, "main", commit)
    plain, committed, staged = (resolve(tables, ref) for ref in ("main", "main@", "main$"))
    assert plain == Resolved(commit.id, branch)
    assert committed == Resolved(commit.id, branch, Sign.COMMITTED)
    assert staged == Resolved(commit.id, branch, Sign.STAGED)
    assert (plain.staging, committed.staging, staged.staging) == (True, False, True)


def test_steps_from_a_branch_mean_a_commit(tables: RepositoryTables) -> None:
    a, b, c, d = store_history(tables, [((), 0), ((0,), 1), ((0,), 2), ((1, 2), 3)])
    put_branch(tables, "main", d)
    meant = {"~": b, "~2": a, "^": b, "^2": c, "^2~": a, "^2^0": c, "~0": d, "^0": d, "^^": a}
    for steps, commit in meant.items():
        assert resolve(tables, f"main{steps}") == Resolved(commit.id)
        assert resolve(tables, f"{d.id}{steps}") == Resolved(commit.id)
    assert not resolve(tables, "main~0").staging


def test_steps_beyond_history_are_refused(tables: RepositoryTables) -> None:
    _, b = store_history(tables, [((), 0), ((0,), 1)])
    put_branch(tables, "main", b)
    assert refused(tables, "main~2").code == "ref-not-found"
    assert refused(tables, "main~2000000000").code == "ref-not-found"
    for ref in ("main^2", "main~^"):
        with pytest.raises(InvalidInput):
            resolve(tables, ref)


def test_at_and_dollar_ask_for_a_branch(tables: RepositoryTables) -> None:
    (commit,) = store_history(tables, [((), 0)])
    put_branch(tables, "main", commit)
    put_tag(tables, "v1", commit)
    for ref in ("v1@", "v1$", f"{commit.id}@", f"{commit.id[:8]}$"):
        with pytest.raises(InvalidInput) as error:
            resolve(tables, ref)
        assert error.value.code == "invalid-ref"


def test_bad_syntax_is_refused(tables: RepositoryTables) -> None:
    for ref in ("", "~", "main~x", "main@~", "a b", "a/b", "\ud800"):
        with pytest.raises(InvalidInput) as error:
            resolve(tables, ref)
        assert error.value.code == "invalid-ref"


def test_names_clash_in_favour_of_id_then_branch_then_tag_then_beginning(
    tables: RepositoryTables,
) -> None:
    # Creating such names is refused one after the other; two at once, or a restore, may make them.
    by_id, by_branch, by_tag, by_beginning = with_ids(tables, "ab", "cd", "ef", "abc")
    put_branch(tables, "head", by_beginning)
    for name in (by_id.id, "abc"):
        put_branch(tables, name, by_branch)
        put_tag(tables, name, by_tag)
    assert resolve(tables, by_id.id) == Resolved(by_id.id)
    assert resolve(tables, "abc").commit_id == by_branch.id
    tables.branches.delete(b"abc")
    assert resolve(tables, "abc") == Resolved(by_tag.id)
    tables.tags.delete(b"abc")
    assert resolve(tables, "abc") == Resolved(by_beginning.id)


def test_a_branch_may_have_64_hex_digits_while_no_commit_has_them(tables: RepositoryTables) -> None:
    (commit,) = store_history(tables, [((), 0)])
    put_branch(tables, "0" * 64, commit)
    assert resolve(tables, "0" * 64).commit_id == commit.id
    assert refused(tables, "1" * 64).code == "ref-not-found"


def test_the_beginning_of_an_id_must_be_the_only_one(tables: RepositoryTables) -> None:
    first, second = with_ids(tables, "abc1", "abc2")
    put_branch(tables, "one", first)
    put_tag(tables, "two", second)
    ambiguous = refused(tables, "abc")
    assert ambiguous.code == "ref-ambiguous"
    assert set(ambiguous.facts["commits"]) == {first.id, second.id}  # type: ignore[call-overload]  # facts are objects
    assert resolve(tables, "abc1") == Resolved(first.id)
    assert refused(tables, "abc3").code == "ref-not-found"
    assert refused(tables, "ABC1").code == "ref-not-found"


def test_a_dangling_commit_is_found_by_its_whole_id_alone(tables: RepositoryTables) -> None:
    used, dangling = with_ids(tables, "abc1", "abc2")
    put_branch(tables, "main", used)
    assert resolve(tables, "abc") == Resolved(used.id)
    assert refused(tables, "abc2").code == "ref-not-found"
    assert refused(tables, dangling.id[:-1]).code == "ref-not-found"
    assert resolve(tables, dangling.id) == Resolved(dangling.id)


def test_commits_of_a_hidden_branch_have_short_names_too(tables: RepositoryTables) -> None:
    (commit,) = with_ids(tables, "abc1")
    tables.branches.set(b"h", branch_of("h", commit, hidden=True))
    assert resolve(tables, "abc") == Resolved(commit.id)


@pytest.mark.parametrize("name", ["v@1", "v~1", "v$", "a~b", "v1.2"])
def test_a_tag_with_signs_in_its_name_is_found_where_nothing_else_is_meant(
    tables: RepositoryTables, name: str
) -> None:
    (commit,) = store_history(tables, [((), 0)])
    put_tag(tables, name, commit)
    assert resolve(tables, name) == Resolved(commit.id)


def test_steps_from_a_name_go_before_a_tag_that_looks_like_them(tables: RepositoryTables) -> None:
    a, b, c = store_history(tables, [((), 0), ((0,), 1), ((), 2)])
    put_tag(tables, "v", b)
    put_tag(tables, "v~1", c)
    assert resolve(tables, "v~1") == Resolved(a.id)


L, M = LineageId("L"), LineageId("M")


@pytest.fixture
def numbered(tables: RepositoryTables) -> dict[str, Commit]:
    """Branch foo: numbers 0 to 2 on line L, then reset to number 0, then 3 and 4 on line M.

    A reset places the head that it leaves; the other rows are missing, as after a crash.
    """
    commits: dict[str, Commit] = {}
    clocks = {
        "L0": (None, (Clock(L, 0),)),
        "L1": ("L0", (Clock(L, 1),)),
        "L2": ("L1", (Clock(L, 2),)),
        "M0": ("L0", (Clock(L, 0), Clock(M, 0))),
        "M1": ("M0", (Clock(L, 0), Clock(M, 1))),
    }
    for name, (parent, clock) in clocks.items():
        commits[name] = commit_of(name, [commits[parent]] if parent else [], clocks=clock)
        add_commit(tables, commits[name])
    branch = msgspec.structs.replace(
        branch_of("foo", commits["M1"]), lineage=M, ordinals=(Ordinal(L, 0), Ordinal(M, 3))
    )
    tables.branches.set(b"foo", branch)
    ClockIndex.of(tables.branches.store, REPOSITORY).place(commits["L2"], commits["M1"])
    return commits


def test_a_number_names_a_commit_of_the_branch(
    tables: RepositoryTables, numbered: dict[str, Commit]
) -> None:
    for ref, name in {"foo/0": "L0", "foo/3": "M0", "foo.3": "M0", "foo/4": "M1"}.items():
        assert resolve(tables, ref) == Resolved(numbered[name].id)
    assert resolve(tables, "foo/4~2") == Resolved(numbered["L0"].id)


def test_a_number_from_before_a_reset_still_names_its_commit(
    tables: RepositoryTables, numbered: dict[str, Commit]
) -> None:
    for ref, name in {"foo/1": "L1", "foo.2": "L2", "foo/3": "M0"}.items():
        assert resolve(tables, ref) == Resolved(numbered[name].id)


def test_a_number_that_a_reset_left_without_a_line_is_not_found(
    tables: RepositoryTables, numbered: dict[str, Commit]
) -> None:
    branch = tables.branches.get(b"foo").record
    left = msgspec.structs.replace(
        branch, lineage=LineageId(""), ordinals=(*branch.ordinals, Ordinal(LineageId(""), 5))
    )
    tables.branches.set(b"foo", left)
    assert refused(tables, "foo/5").code == "ref-not-found"
    assert resolve(tables, "foo/4") == Resolved(numbered["M1"].id)


def test_numbers_that_no_commit_has_are_not_found(
    tables: RepositoryTables, numbered: dict[str, Commit]
) -> None:
    put_branch(tables, "bare", numbered["L0"])
    for ref in ("foo/5", "foo.99", "bare/0", "none/0", "foo/9999999999"):
        assert refused(tables, ref).code == "ref-not-found"
    with pytest.raises(InvalidInput):
        resolve(tables, "foo/0@")


def test_a_tag_goes_before_a_number_written_with_a_dot(
    tables: RepositoryTables, numbered: dict[str, Commit]
) -> None:
    put_tag(tables, "foo.3", numbered["L0"])
    assert resolve(tables, "foo.3") == Resolved(numbered["L0"].id)
    assert resolve(tables, "foo/3") == Resolved(numbered["M0"].id)


def test_rel_H9_no_failure_is_taken_for_a_name_that_is_not_there(
    tables: RepositoryTables, numbered: dict[str, Commit]
) -> None:
    put_tag(tables, "v1", numbered["M1"])
    for ref in ("foo", "v1", "foo~2", numbered["L0"].id, numbered["L0"].id[:9], "foo/0", "foo.3"):
        assert_every_failure_is_raised(tables, partial(_resolve_ref, ref))


def _resolve_ref(ref: str, tables: RepositoryTables) -> Resolved:
    return resolve(tables, ref)


def test_the_beginning_of_an_id_is_looked_up_without_walking_history() -> None:
    world = World()
    world.create("main")
    commits = [world.commit("main") for _ in range(50)]
    world.create("side", commits[9])
    gone = world.commit("side")
    world.delete("side")
    counting = Counting(world.store)
    tables = RepositoryTables.of(counting, CLOCKED)
    for commit in (commits[0], commits[30], gone):
        assert resolve(tables, commit.id[:20]) == Resolved(commit.id)
    assert counting.reads <= 6 * 3


def test_an_attempt_that_lost_its_place_is_not_found_by_the_beginning_of_its_id() -> None:
    world = World()
    world.create("main")
    world.commit("main")
    lost, _ = world.draft(world.branch("main"), message="lost")
    ahead, _ = world.draft(world.branch("main"), message="not published yet")
    for commit in (lost, ahead):
        world.tables.commits.set(commit.id.encode(), commit)
    assert refused(world.tables, ahead.id[:20]).code == "ref-not-found"
    world.commit("main", message="won")
    assert refused(world.tables, lost.id[:20]).code == "ref-not-found"
    assert resolve(world.tables, lost.id) == Resolved(lost.id)
