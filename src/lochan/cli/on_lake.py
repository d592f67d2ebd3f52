# SPDX-License-Identifier: Apache-2.0
"""Commands that work on a lake: they are given one that is open, and close it at their end.

    @on_lake(app, "list")
    def list_tags(show: Show, lake: Lake, repository: RepositoryAddress) -> None:
        '''List the tags of a repository.'''

Each takes --lake: a folder, which is opened in this process. Without it the lake is the one behind
the server that the client's settings name (`docs/configuration.md`). A folder without a lake in it
is refused, but by commands that begin with nothing (`makes`).
"""

import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final, TypeVar, cast

import typer

from lochan import connect
from lochan.cli.show import Show
from lochan.cli.verb import verb
from lochan.client.lake import Lake
from lochan.errors import NotFound

Work = TypeVar("Work", bound=Callable[..., None])
# Imported when it is needed alone: it brings the server along, and costs half a second.
_EMBEDDED: Final = "lochan.bootstrap.embedded"
_KV: Final = "kv.db"
LAKE_HELP: Final = "Folder of a lake to open here, instead of asking a server."
_LAKE: Final = inspect.Parameter(
    "lake",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        Path | None,
        typer.Option("--lake", help=LAKE_HELP),
    ],
)


def on_lake(app: typer.Typer, name: str, *, makes: bool = False) -> Callable[[Work], Work]:
    """Make a function of a Show, a Lake and Typer's arguments a command of an application."""

    def register(work: Work) -> Work:
        signature = inspect.signature(work)
        first, _, *others = signature.parameters.values()

        def run(show: Show, *, lake: Path | None, **given: object) -> None:
            with opened(lake, makes=makes) as found:
                work(show, found, **given)

        run.__doc__ = work.__doc__
        run.__signature__ = signature.replace(  # type: ignore[attr-defined]  # read by `verb`
            parameters=[
                first,
                *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in others),
                _LAKE,
            ]
        )
        verb(app, name)(run)
        return work

    return register


def opened(folder: Path | None, *, makes: bool = False) -> Lake:
    """Open the lake in a folder, or the one behind the server of the settings."""
    if folder is None:
        return connect()
    if not makes and not (folder / _KV).exists():
        remedy = f"`lochan repo create --lake {folder} NAME` begins one"
        message = f"there is no lake in {folder}; {remedy}"
        raise NotFound(message, code="lake-not-found")
    return cast("Lake", import_module(_EMBEDDED).open_embedded(folder))
