# SPDX-License-Identifier: Apache-2.0
"""What the machine of a whole lake stands on: stores, a model beside them, and what must be so.

Time moves only between steps, ids count, work runs inline: what was found is found again. Ranges
are small, so that trees have several.
"""

import hashlib
import itertools
from collections.abc import Callable
from concurrent.futures import Executor

import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant

from lochan.committed import Cuts, Files, Snapshots
from lochan.committed.parallel import OwnThread
from lochan.errors import Refused
from lochan.kernel.records import Record
from lochan.kv.drivers.memory import MemoryStore
from lochan.model.clock import own
from lochan.model.codec import decode_entry, encode_commit
from lochan.model.ids import BranchName, CommitId, StorageNamespace
from lochan.model.keys import token_partition
from lochan.model.records import BlockedAction, Clock, Commit, Repository
from lochan.objects.address import AddressSource
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.allowed import Action
from lochan.operations.findings import Severity
from lochan.operations.fsck import fsck
from lochan.operations.lake import Lake, Storage
from lochan.operations.list_objects import list_objects
from lochan.refs.branches import list_branches
from lochan.refs.cleaner import Cleaner
from lochan.refs.commits import get_commit
from lochan.refs.kinship import Kinship
from lochan.refs.log import log
from lochan.refs.partitions import FIXED, names_of, repository_partitions
from lochan.refs.tags import list_tags
from support.lake_model import Facts, LakeModel, ModelBranch, Tree, facts, facts_of
from support.lakes import MAIN, Stage, add_repository
from support.repository_life import TurnedClock

NAMESPACE = StorageNamespace("mem://readings")
CUTS = Cuts(raggedness=3)
STEP_S = 1.5  # a record that was seen is not used again: then a seal lets no write come late


class QuietWorld(TurnedClock):
    """No threads, and chance that counts."""

    def __init__(self) -> None:
        super().__init__()
        self._drawn = itertools.count(1)

    def begin_at(self, time_s: float, *, ids: int) -> None:
        """Go on where another world was: later, and with ids that it has not given."""
        self.time_s = time_s
        self._ids = itertools.count(ids)
        self._drawn = itertools.count(ids)

    def random_bytes(self, count: int) -> bytes:
        return hashlib.sha256(str(next(self._drawn)).encode()).digest()[:count]

    def executor(self, *_: object, **__: object) -> Executor:
        return OwnThread()

    def spawn(self, work: Callable[[], None], *, name: str) -> None:
        """Leave out what goes on beside others: nothing here takes long enough for its turn."""


def shown(stage: Stage, ref: str) -> dict[bytes, Facts]:
    """List everything that a ref shows."""
    page = list_objects(stage.lake, stage.repository, ref)
    assert not page.has_more
    rows = [item for item in page.items if isinstance(item, Record)]
    assert [row.key for row in rows] == sorted(row.key for row in rows)
    return {row.key: facts_of(decode_entry(row.value)) for row in rows}


def expected(tree: Tree) -> dict[bytes, Facts]:
    return {key: facts(value) for key, value in tree.items()}


def unaccounted(store: MemoryStore) -> set[bytes]:
    """Name the partitions that hold rows and that nothing leads to."""
    known = {*FIXED, *repository_partitions(store)}
    for partition in list(known):
        known |= {token_partition(token) for token in names_of(store, partition).tokens}
    return {name for name, found in store._partitions.items() if found.values} - known


