# SPDX-License-Identifier: Apache-2.0
"""What the conformance suite lets other processes do: count in a shared store.

python -m lochan.testing.kv_process <url> <partition in hex> <key> <times>
"""

import sys

from lochan.environment import Environment, RealEnvironment
from lochan.kv.open import open_store
from lochan.kv.store import Store
from lochan.kv.update import update


def increment(
    store: Store, partition: bytes, key: bytes, times: int, environment: Environment
) -> None:
    """Add one to a decimal number, many times, each time by compare-and-swap."""
    for _ in range(times):
        update(store, partition, key, lambda value: b"%d" % (int(value or b"0") + 1), environment)


def main(url: str, partition: str, key: str, times: str) -> None:
    """Count in the store at `url`."""
    environment = RealEnvironment()
    store = open_store(url, environment)
    increment(store, bytes.fromhex(partition), key.encode(), int(times), environment)
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
