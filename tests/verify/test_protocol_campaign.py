# SPDX-License-Identifier: Apache-2.0
"""The simulations of the protocol at length: V2 and V4 of the reliability plan.

    make verify-ci   the column of every change: minutes
    make verify      the column of every night: hours

Each test is a part of its column, so that a failure names the part; the line at the end of the run
sums up. What fails can be run again by the seed or schedule that it names.
"""

from dataclasses import dataclass
from functools import partial

import pytest

from lochan.testing.simulation import Pct, brute_force, explore, random_runs
from lochan.testing.simulation.chance import Chance
from lochan.testing.simulation.faults import random_faults
from support.protocol_runs import ALL, FAULTS, failed
from support.tally import Tally

pytestmark = [pytest.mark.beside_others, pytest.mark.by_imports]
PAIRS_CHUNK = 2_000  # of two calls that fail, a test
# Small enough for brute force.
JUDGED = ["creation, look", "two creations", "reset, write", "end, read"]


@dataclass(frozen=True)
class Column:
    """How much of each: orders a scope, orders of each failed call, pairs of failed calls."""

    explored: int
    at_random: int
    orders: int
    pairs: int


# Nine in ten of the night's scopes are complete before the limit; with the orders at random they
# make 2 million executions, those of a change 260,000.
CI = Column(explored=9_000, at_random=1_000, orders=2, pairs=2_000)
NIGHTLY = Column(explored=90_000, at_random=10_000, orders=20, pairs=200_000)

COLUMNS = [
    pytest.param(CI, marks=pytest.mark.ci_campaign, id="ci"),
    pytest.param(NIGHTLY, marks=pytest.mark.campaign, id="nightly"),
]
NAMED = (
    (CI, pytest.mark.ci_campaign, "ci"),
    (NIGHTLY, pytest.mark.campaign, "nightly"),
)
PAIRS = [
    pytest.param(first, marks=mark, id=f"{name}-{first}")
    for column, mark, name in NAMED
    for first in range(0, column.pairs, PAIRS_CHUNK)
]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("column", COLUMNS)
def test_rel_V2_a_scope_in_every_order(column: Column, name: str, tally: Tally) -> None:
    scope = ALL[name]
    seen = explore(scope.make, scope.check, limit=column.explored)
    print(f"{name}: {seen}")
    tally(executions=seen.executions, violations=int(seen.wrong is not None))
    if seen.wrong is not None:
        seen.wrong.add_note(f"schedule {seen.schedule}")
        raise seen.wrong


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("column", COLUMNS)
def test_rel_V2_runs_at_random_beside_the_explorer(column: Column, name: str, tally: Tally) -> None:
    scope = ALL[name]
    for order in (partial(Pct, depth=3, steps=80), partial(Pct, depth=6, steps=80)):
        seeds = range(column.at_random // 2)
        seen = random_runs(scope.make, scope.check, seeds, order=order)
        tally(executions=seen.executions, violations=int(seen.wrong is not None))
        assert seen.wrong is None, f"seed {seen.seed}: {seen.wrong}"


@pytest.mark.ci_campaign
@pytest.mark.parametrize("name", JUDGED)
def test_rel_V2_the_explorer_sees_every_outcome_that_brute_force_sees(
    name: str, tally: Tally
) -> None:
    scope = ALL[name]
    every = brute_force(scope.make, scope.check, limit=200_000)
    seen = explore(scope.make, scope.check)
    print(f"{name}: brute force: {every}; explored: {seen}")
    tally(executions=every.executions, violations=int(every.wrong is not None))
    assert every.complete
    assert every.wrong is None
    assert set(seen.outcomes) == set(every.outcomes)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("column", COLUMNS)
def test_rel_V4_each_call_fails_in_each_way(column: Column, name: str, tally: Tally) -> None:
    for failure in failed([name], orders=range(column.orders)):
        tally(calls=1, violations=int(failure.seen.wrong is not None))
        failure.require_clean()


@pytest.mark.parametrize("first", PAIRS)
def test_rel_V4_two_calls_fail(first: int, tally: Tally) -> None:
    names = list(ALL)
    for seed in range(first, first + PAIRS_CHUNK):
        scope = ALL[Chance(seed, "scope").pick(names)]
        plan = partial(random_faults, probability=0.05, kinds=FAULTS, most=2)
        seen = random_runs(scope.make_faulty, scope.check, [seed], plan=plan)
        tally(calls=2, violations=int(seen.wrong is not None))
        assert seen.wrong is None, f"seed {seed}: {seen.wrong}"
