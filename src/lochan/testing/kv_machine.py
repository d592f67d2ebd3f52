# SPDX-License-Identifier: Apache-2.0
"""A state machine that compares a store with a dictionary, one random operation after the other.

Partitions and keys are few and awkward (prefixes of each other, zero and 255 bytes), so that
records meet. A predicate is kept with the value it was read with: it must hold when nothing was
written to that record since, and must fail when the record now differs. (When a record has changed
and changed back, stores may differ: those that compare values say yes, those that count versions
say no.)
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lochan.errors import PredicateFailed
from lochan.kv.read import find
from lochan.kv.set_many import set_many
from lochan.kv.store import EXISTS, Present, SetIfAll, Store, Versioned

Address = tuple[bytes, bytes]

KEYS = st.sampled_from([b"a", b"a\0", b"/a", b"\xff"])
VALUES = st.sampled_from([b"", b"1", b"2", bytes(range(256))])
PARTITIONS = st.sampled_from([b"", b"/"])
ADDRESSES = st.tuples(PARTITIONS, KEYS)


class StoreMachine(RuleBasedStateMachine):
    """Every rule runs on the store and on the model, and compares the two."""

    def __init__(self, store: Store, space: bytes) -> None:
        """Work in the partitions whose names begin with `space`."""
        super().__init__()
        self.store = store
        self.space = space
        self.model: dict[Address, bytes] = {}
        self.read: dict[Address, Versioned] = {}
        self.unchanged: set[Address] = set()

    @rule(address=ADDRESSES, value=VALUES)
    def set(self, address: Address, value: bytes) -> None:
        """A set takes effect."""
        self.store.set(self.space + address[0], address[1], value)
        self._changed(address, value)

    @rule(address=ADDRESSES)
    def delete(self, address: Address) -> None:
        """A delete takes effect, if there was anything."""
        self.store.delete(self.space + address[0], address[1])
        self._changed(address, None)

    @rule(address=ADDRESSES)
    def get(self, address: Address) -> None:
        """A get tells what the model knows."""
        found = find(self.store, self.space + address[0], address[1])
        assert (found.value if found else None) == self.model.get(address)
        if found:
            self.read[address] = found
            self.unchanged.add(address)

    @rule(address=ADDRESSES, value=VALUES)
    def create(self, address: Address, value: bytes) -> None:
        """A set_if without predicate takes effect where there is nothing."""
        self._set_if(address, value, None, holds=address not in self.model)

    @rule(address=ADDRESSES, value=VALUES)
    def replace(self, address: Address, value: bytes) -> None:
        """A set_if of what exists takes effect where there is something."""
        self._set_if(address, value, EXISTS, holds=address in self.model)

    @rule(address=ADDRESSES, value=VALUES)
    def swap(self, address: Address, value: bytes) -> None:
        """A set_if takes effect while the record is the one that was read."""
        if (holds := self._holds(address)) is not None:
            self._set_if(address, value, self.read[address].predicate, holds=holds)

    @rule(
        address=ADDRESSES,
        value=VALUES,
        present=st.frozensets(ADDRESSES, max_size=2),
        absent=ADDRESSES,
    )
    def set_if_all(
        self, address: Address, value: bytes, present: frozenset[Address], absent: Address
    ) -> None:
        """A set_if_all, where there is one, takes effect if every predicate holds."""
        if not isinstance(self.store, SetIfAll):
            return
        wanted = dict[Address, Present | None].fromkeys(present, EXISTS) | {absent: None}
        places = {(self.space + place[0], place[1]): wanted[place] for place in wanted}
        holds = all((place in self.model) is (wanted[place] is EXISTS) for place in wanted)
        try:
            self.store.set_if_all(self.space + address[0], address[1], value, places)
        except PredicateFailed:
            assert not holds
        else:
            assert holds
            self._changed(address, value)

    @rule(address=ADDRESSES)
    def delete_read(self, address: Address) -> None:
        """A delete_if takes effect while the record is the one that was read."""
        if (holds := self._holds(address)) is not None:
            self._delete_if(address, self.read[address].predicate, holds=holds)

    @rule(address=ADDRESSES)
    def delete_existing(self, address: Address) -> None:
        """A delete_if of what exists takes effect where there is something."""
        self._delete_if(address, EXISTS, holds=address in self.model)

    @rule(partition=PARTITIONS, records=st.dictionaries(KEYS, VALUES))
    def set_many(self, partition: bytes, records: dict[bytes, bytes]) -> None:
        """A set_many takes effect for every key."""
        set_many(self.store, self.space + partition, records)
        for key, value in records.items():
            self._changed((partition, key), value)

    @rule(address=ADDRESSES)
    def scan(self, address: Address) -> None:
        """A scan gives what the model holds from its start on, in order."""
        partition, start = address
        expected = sorted(
            (key, value)
            for (space, key), value in self.model.items()
            if space == partition and key >= start
        )
        assert list(self.store.scan(self.space + partition, start)) == expected

    @invariant()
    def every_partition_holds_what_the_model_says(self) -> None:
        """All records are there, and no others."""
        partitions = {partition for partition, _ in self.model}
        found = {
            (partition, key): value
            for partition in partitions
            for key, value in self.store.scan(self.space + partition)
        }
        assert found == self.model

    def _changed(self, address: Address, value: bytes | None) -> None:
        self.unchanged.discard(address)
        if value is None:
            self.model.pop(address, None)
        else:
            self.model[address] = value

    def _holds(self, address: Address) -> bool | None:
        """Say whether a predicate read earlier must hold, must fail, or (None) may do either."""
        if address not in self.read:
            return None
        if address in self.unchanged:
            return True
        return None if self.model.get(address) == self.read[address].value else False

    def _set_if(
        self, address: Address, value: bytes, predicate: Present | None, *, holds: bool
    ) -> None:
        try:
            self.store.set_if(self.space + address[0], address[1], value, predicate)
        except PredicateFailed:
            assert not holds
        else:
            assert holds
            self._changed(address, value)

    def _delete_if(self, address: Address, predicate: Present, *, holds: bool) -> None:
        try:
            self.store.delete_if(self.space + address[0], address[1], predicate)
        except PredicateFailed:
            assert not holds
        else:
            assert holds
            self._changed(address, None)
