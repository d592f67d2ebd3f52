# SPDX-License-Identifier: Apache-2.0
"""The page of commands and the commands agree, and every command tells how it is used."""

import re
import shlex
from pathlib import Path

import pytest
from typer.core import TyperCommand

from lochan.cli.page import commands, help_of, page

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
COMMANDS = dict(commands())
OF_A_SERVER = {"quickstart", "serve", "setup", "config", "fsck", "diagnose", "kv", "completion"}


def test_the_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text() == page(), "run: python -m lochan.cli.page > docs/cli.md"


@pytest.mark.parametrize(("path", "command"), COMMANDS.items(), ids=list(COMMANDS))
def test_every_command_has_help_for_all_that_it_takes(path: str, command: TyperCommand) -> None:
    first, *others = help_of(command).split("\n\n")
    assert first.endswith(".")
    assert [one.name for one in command.params if not getattr(one, "help", None)] == []
    if path.split()[1] not in {*OF_A_SERVER, "version"}:
        assert others[-1].startswith("Example: ")
        assert path in others[-1]


@pytest.mark.parametrize(("path", "command"), COMMANDS.items(), ids=list(COMMANDS))
def test_every_example_is_understood(path: str, command: TyperCommand) -> None:
    for example in re.findall(rf"^Example: .*?({path}[^|>)]*)", help_of(command), re.MULTILINE):
        args = shlex.split(example.removesuffix('"') if example.count('"') % 2 else example)
        command.make_context(path, args[len(path.split()) :])


def test_every_command_on_a_lake_takes_a_folder_and_json() -> None:
    without = {"lochan local list", "lochan auth login"}
    for path, command in COMMANDS.items():
        names = {name for one in command.params for name in one.opts}
        assert "--json" in names, path
        if path.split()[1] not in {*OF_A_SERVER, "version"} and path not in without:
            assert "--lake" in names, path
