# SPDX-License-Identifier: Apache-2.0
"""What the object suite lets other processes do: count and compete in a shared store.

python -m lochan.testing.objects_process <location> <name> <times>

It waits for a line on its standard input, so that all begin together, and prints the numbers of the
objects that it was the one to create.
"""

import sys

from lochan.errors import PredicateFailed
from lochan.objects.open import open_objects
from lochan.objects.store import IF_ABSENT, ObjectStore
from lochan.testing.objects_given import ENVIRONMENT, increment


def compete(store: ObjectStore, name: str, times: int) -> list[int]:
    """Create objects that others create too; say which were ours."""
    won = []
    for number in range(times):
        try:
            store.put(f"data/race/{number}", [name.encode()], when=IF_ABSENT)
        except PredicateFailed:
            continue
        won.append(number)
    return won


def main(location: str, name: str, times: str) -> None:
    """Count in the store of a location, and compete in it."""
    store = open_objects(location, ENVIRONMENT)
    sys.stdin.readline()
    won = compete(store, name, int(times))
    increment(store, "data/race/counter", int(times))
    store.close()
    sys.stdout.write(" ".join(map(str, won)))


if __name__ == "__main__":
    main(*sys.argv[1:])
