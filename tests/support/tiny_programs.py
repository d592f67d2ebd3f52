# SPDX-License-Identifier: Apache-2.0
"""Tiny random programs over everything that processes can share, to judge the explorer by.

An outcome holds all that a program can tell apart: what each process saw, what is stored in the
end, and which call came before which. A reduction that skips one order too many loses one of them.
"""

from collections.abc import Callable, Hashable, Sequence

from hypothesis import strategies as st

from lochan.environment import RealEnvironment
from lochan.errors import NotFound, PredicateFailed
from lochan.kv.drivers.memory import MemoryStore
from lochan.testing.simulation import History, Kind, World, brute_force, explore

SPACE = b"p"
Instruction = tuple[str, str]
Program = Sequence[Instruction]

KEYS = st.sampled_from(["x", "y"])
INSTRUCTIONS = st.one_of(
    st.tuples(st.sampled_from(["get", "set", "swap", "delete"]), KEYS),
    st.tuples(
        st.sampled_from(["scan", "locked", "set_event", "sleep", "now", "spawn", "crash"]),
        st.just("x"),
    ),
)


def programs(processes: int, length: int) -> st.SearchStrategy[list[list[Instruction]]]:
    one = st.lists(INSTRUCTIONS, min_size=1, max_size=length)
    return st.lists(one, min_size=2, max_size=processes)


class Machine:
    """Runs one program a process, and remembers what each saw."""

    def __init__(self, world: World, bodies: Sequence[Program], *, calls: bool) -> None:
        self.world = world
        self.environment = world.environment
        self.store = world.store(MemoryStore(RealEnvironment()), page_rows=1)
        self.store.set(SPACE, b"x", b"0")
        self.lock = self.environment.lock()
        self.event = self.environment.event()
        self.shared = 0
        self.saw: dict[str, list[object]] = {}
        self.history: History = world.history()
        self.calls = calls
        # The dead give back no lock and set no event, and others would wait for ever.
        verbs = {verb for body in bodies for verb, _ in body}
        self.may_crash = verbs.isdisjoint({"locked", "set_event"})
        for number, body in enumerate(bodies):
            node = "left" if number < 2 else "right"
            world.spawn(self._process(f"p{number}", body), f"p{number}", node=node)
        if any(name == "set_event" for body in bodies for name, _ in body):
            world.spawn(self._waiter, "waiter")

    def outcome(self) -> Hashable:
        saw = tuple((name, tuple(map(repr, found))) for name, found in sorted(self.saw.items()))
        stored = tuple(self.store.scan(SPACE))
        operations = sorted(self.history.operations, key=lambda o: o.key)
        before = tuple(
            (one.key, other.key)
            for one in operations
            for other in operations
            if one.response < other.invocation
        )
        return saw, stored, before, self.shared

    def _waiter(self) -> None:
        self.event.wait()
        self.saw["waiter"] = [self._get("y")]

    def _process(self, name: str, body: Program) -> Callable[[], None]:
        self.saw[name] = []

        def work() -> None:
            for number, (verb, key) in enumerate(body):
                value = f"{name}.{number}"
                if self.calls:
                    operation = self.history.invoke(Kind.READ, value)
                    self.saw[name].append(self._do(verb, key, value))
                    self.history.respond(operation)
                else:
                    self.saw[name].append(self._do(verb, key, value))

        return work

    def _do(self, verb: str, key: str, value: str) -> object:
        match verb:
            case "get":
                return self._get(key)
            case "swap":
                return self._swap(key, value)
            case "scan":
                return list(self.store.scan(SPACE))
            case "locked":
                return self._locked()
            case "now":
                return self.environment.monotonic()
        self._change(verb, key, value)
        return None

    def _change(self, verb: str, key: str, value: str) -> None:
        match verb:
            case "set":
                self.store.set(SPACE, key.encode(), value.encode())
            case "delete":
                self.store.delete(SPACE, key.encode())
            case "set_event":
                self.event.set()
            case "sleep":
                self.environment.sleep(len(value))
            case "crash" if self.may_crash:
                self._get(key)
                self.world.crash("left")
            case "spawn":
                self.environment.spawn(lambda: self._change("set", key, value), name="child")

    def _get(self, key: str) -> object:
        try:
            return self.store.get(SPACE, key.encode()).value
        except NotFound:
            return None

    def _swap(self, key: str, value: str) -> bool:
        try:
            self.store.set_if(SPACE, key.encode(), value.encode(), None)
        except PredicateFailed:
            return False
        return True

    def _locked(self) -> int:
        """Increase a shared number, with a switch between reading and writing it."""
        with self.lock:
            seen = self.shared
            self._get("x")
            self.shared = seen + 1
        return seen


def maker(bodies: Sequence[Program], *, calls: bool) -> Callable[[World], Machine]:
    return lambda world: Machine(world, bodies, calls=calls)


def compared(bodies: Sequence[Program], *, calls: bool, limit: int) -> dict[str, int]:
    """Hold the explorer against brute force; programs of more than `limit` orders are left out."""
    every = brute_force(maker(bodies, calls=calls), Machine.outcome, limit=limit)
    assert every.wrong is None
    if not every.complete:
        return {"left out": 1}
    seen = explore(maker(bodies, calls=calls), Machine.outcome)
    assert seen.complete, seen
    assert set(seen.outcomes) == set(every.outcomes)
    return {"programs": 1, "orders": every.executions, "explored": seen.executions}
