# SPDX-License-Identifier: Apache-2.0
"""Empty the trash of what has been there for a grace; what is alive after all comes back.

Nothing in the trash should be alive. But people restore old states, and rules change: so everything
is marked once more before it goes for good. An undo that did not come to its end is ended first: it
asks what other runs have in the trash.
"""

from lochan.model.instant import NANOSECONDS, Instant, from_seconds
from lochan.model.records import Repository
from lochan.operations.allowed import require_writable
from lochan.operations.gc.collect import Collection
from lochan.operations.gc.condemned import Dead
from lochan.operations.gc.expiry import Horizon
from lochan.operations.gc.lease import collecting
from lochan.operations.gc.mark import Told, mark, tell_nobody
from lochan.operations.gc.report import Amount
from lochan.operations.gc.roots import address_hash
from lochan.operations.gc.trash import Bin, State, list_trash
from lochan.operations.gc.undo import end_what_others_began
from lochan.operations.lake import Lake

_DONE = frozenset({State.MOVED, State.EMPTYING})


def empty_trash(
    lake: Lake, repository: Repository, how: Collection | None = None, told: Told = tell_nobody
) -> tuple[Amount, Amount]:
    """Remove what has been in the trash for a grace: what went for good, and what came back.

    Raises: Conflict, code gc-running; Refused; Corruption; Unavailable.
    """
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)
    how = how or Collection()
    now = from_seconds(lake.environment.now())
    horizon = Horizon(now, int(how.grace_s * NANOSECONDS))
    gone: list[Dead] = []
    back: list[Dead] = []
    with collecting(lake, repository) as lease:
        end_what_others_began(lake, repository, lease, told)
        ready = [
            row
            for row in list_trash(lake, repository)
            if row.state in _DONE and row.time <= Instant(horizon.young)
        ]
        tell = lease.telling(told)
        alive = mark(lake, repository, horizon, how.read, tell).objects if ready else set[int]()
        for row in ready:
            trash = Bin(lake, repository, row.run, lease.renew)
            dead = list(trash.held())
            living = [each for each in dead if address_hash(each.address) in alive]
            if living:
                trash.take_back(living, told)
            trash.become(State.EMPTYING)
            doomed = [each for each in dead if address_hash(each.address) not in alive]
            trash.burn(doomed, told)
            trash.close()
            gone += doomed
            back += living
    return Amount.of(gone), Amount.of(back)
