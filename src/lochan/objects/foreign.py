# SPDX-License-Identifier: Apache-2.0
"""Addresses in full: objects that Lochan did not write and only reads.

    address                          store            address there
    s3://bucket/raw/2024/a.csv       s3://bucket      raw/2024/a.csv
    file:///srv/raw/a.csv            file:///         srv/raw/a.csv
    local:///srv/raw/a.csv           file:///         srv/raw/a.csv

A full address is split behind the authority, never later: the whole rest is the object's name,
whatever it holds (two slashes, a question mark), and all objects of a bucket are read through one
store. `local` names folders that our own driver keeps, under names of its own; a file of another
folder is read as the plain file it is.
"""

import os

from lochan.errors import InvalidInput
from lochan.model.ids import StorageNamespace
from lochan.objects.store import check_address

FILES = StorageNamespace("file:///")
_LOCAL = ("file:///", "local:///")


def is_full(address: str) -> bool:
    """Say whether an address has a scheme; addresses of our own begin with a folder's name."""
    scheme, found, _ = address.partition("://")
    return bool(found) and scheme.isascii() and scheme.isalnum()


def is_file(address: str) -> bool:
    """Say whether a full address is that of a plain file."""
    return address.startswith(_LOCAL)


def spelled(address: str) -> str:
    """Give the one spelling by which an address is judged: that of a plain file is `file`."""
    return address.replace("local", "file", 1) if address.startswith("local:///") else address


def meant(prefix: str) -> str:
    """Give the place that files' addresses mean once symbolic links are followed; else the same."""
    namespace, name = split_prefix(prefix)
    return f"file://{os.path.realpath(f'/{name}')}" if namespace == FILES else prefix


def split_foreign(address: str) -> tuple[StorageNamespace, str]:
    """Part a full address into the namespace of its store and the address there.

    Raises: InvalidInput when it names no object of a store.
    """
    namespace, name = split_prefix(address)
    if not name:
        raise InvalidInput(f"{address!r} names a store and no object in it", code="invalid-address")
    check_address(name)
    return namespace, name


def split_prefix(prefix: str) -> tuple[StorageNamespace, str]:
    """Part the beginning of full addresses likewise; the part inside the store may be empty."""
    if prefix.startswith(_LOCAL):
        return FILES, prefix.partition("://")[2][1:]
    scheme, _, rest = prefix.partition("://")
    authority, _, name = rest.partition("/")
    if not is_full(prefix) or not authority:
        message = f"{prefix!r} is no full address; write scheme://bucket/name"
        raise InvalidInput(message, code="invalid-address")
    return StorageNamespace(f"{scheme}://{authority}"), name
