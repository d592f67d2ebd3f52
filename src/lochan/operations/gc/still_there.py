# SPDX-License-Identifier: Apache-2.0
"""Objects that nobody keeps and somebody wants to name again: which of them are there, and stay.

Their addresses are logged first, so that a collector which marks from now on keeps them; what an
earlier one has condemned is left out; and then the store is asked for the rest (`held.reusable`).
"""

from collections.abc import Iterable
from typing import Final

from lochan.errors import NotFound
from lochan.model.records import Repository
from lochan.objects.store import ObjectStore
from lochan.operations.gc.held import reusable
from lochan.operations.lake import Lake

_AT_ONCE: Final = 1_000
_THREADS: Final = 16  # looks at the object store that wait for each other


def still_there(lake: Lake, repository: Repository, addresses: Iterable[str]) -> frozenset[str]:
    """Give those of some addresses that can be named again. Raises Unavailable."""
    asked = sorted(reusable(lake, repository, addresses))
    if not asked:
        return frozenset()
    objects, found = lake.storage(repository.storage_namespace).objects, set[str]()
    with lake.environment.executor(min(_THREADS, len(asked))) as crew:
        for first in range(0, len(asked), _AT_ONCE):
            some = asked[first : first + _AT_ONCE]
            answers = crew.map(lambda address: _is_there(objects, address), some)
            found.update(address for address, there in zip(some, answers, strict=True) if there)
    return frozenset(found)


def _is_there(objects: ObjectStore, address: str) -> bool:
    try:
        objects.head(address)
    except NotFound:
        return False
    return True
