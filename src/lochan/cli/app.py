# SPDX-License-Identifier: Apache-2.0
"""The program `lochan`: from the first word to the module that has it, from errors to exit codes.

The root knows its words by the table in `commands` alone. A `Deferred` stands for each: enough for
--help and for completion, and the module's own command takes its place once the word is typed.
"""

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import NoReturn, cast

import typer
from typer.core import TyperCommand, TyperGroup

from lochan import __version__
from lochan.cli.commands import WORDS, Word
from lochan.cli.failing import told

_HELP = "Version control for a data lake, with data pipelines built in."


class Deferred(TyperCommand):
    """A command whose module has not been imported."""

    def __init__(self, name: str, word: Word) -> None:
        """Stand for a first word."""
        super().__init__(name, help=word.help, rich_help_panel=word.panel)
        self._module = word.module

    def make_context(
        self, info_name: str | None, args: list[str], parent: object = None, **extra: object
    ) -> typer.Context:
        """Import the module, and go on with its command."""
        command = typer.main.get_command(import_module(self._module).app)
        above = cast("typer.Context | None", parent)
        return cast("typer.Context", command.make_context(info_name, args, above, **extra))


def _version(wanted: bool) -> None:  # noqa: FBT001 - Typer calls it by position
    if wanted:
        sys.stdout.write(f"lochan {__version__}\n")
        raise typer.Exit


def root() -> TyperGroup:
    """Make the command that has all others below it."""
    app = typer.Typer(
        help=_HELP,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def options(
        version: bool = typer.Option(  # noqa: FBT001 - its callback has done all
            False,  # noqa: FBT003 - Typer takes the default first
            "--version",
            help="Say which version this is.",
            is_eager=True,
            callback=_version,
        ),
    ) -> None:
        pass

    group = cast("TyperGroup", typer.main.get_command(app))
    for name, word in WORDS.items():
        group.add_command(Deferred(name, word))
    return group


def run(args: Sequence[str]) -> int:
    """Run a command line; gives its exit code and raises nothing."""
    return told(partial(root().main, list(args), prog_name="lochan", standalone_mode=False))


def main() -> NoReturn:
    """Run what was typed."""
    sys.exit(run(sys.argv[1:]))
