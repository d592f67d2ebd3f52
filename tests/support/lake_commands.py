# SPDX-License-Identifier: Apache-2.0
"""Commands on a lake, run in this process as `lochan` runs them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lochan.bootstrap import embedded
from lochan.cli.app import run
from lochan.client.lake import Lake


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Give the lines of its output, without spaces at their ends."""
        return [line.rstrip() for line in self.out.splitlines()]

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever a command answers
        """Give its output, which is one JSON value."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class LakeCommands:
    """Runs commands on one lake."""

    lake: Path
    options: Sequence[str]
    folder: Path  # for files of tests
    capture: pytest.CaptureFixture[str]

    def __call__(self, *args: str | Path, code: int = 0) -> Ran:
        """Run a command that ends with this code."""
        self.capture.readouterr()
        ended = run([*map(str, args), *self.options])
        said = self.capture.readouterr()
        assert ended == code, (args, ended, said.out, said.err)
        if code:
            assert said.err.startswith("lochan: "), said.err
            assert said.err.count("\n") == 1, said.err
        return Ran(ended, said.out, said.err)

    def json(self, *args: str | Path, code: int = 0) -> Any:  # noqa: ANN401 - as `Ran.json`
        """Run a command with --json, and give what it answers."""
        return self(*args, "--json", code=code).json

    def opened(self) -> Lake:
        """Open the lake, to write much at once."""
        return embedded.open_embedded(self.lake)

    def put(self, address: str, content: str) -> None:
        """Write a small object."""
        file = self.folder / "put"
        file.write_text(content)
        self("fs", "upload", file, address)


def commands_on(lake: Path, folder: Path, capture: pytest.CaptureFixture[str]) -> LakeCommands:
    """Run commands on a lake that is opened in this process."""
    return LakeCommands(lake, ("--lake", str(lake)), folder, capture)
