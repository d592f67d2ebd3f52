# SPDX-License-Identifier: Apache-2.0
"""What every part of the KV suite works with."""

import threading
from collections.abc import Callable, Iterator

import pytest

from lochan.environment import RealEnvironment
from lochan.kv.open import open_store
from lochan.kv.set_many import set_many
from lochan.kv.store import Store

ENVIRONMENT = RealEnvironment()
# More rows than one page of any driver of ours, so that scans go on after a page.
MANY_ROWS = 600


def opened(url: str) -> Iterator[Store]:
    """Open a store for a fixture, and close it afterwards."""
    store = open_store(url, ENVIRONMENT)
    yield store
    store.close()


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run work(0) to work(count - 1) at the same time, and raise what the first of them raised."""
    errors: list[BaseException] = []
    start = threading.Barrier(count)

    def guarded(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def fill(store: Store, partition: bytes, rows: int = MANY_ROWS) -> list[bytes]:
    """Store rows under ascending keys, and list the keys."""
    keys = [b"%06d" % number for number in range(rows)]
    set_many(store, partition, {key: b"value of " + key for key in keys})
    return keys


class Given:
    """What every part of the suite works with."""

    @pytest.fixture
    def partition(self) -> bytes:
        """A partition that no other test has ever used."""
        return b"test-" + ENVIRONMENT.new_id().encode()

    def reopen(self, store: Store) -> Store:
        """Open the same data once more. A driver that others can open overrides this."""
        return store
