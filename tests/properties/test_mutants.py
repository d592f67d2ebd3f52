# SPDX-License-Identifier: Apache-2.0
"""Every hole of the reliability page, opened in the product's code, is caught (V2: mutants).

This measures the tests, not the code. Each hole has the scene in which it shows, and a number of
executions within which it must; what was needed is printed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import pytest

from lochan.faults import Fault
from lochan.testing.simulation import Explored, Pct, explore, fail_each, random_runs
from lochan.testing.simulation.explorer import Check, Make, PlanMaker
from support import holes
from support.protocol_runs import ALL
from support.protocol_scopes import EMPTY, Scope
from support.simulated_client import Work
from support.simulated_lake import Scene
from support.simulated_mover import Mover
from support.tally import Tally

MOST = 1000  # executions; a hole that is not seen in so many counts as missed
CLEAN = 200  # executions of the product as it is, beside each

ALONE = Scope(
    EMPTY, {"committer": lambda client: [client.put("a", "a1"), client.commit()]}, leaks=True
)
TWICE = Scope(EMPTY, {"writer": lambda client: [client.put("a", "a1"), client.put("a", "a2")]})


def merges_beside_sealed_rows(client: Mover) -> list[Work]:
    client.scene.sealed = True  # what this merge leaves sealed is not what is looked for
    return [client.merge("feature", dirty=True)]


MERGED = ALL["merge, two writers that commit"]
MERGED = replace(MERGED, cast=MERGED.cast | {"merger": merges_beside_sealed_rows})
NOTHING_TO_SAY = Scope(
    EMPTY, {"one": lambda client: [client.commit()] * 2, "two": lambda client: [client.commit()]}
)


def in_every_order(scope: Scope, most: int) -> Explored:
    return explore(scope.make, scope.check, limit=most)


def by_priorities(scope: Scope, most: int) -> Explored:
    order = partial(Pct, depth=5, steps=150)
    return random_runs(scope.make, scope.check, range(most), order=order)


def every_order(make: Make[Scene], check: Check[Scene], plan: PlanMaker) -> Explored:
    return explore(make, check, limit=MOST, plan=plan)


def with_each_call_failed(scope: Scope, fault: Fault, _: int) -> Explored:
    """Fail the calls of the first process, each in turn; count the executions of all."""
    executions = 0
    process = next(iter(scope.cast))
    for seen in fail_each(scope.make_faulty, scope.check, process, fault, every_order):
        executions += seen.executions
        if seen.wrong is not None:
            break
    seen.executions = executions
    return seen


@dataclass(frozen=True)
class Caught:
    """A hole, and the search that shows it by one of these promises."""

    hole: holes.Hole
    search: Callable[[int], Explored]
    breaks: str


def explored(name: str) -> Callable[[int], Explored]:
    return partial(in_every_order, ALL[name])


HOLES = {
    "rel_H1": Caught(holes.rel_H1, explored("two commits, one cleans"), "G4|G6|G7"),
    "rel_H2": Caught(holes.rel_H2, explored("read, commit and clean"), "G1|G2"),
    "rel_H3": Caught(holes.rel_H3, explored("read, commit and clean"), "G1|G2"),
    "rel_H4": Caught(holes.rel_H4, explored("delete, commit"), "G7"),
    "rel_H5, a stale read": Caught(
        holes.rel_H5_stale, explored("second put, commit and clean"), "H5"
    ),
    "rel_H5, what a merge brings": Caught(
        holes.rel_H5_brought,
        explored("sealed before, first put, a merge that brings the key"),
        "H5",
    ),
    "rel_H5, its own write": Caught(
        holes.rel_H5_own, explored("first put, commit and clean"), "H5"
    ),
    "rel_H5, its condition again": Caught(
        holes.rel_H5_again, explored("first put, put over it, commit"), "H5"
    ),
    "rel_H6": Caught(holes.rel_H6, explored("two commits"), "G15"),
    "rel_H7": Caught(holes.rel_H7, partial(by_priorities, MERGED), "G7|G15"),
    "rel_H7, a reset that is not counted": Caught(
        holes.rel_H7_reset_uncounted, explored("reset of a key, commit of another"), "G7"
    ),
    "rel_H7, a reset that is not heeded": Caught(
        holes.rel_H7_reset_unheeded, explored("reset of a key, commit of another"), "G6|G7"
    ),
    "rel_H7, a reset that is not followed": Caught(
        holes.rel_H7_reset_unfollowed, explored("reset of a key, commit of another"), "G7"
    ),
    "rel_H7, a reset that is not remembered": Caught(
        holes.rel_H7_reset_unremembered, explored("reset of a key beside compactions"), "G7"
    ),
    "rel_H8": Caught(holes.rel_H8, explored("two writers in one server, commit"), "G7"),
    "rel_H9": Caught(holes.rel_H9, partial(with_each_call_failed, ALONE, Fault.ERROR), "G4|G6|G7"),
    "rel_H10": Caught(
        holes.rel_H10, partial(with_each_call_failed, ALONE, Fault.CRASH_AFTER), "H10"
    ),
    "rel_H11": Caught(holes.rel_H11, partial(in_every_order, NOTHING_TO_SAY), "H11"),
    "rel_H12": Caught(holes.rel_H12, explored("two ends, a creation"), "R16"),
    "rel_H13": Caught(holes.rel_H13, explored("slow creation, look and clean"), "R2|R16"),
    "rel_H14": Caught(holes.rel_H14, explored("end, write"), "G7"),
    "rel_H14, a rule": Caught(holes.rel_H14_rule, explored("protect, write"), "H14"),
    "rel_H15": Caught(
        holes.rel_H15, partial(with_each_call_failed, ALONE, Fault.LOST_RESPONSE), "H15"
    ),
    "rel_H16": Caught(lambda _: None, partial(with_each_call_failed, TWICE, Fault.ZOMBIE), "G7"),
    "rel_H18": Caught(holes.rel_H18, explored("two ends, a new beginning"), "H10"),
    "a commit joins a batch that has begun": Caught(
        holes.commit_joins_late, explored("two writers that commit in one server"), "G6|G7|H15"
    ),
    "a tree over another base": Caught(holes.any_base, explored("compact, merge"), "G7"),
    "a cleaner that does not ask": Caught(
        holes.cleaner_without_question,
        partial(with_each_call_failed, ALL["commit, cleaner"], Fault.CRASH_BEFORE),
        "G2|G7",
    ),
    "a writer without a second look": Caught(
        holes.writer_without_recheck, explored("write, commit"), "G7"
    ),
}


@pytest.mark.parametrize("name", HOLES)
def test_a_hole_is_caught(name: str, tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    caught = HOLES[name]
    caught.hole(monkeypatch)
    seen = caught.search(MOST)
    tally(executions=seen.executions, mutants=bool(seen.wrong), missed=not seen.wrong)
    print(f"{name}: {seen.executions} executions until {seen.wrong}")
    assert seen.wrong is not None, f"{name} was not seen in {seen.executions} executions"
    with pytest.raises(AssertionError, match=caught.breaks):
        raise seen.wrong


@pytest.mark.parametrize("name", [name for name in HOLES if name != "rel_H16"])
def test_the_product_is_clean_where_its_holes_show(name: str, tally: Tally) -> None:
    seen = HOLES[name].search(CLEAN)
    tally(executions=seen.executions, violations=int(seen.wrong is not None))
    assert seen.wrong is None


def test_every_hole_of_the_page_is_here() -> None:
    pages = {*range(1, 17), 18}  # 17 comes with hooks, 19 with the collector
    assert {int(name.split(",")[0][5:]) for name in HOLES if name.startswith("rel_H")} == pages
