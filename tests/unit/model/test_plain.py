# SPDX-License-Identifier: Apache-2.0
"""What is written without a message is what the message would be."""

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lochan.model import records_pb2 as wire
from lochan.model.codec import (
    decode_branch,
    decode_entry,
    decode_staged_entry,
    encode_branch,
    encode_staged_entry,
)
from lochan.model.entry import AddressType, Block, Entry
from lochan.model.ids import BranchName, CommitId, LineageId, StagingToken
from lochan.model.instant import NANOSECONDS, Instant
from lochan.model.plain import plain_branch, plain_entry, plain_staged_entry
from lochan.model.records import Branch, Forgotten, Ordinal, StagedEntry

TEXT = st.text(max_size=8) | st.integers(100, 5000).map(lambda count: "é" * count)
LATEST = 253_402_300_800 * NANOSECONDS - 1
# Near the lengths at which a varint grows by a byte.
STEPS = st.integers(0, 62).flatmap(lambda bits: st.integers((1 << bits) - 1, (1 << bits) + 1))
ENTRIES = st.builds(
    Entry,
    address=TEXT,
    last_modified=st.integers(0, LATEST).map(Instant)
    | st.integers(0, LATEST // NANOSECONDS).map(lambda seconds: Instant(seconds * NANOSECONDS)),
    size=st.integers(-1, 2**63 - 1) | STEPS,
    e_tag=TEXT,
    address_type=st.sampled_from(AddressType),
    content_type=TEXT,
)
SIMPLE = Entry(address="a", last_modified=Instant(1), size=1, e_tag="e")


def message_of(entry: Entry) -> bytes:
    message = wire.Entry(
        address=entry.address,
        size=entry.size,
        e_tag=entry.e_tag,
        address_type=wire.AddressType.ValueType(entry.address_type),
        content_type=entry.content_type,
    )
    message.last_modified.seconds, message.last_modified.nanos = divmod(
        entry.last_modified, NANOSECONDS
    )
    return message.SerializeToString(deterministic=True)


@given(ENTRIES)
@example(SIMPLE)
def test_a_plain_entry_is_its_message(entry: Entry) -> None:
    found = plain_entry(entry)
    assert found is None or (found == message_of(entry) and decode_entry(found) == entry)
    long = max(len(text.encode()) for text in (entry.address, entry.e_tag, entry.content_type))
    assert (found is None) == (entry.size <= 0 or entry.last_modified == 0 or long > 4095)


def test_an_entry_that_has_more_is_not_plain() -> None:
    block = Block("a", 0, 1, b"h")
    for more in ({"metadata": {"a": "b"}}, {"blocks": (block,)}, {"unknown": b"\xc0\x3e\x05"}):
        fields = {"address": "a", "last_modified": Instant(1), "size": 1, "e_tag": "e"}
        assert plain_entry(Entry(**{**fields, **more})) is None  # type: ignore[arg-type]
    for wrong in ({"address": "\ud800"}, {"size": 2**63}, {"last_modified": LATEST + 1}):
        fields = {"address": "a", "last_modified": Instant(1), "size": 1, "e_tag": "e"}
        assert plain_entry(Entry(**{**fields, **wrong})) is None  # type: ignore[arg-type]


SOME = st.binary(max_size=20) | st.integers(100, 5000).map(bytes)


@given(SOME, SOME, SOME, st.sampled_from([b"", b"\xc0\x3e\x05"]))
def test_a_plain_staged_row_is_its_message(
    key: bytes, identity: bytes, data: bytes, unknown: bytes
) -> None:
    row = StagedEntry(key, identity, data, unknown=unknown)
    message = wire.StagedEntry(key=key, identity=identity, data=data)
    assert encode_staged_entry(row) == message.SerializeToString(deterministic=True) + unknown
    assert decode_staged_entry(encode_staged_entry(row)) == row
    longest, shortest = (limit(map(len, (key, identity, data))) for limit in (max, min))
    assert (plain_staged_entry(key, identity, data) is None) == (not shortest or longest > 4095)


NUMBERS = st.integers(-(2**63), 2**63 - 1) | STEPS


@given(st.builds(Branch, branch_id=TEXT, commit_id=TEXT, staging_token=TEXT, resets=NUMBERS))
def test_a_plain_branch_is_its_message(branch: Branch) -> None:
    texts = (branch.branch_id, branch.commit_id, branch.staging_token)
    message = wire.Branch(
        branch_id=texts[0], commit_id=texts[1], staging_token=texts[2], resets=branch.resets
    )
    assert encode_branch(branch) == message.SerializeToString(deterministic=True)
    assert decode_branch(encode_branch(branch)) == branch
    short = all(0 < len(text.encode()) < 4096 for text in texts)
    assert (plain_branch(branch) is None) == (not short or branch.resets <= 0)


@pytest.mark.parametrize(
    "more",
    [
        {"hidden": True},
        {"lineage": "l"},
        {"sealed_tokens": ("s",)},
        {"ordinals": (Ordinal(LineageId("l"), 1),)},
        {"compacted_base_meta_range_id": "m"},
        {"unknown": b"\xc0\x3e\x05"},
        {"resets": 2**63},
        {"forgotten": (Forgotten(b"a", None, StagingToken("t")),)},
        {"resets_in_place": 1},
        {"branch_id": "\ud800"},
        {"commit_id": None},
    ],
)
def test_a_branch_that_has_more_is_not_plain(more: dict[str, object]) -> None:
    new = Branch(
        branch_id=BranchName("b"),
        commit_id=CommitId("c"),
        staging_token=StagingToken("t"),
        resets=1,
    )
    assert plain_branch(new) is not None
    assert plain_branch(msgspec.structs.replace(new, **more)) is None
