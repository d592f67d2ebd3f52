# SPDX-License-Identifier: Apache-2.0
"""Records of users, groups, policies and credentials come back as they went."""

import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lochan.model
from lochan.errors import Corruption, InvalidInput
from lochan.model import access_codec as codec
from lochan.model import access_pb2 as wire
from lochan.model.access import (
    Attachment,
    Credential,
    CredentialOwner,
    EntityState,
    Group,
    Membership,
    Policy,
    Setup,
    SetupState,
    Statement,
    User,
)
from lochan.model.ids import UniqueIdentifier
from lochan.model.instant import Instant

PROTO = (Path(lochan.model.__file__).parent / "access.proto").read_text()
FIELD = re.compile(r"^  (?:repeated )?[\w.]+ (\w+) = (\d+);$", re.MULTILINE)
TEXT = st.text(max_size=12)
UIDS = TEXT.map(UniqueIdentifier)
TIMES = st.integers(0, 2**61).map(Instant)
COMMON = {
    "name": TEXT,
    "unique_identifier": UIDS,
    "creation_date": TIMES,
    "state": st.sampled_from(EntityState),
}
STATEMENT = st.builds(Statement, TEXT, st.lists(TEXT, max_size=3).map(tuple), TEXT)
CREDENTIAL = st.builds(
    Credential,
    access_key_id=TEXT,
    sealed_secret=st.binary(max_size=9),
    nonce=st.binary(max_size=12),
    master_key=TEXT,
    creation_date=TIMES,
)
USER = st.builds(
    User, **COMMON, friendly_name=TEXT, email=TEXT, credentials_epoch=st.integers(0, 2**40)
)
RECORDS = st.one_of(
    USER.map(lambda one: (one, codec.encode_user, codec.decode_user)),
    st.builds(Group, **COMMON, description=TEXT).map(
        lambda one: (one, codec.encode_group, codec.decode_group)
    ),
    st.builds(Policy, **COMMON, statement=st.lists(STATEMENT, max_size=3).map(tuple)).map(
        lambda one: (one, codec.encode_policy, codec.decode_policy)
    ),
    CREDENTIAL.map(lambda one: (one, codec.encode_credential, codec.decode_credential)),
    st.builds(CredentialOwner, TEXT, UIDS).map(
        lambda one: (one, codec.encode_credential_owner, codec.decode_credential_owner)
    ),
    st.builds(Membership, TEXT, UIDS, TEXT, UIDS).map(
        lambda one: (one, codec.encode_membership, codec.decode_membership)
    ),
    st.builds(Attachment, TEXT, UIDS).map(
        lambda one: (one, codec.encode_attachment, codec.decode_attachment)
    ),
    st.builds(
        Setup,
        user=TEXT,
        user_unique_identifier=UIDS,
        creation_date=TIMES,
        state=st.sampled_from(SetupState),
        credential=st.none() | CREDENTIAL.filter(lambda one: bool(one.access_key_id)),
    ).map(lambda one: (one, codec.encode_setup, codec.decode_setup)),
)
ANN = User(name="ann", unique_identifier=UniqueIdentifier("1"))
DECODERS: list[Callable[[bytes], object]] = [
    codec.decode_user,
    codec.decode_group,
    codec.decode_policy,
    codec.decode_credential,
    codec.decode_credential_owner,
    codec.decode_membership,
    codec.decode_attachment,
    codec.decode_setup,
]


@given(RECORDS)
def test_a_record_comes_back_as_it_went(
    found: tuple[object, Callable[[object], bytes], Callable[[bytes], object]],
) -> None:
    record, encode, decode = found
    assert decode(encode(record)) == record


def test_what_a_newer_program_wrote_stays_with_the_record() -> None:
    newer = codec.encode_user(ANN) + bytes.fromhex("c23e0568656c6c6f")  # field 1000, text
    found = codec.decode_user(newer)
    assert found.name == "ann"
    changed = msgspec.structs.replace(found, credentials_epoch=1)
    assert codec.decode_user(codec.encode_user(changed)).unknown == found.unknown != b""


@pytest.mark.parametrize("decode", DECODERS)
def test_what_is_no_such_record_is_corruption(decode: Callable[[bytes], object]) -> None:
    with pytest.raises(Corruption):
        decode(b"\xff\xff\xff")


def test_a_value_that_cannot_be_stored_is_refused() -> None:
    with pytest.raises(InvalidInput):
        codec.encode_user(msgspec.structs.replace(ANN, email="\ud800"))


def test_the_generated_module_has_the_fields_of_the_proto_file() -> None:
    written = {
        name: {field: int(number) for field, number in FIELD.findall(body)}
        for name, body in re.findall(
            r"^message (\w+) \{\n(.*?)^\}", PROTO, re.DOTALL | re.MULTILINE
        )
    }
    generated = {
        name: {field.name: field.number for field in message.fields}
        for name, message in wire.DESCRIPTOR.message_types_by_name.items()
    }
    assert generated == written
