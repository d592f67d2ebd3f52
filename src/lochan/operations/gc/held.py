# SPDX-License-Identifier: Apache-2.0
"""What long work keeps from collection while it lasts: rows gc/held/<name>.

A job writes objects that nothing names before its commit does, and it may run for longer than any
grace. So it says so first: a row with the time from which on it writes. No object that is younger
than the earliest of these rows, less a grace for clocks, is a candidate. The row also names the
commits that the work reads and builds on: they are kept, whatever the rules of retention say.

A collector reads the rows before it lists and marks. A row that comes later belongs to work whose
objects are younger than the run. A row that went before belongs to work that is over: what it made
is named by a commit, which the mark then sees, or by nobody.

    {"since": <ns, 0 for work that writes nothing here>, "commits": [<commit id>, ...]}
"""

from collections.abc import Iterable, Mapping

import msgspec

from lochan.errors import Corruption
from lochan.kv.table import Table
from lochan.model.ids import CommitId
from lochan.model.instant import EPOCH, Instant
from lochan.model.keys import GC_HELD, partition_of
from lochan.model.records import Repository
from lochan.objects.namespace import Namespace
from lochan.operations.gc.condemned import read_condemned
from lochan.operations.lake import Lake
from lochan.refs.copy_log import log_copies
from lochan.refs.outcomes import surely


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """Since when some work writes objects, if it does, and on which commits it stands."""

    since: Instant = EPOCH
    commits: tuple[CommitId, ...] = ()


def hold(
    lake: Lake,
    repository: Repository,
    name: str,
    since: Instant = EPOCH,
    commits: Iterable[CommitId] = (),
) -> None:
    """Keep what is written from now on, and some commits, until `let_go`. Idempotent.

    `since` is not later than the call. Raises: UnknownOutcome, after which it is repeated.
    """
    row = Hold(since=since, commits=tuple(sorted(set(commits))))
    surely(lambda: _table(lake, repository).set(name.encode(), row))


def let_go(lake: Lake, repository: Repository, name: str) -> None:
    """Keep it no longer: what is needed of it is named by a commit. Idempotent."""
    surely(lambda: _table(lake, repository).delete(name.encode()))


def holds(lake: Lake, repository: Repository) -> Mapping[str, Hold]:
    """Give all rows of a repository by name. Raises when the store fails (H9)."""
    return {name.decode(): row for name, row in _table(lake, repository).scan()}


def reusable(lake: Lake, repository: Repository, addresses: Iterable[str]) -> frozenset[str]:
    """Give those of some addresses that may get an entry again, though perhaps none has them now.

    They are logged first, and a collector that marks from then on keeps them (H19). What an earlier
    one has found dead may go at any moment: it is condemned by then, and left out here. Whoever
    uses the others looks whether they are there.
    """
    asked = sorted(set(addresses))
    if not asked:
        return frozenset()
    log_copies(lake.store, lake.environment, repository, asked)
    condemned = read_condemned(lake, repository)
    inside = Namespace.parse(repository.storage_namespace).physical("")
    return frozenset(each for each in asked if each.removeprefix(inside) not in condemned)


def _table(lake: Lake, repository: Repository) -> Table[Hold]:
    return Table(lake.store, partition_of(repository), GC_HELD, msgspec.json.encode, _decode)


def _decode(data: bytes) -> Hold:
    try:
        return msgspec.json.decode(data, type=Hold)
    except msgspec.DecodeError as error:
        raise Corruption(f"not a row of what is held: {error}", file="gc/held") from error
