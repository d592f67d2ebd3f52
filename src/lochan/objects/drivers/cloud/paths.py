# SPDX-License-Identifier: Apache-2.0
"""Which addresses a cloud store can be asked for, decided before anything is sent.

obstore has no empty, `.` or `..` segments, strips slashes around a path without a word, and takes a
backslash for a slash; and what cannot stand in XML cannot be deleted by S3's batches: such an
address would read or write another key. Addresses that we make have none of these.
"""

from lochan.errors import InvalidInput
from lochan.objects.namespace import Namespace
from lochan.objects.store import MAX_ADDRESS_BYTES, check_address

_ODD = frozenset("\\\x7f\ufffe\uffff")  # the last two cannot stand in XML, which S3 speaks


def check_path(address: str, namespace: Namespace) -> None:
    """Raise InvalidInput for an address that a cloud store cannot be asked for."""
    check_address(address)
    if not is_path(address):
        raise InvalidInput(
            f"{address!r} cannot be kept in {namespace.scheme}: it has an empty, '.' or '..'"
            " segment, a control character, a backslash or a character that XML forbids"
        )
    if len(f"{namespace.path}/{address}".encode()) > MAX_ADDRESS_BYTES:
        raise InvalidInput(f"{address[:40]!r} is too long together with {namespace}")


def is_path(text: str) -> bool:
    """Say whether obstore takes a text for the same path as the store does."""
    has_odd = any(character in _ODD or character < " " for character in text)
    return not has_odd and not any(segment in {"", ".", ".."} for segment in text.split("/"))
