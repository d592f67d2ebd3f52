# SPDX-License-Identifier: Apache-2.0
"""Who works in a lake while it is collected: each draws what it does from the seed."""

from collections.abc import Callable, Sequence
from functools import partial

from lochan.faults import Fault
from lochan.model.ids import BranchName, ObjectKey, TagName
from lochan.model.instant import from_seconds
from lochan.model.records import Commit
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.compact import compact
from lochan.operations.copy_object import Source, copy_object
from lochan.operations.delete_objects import delete_objects
from lochan.operations.gc.collect import collect
from lochan.operations.gc.empty import empty_trash
from lochan.operations.gc.expiry import Horizon
from lochan.operations.gc.mark import mark
from lochan.operations.gc.roots import address_hash
from lochan.operations.gc.trash import list_trash
from lochan.operations.gc.undo import undo
from lochan.operations.hard_reset import hard_reset
from lochan.operations.link_object import Uploaded, link_object, new_address
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.put_file import put_file
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.put_object import put_object
from lochan.operations.rename_object import rename_object
from lochan.operations.reset import reset
from lochan.operations.retention import set_gc_rules
from lochan.operations.seal import seal
from lochan.operations.tags import create_tag, delete_tag
from lochan.operations.transplant import TransplantRequest, revert
from lochan.refs.cleaner import Cleaner
from lochan.testing.simulation import (
    Explored,
    Pct,
    RandomOrder,
    Schedule,
    World,
    random_runs,
)
from lochan.testing.simulation.chance import Chance
from lochan.testing.simulation.faults import Plan, random_faults
from support.collected_scene import GRACE_S, HOW, LONG_S, CollectedScene
from support.lakes import MAIN
from support.simulated_lake import Broken

KEYS = tuple(ObjectKey(key) for key in (b"a", b"b", b"c", b"d"))
BRANCHES = (MAIN, MAIN, BranchName("dev"))
FAULTS = (Fault.ERROR, Fault.LOST_RESPONSE, Fault.CRASH_BEFORE, Fault.CRASH_AFTER)
STORIES, COLLECTIONS = 6, 4

Work = Callable[[], object]


class Worker:
    """One process with a lake of its own."""

    def __init__(self, scene: CollectedScene, draw: Chance) -> None:
        self.scene = scene
        self.draw = draw
        self.lake = scene.lake()
        self.where = (self.lake, scene.repository)

    def works(self, stories: Sequence[Callable[["Worker"], Work]]) -> None:
        """Do some stories, one after the other, with pauses in which clocks go on."""
        for _ in range(STORIES):
            story = self.draw.pick(stories)(self)
            with self.scene.under_way(story.__name__):
                story()
            self.scene.require_living()
            if self.draw.happens(0.3):
                self.scene.world.environment.sleep(GRACE_S / 4)

    @property
    def branch(self) -> BranchName:
        return self.draw.pick(BRANCHES)

    @property
    def key(self) -> ObjectKey:
        return self.draw.pick(KEYS)

    @property
    def past(self) -> Commit:
        """A commit that somebody has made: one of long ago, or a head."""
        if self.draw.happens(0.5):
            return self.draw.pick(self.scene.commits)
        lake, repository = self.where
        head = lake.branches.fresh(repository, MAIN).record.commit_id
        return lake.tables(repository).commits.get(head.encode()).record


def says(story: Callable[[Worker], object]) -> Callable[[Worker], Work]:
    def drawn(worker: Worker) -> Work:
        def work() -> object:
            return story(worker)

        work.__name__ = story.__name__
        return work

    return drawn


@says
def puts(w: Worker) -> object:
    return put_object(*w.where, w.branch, w.key, w.draw.bytes(4))


@says
def deletes(w: Worker) -> None:
    delete_objects(*w.where, w.branch, [w.key])


@says
def copies(w: Worker) -> object:
    branch = w.branch
    return copy_object(*w.where, branch, w.key, Source(branch, w.key))


@says
def renames(w: Worker) -> None:
    rename_object(*w.where, w.branch, w.key, w.key, overwrite=True)


@says
def links(w: Worker) -> object:
    branch, key = w.branch, w.key
    address = new_address(*w.where, branch, key).address
    storage = w.lake.storage(w.scene.repository.storage_namespace)
    upload = storage.objects.uploads.create(address)  # type: ignore[attr-defined]  # it has them
    uploads = storage.objects.uploads  # type: ignore[attr-defined]
    part = uploads.put_part(address, upload, 1, b"part")
    w.scene.world.environment.sleep(GRACE_S / 4)
    uploads.complete(address, upload, [part])
    return link_object(*w.where, branch, key, Uploaded(address, 4, "etag"))


@says
def commits(w: Worker) -> object:
    made = commit(*w.where, w.branch, CommitRequest("me", "some"))
    w.scene.commits.append(made)
    return made


@says
def seals(w: Worker) -> object:
    return seal(*w.where, w.branch)


@says
def compacts(w: Worker) -> object:
    return compact(*w.where, w.branch)


@says
def resets(w: Worker) -> None:
    reset(*w.where, w.branch)


@says
def branches(w: Worker) -> object:
    return create_branch(*w.where, BranchName("dev"), w.past.id)


@says
def ends_branch(w: Worker) -> None:
    delete_branch(*w.where, BranchName("dev"))


@says
def tags(w: Worker) -> object:
    return create_tag(*w.where, TagName("v1"), w.past)


@says
def untags(w: Worker) -> None:
    delete_tag(*w.where, TagName("v1"))


