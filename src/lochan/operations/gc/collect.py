# SPDX-License-Identifier: Apache-2.0
"""A run: list, mark, condemn what is dead, and move to the trash what was condemned a grace ago.

A crash behind any step leaves what the next run goes on from:

    private branches go     as far as it came
    list, mark              nothing was written but remembered marks
    commits expire          nobody builds on them; the next run finds the same
    list of the condemned   named by its row, or nobody's
    trash row               nothing has moved; all are still condemned
    commits swept           the same; the next run finds the trash empty, and takes that back
    moving                  each object is in its place, in the trash, or in both
"""

from dataclasses import dataclass
from itertools import islice
from typing import Final

import msgspec

from lochan.errors import NotFound, Refused
from lochan.model.ids import CommitId
from lochan.model.instant import EPOCH, NANOSECONDS, Instant, from_seconds
from lochan.model.records import Repository, RepositoryState
from lochan.objects.namespace import Namespace
from lochan.operations.allowed import require_writable
from lochan.operations.gc.abandoned import IDLE_S, clear_abandoned
from lochan.operations.gc.condemned import Dead, read_condemned, write_condemned
from lochan.operations.gc.expiry import Horizon
from lochan.operations.gc.held import holds
from lochan.operations.gc.lease import Lease, collecting
from lochan.operations.gc.listing import Found, Listing, is_block
from lochan.operations.gc.mark import Marked, Told, mark, mark_leaving, tell_nobody
from lochan.operations.gc.marks import ReadMarks
from lochan.operations.gc.report import EXAMPLES, Amount, Report, largest_partitions
from lochan.operations.gc.roots import address_hash
from lochan.operations.gc.sweeping import sweeping_blocks
from lochan.operations.gc.trash import Bin, State, fits
from lochan.operations.gc.undo import end_what_others_began
from lochan.operations.lake import Lake
from lochan.operations.link_object import LINK_EXPIRY_S
from lochan.refs.branches import list_branches
from lochan.refs.copy_log import forget_copies
from lochan.refs.expired import expire, expired_commits, keep_again, sweep
from lochan.refs.repositories import is_same
from lochan.refs.tables import repositories

# Longer than an address may be linked, and than anybody's clock is wrong.
GRACE_S: Final = 2 * LINK_EXPIRY_S
MOST_SHARE: Final = 0.5
_LOOKS: Final = 2  # graces for which the log of copies is kept


@dataclass(frozen=True, slots=True)
class Collection:
    """How to collect. A grace below the default is for lakes to which nobody writes meanwhile."""

    grace_s: float = GRACE_S
    most_share: float = MOST_SHARE
    force: bool = False  # move more than that share
    idle_s: float = IDLE_S  # after which a private branch on which nothing happens is deleted
    read: ReadMarks | None = None  # who works out the marks of ranges

    @property
    def grace(self) -> int:
        """The grace in nanoseconds."""
        return int(self.grace_s * NANOSECONDS)


def plan(
    lake: Lake, repository: Repository, how: Collection | None = None, told: Told = tell_nobody
) -> Report:
    """Say what a run would do now, and do nothing but remember the marks of ranges.

    Raises: Refused, code gc-bare or gc-namespace-shared; Corruption; Unavailable.
    """
    return _Run(lake, repository, how or Collection(), told).look()


def collect(
    lake: Lake, repository: Repository, how: Collection | None = None, told: Told = tell_nobody
) -> Report:
    """Collect the garbage of a repository.

    Raises: what `plan` raises; Refused, code gc-share, when too much would go, after which it is
    condemned and nothing has moved; Conflict, code gc-running or gc-lease-lost.
    """
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)
    how = how or Collection()
    with collecting(lake, repository) as lease:
        tell = lease.telling(told)
        report = _Run(lake, repository, how, tell).run(lease)
        if how.grace or not report.waiting.count:
            return report
        return _Run(lake, repository, how, tell).run(lease)  # without a grace, the second look


