# SPDX-License-Identifier: Apache-2.0
"""How a function becomes a command: its arguments are Typer's, but for the first, a `Show`.

    app = new_app("Work with tags.")

    @verb(app, "list")
    def list_tags(show: Show, repository: Annotated[str, typer.Argument(help="...")]) -> None:
        '''List the tags of a repository.'''

Every command takes --json by this; nobody declares it.
"""

import inspect
from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from lochan.cli.show import Show

Work = TypeVar("Work", bound=Callable[..., None])
_JSON = inspect.Parameter(
    "json",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, typer.Option("--json", help="Show the result as JSON.")],
)


def new_app(help: str = "") -> typer.Typer:  # noqa: A002 - Typer's word for it
    """Make the application of one module; without words after it, it shows its help."""
    return typer.Typer(
        help=help or None,
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def verb(app: typer.Typer, name: str) -> Callable[[Work], Work]:
    """Make a function a command of an application."""

    def register(work: Work) -> Work:
        signature = inspect.signature(work)
        _, *others = signature.parameters.values()

        def run(*, json: bool, **given: object) -> None:
            work(Show(json=json), **given)

        run.__doc__ = work.__doc__
        run.__signature__ = signature.replace(  # type: ignore[attr-defined]  # read by Typer
            parameters=[
                *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in others),
                _JSON,
            ]
        )
        run.__annotations__ = {one.name: one.annotation for one in (*others, _JSON)}
        app.command(name, help=inspect.getdoc(work))(run)
        return work

    return register
