# SPDX-License-Identifier: Apache-2.0
"""Processes that take turns: the heart of the simulator.

A process is a greenlet. It runs until it reaches a switch point, says what it is about to do, and
hands over; when the schedule lets it go on, it does that and everything up to its next switch
point. That is one step, and nothing else runs meanwhile. So a run is decided by the list of names
that the schedule chose, and the same choices give the same run.

Calls made outside any process (setting a scene, looking at its end) go straight through.

What a process does before its first switch belongs to the step that spawned it: it can touch
nothing shared that a switch would not announce.

A process sleeps by naming the time at which it wakes. It can be chosen at any step, and the clock
is then put forward to that time: whoever else could have gone on was slow, and whoever should have
woken earlier sleeps longer, which may always happen.

A run is over when every foreground process is done and background processes only sleep or wait. A
scenario for the explorer has no background timers: a run's end is no step that it could move.

What steps touch is noted for the explorer. Where nobody asks for it, noting it would be a seventh
of a run's time.
"""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from greenlet import greenlet

from lochan.faults import Crashed
from lochan.testing.simulation.access import Access, Footprint, Mode
from lochan.testing.simulation.schedule import Schedule

MAX_STEPS = 100_000

Result = TypeVar("Result")

_CLOCK_READ = Access("clock", None, Mode.READ)
_CLOCK_WRITE = Access("clock", None, Mode.WRITE)


class Stuck(AssertionError):
    """A run that does not come to its end."""


class Deadlock(Stuck):
    """Nobody can run, and not everybody is done."""


class Livelock(Stuck):
    """Everybody runs, and nobody comes to an end."""


class Taken(NamedTuple):
    """A step that was taken: whose, what it said it would do, and what it touched."""

    process: str
    label: str
    footprint: Footprint | None  # None: nobody asked for it to be noted


class Process:
    """One thread of control: a name, a greenlet, and what it waits for."""

    __slots__ = (
        "accesses",
        "calls",
        "children",
        "dead",
        "deferred",
        "done",
        "error",
        "foreground",
        "greenlet",
        "label",
        "name",
        "node",
        "ready",
        "usual",
        "wake",
    )

    def __init__(self, name: str, node: str | None, *, foreground: bool) -> None:
        """Name a process; `turns` gives it its greenlet."""
        self.name = name
        self.node = node
        self.foreground = foreground
        self.greenlet: greenlet | None = None
        self.dead = False
        self.done = False  # whether it has come to its end, by whatever way
        self.error: BaseException | None = None
        self.label = "start"
        self.ready: Callable[[], bool] | None = None
        self.wake: float | None = None
        self.accesses: set[Access] = set()
        self.deferred: list[Callable[[], None]] = []
        self.children = 0
        self.calls = 0
        self.usual = {Access(("process", name), None, Mode.WAIT)}  # what each of its steps touches
        if node is not None:
            self.usual.add(Access(("node", node), None, Mode.READ))


