# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a simulated world: plans that are asked at every call to a store.

A plan is a function from a `Step` to a fault of `lochan.faults`. `fail_nth` fails one call of one
process; `random_faults` draws from the seed, at most so many in a run.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from lochan.faults import Delay, Fault
from lochan.testing.simulation.chance import Chance


class Step(NamedTuple):
    """A call about to be made: by whom, its number among the process's calls, what and where."""

    process: str
    number: int
    operation: str
    space: str
    key: str


Plan = Callable[[Step], Fault | Delay]


def no_faults(_: Step) -> Fault | Delay:
    """Let every call through."""
    return Fault.OK


def fail_nth(process: str, number: int, fault: Fault) -> Plan:
    """Let every call through but the n-th of one process."""

    def plan(step: Step) -> Fault:
        return fault if (step.process, step.number) == (process, number) else Fault.OK

    return plan


def random_faults(seed: int, probability: float, kinds: Sequence[Fault], most: int) -> Plan:
    """Fail calls of any process at random, until `most` have failed."""
    chance = Chance(seed, "faults")
    left = [most]

    def plan(_: Step) -> Fault:
        if not left[0] or not chance.happens(probability):
            return Fault.OK
        left[0] -= 1
        return chance.pick(kinds)

    return plan
