# SPDX-License-Identifier: Apache-2.0
"""Addresses that were given for one object, and the signature in them that proves it.

    data/<partition>/<id>,<signature><suffix>

    signature = base64url, not padded, of HMAC-SHA256(signing key,
                JSON {"Repository", "Branch", "Path", "PhysicalAddress"})

A path that ends in a slash is a folder's. Whoever was given its address may write any number of
objects below it, and link them to paths below that folder:

    data/<partition>/<id>,<signature>/<rest>

The repository is named by its unique identifier, the address is relative and without signature. The
signature is part of the object's own address, so that who links it must show it, and an address
that was given for one path of one branch can be linked to no other.
"""

import base64
import hmac
from hashlib import sha256
from typing import Final

import msgspec

from lochan.errors import InvalidInput
from lochan.model.ids import valid_object_key
from lochan.model.records import Repository
from lochan.objects.address import DATA, find_data, signed, unsigned
from lochan.objects.namespace import Namespace
from lochan.operations.link_object import new_address
from lochan.web.call import Call
from lochan.web.presign import signing_key

# Who reads by the physical path, as Hadoop does, would be led out of the folder.
_CHANGES_FOLDER: Final = frozenset({"", ".", ".."})
_encode: Final = msgspec.json.Encoder().encode


def new_signed_address(call: Call, path: str) -> str:
    """Give a fresh address, relative, for an object of the branch that a call names."""
    fresh = new_address(call.lake, call.repository, call.branch, valid_object_key(path))
    return signed(fresh.address, _signature(call, path, fresh.address))


def in_full(repository: Repository, address: str) -> str:
    """Spell an address of the repository's namespace in full."""
    return Namespace.parse(repository.storage_namespace).physical(address)


def given_address(call: Call, physical: str, path: str) -> str:
    """Give the relative form of a full address that we gave for a path.

    Raises: InvalidInput, code link-invalid, for one that lies elsewhere or was not given for it.
    """
    inside = find_inside(call, physical)
    if inside is None:
        raise _not_given(physical)
    require_given(call, inside, path)
    return inside


def find_inside(call: Call, physical: str) -> str | None:
    """Give the relative form of a full address; None when it lies outside of the namespace."""
    return Namespace.parse(call.repository.storage_namespace).find_address(physical)


def require_given(call: Call, address: str, path: str) -> None:
    """Refuse an address that was not given for this path of this branch. Raises InvalidInput."""
    found = find_data(address)
    if found is None or not found.signature:
        raise _not_given(address)
    expected = _signature(call, path, unsigned(address))
    if not hmac.compare_digest(found.signature, expected):
        raise _not_given(address)


def require_given_below(call: Call, address: str, folder: str, path: str) -> None:
    """Refuse an address that is not below the one given for a folder of this branch.

    Raises: InvalidInput, code link-invalid.
    """
    found = find_data(address)
    if found is None or not found.signature or not found.rest.startswith("/"):
        raise _not_given(address)
    if not _CHANGES_FOLDER.isdisjoint(found.rest[1:].split("/")):
        raise _not_given(address)
    if not folder.endswith("/") or not path.startswith("" if folder == "/" else folder):
        raise _not_given(address)
    top = f"{DATA}/{found.partition}/{found.id}"
    if not hmac.compare_digest(found.signature, _signature(call, folder, top)):
        raise _not_given(address)


def _signature(call: Call, path: str, address: str) -> str:
    payload = _encode(
        {
            "Repository": call.repository.unique_identifier,
            "Branch": call.branch,
            "Path": path,
            "PhysicalAddress": address,
        }
    )
    raw = hmac.digest(signing_key(call.services.settings), payload, sha256)
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _not_given(address: str) -> InvalidInput:
    message = f"{address!r} was not given for this object; ask for an address and upload there"
    return InvalidInput(message, code="link-invalid")
