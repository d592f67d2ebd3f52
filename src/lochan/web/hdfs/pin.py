# SPDX-License-Identifier: Apache-2.0
"""What an open file is: one version, whatever becomes of its branch while it is read.

A client opens a file once and then asks for bytes again and again, each time from another offset.
Where it is sent when it opens says what it reads:

    &pin=<payload>.<signature>

    payload      base64url of a JSON array, the fields of `Pin` in their order
    signature    base64url of HMAC-SHA256(signing key, the payload's JSON)

Neither is padded. A pin is no permission: who shows one must still be allowed to read the path that
it was made for. Reading by a pin looks nothing up.
"""

import base64
import binascii
import hmac
from hashlib import sha256
from typing import Final, Literal

import msgspec

from lochan.config.server import Settings
from lochan.errors import InvalidInput
from lochan.model.entry import AddressType, Entry
from lochan.model.instant import EPOCH
from lochan.web.call import Call
from lochan.web.hdfs.place import Place
from lochan.web.presign import signing_key, supports_presign


class Pin(msgspec.Struct, frozen=True, array_like=True):
    """Which object is read; the first field tells it from other things that we sign."""

    kind: Literal["OPEN"]
    repository: str  # its unique identifier
    path: str
    address: str
    address_type: int
    size: int


_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(Pin).decode


def new_pin(call: Call, place: Place, entry: Entry) -> str | None:
    """Make the pin of a file; None for one that lies in several places, or where none can be."""
    settings = call.services.settings
    if entry.is_of_blocks or not supports_presign(settings):
        return None
    pin = Pin(
        "OPEN",
        call.repository.unique_identifier,
        place.path,
        entry.address,
        int(entry.address_type),
        entry.size,
    )
    payload = _encode(pin)
    return f"{_text(payload)}.{_text(_signature(settings, payload))}"


def pinned(call: Call, place: Place, text: str) -> Entry:
    """Read a pin that we made for a path. Raises InvalidInput for any other."""
    payload, _, signature = text.partition(".")
    raw = _octets(payload)
    if not hmac.compare_digest(_octets(signature), _signature(call.services.settings, raw)):
        raise _not_ours()
    try:
        pin = _decode(raw)
    except msgspec.DecodeError as error:
        raise _not_ours() from error
    if (pin.repository, pin.path) != (call.repository.unique_identifier, place.path):
        raise _not_ours()
    return Entry(
        address=pin.address,
        last_modified=EPOCH,
        size=pin.size,
        e_tag="",
        address_type=AddressType(pin.address_type),
    )


def _signature(settings: Settings, payload: bytes) -> bytes:
    return hmac.digest(signing_key(settings), payload, sha256)


def _not_ours() -> InvalidInput:
    return InvalidInput("the pin was not made for this file; open it again", code="invalid-pin")


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _octets(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""  # no signature is that of nothing
