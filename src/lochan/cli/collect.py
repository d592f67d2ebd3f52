# SPDX-License-Identifier: Apache-2.0
"""`lochan gc plan|run|undo|empty|trash`: remove what nothing shows any more.

With --lake, --kv or --config (or the variables of a server) they work on the stores of a lake,
beside its servers. Without, a server is asked to plan, run and undo. `lochan.cli.gc` has the rules.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, TypeVar

import typer

from lochan import connect
from lochan.cli.gc import app
from lochan.cli.settings import Config, Kv, LakeFolder, lake_settings, names_stores, opened_lake
from lochan.cli.show import Show, size, when
from lochan.cli.verb import verb
from lochan.client.collection import Upkeep
from lochan.config.server import Settings
from lochan.model.ids import RepositoryId
from lochan.model.instant import NANOSECONDS
from lochan.model.records import Repository
from lochan.operations.gc.abandoned import IDLE_S
from lochan.operations.gc.collect import GRACE_S, MOST_SHARE, Collection, collect
from lochan.operations.gc.collect import plan as plan_collection
from lochan.operations.gc.empty import empty_trash
from lochan.operations.gc.mark import Told
from lochan.operations.gc.report import Amount, Report
from lochan.operations.gc.trash import list_trash
from lochan.operations.gc.undo import undo as undo_run
from lochan.operations.lake import Lake
from lochan.pipelines.jobs.after import clear_holds
from lochan.pipelines.jobs.sweep_work import sweep_work
from lochan.refs.repositories import get_repository
from lochan.shapes import collection as shapes
from lochan.shapes.collection import CollectionCreation

__all__ = ["app"]

Found = TypeVar("Found")

_HOUR = 3600.0
_DAY = 24 * _HOUR
_PERCENT = 100.0

Name = Annotated[str, typer.Argument(metavar="REPOSITORY", help="The repository.")]
Grace = Annotated[
    float,
    typer.Option(
        "--grace-hours",
        min=0,
        help="How long an object must be dead; less than the default only while nobody writes.",
    ),
]
Run = Annotated[str, typer.Option("--run", help="The run to undo; else the latest.")]


@verb(app, "plan")
def plan(
    show: Show,
    *,
    repository: Name,
    grace_hours: Grace = GRACE_S / _HOUR,
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
) -> None:
    """Say what a run would do now, and remove nothing.

    Example: lochan gc plan my-lake --lake ./lake
    """
    if not names_stores(lake, kv, config):
        asked = CollectionCreation(plan=True, grace_hours=grace_hours)
        _tell(show, _by_server(show, repository, lambda upkeep: upkeep.collect(asked)))
        return
    with _opened(lake_settings(lake, kv, config), repository) as where, _told(show) as told:
        report = plan_collection(*where, Collection(grace_s=grace_hours * _HOUR), told)
    _tell(show, report)


@verb(app, "run")
def run(  # noqa: PLR0913 - one an option
    show: Show,
    *,
    repository: Name,
    grace_hours: Grace = GRACE_S / _HOUR,
    most: Annotated[
        float, typer.Option("--most-percent", min=0, max=100, help="Refuse to move more than that.")
    ] = MOST_SHARE * _PERCENT,
    force: Annotated[bool, typer.Option("--force", help="Move more than that, too.")] = False,
    idle_days: Annotated[
        float,
        typer.Option(
            "--idle-days",
            min=0,
            help="Delete private branches of killed jobs on which nothing happened for so long.",
        ),
    ] = IDLE_S / _DAY,
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
) -> None:
    """Move objects to the trash that were dead a grace ago, and are now; note the newly dead.

    Run it every day: what one run finds dead, a later one removes.

    Example: lochan gc run my-lake --lake ./lake
    """
    if not names_stores(lake, kv, config):
        asked = CollectionCreation(
            grace_hours=grace_hours, most_percent=most, force=force, idle_days=idle_days
        )
        _tell(show, _by_server(show, repository, lambda upkeep: upkeep.collect(asked)))
        return
    how = Collection(
        grace_s=grace_hours * _HOUR,
        most_share=most / _PERCENT,
        force=force,
        idle_s=idle_days * _DAY,
    )
    with _opened(lake_settings(lake, kv, config), repository) as where, _told(show) as told:
        clear_holds(*where)  # of jobs that have ended; those of open ones stay
        report = collect(*where, how, told)
        sweep_work(*where, how.grace_s)
    _tell(show, report)


@verb(app, "undo")
def undo(
    show: Show,
    *,
    repository: Name,
    run: Run = "",
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
) -> None:
    """Bring back all that a run has moved to the trash.

    Example: lochan gc undo my-lake --lake ./lake
    """
    if not names_stores(lake, kv, config):
        found = _by_server(show, repository, lambda upkeep: upkeep.undo(run))
        run, count = found.run, found.count
    else:
        with _opened(lake_settings(lake, kv, config), repository) as where, _told(show) as told:
            row, count = undo_run(*where, run, told)
        run = row.run
    show.done(f"brought back {count} objects of run {run}", run=run, count=count)


@verb(app, "empty")
def empty(
    show: Show,
    *,
    repository: Name,
    grace_hours: Grace = GRACE_S / _HOUR,
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
) -> None:
    """Remove for good what has been in the trash for a grace.

    Example: lochan gc empty my-lake --lake ./lake
    """
    how = Collection(grace_s=grace_hours * _HOUR)
    with _opened(lake_settings(lake, kv, config), repository) as where, _told(show) as told:
        gone, back = empty_trash(*where, how, told)
    line = f"removed {_amount(gone)}"
    if back.count:
        line += f"; {_amount(back)} were alive after all, and are back"
    show.done(line, removed=gone, brought_back=back)


@verb(app, "trash")
def trash(
    show: Show,
    *,
    repository: Name,
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
) -> None:
    """List what runs have moved to the trash.

    Example: lochan gc trash my-lake --lake ./lake
    """
    with _opened(lake_settings(lake, kv, config), repository) as where:
        rows = list_trash(*where)
    show.rows(
        rows,
        {
            "run": lambda row: row.run,
            "time": lambda row: when(row.time / NANOSECONDS),
            "objects": lambda row: row.count,
            "size": lambda row: size(row.size),
            "state": lambda row: str(row.state),
        },
    )


def _by_server(show: Show, name: str, work: Callable[[Upkeep], Found]) -> Found:
    with connect() as lake, show.count_bar("collecting") as bar:
        return work(Upkeep(lake.transport, name, bar.reach))


@contextmanager
def _opened(settings: Settings, name: str) -> Iterator[tuple[Lake, Repository]]:
    with opened_lake(settings) as lake:
        yield lake, get_repository(lake.store, lake.environment, RepositoryId(name))


@contextmanager
def _told(show: Show) -> Iterator[Told]:
    with show.count_bar("collecting") as bar:

        def tell(what: str, count: int) -> None:
            bar.describe(what)
            bar.reach(count)

        yield tell


def _tell(show: Show, report: Report | shapes.CollectionReport) -> None:
    if show.json:
        show.value(report)
        return
    show.record(
        report,
        {
            "objects": lambda it: _amount(it.listed),
            "dead": lambda it: _amount(it.dead),
            "to move" if report.is_plan else "moved": lambda it: (
                _amount(it.due) if it.is_plan else f"{it.moved} objects"
            ),
            "waiting": lambda it: _amount(it.waiting) + _until(it),
            "commits kept": lambda it: it.commits_kept,
            "commits expired": lambda it: it.commits_expired,
            "branches removed": lambda it: it.branches_removed,
            "run": lambda it: "(plan)" if it.is_plan else it.run,
        },
    )
    for address in report.examples:
        show.line(f"  {address}", style="dim")


def _until(report: Report | shapes.CollectionReport) -> str:
    return f", from {when(report.next_due / NANOSECONDS)}" if report.next_due else ""


def _amount(amount: Amount | shapes.Amount) -> str:
    return f"{amount.count} objects, {size(amount.size)}"
