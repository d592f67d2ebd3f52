# SPDX-License-Identifier: Apache-2.0
"""Signed URLs: what they open is written in them, and they need no credentials until they expire.

Stores that sign URLs by themselves (S3, GCS, Azure) are left to it. For all others the URL leads to
this server (`api.presigned`):

    <server>/api/v1/repositories/<repository>/presigned?token=<ticket>.<signature>

    ticket      base64url of a JSON array, the fields of `Ticket` in their order
    signature   base64url of HMAC-SHA256(signing key, the ticket's JSON)

Neither is padded. A ticket names the repository by its unique identifier: it opens nothing in a
later repository of the same name. It stands in the query, which logs leave out.
"""

import base64
import binascii
import hmac
from collections.abc import Callable
from hashlib import sha256
from typing import Final, Literal, NamedTuple

import msgspec

from lochan.config.server import Settings
from lochan.errors import InvalidInput, PermissionDenied
from lochan.model.entry import Entry
from lochan.model.records import Repository
from lochan.objects.store import ObjectStore, SupportsPresign
from lochan.operations.read_entry import locate
from lochan.web.call import Call
from lochan.web.services import Services

_API: Final = "/api/v1"  # the prefix under which the application puts the route

Method = Literal["GET", "PUT"]


class Signed(NamedTuple):
    """A URL, and when it stops working, in seconds since 1970."""

    url: str
    expires: int


class Ticket(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """What a URL of ours opens: one address of one repository, to be read or to be written once."""

    method: Method
    repository: str  # its unique identifier
    address: str
    expires: int
    upload: str = ""  # of which a part is written, not the whole
    part: int = 0
    name: str = ""  # what is read, as it is called, checked and typed in the lake
    e_tag: str = ""
    content_type: str = ""
    size: int = -1


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Ticket).decode


def supports_presign(settings: Settings) -> bool:
    """Say whether signed URLs can be had; every store has them, ours where it has none."""
    return bool(settings.blockstore.signing.secret_key or settings.auth.encrypt.secret_key)


def signing_key(settings: Settings) -> bytes:
    """Give the key that signs. Raises InvalidInput where there is none: anybody could guess it."""
    if not supports_presign(settings):
        message = "nothing can be signed without blockstore.signing.secret_key; set it"
        raise InvalidInput(message, code="not-implemented")
    return settings.signing_key


def lifetime(services: Services) -> int:
    """Say for how many seconds what is signed now is good."""
    return max(1, int(services.settings.blockstore.signing.expiry_seconds))


def presign_read(call: Call, entry: Entry, path: str) -> Signed | None:
    """Sign a URL that reads an entry's bytes; None for a file that lies in several places."""
    if entry.is_of_blocks:
        return None
    store, name = locate(call.lake, call.repository, entry.address)
    ticket = Ticket(
        "GET",
        call.repository.unique_identifier,
        entry.address,
        _expiry(call.services),
        name=path.rpartition("/")[2],
        e_tag=entry.e_tag,
        content_type=entry.content_type,
        size=entry.size,
    )
    if isinstance(store, SupportsPresign):
        return Signed(store.presign_get(name, lifetime(call.services)), ticket.expires)
    return Signed(ticket_url(call, ticket), ticket.expires)


def presign_write(call: Call, store: ObjectStore, address: str) -> Signed:
    """Sign a URL that writes an object at an address of the repository's own namespace, once."""
    ticket = Ticket("PUT", call.repository.unique_identifier, address, _expiry(call.services))
    if isinstance(store, SupportsPresign):
        return Signed(store.presign_put(address, lifetime(call.services)), ticket.expires)
    return Signed(ticket_url(call, ticket), ticket.expires)


def part_urls(call: Call, address: str, upload: str) -> Callable[[int], str]:
    """Give what signs URLs that write parts of an upload, all of one moment."""
    repository, expires = call.repository.unique_identifier, _expiry(call.services)

    def url_of(part: int) -> str:
        ticket = Ticket("PUT", repository, address, expires, upload, part)
        return ticket_url(call, ticket)

    return url_of


def ticket_url(call: Call, ticket: Ticket) -> str:
    """Spell the URL of a ticket as this client reaches us."""
    settings = call.services.settings
    server = settings.public_url.rstrip("/") or call.request.prefix
    payload = _encode(ticket)
    token = f"{_text(payload)}.{_text(_signature(settings, payload))}"
    return f"{server}{_API}/repositories/{call.path['repository']}/presigned?token={token}"


def opened(services: Services, repository: Repository, token: str, method: Method) -> Ticket:
    """Read a ticket that we signed, for this method and repository, and that is still good.

    Raises PermissionDenied; whatever is wrong, the answer is the same but for the time.
    """
    payload, _, signature = token.partition(".")
    raw = _octets(payload)
    if not hmac.compare_digest(_octets(signature), _signature(services.settings, raw)):
        raise refused("it is not ours")
    try:
        ticket = _decode(raw)
    except msgspec.DecodeError as error:  # we sign other things, too
        raise refused("it is not ours") from error
    if ticket.repository != repository.unique_identifier or ticket.method != method:
        raise refused("it is not ours")
    if services.lake.environment.now() > ticket.expires:
        raise refused("its time is over")
    return ticket


def refused(reason: str) -> PermissionDenied:
    """Refuse a signed URL."""
    message = f"this signed URL opens nothing: {reason}; ask for a new one"
    return PermissionDenied(message, code="invalid-signed-url")


def _signature(settings: Settings, payload: bytes) -> bytes:
    return hmac.digest(signing_key(settings), payload, sha256)


def _expiry(services: Services) -> int:
    return int(services.lake.environment.now()) + lifetime(services)


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _octets(text: str) -> bytes:
    """Read base64url; what is none is as good as nothing, and has no valid signature."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""
