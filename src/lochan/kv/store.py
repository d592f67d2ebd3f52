# SPDX-License-Identifier: Apache-2.0
"""The KV seam: what every driver promises, in words and in types.

A store maps (partition, key) to a value; all three are bytes. A partition is a name space that
comes into being with its first key and goes with its last. Every driver keeps these promises, and
`lochan.testing.kv` checks them:

    K1  A get after a finished set returns its value or a newer one, from any process.
    K2  set_if and delete_if are atomic. Predicate None means "must not exist", EXISTS "must exist";
        any other predicate came from a get of the same key and means "still that value".
    K3  A scan gives keys in byte order, of one partition only, from `start` on. Every key that is
        there for as long as the scan runs is given once; keys that come or go meanwhile may be
        given or not. Deleting what a scan gave never disturbs it. It holds nothing open in the
        store while the caller works. It raises when the store fails: the end of data and a failure
        are never alike, and a scan that has raised is over.
    K4  (partition, key) is injective: (a, b/c) and (a/b, c) are two records.
    K5  No operation touches two partitions.
    K6  What was acknowledged is durable: it survives the loss of power where the driver keeps its
        data on this machine, else it is as safe as the server makes it.
    K7  A failed write raises PredicateFailed or Unavailable (certainly not applied, and will not be
        later) or UnknownOutcome (applied or not, but decided: no write takes effect after its call
        has returned). No driver repeats a conditional write by itself, since it would then meet
        its own effect and call it somebody else's.
    K8  Values are canonical: equal records are equal bytes. Predicates compare values, so a record
        that must be told from an equal earlier one holds something unique, such as a random token.

A predicate is opaque: the drivers here use the value's own bytes, others an etag or a version. It
is good for the store and key that it came from, and for nothing else.

Limits: a partition has 1 to 512 bytes, a key 1 to 2,048, a value 0 to 16 MiB. The first two
together fit an index row of PostgreSQL (2,704 bytes). A driver for a service with a lower limit
for values says so and raises InvalidInput with code "value-too-large". All stores may be used by
many threads at once.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final, Literal, NamedTuple, NewType, Protocol, TypeAlias, runtime_checkable

from lochan.errors import InvalidInput

MAX_PARTITION_BYTES: Final = 512
MAX_KEY_BYTES: Final = 2048
MAX_VALUE_BYTES: Final = 16 << 20

# What a later conditional write compares with; only the driver that made it can read it.
Predicate = NewType("Predicate", bytes)

Pair: TypeAlias = tuple[bytes, bytes]


class Existence(Enum):
    """The predicate that any stored value meets."""

    EXISTS = "exists"


EXISTS: Final = Existence.EXISTS
Present: TypeAlias = Predicate | Literal[Existence.EXISTS]


class Versioned(NamedTuple):
    """A value, and the predicate that stays true for as long as it is the stored one."""

    value: bytes
    predicate: Predicate


class Store(Protocol):
    """An ordered map of records with compare-and-swap of a single one."""

    def get(self, partition: bytes, key: bytes) -> Versioned:
        """Read one record.

        Raises: NotFound.
        """

    def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        """Store a record, whatever was there.

        Raises: Unavailable, UnknownOutcome.
        """

    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        """Store a record if the stored one meets the predicate; None: if there is none.

        Raises: PredicateFailed, Unavailable, UnknownOutcome.
        """

    def delete(self, partition: bytes, key: bytes) -> None:
        """Remove a record, if any.

        Idempotent: yes. Raises: Unavailable, UnknownOutcome.
        """

    def delete_if(self, partition: bytes, key: bytes, predicate: Present) -> None:
        """Remove a record if the stored one meets the predicate.

        Raises: PredicateFailed, also when there is none; Unavailable, UnknownOutcome.
        """

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        """Give (key, value) of all keys at or after `start`, in byte order.

        Raises: Unavailable, from the call or from any step.
        """

    def close(self) -> None:
        """Give back files and connections; later calls raise Unavailable.

        Idempotent: yes.
        """


Place = tuple[bytes, bytes]  # partition, key


@runtime_checkable
class SetMany(Protocol):
    """A capability: one call stores many records of one partition, faster than one by one."""

    def set_many(self, partition: bytes, records: Mapping[bytes, bytes]) -> None:
        """Store all records: each key is set atomically, in no promised order.

        Others may see some before the rest, whatever a driver does inside. Raises: Unavailable when
        none was applied, UnknownOutcome when any may have been.
        """


@runtime_checkable
class SetThenGet(Protocol):
    """A capability: one call stores records and reads others, as they are after that."""

    def set_then_get(
        self, partition: bytes, records: Mapping[bytes, bytes], *places: Place
    ) -> list[Versioned | None]:
        """Store records of one partition as `set_many` does, then read a record from each place.

        Each answer was current at some time after all records were stored; None where there is no
        record. A driver offers this only where it saves a round or a wait. Raises: as `set_many`.
        """


@runtime_checkable
class GetAtOnce(Protocol):
    """A capability: reads that wait for nobody, so that an event loop's own thread may do them."""

    def get_at_once(self, *places: Place) -> list[Versioned | None]:
        """Read a record from each place, all as they were at one instant after this call began.

        None where there is no record. A driver offers this only where neither a network nor a
        writer can keep the caller waiting. Raises: Unavailable, also where it would have to wait.
        """


