# SPDX-License-Identifier: Apache-2.0
"""Store many records of one partition: in bulk where the driver can, else one after the other.

Each key is set atomically, in no promised order, and others may see some before the rest. When it
fails, the error says whether anything may have been stored: Unavailable means nothing was,
UnknownOutcome that some may have been. Setting the same records again is then harmless.
"""

from collections.abc import Iterable, Mapping

from lochan.errors import LochanError, UnknownOutcome
from lochan.kv.store import Pair, SetMany, Store, check_partition, check_record


def set_many(
    store: Store, partition: bytes, records: Mapping[bytes, bytes] | Iterable[Pair]
) -> None:
    """Store all records; where a key comes twice, its last value counts.

    Requires: what fits in memory. Raises: Unavailable, UnknownOutcome, InvalidInput before anything
    is stored.
    """
    wanted = dict(records)
    check_partition(partition)
    for key, value in wanted.items():
        check_record(partition, key, value)
    if not wanted:
        return
    if len(wanted) > 1 and isinstance(store, SetMany):
        store.set_many(partition, wanted)
    else:
        _one_by_one(store, partition, wanted)


def _one_by_one(store: Store, partition: bytes, records: Mapping[bytes, bytes]) -> None:
    for done, (key, value) in enumerate(records.items()):
        try:
            store.set(partition, key, value)
        except UnknownOutcome:
            raise
        except LochanError as error:
            if not done:
                raise
            message = (
                f"{done} of {len(records)} records of {partition!r} were stored; set them again"
            )
            raise UnknownOutcome(message, partition=partition, stored=done) from error
