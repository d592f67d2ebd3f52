# SPDX-License-Identifier: Apache-2.0
import hashlib

import msgspec
import pytest

from lochan.model.entry import (
    AddressType,
    Block,
    Entry,
    addresses_of,
    entry_of_blocks,
    identity,
)
from lochan.model.ids import LineageId
from lochan.model.instant import Instant
from lochan.model.records import Clock

HELLO = Entry(
    address="data/a",
    last_modified=Instant(1),
    size=5,
    e_tag="5d41402abc4b2a76b9719d911017c592",
)
EPOCH = Clock(LineageId("line"), 3)
BLOCKS = [
    Block("data/1", 0, 5, hashlib.sha256(b"hello").digest()),
    Block("data/2", 0, 3, hashlib.sha256(b"you").digest()),
]
MOMENT = Instant(7)


def test_the_identity_of_a_plain_object_is_that_of_lakefs() -> None:
    worked = "ee988410151dd0d904da2f912d4a38312ca3562fa927b2aed6d2650394cbd334"

    assert identity(HELLO).hex() == worked


@pytest.mark.parametrize(
    "change",
    [
        {"address": "data/b"},
        {"last_modified": Instant(2)},
        {"address_type": AddressType.FULL},
        {"unknown": b"\xf8\x07\x01"},
    ],
)
def test_rel_G8_where_and_when_an_object_was_written_is_no_part_of_it(
    change: dict[str, object],
) -> None:
    assert identity(msgspec.structs.replace(HELLO, **change)) == identity(HELLO)


@pytest.mark.parametrize(
    "change",
    [
        {"size": 6},
        {"e_tag": "5d41402abc4b2a76b9719d911017c593"},
        {"metadata": {"a": "b"}},
        {"content_type": "text/plain"},
        {"content_type": ""},
        {"blocks": tuple(BLOCKS[:1])},
        {"epoch": EPOCH},
    ],
)
def test_content_metadata_and_type_are_part_of_it(change: dict[str, object]) -> None:
    assert identity(msgspec.structs.replace(HELLO, **change)) != identity(HELLO)


def test_a_file_of_one_block_is_found_at_that_block() -> None:
    entry = entry_of_blocks(BLOCKS[:1], EPOCH, last_modified=MOMENT)

    assert (entry.address, entry.size) == ("data/1", 5)
    assert entry.e_tag == hashlib.sha256(b"hello").hexdigest()


def test_a_file_of_several_blocks_has_no_address_and_counts_them_in_its_checksum() -> None:
    entry = entry_of_blocks(BLOCKS, EPOCH, last_modified=MOMENT)

    assert (entry.address, entry.size) == ("", 8)
    hashes = BLOCKS[0].hash + BLOCKS[1].hash
    assert entry.e_tag == hashlib.sha256(hashes).hexdigest() + "-2"


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_file_of_blocks_is_one_though_it_has_none(count: int) -> None:
    blocks = [Block(f"data/{number}", 0, 1, bytes(32)) for number in range(count)]
    entry = entry_of_blocks(blocks, Clock(LineageId("x"), 0), last_modified=Instant(0))
    assert entry.is_of_blocks
    assert addresses_of(entry) == tuple(block.address for block in blocks)


def test_the_same_blocks_of_another_epoch_are_another_file() -> None:
    later = Clock(EPOCH.branch, 4)

    assert identity(entry_of_blocks(BLOCKS, EPOCH, last_modified=MOMENT)) != identity(
        entry_of_blocks(BLOCKS, later, last_modified=MOMENT)
    )


def test_blocks_count_by_hash_and_size_not_by_address() -> None:
    moved = [block._replace(address="data/elsewhere") for block in BLOCKS]
    swapped = BLOCKS[::-1]
    original = identity(entry_of_blocks(BLOCKS, EPOCH, last_modified=MOMENT))

    assert identity(entry_of_blocks(moved, EPOCH, last_modified=MOMENT)) == original
    assert identity(entry_of_blocks(swapped, EPOCH, last_modified=MOMENT)) != original


@pytest.mark.parametrize(
    ("kind", "address", "place"),
    [
        (AddressType.RELATIVE, "data/a", "in the namespace"),
        (AddressType.FULL, "s3://bucket/a", "elsewhere"),
        (AddressType.BY_PREFIX_DEPRECATED, "data/a", "in the namespace"),
        (AddressType.BY_PREFIX_DEPRECATED, "s3://bucket/a", "elsewhere"),
    ],
)
def test_the_address_type_says_where_to_look(kind: AddressType, address: str, place: str) -> None:
    entry = msgspec.structs.replace(HELLO, address=address, address_type=kind)

    assert entry.is_relative is (place == "in the namespace")
