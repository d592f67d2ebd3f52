# SPDX-License-Identifier: Apache-2.0
"""Lakes for commands: each test that writes has one of its own."""

from pathlib import Path

import pytest

from support.lake_commands import LakeCommands, commands_on


@pytest.fixture
def lochan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> LakeCommands:
    """Give commands on an embedded lake with the repository my-lake."""
    monkeypatch.setenv("HOME", str(tmp_path))
    commands = commands_on(tmp_path / "lake", tmp_path, capsys)
    with commands.opened() as lake:
        lake.repository("my-lake").create()
    return commands
