# SPDX-License-Identifier: Apache-2.0
"""Many snapshots in one store, changed, merged and compared in any order, beside dictionaries.

A snapshot's id stands for its rows: whatever is done to the store later, reading the id gives them,
and making the same rows by another way gives the same id.
"""

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule

from lochan.committed import Cuts, Snapshots
from lochan.kernel.records import Record
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from support import tree_model
from support.record_strategies import Rows
from support.tree_model import applied, differing, listed
from support.tree_strategies import changes, cuts, examples, keys, places, trees
from support.trees import build, content, in_chunks, memory_objects, open_snapshots

strategies = st.sampled_from(["", "dest-wins", "source-wins"])


class Trees(RuleBasedStateMachine):
    """The store, and what each snapshot made in it holds."""

    made = Bundle("made")

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[MetaRangeId, Rows] = {EMPTY_TREE: {}}
        self.objects = memory_objects()
        self.snapshots: Snapshots = open_snapshots(self.objects)

    def keep(self, found: MetaRangeId, rows: Rows) -> MetaRangeId:
        """Note a snapshot, and hold it against what is known of its id."""
        assert self.rows.setdefault(found, rows) == rows
        return found

    @initialize(target=made, rule=cuts)
    def choose_the_cuts(self, rule: Cuts) -> MetaRangeId:
        self.snapshots.cuts = rule
        return EMPTY_TREE

    @rule(memory=st.sampled_from([0, 3000, 1 << 20]), threads=st.integers(1, 3))
    def open_again(self, memory: int, threads: int) -> None:
        """Begin with cold tiers, of another size."""
        rule = self.snapshots.cuts
        self.snapshots.close()
        self.snapshots = open_snapshots(self.objects, rule, memory_bytes=memory, threads=threads)

    @rule(target=made, rows=trees)
    def build(self, rows: Rows) -> MetaRangeId:
        return self.keep(build(self.snapshots, rows), rows)

    @rule(target=made, base=made, some=changes, stops=places)
    def apply(self, base: MetaRangeId, some: Rows, stops: list[int]) -> MetaRangeId:
        before = self.rows[base]
        result = self.snapshots.apply(base, in_chunks(some, stops))
        after = applied(before, some)
        assert result.changed == len(differing(before, after))
        assert build(self.snapshots, after) == result.id
        return self.keep(result.id, after)

    @rule(target=made, base=made, dest=made, source=made, strategy=strategies)
    def merge(
        self, base: MetaRangeId, dest: MetaRangeId, source: MetaRangeId, strategy: str
    ) -> MetaRangeId:
        old, ours, theirs = (self.rows[side] for side in (base, dest, source))
        identities, conflicts = tree_model.merged(old, ours, theirs, strategy)
        result = self.snapshots.merge(base, dest, source, strategy)
        assert [conflict.key for conflict in result.conflicts] == conflicts
        if conflicts and not strategy:
            assert result.id is None
            return dest
        assert result.id is not None
        rows = content(self.snapshots, result.id)
        assert {key: identity for key, (identity, _) in rows.items()} == identities
        assert all(
            row in (side.get(key) for side in (old, ours, theirs)) for key, row in rows.items()
        )
        assert build(self.snapshots, rows) == result.id
        return self.keep(result.id, rows)

    @rule(left=made, right=made)
    def diff(self, left: MetaRangeId, right: MetaRangeId) -> None:
        found = [change for part in self.snapshots.diff(left, right) for change in part]
        expected = differing(self.rows[left], self.rows[right])
        assert [(change.kind, change.key) for change in found] == expected

    @rule(snapshot=made, key=keys)
    def read(self, snapshot: MetaRangeId, key: bytes) -> None:
        rows = self.rows[snapshot]
        assert content(self.snapshots, snapshot) == rows
        found = self.snapshots.get(snapshot, key)
        assert found == (Record(key, *rows[key]) if key in rows else None)
        names = [
            item.key if isinstance(item, Record) else item.prefix
            for item in self.snapshots.list(snapshot, delimiter=b"/")
        ]
        assert names == listed(rows, b"", b"/")

    def teardown(self) -> None:
        for found, rows in self.rows.items():
            assert self.snapshots.verify(found) == len(rows)
        self.snapshots.close()


TestTrees = Trees.TestCase
TestTrees.settings = examples(15)
