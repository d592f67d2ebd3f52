# SPDX-License-Identifier: Apache-2.0
"""Join the parts of a lake: the one place where stores, environment and stories meet.

A lake is a key-value store. Its repositories name their own storage namespaces, which are opened
when a story first asks for them, and stay open.
"""

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from lochan.committed import Cuts, Files, Snapshots
from lochan.committed.disk import DiskTier
from lochan.environment import Environment
from lochan.kv.open import open_store
from lochan.model.ids import StorageNamespace
from lochan.objects.address import AddressSource
from lochan.objects.foreign import FILES
from lochan.objects.open import open_objects
from lochan.operations.lake import Lake, Storage

_TURN_S = 0.0005


def prepare_process() -> None:
    """Make a process fit to serve many at once, when all is imported and before it begins.

    A thread that computes gives way after half a millisecond instead of five: a write takes the
    interpreter's lock a dozen times, and would wait so long each time beside a commit. And what is
    there from the start is taken out of the garbage collector's sight, whose full passes would stop
    everybody for tens of milliseconds.
    """
    sys.setswitchinterval(_TURN_S)
    gc.collect()
    gc.freeze()


@contextmanager
def open_lake(
    kv: str,
    environment: Environment,
    *,
    disk: DiskTier | None = None,
    cuts: Cuts | None = None,
    readable: Sequence[Path] = (),
    private: Sequence[Path] = (),
) -> Iterator[Lake]:
    """Open the lake in a key-value store, named by its url; close all that it opened at the end.

    `disk` keeps copies of far files. `cuts` must be those that the lake was written with.
    `readable` are folders whose plain files may be imported, and read where they lie, unless they
    lie in one of the `private` ones.
    Raises: InvalidInput for a url that no driver takes, Unavailable.
    """
    with ExitStack() as opened:
        store = opened.enter_context(closing(open_store(kv, environment)))
        namespaces = _Namespaces(environment, opened, disk, cuts, _plain_files(readable, private))
        yield Lake.of(store, environment, namespaces.storage)


class _Namespaces:
    """The storage namespaces in use, each opened once."""

    def __init__(
        self,
        environment: Environment,
        opened: ExitStack,
        disk: DiskTier | None,
        cuts: Cuts | None,
        plain_files: str,
    ) -> None:
        self._locations = {FILES: plain_files}
        self._environment = environment
        self._opened = opened
        self._disk = disk
        self._cuts = cuts
        self._lock = environment.lock()
        self._storages: dict[StorageNamespace, Storage] = {}

    def storage(self, namespace: StorageNamespace) -> Storage:
        """Give what lies in a namespace. Raises InvalidInput where no driver takes it."""
        found = self._storages.get(namespace)
        if found is not None:
            return found
        with self._lock:
            if namespace not in self._storages:
                self._storages[namespace] = self._open(namespace)
            return self._storages[namespace]

    def _open(self, namespace: StorageNamespace) -> Storage:
        location = self._locations.get(namespace, namespace)
        objects = self._opened.enter_context(closing(open_objects(location, self._environment)))
        files = Files(objects, self._environment, disk=self._disk)
        snapshots = Snapshots(files, self._environment, cuts=self._cuts)
        return Storage(
            objects, AddressSource(self._environment), self._opened.enter_context(snapshots)
        )


def _plain_files(readable: Sequence[Path], private: Sequence[Path]) -> str:
    allow, deny = (quote(os.pathsep.join(map(str, folders))) for folders in (readable, private))
    return f"{FILES}?allow={allow}" + (f"&deny={deny}" if deny else "")
