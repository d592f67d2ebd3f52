# SPDX-License-Identifier: Apache-2.0
"""Where attempts read and write: storage namespaces, opened once a process.

An attempt is handed names of namespaces, and a function that opens them: a lake's own, or
`ProcessPlaces` where there is no lake, with the credentials of the machine.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

from lochan.environment import Environment
from lochan.model.ids import StorageNamespace
from lochan.objects.address import AddressSource
from lochan.objects.foreign import FILES, is_full, split_foreign
from lochan.objects.namespace import Namespace
from lochan.objects.open import open_objects
from lochan.objects.store import ObjectStore


class Place(Protocol):
    """What lies in one storage namespace, as far as attempts need it."""

    @property
    def objects(self) -> ObjectStore:
        """Give the objects."""

    @property
    def addresses(self) -> AddressSource:
        """Give the source of fresh addresses."""


Storages = Callable[[StorageNamespace], Place]


@dataclass(frozen=True, slots=True)
class OpenedPlace:
    """A namespace that is open."""

    objects: ObjectStore
    addresses: AddressSource


class ProcessPlaces:
    """The namespaces that a process without a lake has opened; it keeps them open."""

    def __init__(self, environment: Environment) -> None:
        """Open namespaces when they are first asked for."""
        self._environment = environment
        self._lock = environment.lock()
        self._opened: dict[str, OpenedPlace] = {}

    def __call__(self, namespace: StorageNamespace) -> OpenedPlace:
        """Give what lies in a namespace. Raises InvalidInput where no driver opens it."""
        with self._lock:
            if namespace not in self._opened:
                # Who runs the code can read the machine's files anyway.
                location = f"{FILES}?allow={quote('/')}" if namespace == FILES else namespace
                objects = open_objects(location, self._environment)
                self._opened[namespace] = OpenedPlace(objects, AddressSource(self._environment))
            return self._opened[namespace]


def locate(storages: Storages, namespace: str, address: str) -> tuple[ObjectStore, str]:
    """Find the store that keeps an entry's address, and its name there. Raises InvalidInput."""
    inside: str | None = address
    if is_full(address):
        inside = Namespace.parse(namespace).find_address(address)
    if inside is not None:
        return storages(StorageNamespace(namespace)).objects, inside
    foreign, name = split_foreign(address)
    return storages(foreign).objects, name
