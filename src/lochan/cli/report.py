# SPDX-License-Identifier: Apache-2.0
"""`lochan report`: how much storage branches, tags and commits hold, alone and together."""

from typing import Annotated

import typer

from lochan import connect
from lochan.cli.settings import Config, Kv, LakeFolder, lake_settings, names_stores, opened_lake
from lochan.cli.show import Show, size
from lochan.cli.verb import new_app, verb
from lochan.client.collection import Upkeep
from lochan.model.ids import RepositoryId
from lochan.operations.storage_report import StorageReport, Usage, storage_report
from lochan.refs.repositories import get_repository
from lochan.shapes import collection as shapes

app = new_app()


@verb(app, "report")
def report(
    show: Show,
    *,
    repository: Annotated[str, typer.Argument(metavar="REPOSITORY", help="The repository.")],
    ref: Annotated[
        list[str] | None,
        typer.Option("--ref", help="A ref to report on; else all branches and tags."),
    ] = None,
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
) -> None:
    """Show how much each ref holds, and how much it holds alone.

    Example: lochan report my-lake --lake ./lake
    """
    found: StorageReport | shapes.StorageReport
    if not names_stores(lake, kv, config):
        with connect() as there, show.count_bar("reading ranges") as bar:
            found = Upkeep(there.transport, repository, bar.reach).report(*(ref or ()))
    else:
        with (
            opened_lake(lake_settings(lake, kv, config)) as opened,
            show.count_bar("reading ranges") as bar,
        ):
            found = storage_report(
                opened,
                get_repository(opened.store, opened.environment, RepositoryId(repository)),
                ref or (),
                lambda _, count: bar.reach(count),
            )
    if show.json:
        show.value(found)
        return
    refs: list[Usage | shapes.RefUsage] = [*found.refs]
    show.rows(
        refs,
        {
            "ref": lambda one: one.ref,
            "commit": lambda one: one.commit_id[:12],
            "objects": lambda one: one.objects,
            "size": lambda one: size(one.size),
            "alone": lambda one: size(one.unique_size),
            "shared": lambda one: size(one.size - one.unique_size),
        },
    )
    show.line(f"all together: {found.objects} objects, {size(found.size)}")