@says
def goes_back(w: Worker) -> object:
    return hard_reset(*w.where, w.branch, w.past, force=True)


@says
def merges(w: Worker) -> object:
    return merge(*w.where, w.branch, w.past, MergeRequest("me", strategy="source-wins"))


@says
def reverts(w: Worker) -> object:
    return revert(*w.where, w.branch, w.past, TransplantRequest("me", strategy="source-wins"))


@says
def files(w: Worker) -> object:
    opened = start_commit(*w.where, w.past.id if w.draw.happens(0.5) else None, "grown")
    w.scene.opened.append(opened.id)
    put_file(*w.where, opened.id, ObjectKey(b"f"), w.draw.pick([b"x", b"y"]))
    if w.draw.happens(0.2):
        w.scene.world.environment.sleep(GRACE_S / 2)
    made = finish_commit(*w.where, opened.id)
    w.scene.commits.append(made)
    return made


@says
def sets_rules(w: Worker) -> object:
    return set_gc_rules(*w.where, w.draw.pick([0, 0, 40]), {})


@says
def sweeps(w: Worker) -> object:
    return Cleaner(w.lake.store, w.lake.environment, grace_s=0).run()


WRITES = (puts, puts, puts, deletes, copies, renames, links)
COMMITS = (commits, commits, commits, seals, compacts, resets, sweeps, merges)
MOVES = (branches, branches, ends_branch, tags, untags, goes_back, reverts, files, files)


def collects(w: Worker) -> None:
    """Collect again and again, a grace apart; now and then undo, or empty the trash."""
    for number in range(COLLECTIONS):
        with w.scene.under_way("collects"):
            collect(*w.where, HOW)
        if number and w.draw.happens(0.3):
            with w.scene.under_way("undoes"):
                undo(*w.where, w.draw.pick([row.run for row in list_trash(*w.where)] or [""]))
        w.scene.wait_a_grace()
        with w.scene.under_way("empties"):
            empty_trash(*w.where, HOW)


def spawn_crowd(scene: CollectedScene, **crowd: Sequence[Callable[[Worker], Work]]) -> None:
    """Have each of some workers do its stories while a collector collects."""
    world = scene.world
    for name, stories in crowd.items():
        worker = Worker(scene, Chance(world.seed, name))
        world.spawn(partial(worker.works, stories), name)
    collector = Worker(scene, Chance(world.seed, "collector"))
    world.spawn(lambda: collects(collector), "collector")


def make(world: World) -> CollectedScene:
    """Set the scene of a seed."""
    scene = CollectedScene(world)
    crowd = {"writer": WRITES, "committer": COMMITS, "mover": MOVES}
    if Chance(world.seed, "ruler").happens(0.3):
        crowd["rules"] = (sets_rules,)
    spawn_crowd(scene, **crowd)
    return scene


def order_of(seed: int) -> Schedule:
    return Pct(seed, depth=2 + seed % 5, steps=800) if seed % 2 else RandomOrder(seed)


def plan_of(seed: int) -> Plan:
    return random_faults(seed, 0.01, FAULTS, most=Chance(seed, "most").below(4))


def run_crowd(seeds: range) -> Explored:
    """Run a crowd once a seed, until a live object is gone or a dead one stays."""
    return random_runs(make, CollectedScene.check, seeds, order=order_of, plan=plan_of)


def marks(w: Worker) -> None:
    """Mark while others move things about: what was alive all the time must be marked (H19)."""
    for _ in range(2):
        before = w.scene.alive()
        now = from_seconds(w.lake.environment.now())
        marked = mark(*w.where, Horizon(now, HOW.grace)).objects
        throughout = before & w.scene.alive()
        if missed := {one for one in throughout if address_hash(one) not in marked}:
            raise Broken(f"H19: {missed} were alive, and not marked")


def make_marked(world: World) -> CollectedScene:
    """Set a scene in which nothing is collected, and marks must be right at once."""
    scene = CollectedScene(world)
    for name in ("mover", "other mover"):
        mover = Worker(scene, Chance(world.seed, name))
        world.spawn(partial(mover.works, (renames, renames, copies)), name)
    committer = Worker(scene, Chance(world.seed, "committer"))
    world.spawn(lambda: committer.works((commits, seals, compacts, sweeps)), "committer")
    marker = Worker(scene, Chance(world.seed, "marker"))
    world.spawn(lambda: marks(marker), "marker")
    return scene


def make_renamed(world: World) -> CollectedScene:
    """Set a scene in which what is staged moves from behind a scan to before it."""
    scene = CollectedScene(world)
    names = [f"m{number}".encode() for number in range(6)]
    for name in names:
        put_object(scene.plain, scene.repository, MAIN, ObjectKey(name), name)
    world.environment.sleep(LONG_S)
    mover = Worker(scene, Chance(world.seed, "mover"))

    def moves() -> None:
        for name in reversed(names):
            rename_object(*mover.where, MAIN, ObjectKey(name), ObjectKey(b"before " + name))

    world.spawn(moves, "mover")
    marker = Worker(scene, Chance(world.seed, "marker"))
    world.spawn(lambda: marks(marker), "marker")
    return scene


def run_marked(seeds: range) -> Explored:
    """Mark in the middle of a crowd, once a seed."""
    return random_runs(make_marked, lambda _: None, seeds, order=order_of)


def run_renamed(seeds: range) -> Explored:
    """Mark while what is staged moves, once a seed."""
    return random_runs(make_renamed, lambda _: None, seeds, order=order_of)
