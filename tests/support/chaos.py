# SPDX-License-Identifier: Apache-2.0
"""Several servers and their clients while stores fail, servers die and clocks jump; then calm.

Most runs have three clients a server, since small runs find more a second; some have a crowd.
Everything is drawn from the seed: what each client does, who runs next, which call fails and how,
when a server dies and is started again, how wrong a clock is, how old a cached record. The history
must keep its promises (G1 to G7, G15). Then the faults stop. New servers over what is left must do
all that they are asked, without an error, within so many steps: nothing needs an operator.
"""

from collections.abc import Callable

from lochan.faults import Fault
from lochan.model.ids import BranchName
from lochan.model.records import Repository
from lochan.operations.branch_reads import BranchRead, BranchReads
from lochan.operations.lake import Lake
from lochan.testing.simulation import Pct, RandomOrder, Schedule, World
from lochan.testing.simulation.chance import Chance
from lochan.testing.simulation.faults import Plan, random_faults
from support.lakes import MAIN
from support.protocol_scopes import grow
from support.simulated_anyone import Anyone
from support.simulated_client import KEYS, Client, Work
from support.simulated_ground import SNAPSHOTS, Ground
from support.simulated_lake import Scene
from support.simulated_mover import Mover

CALLS = 4
FEW, CROWD = (3, 3, 3), (7, 7, 6)  # clients of each server
CROWDED = 0.04  # of the seeds: it takes as long as three others
FAULTS = (
    Fault.ERROR,
    Fault.LOST_REQUEST,
    Fault.LOST_RESPONSE,
    Fault.CRASH_BEFORE,
    Fault.CRASH_AFTER,
)
MAX_STEPS = 20_000
CALM_STEPS = 3_000
JUMPS_S = (-900.0, -1.0, 0.5, 2.0, 900.0)


def _grown(ground: Ground) -> None:
    grow(ground)
    ground.branch("trunk", "first")  # moved by merges alone


GROWN = Ground(_grown)


_CALLS: list[Callable[[Anyone, str, str, str], Work]] = [
    *[lambda client, key, tag, branch: client.put(key, tag, branch)] * 7,
    *[lambda client, key, _, branch: client.delete(key, branch)] * 2,
    *[lambda client, key, _, branch: client.get(key, branch)] * 4,
    *[lambda client, _, __, branch: client.listing(2, branch)] * 2,
    *[lambda client, _, __, branch: client.commit(branch)] * 5,
    lambda client, _, __, branch: client.commit(branch, message=""),
    lambda client, *_: client.merge("feature"),
    lambda client, *_: client.merge("feature", "trunk"),
    lambda client, *_: client.get("a", "trunk"),
    lambda client, *_: client.listing(branch="trunk"),
    lambda client, *_: client.compact,
    lambda client, *_: client.delete_branch("side"),
    lambda client, *_: client.create_branch("side", "first"),
    lambda client, *_: client.create_branch("other", "feature"),
    *[lambda client, key, tag, branch: client.put_if_absent(key, tag, branch)] * 2,
    *[lambda client, key, tag, branch: client.put_over_what_it_reads(key, tag, branch)] * 3,
    lambda client, _, __, branch: client.forget(branch),
    lambda client, key, _, branch: client.forget_key(key, branch),
    lambda client, key, _, branch: client.forget_prefix(key, branch),
    lambda client, _, __, branch: client.revert("first", branch),
    lambda client, *_: client.revert("feature"),
    lambda client, _, __, branch: client.cherry_pick("feature", branch),
]


class AnyReads(BranchReads):
    """A cache that answers with any record that it has ever read (G13)."""

    def __init__(self, lake: Lake, chance: Callable[[], Chance]) -> None:
        super().__init__(lake.store, lake.environment)
        self._chance = chance
        self._all: dict[tuple[str, BranchName], list[BranchRead]] = {}

    def seen(self, repository: Repository, name: BranchName) -> BranchRead:
        known = self._all.setdefault((repository.unique_identifier, name), [])
        number = self._chance().below(len(known) + 1)
        if number < len(known):
            return known[number]
        read = self.fresh(repository, name)
        known.append(read)
        return read


