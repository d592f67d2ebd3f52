# SPDX-License-Identifier: Apache-2.0
"""The real stories while things fail: each call once (reliability V4), and at random (V3)."""

from collections import Counter
from collections.abc import Callable

import msgspec
import pytest

from lochan.faults import Fault
from lochan.kv.table import Stored
from lochan.model.keys import CLOCKS
from lochan.model.records import Branch, Repository
from lochan.operations import reset as resetting
from lochan.operations import stage_if as conditional
from lochan.operations.lake import Lake
from lochan.testing.simulation import Explored, World, explore, random_runs
from lochan.testing.simulation.explorer import Check
from lochan.testing.simulation.faults import Step, fail_nth
from support.chaos import AnyReads, run_chaos
from support.protocol_runs import ALL, FAULTS, failed
from support.protocol_scopes import STAGED, Scope, commits_and_cleans, reads, writes
from support.simulated_lake import Scene
from support.tally import Tally

SEEDS = 120
# One scope for each story; the campaigns have all.
FAILED = [
    *("write, commit", "delete, commit", "list, commit and clean", "first put, commit and clean"),
    *("two commits, one cleans", "merge, write and commit", "revert, write", "two merges"),
    *("end and new beginning of a branch, write", "compact, commit", "reset, commit"),
    *("commit with objects, write", "two commits in one server", "two beginnings of a branch"),
    *("end and creation, write", "two ends, a creation", "creation, cleaner"),
]


def test_rel_V4_whatever_call_fails_nothing_is_lost_and_the_next_commit_holds_all(
    tally: Tally,
) -> None:
    points = Counter[str]()
    for failure in failed(FAILED):
        points[failure.fault] += 1
        tally(calls=1, violations=int(failure.seen.wrong is not None))
        failure.require_clean()
    assert all(points[fault] > 100 for fault in FAULTS)


def test_rel_R2_a_repository_is_whole_though_a_commit_was_published_without_its_row() -> None:
    """Whoever misses a row of the clock index finds its commit by walking, and writes it."""

    refused = []

    def plan(step: Step) -> Fault:
        if step.process == "ender":
            return Fault.CRASH_BEFORE
        if step.operation != "set" or not step.key.startswith(CLOCKS.decode()):
            return Fault.OK
        refused.append(step.key)
        return Fault.ERROR

    scope = ALL["end, commit"]
    seen = random_runs(scope.make_faulty, scope.check, [1], plan=lambda _: plan)
    assert seen.wrong is None
    assert refused


def test_rel_V3_servers_that_crash_stores_that_fail_and_clocks_that_jump(tally: Tally) -> None:
    steps = run_chaos(1, SEEDS)
    tally(seeds=SEEDS)
    assert steps > 300 * SEEDS


def forgets_without_a_note(patch: pytest.MonkeyPatch) -> None:
    """A reset of some keys seals, and does not say which are forgotten."""
    swap = resetting.swap_reset

    def swap_reset(lake: Lake, repository: Repository, old: Stored[Branch], new: Branch) -> bool:
        noted = msgspec.structs.replace(new, forgotten=old.record.forgotten)
        return swap(lake, repository, old, noted)

    patch.setattr(resetting, "swap_reset", swap_reset)


def writes_whatever_is_there(patch: pytest.MonkeyPatch) -> None:
    """A conditional write does not ask for its condition."""

    patch.setattr(conditional._Conditional, "_require", lambda *_: None)


@pytest.mark.parametrize("hole", [forgets_without_a_note, writes_whatever_is_there])
def test_rel_V3_a_hole_in_a_reset_or_a_conditional_write_is_caught(
    hole: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    hole(monkeypatch)
    with pytest.raises(AssertionError, match=r"G[1-7]: "):
        run_chaos(1, SEEDS)


def test_rel_G5_what_failed_is_never_seen_after_a_later_success() -> None:
    scope = Scope(
        STAGED,
        {
            "writer": lambda client: [client.put("a", "a2"), client.put("a", "a3")],
            "reader": lambda client: [client.get("a", times=2)],
        },
    )
    results: Counter[str] = Counter()

    def check(scene: Scene) -> None:
        scope.check(scene)
        results.update(str(operation.result) for operation in scene.history.operations)

    for number in range(1, 8):
        for fault in (Fault.ERROR, Fault.LOST_REQUEST, Fault.LOST_RESPONSE):
            assert failing(scope, check, number, fault).wrong is None
    assert min(results["ok"], results["fail"], results["unknown"]) > 10


def failing(scope: Scope, check: Check[Scene], number: int, fault: Fault) -> Explored:
    plan = fail_nth("writer", number, fault)
    return explore(scope.make_faulty, check, limit=20, plan=lambda _: plan)


def test_rel_G13_a_cache_that_gives_any_earlier_record_costs_retries_and_nothing_else() -> None:
    def stale(world: World) -> Scene:
        chance = world.environment.chance
        return Scope(
            STAGED,
            {"writer": writes, "reader": reads, "committer": commits_and_cleans},
            reads=lambda lake, _: AnyReads(lake, lambda: chance("cache")),
        ).make(world)

    seen = random_runs(stale, Scene.check, range(150))
    assert seen.wrong is None
