# SPDX-License-Identifier: Apache-2.0
"""`lochan fsck`: look for damage in a lake, and mend the rows that follow from others."""

from typing import Annotated

import typer

from lochan.cli.failing import FAILED
from lochan.cli.settings import Config, Kv, LakeFolder, lake_settings, opened_lake
from lochan.cli.show import Show
from lochan.cli.verb import new_app, verb
from lochan.model.ids import RepositoryId
from lochan.model.records import Repository
from lochan.operations.findings import Finding, Severity
from lochan.operations.fsck import Checked, fsck_repository
from lochan.operations.fsck import fsck as fsck_lake
from lochan.operations.lake import Lake
from lochan.operations.repair import repair as repair_rows
from lochan.refs.repositories import get_repository, list_repositories

app = new_app()


@verb(app, "fsck")
def fsck(
    show: Show,
    *,
    repository: Annotated[
        str, typer.Option("--repository", "-r", help="Check this one alone; else the whole lake.")
    ] = "",
    objects: Annotated[
        bool, typer.Option("--objects/--no-objects", help="Look for every data object, too.")
    ] = True,
    repair: Annotated[
        bool, typer.Option("--repair", help="First mend clock, reach and merged rows.")
    ] = False,
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
) -> None:
    """Check a lake from refs to objects; exit code 1 where something is damaged."""
    with opened_lake(lake_settings(lake, kv, config)) as opened:
        if repair:
            _repair(show, opened, repository)
        with show.count_bar("checking") as bar:

            def tell(checked: Checked) -> None:
                bar.describe(f"{checked.repository}: {checked.stage}")
                bar.reach(checked.seen)

            if repository:
                found = _repository(opened, repository)
                findings = list(fsck_repository(opened, found, objects=objects, progress=tell))
            else:
                findings = list(fsck_lake(opened, objects=objects, progress=tell))
    _show(show, findings)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise typer.Exit(FAILED)


def _repository(lake: Lake, name: str) -> Repository:
    return get_repository(lake.store, lake.environment, RepositoryId(name))


def _repair(show: Show, lake: Lake, name: str) -> None:
    chosen = [_repository(lake, name)] if name else list(list_repositories(lake.store))
    for repository in chosen:
        done = repair_rows(lake, repository)
        what = f"{done.written} rows written, {done.removed} removed"
        show.note(f"repaired {repository.repository_id}: {what}")


def _show(show: Show, findings: list[Finding]) -> None:
    if not findings:
        if show.json:
            show.value([])
        show.line("no damage was found", style="green")
        return
    rows = [
        {
            "severity": str(finding.severity),
            "kind": finding.kind.word,
            "where": finding.where,
            "what": finding.what,
            "advice": finding.advice,
        }
        for finding in findings
    ]
    show.rows(rows)