class Chaos:
    """One run under one seed."""

    def __init__(self, seed: int, *, ground: Ground = GROWN) -> None:
        SNAPSHOTS.forget()
        self._draw = Chance(seed, "chaos")
        self._seed = seed
        self._writes = 0
        self._jumped = False
        self._clients = CROWD if self._draw.happens(CROWDED) else FEW
        plan, schedule = self._plan(), self._schedule()
        self.world = World(seed, plan=plan, schedule=schedule, footprints=False)
        self.scene = Scene(self.world, ground, faulty=True, reads=self._reads())
        self._ground = ground
        for number, clients in enumerate(self._clients):
            self._start(f"server{number}", clients)
        self.world.spawn(self._weather, "weather")

    def run(self) -> int:
        """Run through the storm and the calm after it; gives the steps taken."""
        self.world.run(max_steps=MAX_STEPS)
        self.scene.check()
        self.scene.check_soundness()
        if not self._jumped:  # after a jump the time of grace was none
            self.scene.check_leaks()
        return len(self.world.trace) + self._calm()

    def _plan(self) -> Plan:
        return random_faults(self._seed, 0.01, FAULTS, most=self._draw.below(5))

    def _schedule(self) -> Schedule:
        if self._draw.happens(0.5):
            return RandomOrder(self._seed)
        return Pct(self._seed, depth=2 + self._draw.below(5), steps=600)

    def _reads(self) -> Callable[[Lake, Ground], BranchReads] | None:
        if self._draw.happens(0.7):
            return None
        chance = self.world.environment.chance
        return lambda lake, _: AnyReads(lake, lambda: chance("cache"))

    def _start(self, server: str, clients: int) -> None:
        lake = self.scene.lake(shared=True)
        for number in range(clients):
            client = Anyone(self.scene, f"{server}-{number}", lake)
            client.does(*(self._call(client) for _ in range(CALLS)), node=server)
        cleaner = Mover(self.scene, f"{server}-cleaner", lake)
        cleaner.does(cleaner.sweep(), node=server)

    def _call(self, client: Anyone) -> Work:
        """Draw what a client does next."""
        key = self._draw.pick(KEYS)
        branch = MAIN if self._draw.happens(0.8) else "side"
        self._writes += 1
        tag = f"{key}-{self._writes}"  # the ground has tags without a dash
        return self._draw.pick(_CALLS)(client, key, tag, branch)

    def _weather(self) -> None:
        """Jump clocks; let servers die and start again."""
        environment = self.world.environment
        for number in range(self._draw.below(4)):
            environment.sleep(0.1 * self._draw.below(20))
            if self._draw.happens(0.5):
                self._jumped = True
                self.world.jump(self._draw.pick(JUMPS_S))
            else:
                server = self._draw.below(len(self._clients))
                self.world.crash(f"server{server}")
                self._start(f"again{number}", self._clients[server])

    def _calm(self) -> int:
        """Let new servers work on what is left; nothing fails, and everything succeeds."""
        world = World(self._seed + 1, footprints=False)
        left = Ground.of(self.scene.inner, self._ground)
        scene = Scene(world, left)
        scene.sealed = True
        clients = [Client(scene, f"calm{number}") for number in range(3)]
        for number, client in enumerate(clients):
            key = KEYS[number]
            client.does(
                client.put(key, f"{key}-calm"), client.commit(), client.get(key), client.listing()
            )
        world.run(max_steps=CALM_STEPS)
        scene.check()
        for client in clients:
            if client.errors:
                raise client.errors[0]
        return len(world.trace)


def run_chaos(first: int, count: int) -> int:
    """Run so many seeds; gives the steps. What goes wrong names its seed."""
    steps = 0
    for seed in range(first, first + count):
        try:
            steps += Chaos(seed).run()
        except Exception as error:
            error.add_note(f"run again: Chaos(seed={seed}).run()")
            raise
    return steps
