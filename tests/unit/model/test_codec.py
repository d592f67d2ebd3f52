# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import Corruption, InvalidInput
from lochan.model import codec
from lochan.model import records_pb2 as wire
from lochan.model.entry import AddressType, Block, Entry
from lochan.model.ids import EMPTY_TREE, BranchName, CommitId, StagingToken
from lochan.model.instant import Instant
from lochan.model.records import (
    BlockedAction,
    Branch,
    BranchProtectionRule,
    Clock,
    Commit,
    Forgotten,
    OpenCommit,
    Ordinal,
    Provenance,
    RangeData,
    Repository,
    RepositoryState,
    Slot,
    StagedEntry,
    Tag,
)

TEXT = st.text(max_size=8)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
INT64 = st.integers(-(2**63), 2**63 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
MOMENT = st.integers(-62_135_596_800 * 10**9, 253_402_300_799 * 10**9).map(Instant)
METADATA = st.dictionaries(TEXT, TEXT, max_size=4)
CLOCK = st.builds(Clock, TEXT, INT64)
# Field 1000 as varint, field 1001 as bytes: what a newer program may have added.
UNKNOWN = st.sampled_from([b"", b"\xc0\x3e\x05", b"\xca\x3e\x02hi", b"\xca\x3e\x00\xc0\x3e\x01"])


def several(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(strategy, max_size=3).map(tuple)


class Kind(NamedTuple):
    """A record, how it is encoded and decoded, and its message."""

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]
    records: st.SearchStrategy[Any]


KINDS = {
    "repository": Kind(
        codec.encode_repository,
        codec.decode_repository,
        st.builds(
            Repository,
            repository_id=TEXT,
            storage_namespace=TEXT,
            default_branch=TEXT,
            creation_date=MOMENT,
            repository_state=st.sampled_from(RepositoryState),
            unique_identifier=TEXT,
            read_only=st.booleans(),
            storage_id=TEXT,
            branch_protection=several(
                st.builds(BranchProtectionRule, TEXT, several(st.sampled_from(BlockedAction)))
            ),
            branch_owners=METADATA,
            unknown=UNKNOWN,
        ),
    ),
    "branch": Kind(
        codec.encode_branch,
        codec.decode_branch,
        st.builds(
            Branch,
            branch_id=TEXT,
            commit_id=TEXT,
            staging_token=TEXT,
            sealed_tokens=TEXTS,
            hidden=st.booleans(),
            lineage=TEXT,
            ordinals=several(st.builds(Ordinal, TEXT, INT64)),
            compacted_base_meta_range_id=TEXT,
            resets=INT64,
            moves=INT64,
            forgotten=several(
                st.builds(Forgotten, st.binary(), st.none() | st.binary(min_size=1), TEXT)
            ),
            resets_in_place=INT64,
            unknown=UNKNOWN,
        ),
    ),
    "tag": Kind(
        codec.encode_tag,
        codec.decode_tag,
        st.builds(Tag, tag_id=TEXT, commit_id=TEXT, unknown=UNKNOWN),
    ),
    "commit": Kind(
        codec.encode_commit,
        codec.decode_commit,
        st.builds(
            Commit,
            id=TEXT,
            committer=TEXT,
            message=TEXT,
            creation_date=MOMENT,
            meta_range_id=TEXT,
            metadata=METADATA,
            parents=TEXTS,
            version=INT32,
            generation=INT32,
            clocks=several(CLOCK),
            started=MOMENT,
            finished=MOMENT,
            provenance=several(
                st.builds(Provenance, repository_id=TEXT, commit_id=TEXT, input=TEXT, glob=TEXT)
            ),
            unknown=UNKNOWN,
        ),
    ),
    "open commit": Kind(
        codec.encode_open_commit,
        codec.decode_open_commit,
        st.builds(
            OpenCommit,
            id=TEXT,
            branch=TEXT,
            started=MOMENT,
            staging_token=TEXT,
            parent=TEXT,
            slot=st.sampled_from(Slot),
            committer=TEXT,
            message=TEXT,
            metadata=METADATA,
            finished=MOMENT,
            provenance=several(st.builds(Provenance, repository_id=TEXT, commit_id=TEXT)),
            commit_id=TEXT,
            error=TEXT,
            attempts=TEXTS,
            unknown=UNKNOWN,
        ),
    ),
    "staged entry": Kind(
        codec.encode_staged_entry,
        codec.decode_staged_entry,
        st.builds(StagedEntry, st.binary(), st.binary(), st.binary(), TEXT, UNKNOWN),
    ),
    "entry": Kind(
        codec.encode_entry,
        codec.decode_entry,
        st.builds(
            Entry,
            address=TEXT,
            last_modified=MOMENT,
            size=INT64,
            e_tag=TEXT,
            metadata=METADATA,
            address_type=st.sampled_from(AddressType),
            content_type=TEXT,
            blocks=several(st.builds(Block, TEXT, INT64, INT64, st.binary(max_size=32))),
            epoch=st.none() | CLOCK,
            unknown=UNKNOWN,
        ),
    ),
}
KIND = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@KIND
@given(data=st.data())
def test_a_record_survives_the_way_there_and_back(kind: Kind, data: st.DataObject) -> None:
    record = data.draw(kind.records)

    assert kind.decode(kind.encode(record)) == record


@KIND
@given(data=st.data())
def test_rel_K8_equal_records_give_equal_bytes_and_others_do_not(
    kind: Kind, data: st.DataObject
) -> None:
    left, right = data.draw(kind.records), data.draw(kind.records)
    copy = kind.decode(kind.encode(left))

    assert kind.encode(copy) == kind.encode(left)
    assert (kind.encode(left) == kind.encode(right)) == (left == right)


@KIND
@given(data=st.data())
def test_a_decoded_record_is_written_back_as_it_was(kind: Kind, data: st.DataObject) -> None:
    stored = kind.encode(data.draw(kind.records))

    assert kind.encode(kind.decode(stored)) == stored


@given(metadata=METADATA)
def test_the_order_of_metadata_leaves_no_trace(metadata: dict[str, str]) -> None:
    entry = Entry(address="a", last_modified=Instant(1), size=1, e_tag="e", metadata=metadata)
    backwards = msgspec.structs.replace(entry, metadata=dict(reversed(metadata.items())))

    assert codec.encode_entry(backwards) == codec.encode_entry(entry)


def test_a_rewritten_record_keeps_the_fields_of_a_newer_program() -> None:
    newer = codec.encode_branch(BRANCH) + b"\xc0\x3e\x05"
    branch = codec.decode_branch(newer)

    moved = msgspec.structs.replace(branch, commit_id="c2")

    assert codec.encode_branch(moved).endswith(b"\xc0\x3e\x05")
    assert codec.decode_branch(codec.encode_branch(moved)) == moved


BRANCH = Branch(
    branch_id=BranchName("b"),
    commit_id=CommitId("c1"),
    staging_token=StagingToken("t"),
    sealed_tokens=(StagingToken("s2"), StagingToken("s1")),
)


def test_a_branch_has_the_documented_bytes() -> None:
    assert codec.encode_branch(BRANCH) == b"\x0a\x01b\x12\x02c1\x1a\x01t\x22\x02s2\x22\x02s1"


def test_a_tombstone_has_a_key_and_nothing_else() -> None:
    assert codec.encode_staged_entry(StagedEntry(b"a/b")) == b"\x0a\x03a/b"
    assert codec.decode_staged_entry(b"\x0a\x03a/b").is_tombstone


@given(st.binary(), st.binary(), st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 1))
def test_range_data_survives_the_way_there_and_back(
    low: bytes, high: bytes, size: int, count: int
) -> None:
    encoded = codec.encode_range_data(low, high, size, count)

    assert codec.decode_range_data(encoded) == RangeData(low, high, size, count)


