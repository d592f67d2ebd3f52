# SPDX-License-Identifier: Apache-2.0
"""Undo a run: all that it put into the trash goes back to where it was.

Its commits can be built on again, until the next run finds that the rules still do not keep them.
"""

from lochan.errors import Conflict
from lochan.model.records import Repository
from lochan.operations.allowed import require_writable
from lochan.operations.gc.lease import collecting
from lochan.operations.gc.mark import Told, tell_nobody
from lochan.operations.gc.trash import Bin, State, Trash, find_bin, list_trash, valid_run
from lochan.operations.lake import Lake
from lochan.refs.expired import Expired, expired_commits


def undo(
    lake: Lake, repository: Repository, run: str = "", told: Told = tell_nobody
) -> tuple[Trash, int]:
    """Bring back what a run moved, the latest if none is named; counts the objects.

    Raises: NotFound, code nothing-in-trash; Conflict, code trash-emptied or gc-running.
    """
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)
    with collecting(lake, repository) as lease:
        row = find_bin(lake, repository, valid_run(run))
        if row.state is State.EMPTYING:
            message = f"what run {row.run} moved is being removed for good; some of it is gone"
            raise Conflict(message, code="trash-emptied")
        trash = Bin(lake, repository, row.run, lease.renew)
        trash.become(State.UNDONE)
        return row, bring_back(lake, repository, trash, row, told)


def bring_back(lake: Lake, repository: Repository, trash: Bin, row: Trash, told: Told) -> int:
    """Go through with an undo, from wherever an earlier try has left it; counts the objects.

    A run says of a commit that it was swept only if none has said so before. So what is brought
    back of one may not be all of it while a later run is in the trash: that run says so now.
    """
    count = trash.take_back(trash.listed(), told)
    others = [other.run for other in list_trash(lake, repository)]
    later = others[others.index(row.run) + 1 :]
    table = expired_commits(lake.store, repository)
    for name, expired in list(table.scan()):
        if expired.swept != row.run:
            continue
        if later:
            table.set(name, Expired(time=expired.time, swept=later[0]))
        else:
            table.delete(name)
    trash.close()
    return count
