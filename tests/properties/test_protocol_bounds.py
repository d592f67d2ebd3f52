# SPDX-License-Identifier: Apache-2.0
"""Nobody waits for anybody, and work done twice is bounded: G9 to G11, in every order tried."""

from collections import Counter
from collections.abc import Iterator

import pytest

from lochan.errors import Unavailable
from lochan.faults import Fault
from lochan.model.ids import BranchName
from lochan.model.records import Repository
from lochan.operations import move as moving
from lochan.operations.branch_reads import BranchRead
from lochan.operations.lake import Lake
from lochan.operations.staged_tree import StagedTree, build
from lochan.staging.sealed import Tokens
from lochan.testing.simulation import World, explore, fail_each, random_runs
from lochan.testing.simulation.access import Mode
from lochan.testing.simulation.explorer import Check, Explored, Make, PlanMaker
from lochan.testing.simulation.world import Taken
from support.protocol_runs import ALL
from support.protocol_scopes import SCOPES
from support.simulated_lake import Scene

LIMIT = 400
FROZEN = ["write, commit, read", "two commits", "two first puts", "two merges", "compact, commit"]


def some(make: Make[Scene], check: Check[Scene], plan: PlanMaker) -> Explored:
    return explore(make, check, limit=3, plan=plan)


@pytest.mark.parametrize("name", FROZEN)
def test_rel_G9_all_others_finish_wherever_a_process_stops_for_ever(name: str) -> None:
    scope = ALL[name]

    def check(scene: Scene) -> None:
        told = [e for client in set(scope.cast) - {stopped} for e in scene.errors[client]]
        assert not [error for error in told if isinstance(error, Unavailable)]
        scope.check(scene)

    points = 0
    for stopped in scope.cast:
        for seen in fail_each(scope.make_faulty, check, stopped, Fault.CRASH_BEFORE, some):
            assert seen.wrong is None
            points += 1
    print(f"{name}: stopped at {points} calls, all others finished")
    assert points > 10


class Trace:
    """What a run's steps say about one branch: who swapped its record when, and who lost."""

    def __init__(self, world: World) -> None:
        self._steps = world.trace
        self.finals: list[tuple[str, bool]] = []  # swaps that end a commit, in order
        self.seals = 0
        previous: dict[str, str] = {}
        for step in world.trace:
            if is_branch(step) and step.label.startswith("set_if"):
                assert step.footprint is not None
                won = any(access.mode is Mode.WRITE for access in step.footprint)
                if previous[step.process].startswith("get"):  # a seal reads, and swaps at once
                    self.seals += won
                else:
                    self.finals.append((step.process, won))
            previous[step.process] = step.label

    def lost(self) -> Counter[str]:
        return Counter(process for process, won in self.finals if not won)

    def before(self, process: str) -> int:
        """Count the commits that came to their end before that of a process, if it did."""
        winners = [winner for winner, won in self.finals if won]
        return winners.index(process) if process in winners else len(winners)

    def calls(self, process: str, label: str) -> int:
        return sum(s.process == process and s.label.startswith(label) for s in self._steps)

    def branch_calls(self, process: str, operation: str) -> int:
        return sum(
            s.process == process and s.label.startswith(operation) and is_branch(s)
            for s in self._steps
        )

    def changes(self) -> int:
        return self.seals + sum(won for _, won in self.finals)


def is_branch(step: Taken) -> bool:
    return step.label.endswith(" branches/main")


@pytest.mark.parametrize(("name", "commits"), [("two commits", 2), ("three commits", 3)])
def test_rel_G10_a_commit_loses_at_most_as_many_swaps_as_there_are_commits(
    name: str, commits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[int] = []  # in which steps of the run
    worlds: list[World] = []

    def make(world: World) -> Scene:
        worlds[:] = [world]
        built.clear()
        return SCOPES[name].make(world)

    def counted(
        lake: Lake, repository: Repository, name: BranchName, stored: BranchRead, tokens: Tokens
    ) -> tuple[StagedTree | None, BranchRead]:
        if tokens:
            built.append(len(worlds[0].trace))
        return build(lake, repository, name, stored, tokens)

    monkeypatch.setattr(moving, "build", counted)
    most: Counter[str] = Counter()

    def check(scene: Scene) -> None:
        scene.check()
        trace = Trace(scene.world)
        lost = max(trace.lost().values(), default=0)
        times = Counter(scene.world.trace[step].process for step in built)
        again = {process: builds - 1 for process, builds in times.items()}
        most.update({"swaps": max(0, lost - most["swaps"])})
        most.update({"trees": max(0, max(again.values(), default=0) - most["trees"])})
        assert lost <= commits
        for process, builds in again.items():
            assert builds <= trace.before(process), "a tree is built again for a preceding commit"

    seen = explore(make, check, limit=LIMIT)
    assert seen.wrong is None
    seen = random_runs(make, check, range(LIMIT), footprints=True)
    print(f"{name}, {2 * LIMIT} executions: at most {dict(most)} lost or built again")
    assert seen.wrong is None


class CounterExample(Exception):
    """A commit that lost its swap though no other had come to its end."""


def test_rel_G10_the_bound_of_the_seed_has_a_counter_example_with_two_commits() -> None:
    def check(scene: Scene) -> None:
        finals = Trace(scene.world).finals
        if finals and not finals[0][1]:
            raise CounterExample(f"{finals[0][0]} lost the first swap of all")

    seen = explore(SCOPES["two commits"].make, check, limit=2000)
    print(f"a later commit's seal costs a swap: found after {seen.executions} executions")
    assert isinstance(seen.wrong, CounterExample)


def retries(name: str, process: str) -> Iterator[tuple[int, Trace]]:
    found: list[tuple[int, Trace]] = []

    def check(scene: Scene) -> None:
        scene.check()
        trace = Trace(scene.world)
        found.append((trace.branch_calls(process, "get") - 2, trace))

    seen = explore(SCOPES[name].make, check, limit=LIMIT)
    assert seen.wrong is None
    return iter(found)


def test_rel_G11_a_writer_repeats_only_for_seals() -> None:
    seen = list(retries("write, commit", "writer"))
    assert all(again <= trace.seals for again, trace in seen)
    assert any(again for again, _ in seen)


def test_rel_G11_a_reader_repeats_only_for_changes_of_the_record() -> None:
    seen = list(retries("write, commit, read", "reader"))
    assert all(again <= trace.changes() for again, trace in seen)
    assert any(again for again, _ in seen)
