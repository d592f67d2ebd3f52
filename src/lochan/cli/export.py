# SPDX-License-Identifier: Apache-2.0
"""`lochan export`: what a ref shows, as plain files of a folder or a store."""

from typing import Annotated

import typer

from lochan.cli.settings import Config, Kv, LakeFolder, lake_settings, opened_lake
from lochan.cli.show import Show, size
from lochan.cli.verb import new_app, verb
from lochan.errors import InvalidInput
from lochan.model.ids import RepositoryId
from lochan.model.uri import parse_uri
from lochan.operations.export_places import open_place
from lochan.operations.export_ref import Exported, export_ref
from lochan.refs.repositories import get_repository

app = new_app()


@verb(app, "export")
def export(  # noqa: PLR0913 - one an option
    show: Show,
    *,
    source: Annotated[str, typer.Argument(metavar="REF", help="As lochan://repository/ref.")],
    destination: Annotated[
        str, typer.Argument(help="A folder, or a prefix of a store such as s3://bucket/prefix.")
    ],
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete what was exported and is no longer shown.")
    ] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="Write everything, not only what changed.")
    ] = False,
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
) -> None:
    """Write what a commit shows to a folder or store; the next time, what changed since.

    Example: lochan export my-lake/main ./out --lake ./lake
    """
    uri = parse_uri(source)
    if not uri.ref or uri.path:
        raise InvalidInput(f"{source!r} names no ref; write lochan://repository/ref")
    with (
        opened_lake(lake_settings(lake, kv, config)) as opened,
        show.count_bar("exporting objects") as bar,
    ):
        repository = get_repository(opened.store, opened.environment, RepositoryId(uri.repository))
        place = open_place(destination, opened.environment)
        done = export_ref(
            opened,
            repository,
            uri.ref,
            place,
            delete=delete,
            whole=whole,
            progress=lambda objects, _: bar.reach(objects),
        )
    line = f"wrote {done.written} objects, {size(done.size)}; deleted {done.deleted}"
    show.done(f"{line}; {destination} shows {done.commit_id}", **_facts(done))


def _facts(done: Exported) -> dict[str, object]:
    return {name: getattr(done, name) for name in done.__struct_fields__}
