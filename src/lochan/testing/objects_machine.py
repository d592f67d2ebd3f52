# SPDX-License-Identifier: Apache-2.0
"""A state machine that compares an object store with a dictionary, one operation after the other.

Addresses are few and awkward (folders of each other, empty segments, dots, capital letters, names
too long for a file), so that objects meet. An etag is remembered with the body it was read with: it
must match while nothing was put there since, and must not when another body is there now.
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lochan.errors import NotFound, PredicateFailed
from lochan.objects.store import ALWAYS, IF_ABSENT, From, IfMatch, ObjectStore, Precondition
from lochan.testing.objects_given import in_pieces, read
from lochan.testing.objects_lists import expected, paged

NAMES = [
    *("a", "a/", "a//", "a/b", "a-", "a/b/c", "A", "/", "..", "../a", "a/../b", "a0", "e\u0301"),
    *("~", "data/1/x", "data/1/y", "data/2/x", "_lakefs/00", "n" * 180, "n" * 181 + "/x"),
    "n" * 360,
]
ADDRESSES = st.sampled_from(NAMES)
BODIES = st.sampled_from([b"", b"1", b"2", b"\0" * 5000, bytes(range(256)) * 100])
PREFIXES = st.sampled_from(["", "a", "a/", "a/b", "data/", "data/1", "n" * 180, "n" * 200, "\0"])
STARTS = st.sampled_from(["", *NAMES, "a\U0010ffff", "data/1/"])


class ObjectMachine(RuleBasedStateMachine):
    """Every rule runs on the store and on the model, and compares the two."""

    def __init__(self, store: ObjectStore) -> None:
        """Work in a store that nobody else uses; what it holds is removed first."""
        super().__init__()
        self.store = store
        self.store.delete(*NAMES)
        self.model: dict[str, bytes] = {}
        self.read: dict[str, tuple[str, bytes]] = {}

    @rule(address=ADDRESSES, body=BODIES)
    def put(self, address: str, body: bytes) -> None:
        """A put takes effect."""
        self._put(address, body, ALWAYS, holds=True)

    @rule(address=ADDRESSES, body=BODIES)
    def create(self, address: str, body: bytes) -> None:
        """A put if absent takes effect where there is nothing."""
        self._put(address, body, IF_ABSENT, holds=address not in self.model)

    @rule(address=ADDRESSES, body=BODIES)
    def swap(self, address: str, body: bytes) -> None:
        """A put if match takes effect over the version that was read, and over no other body."""
        if address in self.read:
            etag, seen = self.read[address]
            current = self.store.head(address).etag if address in self.model else ""
            assert (current == etag) <= (self.model.get(address) == seen)
            self._put(address, body, IfMatch(etag), holds=current == etag)

    @rule(addresses=st.lists(ADDRESSES, max_size=4))
    def delete(self, addresses: list[str]) -> None:
        """A delete takes effect, whether there was anything or not."""
        self.store.delete(*addresses)
        for address in addresses:
            self.model.pop(address, None)

    @rule(source=ADDRESSES, destination=ADDRESSES)
    def copy(self, source: str, destination: str) -> None:
        """A copy takes effect, if there is a source."""
        try:
            self.store.copy(source, destination)
        except NotFound:
            assert source not in self.model
        else:
            self.model[destination] = self.model[source]

    @rule(address=ADDRESSES)
    def get(self, address: str) -> None:
        """A get tells what the model knows, and its etag is that of a head."""
        assert read(self.store, address) == self.model.get(address)
        if address in self.model:
            self.read[address] = self.store.head(address).etag, self.model[address]

    @rule(address=ADDRESSES, start=st.integers(0, 30_000))
    def get_rest(self, address: str, start: int) -> None:
        """A part is the same part of the model's body."""
        if start < len(self.model.get(address, b"")):
            assert self.store.get(address, From(start)).read() == self.model[address][start:]

    @rule(prefix=PREFIXES, delimiter=st.sampled_from(["", "/", "b"]), start=STARTS)
    def list(self, prefix: str, delimiter: str, start: str) -> None:
        """A listing shows what the model holds, page by page."""
        shown = paged(self.store, prefix, delimiter, start, 2)
        assert shown == expected(self.model, prefix, delimiter, start)

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        """Nothing else is there, and sizes are right."""
        sizes = {listed.address: listed.info.size for listed in self.store.list().entries}
        assert sizes == {address: len(body) for address, body in self.model.items()}

    def _put(self, address: str, body: bytes, when: Precondition, *, holds: bool) -> None:
        try:
            self.store.put(address, in_pieces(body, 999), size=len(body), when=when)
        except PredicateFailed:
            assert not holds
        else:
            assert holds
            self.model[address] = body
