# SPDX-License-Identifier: Apache-2.0
"""The real stories in every order that can matter (reliability V2): G1 to G7, G14 to G17.

A scope that is not explored to its end within the limit is still clean as far as it went; the
campaigns go further. Runs at random stand beside the explorer and must see nothing that it did not.
"""

from collections.abc import Sequence

import pytest

from lochan.kernel.records import Record
from lochan.kv.table import Stored
from lochan.model.ids import CommitId
from lochan.model.records import Branch, Repository
from lochan.operations import publish
from lochan.operations.lake import Lake
from lochan.operations.list_objects import list_objects
from lochan.operations.publish import swap
from lochan.staging.sealed import Tokens
from lochan.testing.simulation import Pct, RandomOrder, Schedule, World, explore, random_runs
from support.lakes import MAIN
from support.protocol_runs import ALL, explored, summary
from support.protocol_scopes import FEATURE, TWO_KEYS, Scope, commits, merges
from support.simulated_client import Work
from support.simulated_ground import SNAPSHOTS, tag_of
from support.simulated_lake import Scene
from support.simulated_mover import Mover
from support.tally import Tally

LIMIT = 130
JUDGED = 30  # runs at random beside each scope

# Where each promise is put to the test; the same checks run in all scopes.
PROMISES = {
    "rel_G1": ["write, commit, read", "read, commit and clean", "compact and clean, read"],
    "rel_G2": ["list, write, delete", "write, commit, read"],
    "rel_G3": ["list, commit and clean", "list, write, delete"],
    "rel_G4": ["two commits", "delete, commit", "compact, commit"],
    "rel_G6": ["two writers that commit", "two commits, one cleans"],
    "rel_G7": ["write, commit", "two commits, one cleans", "compact, write", "merge, write"],
    "rel_G13": ["stale write, commit", "stale read, commit and clean", "stale first put, commit"],
    "rel_G14": ["commit, look back, clean", "end of a branch, look back"],
    "rel_G15": ["two commits", "merge, write and commit", "two merges", "revert, write and commit"],
    "rel_G17": ["two writers in one server, commit", "two commits in one server"],
    "rel_R1": ["two creations"],
    "rel_R2": ["creation, cleaner", "slow creation, look and clean"],
    "rel_R13": ["slow creation, look and clean", "slow creation, another creation"],
    "rel_R15": ["two cleaners", "end, creation, cleaner"],
    "rel_R16": ["two ends, a creation"],
    "rel_R17": ["end, write", "end, read", "end, commit", "end and creation, write"],
}


def by_priorities(seed: int) -> Schedule:
    """Runs at random of two kinds, in turn."""
    return Pct(seed, depth=4, steps=80) if seed % 2 else RandomOrder(seed)


@pytest.mark.parametrize("name", ALL)
def test_a_scope_keeps_every_promise_in_every_order(name: str, tally: Tally) -> None:
    seen = explored(name, LIMIT)
    tally(executions=seen.executions, violations=int(seen.wrong is not None))
    if seen.wrong is not None:
        raise seen.wrong
    assert seen.executions


@pytest.mark.parametrize("promise", PROMISES)
def test_promises_are_kept_in_every_order_tried(promise: str) -> None:
    assert [explored(name, LIMIT).wrong for name in PROMISES[promise]] == [None] * len(
        PROMISES[promise]
    )


def test_at_least_twenty_five_scopes_are_complete() -> None:
    seen = [explored(name, LIMIT) for name in ALL]
    bounded = [name for name, each in zip(ALL, seen, strict=True) if not each.complete]
    print(f"{summary(seen)}; bounded by {LIMIT}: {', '.join(bounded)}")
    assert len(seen) - len(bounded) >= 25


@pytest.mark.parametrize("name", ALL)
def test_runs_at_random_see_nothing_that_the_explorer_did_not(name: str, tally: Tally) -> None:
    seen, scope = explored(name, LIMIT), ALL[name]
    judge = random_runs(scope.make, scope.check, range(JUDGED), order=by_priorities)
    tally(executions=judge.executions, violations=int(judge.wrong is not None))
    assert judge.wrong is None
    assert not seen.complete or set(judge.outcomes) <= set(seen.outcomes)


def test_rel_G16_a_merge_is_seen_whole_or_not_at_all() -> None:
    scope = Scope(FEATURE, {"merger": merges, "lister": lambda client: [client.listing()]})
    listings: set[tuple[tuple[str, str], ...]] = set()

    def check(scene: Scene) -> None:
        scene.check()
        listings.update(o.listing.entries for o in scene.history.operations if o.listing)

    seen = explore(scope.make, check)
    assert seen.complete
    assert seen.wrong is None
    assert listings == {(("main:a", "a0"),), (("main:a", "a1"), ("main:b", "b1"))}


class Observer:
    """Lists what a branch has committed, beside those who commit."""

    def __init__(self) -> None:
        self.listed: list[dict[str, str]] = []

    def __call__(self, client: Mover) -> Sequence[Work]:
        self.listed = []

        def look() -> None:
            page = list_objects(client.lake, client.scene.repository, f"{MAIN}@")
            rows = [row for row in page.items if isinstance(row, Record)]
            self.listed.append({row.key.decode(): tag_of(row) for row in rows})

        return [look, look]


def test_rel_G16_a_commit_is_seen_whole_or_not_at_all() -> None:
    observer = Observer()
    scope = Scope(TWO_KEYS, {"committer": commits, "observer": observer})
    seen_by_all: set[tuple[tuple[str, str], ...]] = set()

    def check(scene: Scene) -> None:
        scene.check()
        seen_by_all.update(tuple(sorted(listed.items())) for listed in observer.listed)

    seen = explore(scope.make, check)
    assert seen.complete
    assert seen.wrong is None
    assert seen_by_all == {(("a", "a0"),), (("a", "a1"), ("b", "b1"))}


def test_rel_G16_a_chain_is_seen_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three requests of one server: those that wait for the first are published by one swap."""
    observer, published, hidden = Observer(), list[CommitId](), 0
    scope = Scope(
        FEATURE,
        {
            "one": lambda client: [client.put("c", "c1"), client.commit()],
            "two": lambda client: [client.put("c", "c2"), client.commit()],
            "merger": lambda client: [client.merge("feature", dirty=True)],
            "observer": observer,
        },
        shared=frozenset({"one", "two", "merger"}),
    )

    def counted(
        lake: Lake, repository: Repository, stored: Stored[Branch], moved: Branch, gone: Tokens
    ) -> bool:
        if won := swap(lake, repository, stored, moved, gone):
            published.append(moved.commit_id)
        return won

    def make(world: World) -> Scene:
        published.clear()
        return scope.make(world)

    def check(scene: Scene) -> None:
        nonlocal hidden
        scene.check()
        chain = list(scene.chain(scene.branches()[MAIN].commit_id))
        old = {commit.id for commit in scene.ground.commits.values()} | {chain[-1].id}
        trees = {commit.id: SNAPSHOTS.tree(commit.meta_range_id) for commit in chain}
        shown = [trees[made] for made in trees if made in old or made in published]
        assert all(listed in shown for listed in observer.listed)
        hidden += any(tree not in shown for tree in trees.values())

    monkeypatch.setattr(publish, "swap", counted)
    seen = random_runs(make, check, range(300), order=by_priorities)
    assert seen.wrong is None
    print(f"{hidden} of {seen.executions} runs had a commit that nobody could see as head")
    assert hidden
