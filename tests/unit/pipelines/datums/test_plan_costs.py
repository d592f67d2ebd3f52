# SPDX-License-Identifier: Apache-2.0
"""What planning costs: by what changed, not by what there is."""

from functools import cache

import pytest

from lochan.committed import Cuts, Files, Snapshots
from lochan.kernel.records import Records
from lochan.model.codec import encode_entry
from lochan.model.entry import identity
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.operations.lake import Lake, Storage
from lochan.pipelines.datums.plan import Plan
from lochan.pipelines.model.records import Pin
from lochan.pipelines.model.spec import (
    CrossInput,
    GroupInput,
    Input,
    JoinInput,
    RepoInput,
    UnionInput,
)
from support.lakes import NAME, Stage, open_stage
from support.planned import PlannedWorld, entry_of, spec_of

MANY = 100_000
SOME = 4_000


def key(number: int) -> bytes:
    """Name a file: a hundred in each folder."""
    return b"%04d/%06d.jpg" % (number // 100, number)


def row(name: bytes, content: int) -> tuple[bytes, bytes, bytes]:
    """Make the row of a file."""
    return name, *stored(content)


@cache
def stored(content: int) -> tuple[bytes, bytes]:
    """Give identity and entry of a file that holds a number."""
    entry = entry_of(content)
    return identity(entry), encode_entry(entry)


def repo(name: str, glob: str, value: str = "", *, reference: bool = False) -> RepoInput:
    """Say one input."""
    return RepoInput(
        name=name, repo=NAME, glob=glob, join_on=value, group_by=value, reference=reference
    )


def unread(stage: Stage) -> Stage:
    """Open the same lake as another process would: nothing of it has been read."""
    world = stage.lake.environment
    snapshots = Snapshots(
        Files(stage.storage.objects, world), world, cuts=stage.storage.snapshots.cuts
    )
    storage = Storage(stage.storage.objects, stage.storage.addresses, snapshots)
    return Stage(Lake.of(stage.lake.store, world, lambda _: storage), stage.repository, storage)


class Ground:
    """A pipeline that ran on many files, all of its inputs on the same tree."""

    def __init__(self, node: Input, count: int, cuts: Cuts) -> None:
        """Run it once on so many files."""
        self.world = PlannedWorld(open_stage(cuts=cuts), spec_of(node))
        rows = [row(key(number), 1) for number in range(count)]
        self.tree = self.snapshots.apply(EMPTY_TREE, [Records.of(rows)]).id
        self.first = self.world.run(self.pins())

    @property
    def snapshots(self) -> Snapshots:
        """Give the snapshots of the lake as it was opened last."""
        return self.world.stage.storage.snapshots

    def pins(self, **trees: MetaRangeId) -> tuple[Pin, ...]:
        """Pin inputs to trees, or to the first one."""
        return self.world.pins({name: trees.get(name, self.tree) for name in "xy"})

    def changed(self, *numbers: int) -> MetaRangeId:
        """Change the content of some files."""
        rows = [row(key(number), 2) for number in sorted(numbers)]
        return self.snapshots.apply(self.tree, [Records.of(rows)]).id

    def plan(self, **trees: MetaRangeId) -> Plan:
        """Plan as a process does that has read nothing yet."""
        pins = self.pins(**trees)
        self.world.stage = unread(self.world.stage)
        return self.world.plan(pins)


@pytest.fixture(scope="module")
def many() -> Ground:
    return Ground(repo("x", "/*/*"), MANY, Cuts(raggedness=1_000))


def test_change_one_file_of_100_000_and_one_datum_runs(many: Ground) -> None:
    ranges = len(many.snapshots.files.metarange(many.tree))
    found = many.plan(x=many.changed(54_321))
    assert [datum.files[0].key for datum in found.run] == [key(54_321)]
    assert (found.counts.total, found.counts.skipped) == (MANY, MANY - 1)
    assert found.gone == ()
    assert found.opened.hashed == 1
    # Two metaranges and the range on either side; index: metarange, d/, i/, q/ and t.
    assert found.opened.files <= 4 + 5
    assert ranges > 80
    assert many.first.opened.hashed == MANY


def test_nothing_is_opened_of_trees_when_no_input_changed(many: Ground) -> None:
    found = many.plan()
    assert found.is_nothing
    assert found.counts.skipped == found.counts.total == MANY
    assert found.opened.hashed == 0
    assert found.opened.files <= 3  # of the index: its metarange, and where q/ and t are


# What a kind may open of about 80 ranges of each tree and 240 or more of the index. A group has
# 200 files, whose readers are looked for.
KINDS: dict[str, tuple[Input, int]] = {
    "folder": (repo("x", "/*/"), 16),
    "union": (UnionInput(inputs=(repo("x", "/*/*"), repo("y", "/*/"))), 12),
    "cross": (CrossInput(inputs=(repo("x", "/*/*"), repo("y", "/0000/", reference=True))), 20),
    "join": (JoinInput(inputs=(repo("x", "/*/(*)", "$1"), repo("y", "/*/(*)", "$1"))), 16),
    "group": (GroupInput(inputs=(repo("x", "/(*)/*", "$1"), repo("y", "/(*)/*", "$1"))), 36),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_hashed_and_opened_follows_the_change(kind: str) -> None:
    node, most = KINDS[kind]
    ground = Ground(node, SOME, Cuts(raggedness=50))
    found = ground.plan(x=ground.changed(1234))
    assert len(found.run) == found.opened.hashed == 1
    assert found.counts.skipped == found.counts.total - 1 > 30
    assert len(ground.snapshots.files.metarange(ground.tree)) > 60
    assert found.opened.files <= most


def test_many_folders_that_changed_are_listed_by_the_ranges_they_are_in() -> None:
    ground = Ground(repo("x", "/*/"), 10 * SOME, Cuts(raggedness=50))
    changed = [100 * folder + 7 for folder in [*range(100, 140), *range(300, 340)]]
    found = ground.plan(x=ground.changed(*changed))
    assert [datum.files[0].key for datum in found.run] == [b"%04d/" % (n // 100) for n in changed]
    assert all(datum.files[0].size == 100 for datum in found.run)
    # 80 changed ranges of either tree at most, about 160 that hold the folders, and the index.
    assert len(ground.snapshots.files.metarange(ground.tree)) > 750
    assert found.opened.files < 380