class TestLakeGround(RuleBasedStateMachine):
    """A lake, its model, and the promises that hold after every step."""

    runs = 0
    steps_taken = 0
    commits_made = 0

    def __init__(self) -> None:
        super().__init__()
        self.world = QuietWorld()
        self.store = MemoryStore(self.world)
        self.objects = MemoryObjects(self.world)
        self.stage = self.opened_stage(add_repository(self.store, self.world, NAMESPACE))
        self.model = LakeModel()
        self.protected: dict[str, frozenset[BlockedAction]] = {}
        self.made: dict[CommitId, bytes] = {}
        self.clocks: dict[Clock, CommitId] = {}
        self.looked_at = 0
        self.numbers = itertools.count(1)
        first = self.head(MAIN)
        self.keep(first, {})
        self.model.branches[MAIN] = ModelBranch(first.id)

    # What rules are written with.

    @property
    def lake(self) -> Lake:
        return self.stage.lake

    @property
    def where(self) -> tuple[Lake, Repository]:
        return self.stage.lake, self.stage.repository

    def pick_branch(self, number: int) -> BranchName:
        names = sorted(self.model.branches)
        return BranchName(names[number % len(names)])

    def pick_commit(self, number: int) -> Commit:
        """Give any commit ever made, late ones and heads rather."""
        if number % 2:
            return self.head(self.pick_branch(number // 2))
        ids = list(self.model.commits)
        return self.record_of(ids[-1 - number // 2 % len(ids)])

    def pick_ref(self, number: int) -> str:
        refs = list(self.model.refs())
        return refs[number % len(refs)]

    def record_of(self, name: CommitId) -> Commit:
        return get_commit(self.lake.tables(self.stage.repository), name)

    def head(self, name: str) -> Commit:
        fresh = self.lake.branches.fresh(self.stage.repository, BranchName(name))
        return self.record_of(fresh.record.commit_id)

    def keep(self, made: Commit, tree: Tree, *parents: CommitId) -> None:
        """Note a commit in the model; its clock is its alone, and its parents are as foretold."""
        assert made.parents == parents
        self.model.record(made.id, tree, parents)
        assert self.clocks.setdefault(own(made), made.id) == made.id
        self.made[made.id] = encode_commit(made)

    def is_blocked(self, branch: str, action: Action) -> bool:
        return any(
            not action.blocked_by.isdisjoint(actions)
            for pattern, actions in self.protected.items()
            if branch.startswith(pattern.removesuffix("*"))
        )

    def refused(self, branch: str, action: Action, act: Callable[[], object]) -> bool:
        """Say whether a rule forbids an action, and see that the lake says so, too."""
        if not self.is_blocked(branch, action):
            return False
        with pytest.raises(Refused, match="protected"):
            act()
        return True

    def open_again(self) -> None:
        """Begin with a new process: nothing is remembered but what is stored."""
        self.stage.storage.snapshots.close()
        self.stage = self.opened_stage(self.stage.repository)

    def opened_stage(self, repository: Repository) -> Stage:
        snapshots = Snapshots(Files(self.objects, self.world), self.world, cuts=CUTS)
        storage = Storage(self.objects, AddressSource(self.world), snapshots)
        return Stage(Lake.of(self.store, self.world, lambda _: storage), repository, storage)

    def clean(self) -> None:
        assert Cleaner(self.store, self.world, grace_s=0).run().skipped == ()

    # What must be so.

    @invariant()
    def every_branch_shows_what_the_model_shows(self) -> None:
        self.world.sleep(STEP_S)
        TestLakeGround.steps_taken += 1
        for name in self.model.branches:
            assert shown(self.stage, name) == expected(self.model.shown(name))

    @invariant()
    def every_name_stands_for_its_commit(self) -> None:
        tables = self.lake.tables(self.stage.repository)
        heads = {branch.branch_id: branch.commit_id for branch in list_branches(tables)}
        assert heads == {name: branch.head for name, branch in self.model.branches.items()}
        assert {tag.tag_id: tag.commit_id for tag in list_tags(tables)} == self.model.tags

    @invariant()
    def a_commit_is_for_ever(self) -> None:
        """G14, one commit a step; `teardown` looks at all of them."""
        ids = list(self.model.commits)
        self.looked_at += 1
        self.check_commit(ids[self.looked_at % len(ids)])

    @invariant()
    def history_is_the_model_s(self) -> None:
        tables, kinship = self.lake.tables(self.stage.repository), self.kinship
        heads = sorted({branch.head for branch in self.model.branches.values()})
        for name in heads:
            found = [commit.id for commit in log(tables, name)]
            assert len(found) == len(set(found))
            assert set(found) == self.model.commits[name].ancestry
        for one, other in itertools.combinations(heads, 2):
            self.check_kinship(kinship, one, other)

    @property
    def kinship(self) -> Kinship:
        return Kinship.of(self.store, self.stage.repository)

    def check_kinship(self, kinship: Kinship, one: CommitId, other: CommitId) -> None:
        ours, theirs = (self.model.commits[each].ancestry for each in (one, other))
        pair = self.record_of(one), self.record_of(other)
        base = kinship.merge_base(*pair)
        assert base is not None
        assert base.id in self.model.best_common(one, other)
        assert kinship.ahead_behind(*pair) == (len(ours - theirs), len(theirs - ours))
        assert kinship.is_ancestor(*pair) == (one in theirs)

    def check_commit(self, name: CommitId) -> None:
        assert encode_commit(self.record_of(name)) == self.made[name]
        assert shown(self.stage, name) == expected(self.model.tree(name))

    def teardown(self) -> None:
        self.open_again()
        for name in self.model.commits:
            self.check_commit(name)
            self.stage.storage.snapshots.verify(self.record_of(name).meta_range_id)
        for _ in range(3):
            self.clean()
        assert unaccounted(self.store) == set()
        assert [found for found in fsck(self.lake) if found.severity is Severity.ERROR] == []
        TestLakeGround.runs += 1
        TestLakeGround.commits_made += len(self.made)
        self.every_branch_shows_what_the_model_shows()
        self.stage.storage.snapshots.close()
