# SPDX-License-Identifier: Apache-2.0
"""`lochan report`: how much storage branches, tags and commits hold, alone and together."""

from typing import Annotated

import typer

from lochan.cli.settings import Config, Kv, LakeFolder, lake_settings, opened_lake
from lochan.cli.show import Show, size
from lochan.cli.verb import new_app, verb
from lochan.model.ids import RepositoryId
from lochan.operations.storage_report import storage_report
from lochan.refs.repositories import get_repository

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
    show.rows(
        found.refs,
        {
            "ref": lambda one: one.ref,
            "commit": lambda one: one.commit_id[:12],
            "objects": lambda one: one.objects,
            "size": lambda one: size(one.size),
            "alone": lambda one: size(one.unique_size),
            "shared": lambda one: size(one.shared_size),
        },
    )
    show.line(f"all together: {found.objects} objects, {size(found.size)}")