@runtime_checkable
class SetIfAll(Protocol):
    """A capability: a conditional write that looks at more records than the one it stores."""

    def set_if_all(
        self, partition: bytes, key: bytes, value: bytes, predicates: Mapping[Place, Present | None]
    ) -> None:
        """Store a record if the record at each place meets its predicate, all at one instant.

        The places may lie in any partition; what is stored is compared only where it is among
        them. Raises: as `set_if`.
        """


@runtime_checkable
class DropPartition(Protocol):
    """A capability for the cleaner alone: forget a partition that no record names any more."""

    def drop_partition(self, partition: bytes) -> None:
        """Remove every key that is there when the call begins; later ones may stay.

        Idempotent: yes. Not atomic: a failure may leave some. Raises: Unavailable, UnknownOutcome.
        """


def check_partition(partition: bytes) -> None:
    """Refuse a partition that no driver may accept."""
    if not isinstance(partition, bytes) or not 0 < len(partition) <= MAX_PARTITION_BYTES:
        raise InvalidInput(
            f"a partition is 1 to {MAX_PARTITION_BYTES} bytes, not {_described(partition)}",
            code="invalid-partition",
        )


def check_address(partition: bytes, key: bytes) -> None:
    """Refuse a (partition, key) that no driver may accept."""
    check_partition(partition)
    if not isinstance(key, bytes) or not 0 < len(key) <= MAX_KEY_BYTES:
        raise InvalidInput(
            f"a key is 1 to {MAX_KEY_BYTES} bytes, not {_described(key)}", code="invalid-key"
        )


def check_record(partition: bytes, key: bytes, value: bytes) -> None:
    """Refuse a record that no driver may accept."""
    check_address(partition, key)
    if not isinstance(value, bytes):
        raise InvalidInput(f"a value is bytes, not {_described(value)}", code="invalid-value")
    if len(value) > MAX_VALUE_BYTES:
        raise InvalidInput(
            f"a value is at most {MAX_VALUE_BYTES} bytes, not {len(value)}: large content belongs"
            " into the object store",
            code="value-too-large",
        )


def check_start(partition: bytes, start: bytes) -> None:
    """Refuse a scan that no driver may accept; `start` may be longer than any key."""
    check_partition(partition)
    if not isinstance(start, bytes):
        raise InvalidInput(f"a scan starts at bytes, not {_described(start)}", code="invalid-key")


def check_predicate(predicate: Present | None, *, may_be_absent: bool) -> None:
    """Refuse what is no predicate; None only says something about a write, not about a removal."""
    if predicate is None and not may_be_absent:
        raise InvalidInput(
            "delete_if needs a predicate: None asks for no record, which deletes none"
        )
    if predicate is not None and predicate is not EXISTS and not isinstance(predicate, bytes):
        raise InvalidInput(f"a predicate comes from get, not {_described(predicate)}")


def _described(value: object) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return f"a {type(value).__name__}"
