# SPDX-License-Identifier: Apache-2.0
"""Lakes for commands: each test has one of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lochan.bootstrap import embedded
from lochan.client.lake import Lake
from support.lake_commands import LakeCommands, commands_on


@pytest.fixture
def lochan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[LakeCommands]:
    """Give commands on an embedded lake with the repository my-lake.

    Opening costs more than most commands do, so all commands of a test share one opened lake.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "lake"
    lake = embedded.open_embedded(folder)
    lake.repository("my-lake").create()
    with monkeypatch.context() as kept:
        kept.setattr(embedded, "open_embedded", {folder: lake}.__getitem__)
        kept.setattr(Lake, "close", lambda _: None)
        yield commands_on(folder, tmp_path, capsys)
    lake.close()
