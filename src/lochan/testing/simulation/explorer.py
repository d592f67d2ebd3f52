# SPDX-License-Identifier: Apache-2.0
"""Every order that can matter: systematic exploration of small scenarios.

`explore` is source-DPOR. It runs a scenario from its start again and again. After each step it
looks for races: an earlier step of another process on which this one depends directly. For each it
makes sure that, from the state before the earlier step, some process is tried that can begin the
other order (a *source set*). Sleep sets keep it from starting what was already tried elsewhere. Of
executions that differ only in the order of independent steps, it sees one.

`brute_force` sees all of them and is the judge of the former on small scopes: outcomes must agree.
`random_runs` is the judge of both on large ones.

A scenario is made in a fresh world; `check` looks at its end, raises if it is wrong, and may give a
hashable outcome, which must not tell apart executions that differ only in independent steps.
Deadlock and livelock count as wrong.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeVar

from lochan.faults import Fault
from lochan.testing.simulation.access import Footprint, Mode, Relations
from lochan.testing.simulation.faults import Plan, Step, no_faults
from lochan.testing.simulation.schedule import RandomOrder, Schedule, Scripted
from lochan.testing.simulation.world import Taken, World

Scenario = TypeVar("Scenario")
Make = Callable[[World], Scenario]
Check = Callable[[Scenario], Hashable]

# Plans count, so each run needs one of its own.
PlanMaker = Callable[[int], Plan]

MAX_STEPS = 2_000


def _no_plan(_: int) -> Plan:
    return no_faults


@dataclass(slots=True)
class Explored:
    """What an exploration saw; `wrong` is the first error, `schedule` what led to it."""

    executions: int = 0
    pruned: int = 0  # begun, and found to repeat others
    outcomes: Counter[Hashable] = field(default_factory=Counter)
    complete: bool = False
    wrong: BaseException | None = None
    schedule: tuple[str, ...] = ()
    seed: int | None = None

    def __str__(self) -> str:
        end = "complete" if self.complete else "incomplete"
        verdict = f"wrong: {self.wrong}" if self.wrong else "clean"
        return (
            f"{self.executions} executions ({self.pruned} pruned), {len(self.outcomes)} outcomes,"
            f" {end}, {verdict}"
        )


Search = Callable[[Make[Scenario], Check[Scenario], PlanMaker], Explored]


def _differs(step: int) -> RuntimeError:
    return RuntimeError(f"the scenario differs from run to run at step {step}")


class _Pruned(BaseException):
    """Everything that could follow was tried elsewhere."""


@dataclass(slots=True)
class _State:
    """A point on the current path: who can go on, who was or must be tried, and who went."""

    enabled: list[str]
    sleep: dict[str, Footprint]  # whoever need not go from here, and what it would touch
    tried: set[str]
    chosen: str
    learned: bool = False  # whether the two below are known
    footprint: Footprint = frozenset()
    before: int = 0  # the steps that happen before this one, as bits


class _Path:
    """The path of the current execution, kept as far as the next execution follows it."""

    def __init__(self, *, reduce: bool) -> None:
        """Begin without any state; without `reduce` everything is tried everywhere."""
        self._states: list[_State] = []
        self._reduce = reduce
        self._at = 0
        self._trace: Sequence[Taken] = ()
        self._relations = Relations()

    def begin(self, trace: Sequence[Taken]) -> None:
        """Start again at the first state, in a world that keeps this trace."""
        self._at, self._trace = 0, trace

    def choose(self, enabled: Sequence[str]) -> str:
        """Follow the path; at its end choose anybody who does not sleep (a Schedule's verb)."""
        self.learn()
        if self._at == len(self._states):
            sleep = self._asleep()
            awake = [name for name in enabled if name not in sleep]
            if not awake:
                raise _Pruned
            tried = {awake[0]} if self._reduce else set(enabled)
            self._states.append(_State(list(enabled), sleep, tried, awake[0]))
        state = self._states[self._at]
        if state.enabled != enabled:
            raise _differs(self._at)
        self._at += 1
        return state.chosen

    def learn(self) -> None:
        """Take the footprint of the step just taken, and find its races; it must never be another.

        Races are found by names. Names that are drawn anew for each run would hide them all.
        """
        if not self._at:
            return
        state, footprint = self._states[self._at - 1], self._trace[self._at - 1].footprint
        assert footprint is not None
        if state.learned:
            if footprint != state.footprint:
                raise _differs(self._at - 1)
            return
        state.learned = True
        state.footprint = self._relations.known(footprint)
        if self._reduce:
            self._order(self._at - 1)

    def advance(self) -> bool:
        """Go back to the last state with something untried and choose that; False: all done."""
        while self._states:
            state = self._states[-1]
            state.sleep[state.chosen] = state.footprint
            left = [n for n in state.enabled if n in state.tried and n not in state.sleep]
            if left:
                state.chosen, state.learned = left[0], False
                return True
            self._states.pop()
        return False

    @property
    def schedule(self) -> tuple[str, ...]:
        """The choices of the current execution."""
        return tuple(state.chosen for state in self._states[: self._at])

    def _asleep(self) -> dict[str, Footprint]:
        if not self._states or not self._reduce:
            return {}
        last = self._states[-1]
        return {
            name: footprint
            for name, footprint in last.sleep.items()
            if not self._relations.relate(footprint, last.footprint).conflict
        }

    def _order(self, number: int) -> None:
        """Find what happens before a step; the steps it races with get their other order tried."""
        state = self._states[number]
        before = 0
        own = 0  # what happens before the process's previous step, that step included
        races: list[int] = []
        known = self._relations.to(state.footprint)
        for earlier in range(number - 1, -1, -1):
            other = self._states[earlier]
            bit = 1 << earlier
            # Looked up here and not by a call: this is where an exploration spends its time.
            relation = known.get(id(other.footprint))
            if relation is None:
                relation = self._relations.learn(other.footprint, state.footprint)
            if other.chosen == state.chosen:
                own = own or other.before | bit
            elif relation.conflict:
                # A lock is free before its earlier acquisition, so two acquisitions can be turned
                # round although a release lies between them.
                if not before & bit or (relation.locks and not own & bit):
                    races.append(earlier)
            elif not relation.enabled:
                continue
            before |= other.before | bit
        state.before = before
        if any(access.mode is Mode.KILL for access in state.footprint):
            state.tried |= set(state.enabled)
        for earlier in races:
            self._reverse(earlier, number)

    def _reverse(self, earlier: int, later: int) -> None:
        """See to it that an order is tried in which `later` does not come after `earlier`."""
        state = self._states[earlier]
        bit = 1 << earlier
        rest = [n for n in range(earlier + 1, later) if not self._states[n].before & bit]
        rest.append(later)
        inside = sum(1 << n for n in rest)
        first: dict[str, int] = {}
        for number in rest:
            first.setdefault(self._states[number].chosen, number)
        initials = {name for name, n in first.items() if not self._states[n].before & inside}
        if initials & (state.tried | state.sleep.keys()):
            return
        able = [name for name in state.enabled if name in initials]
        if not able:  # what must come first cannot go here: try whoever can
            state.tried |= set(state.enabled)
        elif self._states[later].chosen in able:
            state.tried.add(self._states[later].chosen)
        else:
            state.tried.add(able[0])


def explore(
    make_scenario: Make[Scenario],
    check: Check[Scenario],
    *,
    limit: int = 1_000_000,
    plan: PlanMaker = _no_plan,
) -> Explored:
    """Run a scenario in every order that can matter, until one is wrong or `limit` are done."""
    return _systematic(make_scenario, check, _Path(reduce=True), limit, plan)


def brute_force(
    make_scenario: Make[Scenario],
    check: Check[Scenario],
    *,
    limit: int = 1_000_000,
    plan: PlanMaker = _no_plan,
) -> Explored:
    """Run a scenario in every order there is."""
    return _systematic(make_scenario, check, _Path(reduce=False), limit, plan)


def random_runs(
    make_scenario: Make[Scenario],
    check: Check[Scenario],
    seeds: Iterable[int],
    *,
    order: Callable[[int], Schedule] = RandomOrder,
    plan: PlanMaker = _no_plan,
    footprints: bool = False,
) -> Explored:
    """Run a scenario once a seed, until one is wrong; `order` makes the schedule of a seed.

    A check that looks at what steps touched asks for `footprints`.
    """
    seen = Explored()
    for seed in seeds:
        world = World(seed, schedule=order(seed), plan=plan(seed), footprints=footprints)
        if not _run(world, make_scenario, check, seen):
            seen.seed = seed
            seen.schedule = tuple(taken.process for taken in world.trace)
            return seen
    return seen


def fail_each(
    make_scenario: Make[Scenario],
    check: Check[Scenario],
    process: str,
    fault: Fault,
    search: Search[Scenario],
) -> Iterator[Explored]:
    """Fail the first call of a process to a store, then the second, until it makes no more.

    `search` runs the scenario under the plan that it is given: explore, or random_runs.
    """
    for number in count(1):
        struck: list[Step] = []

        def planned(_: int, number: int = number, struck: list[Step] = struck) -> Plan:
            def plan(step: Step) -> Fault:
                if (step.process, step.number) != (process, number):
                    return Fault.OK
                struck.append(step)
                return fault

            return plan

        seen = search(make_scenario, check, planned)
        if not struck:
            return
        yield seen


def replay(
    make_scenario: Make[Scenario],
    check: Check[Scenario],
    schedule: Sequence[str],
    *,
    plan: PlanMaker = _no_plan,
) -> tuple[World, Explored]:
    """Run a scenario as written down; the world's trace says what happened."""
    world, seen = World(0, schedule=Scripted(schedule), plan=plan(0)), Explored()
    _run(world, make_scenario, check, seen)
    return world, seen


def _systematic(
    make: Make[Scenario], check: Check[Scenario], path: _Path, limit: int, plan: PlanMaker
) -> Explored:
    seen = Explored()
    more = True
    while more and seen.executions < limit:
        world = World(0, schedule=path, plan=plan(0))
        path.begin(world.trace)
        try:
            if not _run(world, make, check, seen):
                seen.schedule = path.schedule
                return seen
        except _Pruned:
            seen.pruned += 1
        path.learn()
        more = path.advance()
    seen.complete = not more
    return seen


def _run(world: World, make: Make[Scenario], check: Check[Scenario], seen: Explored) -> bool:
    """Run once and count; False if it was wrong."""
    scenario = make(world)
    seen.executions += 1
    try:
        world.run(max_steps=MAX_STEPS)
        seen.outcomes[check(scenario)] += 1
    except _Pruned:
        seen.executions -= 1
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
        seen.wrong = error
        return False
    return True
