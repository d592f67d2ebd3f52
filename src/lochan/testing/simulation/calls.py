# SPDX-License-Identifier: Apache-2.0
"""One call to a simulated store: a switch, then the store's part, whole, or what the plan says.

A zombie's write becomes a process of its own: the schedule decides when it takes effect. Reads
change nothing, so a read that loses request or response is Unavailable, and a zombie of a read too.
"""

from collections.abc import Callable
from typing import TypeVar

from lochan.errors import LochanError, Unavailable, UnknownOutcome
from lochan.faults import Crashed, Delay, Fault
from lochan.testing.simulation.environment import SimulatedEnvironment
from lochan.testing.simulation.faults import Plan, Step, no_faults
from lochan.testing.simulation.turns import Turns

R = TypeVar("R")


class Calls:
    """The way from processes to stores."""

    def __init__(self, turns: Turns, environment: SimulatedEnvironment, plan: Plan) -> None:
        """Ask `plan` before each call."""
        self.turns = turns
        self._environment = environment
        self._plan = plan

    def read(self, operation: str, space: str, key: str, work: Callable[[], R]) -> R:
        """Make a call that changes nothing."""
        fault = self._turn(operation, space, key)
        if fault is Fault.OK:
            return self.turns.atomically(work)
        if fault in {Fault.CRASH_BEFORE, Fault.CRASH_AFTER}:
            self._crash()
        raise Unavailable(f"planned fault: {fault} of {operation} {key}")

    def write(self, operation: str, space: str, key: str, work: Callable[[], R]) -> R:
        """Make a call that changes something."""
        fault = self._turn(operation, space, key)
        if fault is Fault.OK:
            return self.turns.atomically(work)
        if fault in {Fault.LOST_RESPONSE, Fault.CRASH_AFTER}:
            self._quietly(work)
        match fault:
            case Fault.ERROR:
                raise Unavailable(f"planned fault: {operation} of {key} was not applied")
            case Fault.LOST_REQUEST | Fault.LOST_RESPONSE:
                raise UnknownOutcome(f"planned fault: {fault} of {operation} {key}")
            case Fault.CRASH_BEFORE | Fault.CRASH_AFTER:
                self._crash()
            case Fault.ZOMBIE:
                self.turns.spawn(lambda: self._later(operation, work), "zombie", None)
                raise UnknownOutcome(f"planned fault: {operation} of {key} takes effect later")
        return self.turns.atomically(work)

    def _turn(self, operation: str, space: str, key: str) -> Fault:
        self.turns.switch(f"{operation} {space} {key}")
        process = self.turns.current
        if process is None:
            return Fault.OK
        if process.dead:
            raise Crashed(f"{process.name} is dead")
        process.calls += 1
        if self._plan is no_faults:
            return Fault.OK
        fault = self._plan(Step(process.name, process.calls, operation, space, key))
        if isinstance(fault, Delay):
            self._environment.sleep(fault.seconds)
            return Fault.OK
        return fault

    def _later(self, operation: str, work: Callable[[], object]) -> None:
        self.turns.switch(f"zombie {operation}")
        self._quietly(work)

    def _quietly(self, work: Callable[[], object]) -> None:
        """Let the store do its part; its answer goes the way of the response, which is lost."""
        try:
            self.turns.atomically(work)
        except LochanError:
            return

    def _crash(self) -> None:
        process = self.turns.current
        assert process is not None
        self.turns.crash(process.node or process.name)