class _Run:
    """One run of collection."""

    def __init__(self, lake: Lake, repository: Repository, how: Collection, told: Told) -> None:
        self._lake = lake
        self._repository = repository
        self._how = how
        self._told = told
        self._id = lake.environment.new_id()
        self._horizon = Horizon(from_seconds(lake.environment.now()), how.grace)
        # Read before anything is listed: what is younger may be on its way into a commit.
        began = (held.since for held in holds(lake, repository).values() if held.since)
        self._written = min(*began, self._horizon.now, self._horizon.now)

    def look(self) -> Report:
        """List, mark and compare."""
        report, _, _ = self._look(None)
        return report

    def run(self, lease: Lease) -> Report:
        """Do all of it."""
        end_what_others_began(self._lake, self._repository, lease, self._told)
        removed = clear_abandoned(self._lake, self._repository, self._how.idle_s)
        report, dead, marked = self._look(lease)
        lease.renew()
        self._condemn(dead)
        self._require_share(report)
        due = [each for each in dead if self._is_due(each)]
        moved = self._remove(due, lease, marked) if due else 0
        if moved:
            self._condemn([each for each in dead if not self._is_due(each)])
        before = Instant(self._written - _LOOKS * self._how.grace)
        forget_copies(self._lake.store, self._repository, before)
        return msgspec.structs.replace(report, moved=moved, branches_removed=len(removed))

    def _look(self, lease: Lease | None) -> tuple[Report, list[Dead], Marked]:
        """Find what is dead; with a lease, have nobody build on commits that are not kept."""
        _require_own_namespace(self._lake, self._repository)
        objects = self._lake.storage(self._repository.storage_namespace).objects
        with Listing() as listing:
            # First of all: what comes after this is no candidate, whatever the mark has missed.
            listing.fill(objects, self._young, self._told)
            marked = mark(self._lake, self._repository, self._horizon, self._how.read, self._told)
            if lease is not None:
                lease.renew()
                self._expire(marked)
            dead = self._dead(listing, marked)
        due = Amount.of(filter(self._is_due, dead))
        all_dead = Amount.of(dead)
        waiting = [each.since for each in dead if not self._is_due(each)]
        report = Report(
            run=self._id,
            is_plan=lease is None,
            time=self._horizon.now,
            listed=Amount(listing.count, listing.size),
            young=listing.young,
            dead=all_dead,
            due=due,
            waiting=Amount(all_dead.count - due.count, all_dead.size - due.size),
            next_due=Instant(min(waiting) + self._how.grace) if waiting else EPOCH,
            commits_kept=len(marked.roots.kept),
            commits_expired=len(marked.roots.expired),
            ranges=len(marked.ranges),
            partitions=largest_partitions(dead),
            examples=tuple(each.address for each in islice(dead, EXAMPLES)),
        )
        return report, dead, marked

    def _dead(self, listing: Listing, marked: Marked) -> list[Dead]:
        """Give what is listed, old and not marked, with the time since when that is known.

        Whoever was condemned was old by then. A block that is younger than that was put again, and
        named since, though no run has seen it: it waits anew.
        """
        known = read_condemned(self._lake, self._repository)
        now = from_seconds(self._lake.environment.now())

        def since(each: Found) -> Instant:
            then = known.get(each.address, now)
            return then if each.made < then - self._how.grace else now

        found = (
            Dead(since(each), each.size, each.address)
            for each in listing
            if address_hash(each.address) not in marked.objects
        )
        return self._wait_anew([each for each in found if fits(each, self._id)], marked, now)

    def _wait_anew(self, dead: list[Dead], marked: Marked, now: Instant) -> list[Dead]:
        """Have those wait anew that a commit showed on which somebody may be building.

        A story that was under way when an object was condemned can show it in a commit, which
        expires before any run has seen it; until then others could build on that. A tree of such a
        commit that cannot be read holds up this run, and runs within the grace: the commit has its
        row by now.
        """
        if not any(map(self._is_due, dead)):
            return dead
        where = (self._lake, self._repository, self._horizon)
        leaving = mark_leaving(*where, marked, self._how.read, self._told)
        return [
            each._replace(since=now)
            if self._is_due(each) and address_hash(each.address) in leaving
            else each
            for each in dead
        ]

    @property
    def _young(self) -> Instant:
        """The instant from which on no object is a candidate."""
        return Instant(self._written - self._how.grace)

    def _is_due(self, dead: Dead) -> bool:
        """Say whether an object was condemned a grace before this run began to list."""
        return dead.since <= self._horizon.young

    def _expire(self, marked: Marked) -> None:
        """Have nobody build on commits that are not kept, before anything of theirs is condemned.

        A commit that is kept again, by other rules, can be built on again if nothing of it is gone.
        """
        store, environment = self._lake.store, self._lake.environment
        rows = expired_commits(store, self._repository).scan()
        known = {CommitId(name.decode()) for name, _ in rows}
        for commit in sorted(marked.roots.expired - known):
            expire(store, environment, self._repository, commit, from_seconds(environment.now()))
        for commit in sorted(known & marked.roots.kept):
            keep_again(store, self._repository, commit)

    def _condemn(self, dead: list[Dead]) -> None:
        # Objects that are condemned only now count from now: their commits have just expired.
        now = from_seconds(self._lake.environment.now())
        started = self._horizon.now
        listed = (each if each.since < started else each._replace(since=now) for each in dead)
        write_condemned(self._lake, self._repository, self._id, now, listed)

    def _require_share(self, report: Report) -> None:
        if report.share > self._how.most_share and not self._how.force:
            raise Refused(
                f"{report.due.count} of {report.listed.count} objects, {report.share:.0%} of the"
                f" store, would go, and {self._how.most_share:.0%} is the most; look at the plan,"
                " then force it if it is right",
                code="gc-share",
                share=report.share,
            )

    def _remove(self, due: list[Dead], lease: Lease, marked: Marked) -> int:
        trash = Bin(self._lake, self._repository, self._id, lease.renew)
        trash.open(self._horizon.now, due)
        self._sweep_commits(marked)
        moved = trash.put((each for each in due if not is_block(each.address)), self._told)
        blocks = [each for each in due if is_block(each.address)]
        if blocks:
            lease.renew()
            with sweeping_blocks(self._lake, self._repository, self._id):
                moved += trash.put(filter(self._is_still_old, blocks), self._told)
        trash.become(State.MOVED)
        return moved

    def _sweep_commits(self, marked: Marked) -> None:
        """Write down that objects of expired commits go now: these never become good again."""
        where = (self._lake.store, self._lake.environment, self._repository)
        for name, row in list(expired_commits(self._lake.store, self._repository).scan()):
            commit, is_due = CommitId(name.decode()), row.time <= self._horizon.young
            if is_due and not row.swept and commit in marked.roots.expired:
                sweep(*where, commit, self._id)

    def _is_still_old(self, block: Dead) -> bool:
        objects = self._lake.storage(self._repository.storage_namespace).objects
        try:
            stored = from_seconds(objects.head(block.address).modified)
        except NotFound:
            return False
        return stored < self._young


def _require_own_namespace(lake: Lake, repository: Repository) -> None:
    """Refuse where objects may be others': a namespace that is shared, or waits for its refs."""
    if next(list_branches(lake.tables(repository), hidden=True), None) is None:
        message = f"repository {repository.repository_id!r} has no branch; restore its refs first"
        raise Refused(message, code="gc-bare")
    own = Namespace.parse(repository.storage_namespace)
    for _, other in repositories(lake.store).scan():
        if is_same(other, repository) or other.repository_state is RepositoryState.DELETING:
            continue
        if own.overlaps(Namespace.parse(other.storage_namespace)):
            message = f"repository {other.repository_id!r} has objects in the same namespace"
            raise Refused(f"{message}; nothing is collected there", code="gc-namespace-shared")
