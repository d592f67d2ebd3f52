# SPDX-License-Identifier: Apache-2.0
"""Protobuf messages to bytes and back: what the codecs of all records share.

Bytes are canonical, unknown fields are kept, damage is Corruption (`codec` says more).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import TypeVar

from google.protobuf.message import DecodeError, Message
from google.protobuf.timestamp_pb2 import Timestamp
from google.protobuf.unknown_fields import UnknownFieldSet

from lochan.errors import Corruption, InvalidInput
from lochan.model.instant import NANOSECONDS, Instant, instant

AnyMessage = TypeVar("AnyMessage", bound=Message)
AnyEnum = TypeVar("AnyEnum", bound=IntEnum)


@contextmanager
def encoding(kind: str) -> Iterator[None]:
    """Turn what protobuf says of a value that it cannot hold into InvalidInput."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise unstorable(kind, error) from error


def unstorable(kind: str, error: Exception) -> InvalidInput:
    """Make the error for a record that its message cannot hold."""
    message = f"the {kind} holds a value that cannot be stored: {error}"
    return InvalidInput(message, code="invalid-record", kind=kind)


def message_bytes(message: Message, unknown: bytes) -> bytes:
    """Encode a message canonically, and put what this program does not know behind it."""
    return message.SerializeToString(deterministic=True) + unknown


def decoded(kind: type[AnyMessage], data: bytes, where: str) -> AnyMessage:
    """Decode a message. Raises Corruption."""
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise Corruption(f"not a {kind.__name__} message: {error}", file=where) from error


def unknown_fields(message: Message) -> bytes:
    """Give the unknown fields' own bytes. Empties the message of what is known."""
    if not len(UnknownFieldSet(message)):
        return b""
    for field, _ in message.ListFields():
        message.ClearField(field.name)
    return message.SerializeToString()


def timestamp_of(moment: Instant) -> Timestamp | None:
    """Turn an instant into a message."""
    if not moment:  # the epoch is the default, and a default is left out
        return None
    seconds, nanoseconds = divmod(instant(moment), NANOSECONDS)
    return Timestamp(seconds=seconds, nanos=nanoseconds)


def instant_of(stamp: Timestamp, where: str) -> Instant:
    """Turn a message into an instant. Raises Corruption."""
    try:
        return instant(stamp.seconds * NANOSECONDS + stamp.nanos)
    except InvalidInput as error:
        raise Corruption(error.message, file=where) from error


def enum_of(kind: type[AnyEnum], number: int, where: str) -> AnyEnum:
    """Read a number that must be a member. Raises Corruption."""
    try:
        return kind(number)
    except ValueError as error:
        known = ", ".join(f"{member.value} {member.name.lower()}" for member in kind)
        reason = f"{number} is not a {kind.__name__} known here ({known})"
        raise Corruption(reason, file=where) from error
