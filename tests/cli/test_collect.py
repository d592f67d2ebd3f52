# SPDX-License-Identifier: Apache-2.0
"""Commands that collect garbage: `lochan gc plan|run|undo|empty|trash`."""

import json
from pathlib import Path
from typing import Any

import pytest

from lochan.bootstrap.lake import open_lake
from lochan.cli.app import run
from lochan.environment import RealEnvironment
from lochan.model.ids import BranchName, ObjectKey, RepositoryId, StorageNamespace
from lochan.operations.create_repository import create_repository
from lochan.operations.put_object import put_object

MAIN = BranchName("main")


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a lake with an object that was replaced, and one that is shown."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "lake"
    folder.mkdir()
    with open_lake(f"sqlite://{folder}/kv.db", RealEnvironment()) as opened:
        place = StorageNamespace(f"local://{folder}/objects/repo-1")
        made = create_repository(opened, RepositoryId("repo-1"), place, MAIN)
        for body in (b"first", b"second"):
            put_object(opened, made, MAIN, ObjectKey(b"k.txt"), body)
    return folder


def objects(lake: Path) -> int:
    return sum(path.is_file() for path in (lake / "objects" / "repo-1" / "data").rglob("*"))


def test_dead_objects_go_to_the_trash_and_come_back(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def ask(*words: str) -> Any:  # noqa: ANN401 - it is JSON
        assert run(["gc", *words, "repo-1", "--lake", str(lake), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    assert ask("plan", "--grace-hours", "0")["waiting"]["count"] == 1
    assert ask("run", "--grace-hours", "0")["moved"] == 1
    assert objects(lake) == 1
    assert [row["state"] for row in ask("trash")] == ["moved"]
    assert ask("undo")["count"] == 1
    assert objects(lake) == 2
    assert ask("run", "--grace-hours", "0", "--force")["moved"] == 1
    assert ask("empty", "--grace-hours", "0")["removed"]["count"] == 1
    assert ask("trash") == []


def test_a_plan_is_told_to_people(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gc", "plan", "repo-1", "--lake", str(lake)]) == 0
    assert "2 objects" in capsys.readouterr().out


def test_a_ref_is_exported_and_reported(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = lake.parent / "out"
    words = ["export", "lochan://repo-1/main", str(out), "--lake", str(lake), "--json"]
    assert run(words) == 0
    assert json.loads(capsys.readouterr().out)["written"] == 0, "nothing is committed"
    assert run(["report", "repo-1", "--lake", str(lake), "--json"]) == 0
    assert [one["ref"] for one in json.loads(capsys.readouterr().out)["refs"]] == ["main"]
    assert run(["report", "repo-1", "--lake", str(lake)]) == 0
    assert "all together" in capsys.readouterr().out


def test_nothing_in_the_trash_is_told_in_a_line(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["gc", "undo", "repo-1", "--lake", str(lake)]) == 3
    assert capsys.readouterr().err.count("\n") == 1