@pytest.mark.parametrize(
    "decode", [*(kind.decode for kind in KINDS.values()), codec.decode_range_data]
)
def test_what_is_no_message_is_corruption(decode: Callable[[bytes], object]) -> None:
    with pytest.raises(Corruption, match="damaged at offset 0: not a"):
        decode(b"\x0a\xff")


def test_corruption_names_the_record() -> None:
    with pytest.raises(Corruption, match="branches/main is damaged"):
        codec.decode_branch(b"\x0a\xff", where="branches/main")


def test_an_unknown_state_is_corruption_that_lists_the_known_ones() -> None:
    state = wire.RepositoryState.ValueType(7)
    stored = wire.Repository(repository_state=state).SerializeToString()

    with pytest.raises(Corruption, match=r"7 is not a RepositoryState .*1 deleting"):
        codec.decode_repository(stored)


def test_a_time_after_the_year_9999_is_corruption() -> None:
    stored = wire.Commit()
    stored.creation_date.seconds = 2**60

    with pytest.raises(Corruption, match="years 1 and 9999"):
        codec.decode_commit(stored.SerializeToString())


@pytest.mark.parametrize("field", [{"message": "\ud800"}, {"generation": 2**31}])
def test_what_the_message_cannot_hold_is_refused(field: dict[str, Any]) -> None:
    commit = Commit(
        id=CommitId("i"),
        committer="c",
        message="m",
        creation_date=Instant(1),
        meta_range_id=EMPTY_TREE,
    )

    with pytest.raises(InvalidInput, match="the commit holds a value that cannot be stored"):
        codec.encode_commit(msgspec.structs.replace(commit, **field))
