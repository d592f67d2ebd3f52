# SPDX-License-Identifier: Apache-2.0
"""Those who try to name what is dead, or about to be, in every way that there is."""

from lochan.model.ids import ObjectKey
from lochan.operations.commit import CommitRequest, commit, commit_tree
from lochan.operations.copy_object import Source, copy_object
from lochan.operations.delete_objects import delete_objects
from lochan.operations.gc.collect import collect
from lochan.operations.open_commits.blocks import BLOCK_BYTES, store_blocks
from lochan.operations.open_commits.cancel_commit import cancel_commit
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.put_file import put_file
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.transplant import TransplantRequest, cherry_pick
from lochan.refs.cleaner import Cleaner
from lochan.testing.simulation import Explored, World, explore, random_runs
from lochan.testing.simulation.chance import Chance
from support.collected_crowd import (
    Worker,
    commits,
    files,
    order_of,
    plan_of,
    puts,
    reverts,
    says,
    spawn_crowd,
)
from support.collected_scene import GRACE_S, HOW, LONG_S, CollectedScene
from support.lakes import MAIN
from support.simulated_lake import Broken


@says
def picks(w: Worker) -> object:
    return cherry_pick(*w.where, w.branch, w.past, TransplantRequest("me", strategy="source-wins"))


@says
def commits_a_tree(w: Worker) -> object:
    request = CommitRequest("me", "as it was", allow_empty=True)
    return commit_tree(*w.where, w.branch, w.past.meta_range_id, request)


@says
def cancels(w: Worker) -> None:
    if w.scene.opened:
        cancel_commit(*w.where, w.draw.pick(w.scene.opened[-2:]))


@says
def copies_a_file(w: Worker) -> object:
    ref = w.past.id if w.draw.happens(0.7) else "grown"
    return copy_object(*w.where, w.branch, w.key, Source(ref, ObjectKey(b"f")))


AGAIN = (commits_a_tree, commits_a_tree, picks, reverts, files, files, cancels, copies_a_file)


def make_named_again(world: World) -> CollectedScene:
    """Set a scene in which everybody tries to name what is dead, or about to be."""
    scene = CollectedScene(world)
    spawn_crowd(scene, mover=AGAIN, other=AGAIN, committer=(puts, commits))
    return scene


def make_reverted(world: World) -> CollectedScene:
    """Set a scene in which commits expire on which somebody builds at that moment."""
    scene = CollectedScene(world)
    spawn_crowd(scene, mover=(reverts,), committer=(puts, commits, commits))
    return scene


def make_grown(world: World) -> CollectedScene:
    """Set a scene with a file of blocks in a commit of long ago, from which somebody copies."""
    scene = CollectedScene(world)
    where = (scene.plain, scene.repository)
    opened = start_commit(*where, None, MAIN)
    put_file(*where, opened.id, ObjectKey(b"f"), b"x")
    scene.commits = [finish_commit(*where, opened.id)]
    delete_objects(*where, MAIN, [ObjectKey(b"f")])
    for _ in range(2):
        commit(*where, MAIN, CommitRequest("me", "long ago", allow_empty=True))
        world.environment.sleep(LONG_S)
        Cleaner(scene.inner, scene.clock, grace_s=0).run()
    spawn_crowd(scene, mover=(copies_a_file, copies_a_file, files), other=(cancels,))
    return scene


def make_swept(world: World) -> CollectedScene:
    """Set a scene in which a block is put again while it is removed."""
    scene = CollectedScene(world)
    where = (scene.plain, scene.repository)
    opened = start_commit(*where, None, MAIN)
    put_file(*where, opened.id, ObjectKey(b"f"), b"x")
    cancel_commit(*where, opened.id)
    world.environment.sleep(LONG_S)
    collect(*where, HOW)
    world.environment.sleep(GRACE_S + 1)
    names = ("writer", "collector")
    writer, collector = (Worker(scene, Chance(world.seed, name)) for name in names)

    def puts_again() -> None:
        scene.named = store_blocks(*writer.where, ObjectKey(b"f"), b"x", BLOCK_BYTES)

    world.spawn(puts_again, "writer")
    world.spawn(lambda: collect(*collector.where, HOW), "collector")
    return scene


def check_named(scene: CollectedScene) -> None:
    """See that the blocks are there that somebody is about to name."""
    if missing := {block.address for block in scene.named} - scene.stored():
        raise Broken(f"V13: {missing} were put, and are gone")


def run_named_again(seeds: range) -> Explored:
    """Name again what is dead, once a seed, while stores fail."""
    return random_runs(make_named_again, CollectedScene.check, seeds, order=order_of, plan=plan_of)


def run_reverted(seeds: range) -> Explored:
    """Build on what is about to expire, once a seed."""
    return random_runs(make_reverted, CollectedScene.check, seeds, order=order_of)


def run_grown(seeds: range) -> Explored:
    """Copy from what is about to expire, once a seed."""
    return random_runs(make_grown, CollectedScene.check, seeds, order=order_of)


def run_swept(most: range) -> Explored:
    """Put a block while it is removed, in every order that can matter."""
    return explore(make_swept, check_named, limit=len(most))