class Turns:
    """All processes of a run, and the loop that lets one after the other take a step."""

    def __init__(self, *, footprints: bool = True) -> None:
        """Begin with nobody, at time 0; say whether to note what each step touches."""
        self.processes: dict[str, Process] = {}
        self.current: Process | None = None
        self.trace: list[Taken] = []
        self.elapsed = 0.0
        self.footprints = footprints
        self._atomic = False
        self._ended = False  # whether somebody has died or is done who was not buried yet
        self._hub: greenlet | None = None
        self._unstarted: list[Process] = []
        self._alive: list[Process] = []  # those who are not known to be done, in order of birth
        self._things: Counter[str] = Counter()

    def spawn(
        self, work: Callable[[], object], name: str, node: str | None, *, foreground: bool = True
    ) -> str:
        """Add a process. Children are named after their parent, whatever the order of steps."""
        parent = self.current
        if parent is not None:
            parent.children += 1
            name = f"{parent.name}.{name}{parent.children}"
            node = node or parent.node
        if name in self.processes:
            raise ValueError(f"there is a process {name} already; name this one otherwise")
        process = Process(name, node, foreground=foreground)
        process.greenlet = greenlet(lambda: self._body(process, work))
        self.touch(("process", name), None, Mode.SIGNAL)
        self.processes[name] = process
        self._alive.append(process)
        self._unstarted.append(process)
        return name

    def thing(self, kind: str) -> object:
        """Name a new shared thing by its maker, so that it has one name in every run."""
        maker = self.current.name if self.current else ""
        self._things[f"{maker}/{kind}"] += 1
        return kind, maker, self._things[f"{maker}/{kind}"]

    def touch(self, space: object, part: object, mode: Mode) -> None:
        """Note that the current step touches a thing."""
        if self.footprints and self.current is not None:
            self.current.accesses.add(Access(space, part, mode))

    def switch(
        self, label: str, ready: Callable[[], bool] | None = None, wake: float | None = None
    ) -> None:
        """Hand over, and come back when the schedule says so and `ready` holds."""
        process = self.current
        if process is None or self._atomic or self._hub is None:
            return
        if process.dead:
            raise Crashed(f"{process.name} is dead")
        process.label, process.ready, process.wake = label, ready, wake
        self._hub.switch()
        process.ready = process.wake = None
        if process.deferred:
            for stamp in process.deferred:
                stamp()
            process.deferred.clear()

    def atomically(self, work: Callable[[], Result]) -> Result:
        """Do something in which no switch happens, whatever it calls."""
        before, self._atomic = self._atomic, True
        try:
            return work()
        finally:
            self._atomic = before

    def crash(self, node: str) -> None:
        """Let every process of a node die where it is; the caller too if it is one of them."""
        for process in self.processes.values():
            if process.node == node:
                self.touch(("node", node), None, Mode.KILL)
            if node in {process.node, process.name}:
                process.dead = self._ended = True
        if self.current is not None and self.current.dead:
            raise Crashed(f"{node} crashes")

    def run(self, schedule: Schedule, max_steps: int = MAX_STEPS) -> None:
        """Take steps until all is done but background work that waits. Raises what they raised."""
        self._hub = greenlet.getcurrent()
        try:
            self._start()
            self._bury()
            while enabled := self.enabled():
                if len(self.trace) >= max_steps:
                    raise Livelock(f"no end after {max_steps} steps: {self._waiting()}")
                self._step(self.processes[schedule.choose(enabled)])
            if waiting := self._waiting():
                raise Deadlock(f"nobody can go on: {waiting}")
        finally:
            self._abandon()
        for process in self.processes.values():
            if process.error is not None:
                raise process.error

    def enabled(self) -> list[str]:
        """Name the processes that can take a step."""
        can: list[str] = []
        sleepers: list[str] = []
        for process in self._alive:
            if process.ready is not None:
                if process.ready():
                    can.append(process.name)
            elif process.wake is None:
                can.append(process.name)
            else:
                sleepers.append(process.name)
        if sleepers and any(process.foreground for process in self._alive):
            can.extend(sleepers)
        return can

    def _step(self, process: Process) -> None:
        label = process.label
        if label == "start":
            raise ValueError(f"{process.name} was chosen before it began")
        woke = process.wake is not None
        if process.wake is not None:
            self.elapsed = max(self.elapsed, process.wake)
        if self.footprints:
            process.accesses = process.usual.copy()
        self._resume(process)
        begun = self._start()
        if self._ended:
            self._bury()
        footprint = self._footprint(process, begun, woke=woke) if self.footprints else None
        self.trace.append(Taken(process.name, label, footprint))

    def _footprint(self, process: Process, begun: set[Access], *, woke: bool) -> Footprint:
        """Sum up what a step has touched, and what those did who were begun in it."""
        touched = process.accesses | begun
        if woke:
            touched.add(_CLOCK_WRITE)
        if process.wake is not None:  # it went to sleep, and has looked at the clock for that
            touched.add(_CLOCK_READ)
        return frozenset(touched)

    def _start(self) -> set[Access]:
        """Bring new processes to their first switch, and say what that touched."""
        touched: set[Access] = set()
        while self._unstarted:
            process = self._unstarted.pop(0)
            assert process.greenlet is not None
            process.greenlet.parent = self._hub
            self._resume(process)
            touched |= process.accesses
        return touched

    def _resume(self, process: Process) -> None:
        assert process.greenlet is not None
        self.current = process
        process.greenlet.switch()
        self.current = None

    def _bury(self) -> None:
        """Bring whoever was killed to an end, and forget whoever has come to one."""
        for process in self._alive:
            if process.dead and not process.done:
                self.current = process
                assert process.greenlet is not None
                process.greenlet.parent = self._hub  # also of one that never began
                process.greenlet.throw(Crashed(f"{process.name} crashes"))
                process.done = bool(process.greenlet.dead)
                self.current = None
        self._alive = [process for process in self._alive if not process.done]
        self._ended = False

    def _abandon(self) -> None:
        """End what is left (background work, or everything after an error)."""
        self._unstarted.clear()
        for process in self.processes.values():
            process.dead = True
        self._bury()
        self._hub = None

    def _body(self, process: Process, work: Callable[[], object]) -> None:
        try:
            work()
        except Crashed:
            process.dead = True
        except Exception as error:  # noqa: BLE001 - run() raises it, in the tester's stack
            process.error = error
        finally:
            process.done = self._ended = True

    def _waiting(self) -> str:
        left = (p for p in self._alive if p.foreground and not p.done)
        return ", ".join(f"{p.name} at {p.label}" for p in left)
