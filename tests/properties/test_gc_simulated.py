# SPDX-License-Identifier: Apache-2.0
"""Collection while everybody works (reliability V13), and that each of its rules is needed.

A mutant is collection with one rule taken away. Rules stand behind each other, so some mutants lose
two: what is measured is the test, which must see what then goes wrong.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lochan.model.ids import StagingToken
from lochan.model.instant import Instant, from_seconds
from lochan.model.records import Branch, Commit, Repository
from lochan.objects.store import ObjectStore
from lochan.operations import (
    commit,
    commit_reads,
    copy_object,
    hard_reset,
    merge,
    tags,
    transplant,
)
from lochan.operations.gc import collect as collecting
from lochan.operations.gc import roots
from lochan.operations.gc.collect import Collection, collect
from lochan.operations.gc.expiry import Horizon
from lochan.operations.gc.listing import Found, Listing
from lochan.operations.gc.mark import Told, tell_nobody
from lochan.operations.gc.roots import Roots
from lochan.operations.gc.sweeping import is_under_way, last_sweep
from lochan.operations.lake import Lake
from lochan.operations.open_commits import blocks, merge_commits, slot
from lochan.operations.retention import set_gc_rules
from lochan.operations.transplant import TransplantRequest, revert
from lochan.testing.simulation import Explored
from support.collected_again import run_grown, run_named_again, run_reverted, run_swept
from support.collected_crowd import run_crowd, run_marked, run_renamed
from support.collected_lake import FORCED, GRACE, Ground
from support.collected_scene import HOW
from support.lakes import MAIN
from support.tally import Tally

TESTS = Path(__file__).parents[1]
SEEDS, MARKED = 30, 20
MOST = 600  # seeds within which a mutant must be seen

Patch = pytest.MonkeyPatch


def test_rel_V13_no_live_object_ever_goes_and_every_dead_one_does(tally: Tally) -> None:
    seen = run_crowd(range(SEEDS))
    tally(seeds=seen.executions, violations=int(seen.wrong is not None))
    if seen.wrong is not None:
        raise seen.wrong


def test_a_block_that_is_put_while_it_is_removed_is_there_in_every_order(tally: Tally) -> None:
    seen = run_swept(range(1_000))
    tally(executions=seen.executions, violations=int(seen.wrong is not None))
    assert (seen.wrong, seen.complete) == (None, True)


def test_a_seed_is_the_same_run_in_every_process() -> None:
    run = (
        "from support.collected_crowd import make, order_of, plan_of\n"
        "from lochan.testing.simulation import World\n"
        "for seed in range(4):\n"
        "    world = World(seed, schedule=order_of(seed), plan=plan_of(seed))\n"
        "    make(world)\n"
        "    world.run()\n"
        "    print(*[(taken.process, taken.label) for taken in world.trace], sep='\\n')\n"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", run],
            cwd=TESTS,
            env={**os.environ, "PYTHONHASHSEED": hashes},
            capture_output=True,
            check=True,
        ).stdout
        for hashes in ("1", "2")
    }

    assert len(runs) == 1
    assert runs != {b""}


@pytest.mark.parametrize("run", [run_marked, run_renamed])
def test_rel_H19_whatever_moves_meanwhile_is_marked(
    run: Callable[[range], Explored], tally: Tally
) -> None:
    seen = run(range(MARKED))
    tally(seeds=seen.executions, violations=int(seen.wrong is not None))
    if seen.wrong is not None:
        raise seen.wrong


def forgets_sealed_tokens(patch: Patch) -> None:
    def current(branch: Branch) -> tuple[StagingToken, ...]:
        return (branch.staging_token,)

    patch.setattr(roots, "tokens_of", current)


def ignores_the_grace(patch: Patch) -> None:
    patch.setattr(Collection, "grace", property(lambda _: 0))


def forgets_copies(patch: Patch) -> None:
    patch.setattr(roots, "logged_copies", lambda *_: iter(()))


def looks_at_commits_first(patch: Patch) -> None:
    staged, refs = roots.add_staged, roots.add_refs

    def first(lake: Lake, repository: Repository, found: Roots) -> None:
        refs(lake, repository, found, Horizon(from_seconds(lake.environment.now()), HOW.grace))

    def then(lake: Lake, repository: Repository, found: Roots, _: Horizon) -> None:
        staged(lake, repository, found)

    patch.setattr(roots, "add_staged", first)
    patch.setattr(roots, "add_refs", then)


def forgets_compacted_bases(patch: Patch) -> None:
    patch.setattr(roots, "_bases", lambda _: iter(()))


def forgets_started_commits(patch: Patch) -> None:
    patch.setattr(roots, "open_commits", lambda *_: _Nothing())


class _Nothing:
    def scan(self) -> Iterator[tuple[bytes, object]]:
        return iter(())


def looks_once_and_lets_anybody_build(patch: Patch) -> None:
    patch.setattr(collecting._Run, "_is_due", lambda *_: True)
    for module in (commit_reads, hard_reset, merge, tags, transplant, slot, merge_commits):
        patch.setattr(module, "require_kept", lambda *_: None)


def lets_go_what_a_late_commit_showed(patch: Patch) -> None:
    patch.setattr(collecting, "mark_leaving", lambda *_: set[int]())


def commits_any_tree(patch: Patch) -> None:
    patch.setattr(commit, "require_objects", lambda *_: None)


def copies_from_anywhere(patch: Patch) -> None:
    patch.setattr(copy_object, "require_kept", lambda *_: None)


def looks_for_a_sweep_only_afterwards(patch: Patch) -> None:
    def looked(*where: object) -> bytes:
        sweep = last_sweep(*where)  # type: ignore[arg-type]  # what it is given
        return sweep if is_under_way(sweep) else b""

    patch.setattr(blocks, "last_sweep", looked)


MUTANTS: dict[str, tuple[Callable[[Patch], None], Callable[[range], Explored]]] = {
    "forgets sealed tokens": (forgets_sealed_tokens, run_crowd),
    "ignores the grace": (ignores_the_grace, run_crowd),
    "forgets copies": (forgets_copies, run_renamed),
    "looks at commits first": (looks_at_commits_first, run_marked),
    "forgets compacted bases": (forgets_compacted_bases, run_crowd),
    "forgets started commits": (forgets_started_commits, run_crowd),
    "looks once and lets anybody build": (looks_once_and_lets_anybody_build, run_crowd),
    "lets go what a late commit showed": (lets_go_what_a_late_commit_showed, run_reverted),
    "commits any tree": (commits_any_tree, run_named_again),
    "copies from anywhere": (copies_from_anywhere, run_grown),
    "looks for a sweep only afterwards": (looks_for_a_sweep_only_afterwards, run_swept),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught(name: str, monkeypatch: Patch, tally: Tally) -> None:
    mutate, run = MUTANTS[name]
    mutate(monkeypatch)
    seen = run(range(MOST))
    tally(executions=seen.executions, mutants=bool(seen.wrong), missed=not seen.wrong)
    print(f"{name}: {seen.executions} seeds until {seen.wrong}")
    assert seen.wrong is not None
    with pytest.raises(AssertionError, match=r"V13|H19"):
        raise seen.wrong


class ListsLast(Listing):
    """A listing that is made when it is looked through: after the mark."""

    def fill(self, objects: ObjectStore, young: Instant, told: Told = tell_nobody) -> None:
        self._later = (objects, Instant(young + 10**12), told)  # what is young is old, too

    def __iter__(self) -> Iterator[Found]:
        super().fill(*self._later)
        return super().__iter__()


@pytest.mark.parametrize("lists_last", [False, True])
def test_what_comes_after_the_listing_is_no_candidate(
    lists_last: bool,  # noqa: FBT001 - a case
    monkeypatch: Patch,
) -> None:
    """Without ages, the order alone must save an object that is put while marks are made."""
    ground = Ground.open()
    ground.put("k")
    ground.commit()
    if lists_last:
        monkeypatch.setattr(collecting, "Listing", ListsLast)

    def put_meanwhile(what: str, _: int) -> None:
        if what == "ranges":
            ground.put("new", b"%d" % len(ground.addresses()))

    ground.wait(1)
    found = collect(*ground.where, Collection(grace_s=0, force=True), put_meanwhile).dead.count
    assert (found > 0) is lists_last


@pytest.mark.parametrize("goes_at_once", [False, True])
def test_what_a_late_commit_showed_goes_a_grace_after_that_one(
    goes_at_once: bool,  # noqa: FBT001 - a case
    monkeypatch: Patch,
) -> None:
    """Two reverts, each begun before a commit expired and done after it was found to have."""
    ground = Ground.open()
    set_gc_rules(*ground.where, 0, {})
    first = ground.put("k", b"first")
    ground.commit()
    ground.put("k", b"second")
    second = ground.commit()
    ground.wait(3 * GRACE)
    ground.commit()
    if goes_at_once:
        lets_go_what_a_late_commit_showed(monkeypatch)

    def reverts(commit: Commit) -> Told:
        def told(what: str, _: int) -> None:
            if what == "roots":
                revert(*ground.where, MAIN, commit, TransplantRequest("me"))

        return told

    ground.wait(2 * GRACE)
    collect(*ground.where, FORCED, reverts(second))
    assert ground.read("k") == b"first"
    ground.put("k", b"third")
    third = ground.commit()
    ground.wait(2 * GRACE)
    collect(*ground.where, FORCED, reverts(third))
    assert ground.is_there(first) is not goes_at_once
