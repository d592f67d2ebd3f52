# SPDX-License-Identifier: Apache-2.0
"""The page of all commands: `python -m lochan.cli.page > docs/cli.md` makes it from themselves."""

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import groupby

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from lochan.cli import failing
from lochan.cli.commands import WORDS
from lochan.cli.on_lake import LAKE_HELP

_EVERYWHERE = frozenset({"--json", "--help"})
_HEAD = """# The command line

`lochan WORD ...` does one thing and ends. `--help` behind any word tells more, and
`lochan completion` lets a shell complete words. This page is made from the commands
(`lochan/cli/page.py`); a test compares the two.

- Repositories, refs and objects are written as `lochan://repository/ref/path`; `lakefs://` is read
  alike, and the scheme may be left out: `my-lake/main/raw/a.csv`.
- Commands ask the server that `~/.lochan.yaml`, `LOCHAN_*` variables or lakectl's settings name
  ([configuration](configuration.md#clients)); `lochan auth login` writes the file. With
  `--lake FOLDER` they open the lake in a folder instead, and need no server.
- `--json` makes any of them answer with one JSON value on stdout, with the fields of the REST API.
- Tables, colours and progress bars are for people: without a terminal there are no colours and no
  bars. What is not a result goes to stderr.

An error is one line on stderr that says what to do. Scripts hear of it by the exit code:

| code | meaning |
|---|---|
"""


def page() -> str:
    """Give the whole page."""
    return "".join(_parts())


def commands() -> Iterator[tuple[str, TyperCommand]]:
    """Give every command by all its words, in the order of the table of words."""
    for name, word in WORDS.items():
        top = typer.main.get_command(import_module(word.module).app)
        yield from _below(f"lochan {name}", top)


def help_of(command: TyperCommand) -> str:
    """Give what a command says of itself."""
    return inspect.cleandoc(command.help or "")


def _below(path: str, command: object) -> Iterator[tuple[str, TyperCommand]]:
    if isinstance(command, TyperGroup):
        for name, child in command.commands.items():
            yield from _below(f"{path} {name}", child)
    elif isinstance(command, TyperCommand):
        yield path, command


def _parts() -> Iterator[str]:
    yield _HEAD
    yield from _codes()
    yield "\n"
    for panel, found in groupby(commands(), lambda one: WORDS[one[0].split()[1]].panel):
        yield f"## {panel}\n\n"
        for path, command in found:
            yield from _section(path, command)


def _codes() -> Iterator[str]:
    for line in inspect.cleandoc(failing.__doc__ or "").splitlines():
        code, _, meaning = line.strip().partition("  ")
        if code.isdecimal():
            yield f"| {code} | {meaning.strip()} |\n"


def _section(path: str, command: TyperCommand) -> Iterator[str]:
    first, *paragraphs = help_of(command).split("\n\n")
    usage = [f"`{path}`", *(f"`{_place(one)}`" for one in _arguments(command))]
    yield f"### {' '.join(usage)}\n\n{_line(first)}\n\n"
    examples = []
    for text in paragraphs:
        if text.startswith("Example: "):
            examples.append(_line(text).removeprefix("Example: "))
        else:
            yield f"{_line(text)}\n\n"
    rows = [*map(_argument, _arguments(command)), *map(_option, _options(command))]
    if any(rows):
        yield "| | |\n|---|---|\n"
        yield from rows
        yield "\n"
    if examples:
        yield "```text\n" + "".join(f"$ {one}\n" for one in examples) + "```\n\n"


def _arguments(command: TyperCommand) -> list[TyperArgument]:
    return [one for one in command.params if isinstance(one, TyperArgument)]


def _options(command: TyperCommand) -> list[TyperOption]:
    found = [one for one in command.params if isinstance(one, TyperOption)]
    return [one for one in found if not _EVERYWHERE & set(one.opts) and one.help != LAKE_HELP]


def _place(argument: TyperArgument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return name if argument.required else f"[{name}]"


def _argument(argument: TyperArgument) -> str:
    return f"| `{_place(argument)}` | {_cell(argument.help)} |\n"


def _option(option: TyperOption) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    needed = " Needed." if option.required else ""
    return f"| {names} | {_cell(option.help)}{needed} |\n"


def _cell(text: str | None) -> str:
    return _line(text or "").replace("|", "\\|")


def _line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.stdout.write(page())
