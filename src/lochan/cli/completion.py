# SPDX-License-Identifier: Apache-2.0
"""`lochan completion`: the lines that make a shell complete commands, by Typer's own means."""

from enum import StrEnum
from typing import Annotated

import typer
from typer.completion import get_completion_script  # type: ignore[attr-defined]  # used there

from lochan.cli.show import Show
from lochan.cli.verb import new_app, verb

app = new_app()


class Shell(StrEnum):
    """Shells that Typer knows."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


@verb(app, "completion")
def completion(
    show: Show, shell: Annotated[Shell, typer.Argument(help="Which shell it is for.")]
) -> None:
    """Print what makes a shell complete commands: `lochan completion bash >> ~/.bashrc`."""
    script = get_completion_script(
        prog_name="lochan", complete_var="_LOCHAN_COMPLETE", shell=shell.value
    )
    if show.json:
        show.value({"shell": shell.value, "script": script})
    else:
        show.text(f"{script}\n")
