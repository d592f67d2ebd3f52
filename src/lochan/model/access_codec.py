# SPDX-License-Identifier: Apache-2.0
"""Records of users, groups, policies and credentials as bytes, and back.

The rules are those of `codec`: protobuf (access.proto), canonical, unknown fields kept, Corruption
for what is no such message.
"""

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
from lochan.model.message import (
    decoded,
    encoding,
    enum_of,
    instant_of,
    message_bytes,
    timestamp_of,
    unknown_fields,
)


def encode_user(record: User) -> bytes:
    """Encode a user."""
    with encoding("user"):
        message = wire.User(
            creation_date=timestamp_of(record.creation_date),
            name=record.name,
            friendly_name=record.friendly_name,
            email=record.email,
            unique_identifier=record.unique_identifier,
            state=wire.EntityState.ValueType(record.state),
            credentials_epoch=record.credentials_epoch,
        )
        return message_bytes(message, record.unknown)


def decode_user(data: bytes, where: str = "a user record") -> User:
    """Decode a user."""
    message = decoded(wire.User, data, where)
    return User(
        name=message.name,
        unique_identifier=UniqueIdentifier(message.unique_identifier),
        creation_date=instant_of(message.creation_date, where),
        state=enum_of(EntityState, message.state, where),
        friendly_name=message.friendly_name,
        email=message.email,
        credentials_epoch=message.credentials_epoch,
        unknown=unknown_fields(message),
    )


def encode_group(record: Group) -> bytes:
    """Encode a group."""
    with encoding("group"):
        message = wire.Group(
            creation_date=timestamp_of(record.creation_date),
            name=record.name,
            unique_identifier=record.unique_identifier,
            state=wire.EntityState.ValueType(record.state),
            description=record.description,
        )
        return message_bytes(message, record.unknown)


def decode_group(data: bytes, where: str = "a group record") -> Group:
    """Decode a group."""
    message = decoded(wire.Group, data, where)
    return Group(
        name=message.name,
        unique_identifier=UniqueIdentifier(message.unique_identifier),
        creation_date=instant_of(message.creation_date, where),
        state=enum_of(EntityState, message.state, where),
        description=message.description,
        unknown=unknown_fields(message),
    )


def encode_policy(record: Policy) -> bytes:
    """Encode a policy."""
    with encoding("policy"):
        message = wire.Policy(
            creation_date=timestamp_of(record.creation_date),
            name=record.name,
            statement=[
                wire.Statement(effect=one.effect, action=one.action, resource=one.resource)
                for one in record.statement
            ],
            unique_identifier=record.unique_identifier,
            state=wire.EntityState.ValueType(record.state),
        )
        return message_bytes(message, record.unknown)


def decode_policy(data: bytes, where: str = "a policy record") -> Policy:
    """Decode a policy."""
    message = decoded(wire.Policy, data, where)
    return Policy(
        name=message.name,
        unique_identifier=UniqueIdentifier(message.unique_identifier),
        creation_date=instant_of(message.creation_date, where),
        state=enum_of(EntityState, message.state, where),
        statement=tuple(
            Statement(one.effect, tuple(one.action), one.resource) for one in message.statement
        ),
        unknown=unknown_fields(message),
    )


def encode_credential(record: Credential) -> bytes:
    """Encode a credential; its secret is sealed already."""
    with encoding("credential"):
        message = wire.Credential(
            access_key_id=record.access_key_id,
            sealed_secret=record.sealed_secret,
            creation_date=timestamp_of(record.creation_date),
            master_key=record.master_key,
            nonce=record.nonce,
        )
        return message_bytes(message, record.unknown)


def decode_credential(data: bytes, where: str = "a credential record") -> Credential:
    """Decode a credential."""
    message = decoded(wire.Credential, data, where)
    return Credential(
        access_key_id=message.access_key_id,
        sealed_secret=message.sealed_secret,
        nonce=message.nonce,
        master_key=message.master_key,
        creation_date=instant_of(message.creation_date, where),
        unknown=unknown_fields(message),
    )


def encode_credential_owner(record: CredentialOwner) -> bytes:
    """Encode whose an access key is."""
    with encoding("credential owner"):
        return message_bytes(wire.CredentialOwner(**record._asdict()), b"")


def decode_credential_owner(data: bytes, where: str = "a credential's owner") -> CredentialOwner:
    """Decode whose an access key is."""
    found = decoded(wire.CredentialOwner, data, where)
    return CredentialOwner(found.user, UniqueIdentifier(found.user_unique_identifier))


def encode_membership(record: Membership) -> bytes:
    """Encode a membership."""
    with encoding("membership"):
        return message_bytes(wire.Membership(**record._asdict()), b"")


def decode_membership(data: bytes, where: str = "a membership") -> Membership:
    """Decode a membership."""
    found = decoded(wire.Membership, data, where)
    return Membership(
        user=found.user,
        user_unique_identifier=UniqueIdentifier(found.user_unique_identifier),
        group=found.group,
        group_unique_identifier=UniqueIdentifier(found.group_unique_identifier),
    )


def encode_attachment(record: Attachment) -> bytes:
    """Encode the attachment of a policy."""
    with encoding("attachment"):
        return message_bytes(wire.Attachment(**record._asdict()), b"")


def decode_attachment(data: bytes, where: str = "an attachment") -> Attachment:
    """Decode the attachment of a policy."""
    found = decoded(wire.Attachment, data, where)
    return Attachment(found.policy, UniqueIdentifier(found.policy_unique_identifier))


def encode_setup(record: Setup) -> bytes:
    """Encode the state of the set-up."""
    with encoding("set-up"):
        message = wire.Setup(
            creation_date=timestamp_of(record.creation_date),
            state=wire.SetupState.ValueType(record.state),
            user=record.user,
            user_unique_identifier=record.user_unique_identifier,
            credential=encode_credential(record.credential) if record.credential else b"",
        )
        return message_bytes(message, record.unknown)


def decode_setup(data: bytes, where: str = "the set-up record") -> Setup:
    """Decode the state of the set-up."""
    message = decoded(wire.Setup, data, where)
    return Setup(
        user=message.user,
        user_unique_identifier=UniqueIdentifier(message.user_unique_identifier),
        creation_date=instant_of(message.creation_date, where),
        state=enum_of(SetupState, message.state, where),
        credential=decode_credential(message.credential, where) if message.credential else None,
        unknown=unknown_fields(message),
    )
