# SPDX-License-Identifier: Apache-2.0
"""Repositories, branches, tags, retention and refs as files, by commands."""

import io
import json
from pathlib import Path

import pytest

from lochan.cli.app import run
from support.lake_commands import LakeCommands, commands_on


def test_a_repository_is_made_listed_shown_and_deleted(lochan: LakeCommands) -> None:
    made = lochan.json("repo", "create", "lochan://second", "--default-branch", "trunk")
    assert (made["id"], made["default_branch"]) == ("second", "trunk")

    assert [one["id"] for one in lochan.json("repo", "list")] == ["my-lake", "second"]
    assert [one["id"] for one in lochan.json("repo", "list", "--prefix", "s")] == ["second"]
    assert len(lochan.json("repo", "list", "--limit", "1")) == 1
    listed = lochan("repo", "list").lines
    assert listed[0].startswith("REPOSITORY")
    assert listed[2].split()[:2] == ["second", "trunk"]
    assert "trunk" in lochan("repo", "show", "second").out

    assert lochan("repo", "delete", "second", "--yes").out == "deleted repository second\n"
    assert "second" in lochan("repo", "show", "second", code=3).err


def test_a_name_that_is_taken_is_a_conflict_in_one_line(lochan: LakeCommands) -> None:
    lochan("repo", "create", "my-lake", code=4)


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, 0), ("n\n", 1, 1), ("", 1, 1)])
def test_deleting_asks_before(
    lochan: LakeCommands, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, left: int
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))

    assert run(["repo", "delete", "my-lake", *lochan.options]) == code
    said = lochan.capture.readouterr()
    assert "Delete repository my-lake" in said.err
    assert ("nothing was done" in said.err) == (code == 1)
    assert len(lochan.json("repo", "list")) == left


def test_sample_data_and_read_only(lochan: LakeCommands) -> None:
    lochan("repo", "create", "samples", "--sample-data")
    assert lochan.json("fs", "ls", "samples/main/")

    assert lochan.json("repo", "create", "quiet", "--read-only")["read_only"] is True
    lochan("branch", "create", "quiet/fix", code=5)


def test_metadata_of_a_repository_is_set_and_taken_away(lochan: LakeCommands) -> None:
    assert lochan.json("repo", "metadata", "my-lake", "--set", "a=1", "--set", "b=x=y") == {
        "a": "1",
        "b": "x=y",
    }
    assert lochan.json("repo", "metadata", "my-lake", "--unset", "a") == {"b": "x=y"}
    assert lochan("repo", "metadata", "my-lake").lines == ["b  x=y"]
    assert "key=value" in lochan("repo", "metadata", "my-lake", "--set", "b", code=2).err


def test_a_folder_without_a_lake_is_not_made_one_by_reading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = commands_on(tmp_path / "typo", tmp_path, capsys)

    assert "there is no lake in" in commands("repo", "list", code=3).err
    assert not (tmp_path / "typo").exists()
    commands("repo", "create", "my-lake")
    assert [one["id"] for one in commands.json("repo", "list")] == ["my-lake"]


def test_branches_are_made_at_refs_listed_and_deleted(lochan: LakeCommands) -> None:
    made = lochan.json("branch", "create", "lakefs://my-lake/fix", "--source", "main")
    lochan("branch", "create", "my-lake/quiet", "-s", "lochan://my-lake/main", "--hidden")
    assert lochan.json("branch", "show", "my-lake/fix")["id"] == made["commit_id"]

    assert lochan.json("branch", "list", "my-lake") == [
        {"id": "fix", "commit_id": made["commit_id"]},
        {"id": "main", "commit_id": made["commit_id"]},
    ]
    names = [line.split()[0] for line in lochan("branch", "list", "my-lake", "--all").lines]
    assert names == ["NAME", "fix", "main", "quiet"]

    lochan("branch", "delete", "my-lake/fix", "--yes")
    lochan("branch", "show", "my-lake/fix", code=3)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["branch", "show", "my-lake"], "names no branch"),
        (["branch", "list", "my-lake/main"], "names more than a repository"),
        (["branch", "create", "my-lake/fix", "--source", "other/main"], "is not in repository"),
        (["branch", "show", "http://my-lake/main"], "it starts with neither"),
        (["repo", "show", "lochan://example.org:80/my-lake"], "on another server"),
        (["fs", "ls", "my-lake"], "names no ref"),
        (["fs", "stat", "my-lake/main"], "names no object"),
    ],
)
def test_an_address_that_fits_not_is_told_with_code_2(
    lochan: LakeCommands, args: list[str], said: str
) -> None:
    assert said in lochan(*args, code=2).err


def test_what_is_staged_is_dropped_by_object_prefix_or_all(lochan: LakeCommands) -> None:
    for path in ("a/1", "a/2", "b/1", "c"):
        lochan.put(f"my-lake/main/{path}", path)

    def staged() -> list[str]:
        return [one["path"] for one in lochan.json("diff", "my-lake/main")]

    lochan("branch", "reset", "my-lake/main", "--object", "a/1", "--yes")
    assert staged() == ["a/2", "b/1", "c"]
    lochan("reset", "my-lake/main", "--prefix", "a/", "--yes")
    assert staged() == ["b/1", "c"]
    lochan("reset", "my-lake/main", "--prefix", "a/", "--object", "c", "--yes", code=2)
    assert lochan.json("reset", "my-lake/main", "-y") == {"branch": "main", "path": ""}
    assert staged() == []


def test_a_branch_is_set_to_another_commit(lochan: LakeCommands) -> None:
    first = lochan.json("branch", "show", "my-lake/main")["id"]
    lochan("commit", "my-lake/main", "-m", "nothing", "--allow-empty")

    moved = lochan.json("branch", "hard-reset", "my-lake/main", "main~1", "--yes")
    assert moved == {"id": "main", "commit_id": first}


def test_branches_are_protected_by_patterns(lochan: LakeCommands) -> None:
    lochan("branch", "protect", "add", "my-lake", "ma*")
    lochan("branch", "protect", "add", "my-lake", "release-*")
    assert lochan.json("branch", "protect", "list", "my-lake") == [
        {"pattern": "ma*"},
        {"pattern": "release-*"},
    ]
    assert lochan("branch", "protect", "list", "my-lake").lines == ["PATTERN", "ma*", "release-*"]
    lochan("commit", "my-lake/main", "-m", "no", "--allow-empty", code=5)

    lochan("branch", "protect", "delete", "my-lake", "ma*")
    lochan("commit", "my-lake/main", "-m", "yes", "--allow-empty")
    lochan("branch", "protect", "delete", "my-lake", "ma*", code=3)


def test_tags_are_made_listed_shown_and_deleted(lochan: LakeCommands) -> None:
    head = lochan.json("branch", "show", "my-lake/main")["id"]
    assert lochan.json("tag", "create", "my-lake/v1.0", "main")["commit_id"] == head
    assert lochan("tag", "create", "my-lake/v1.1", "main").out == f"tagged {head[:12]} as v1.1\n"
    lochan("tag", "create", "my-lake/v1.0", "main", code=4)

    assert [one["id"] for one in lochan.json("tag", "list", "my-lake")] == ["v1.0", "v1.1"]
    assert lochan("tag", "list", "my-lake", "--prefix", "v1.1").lines[1].split() == [
        "v1.1",
        head[:12],
    ]
    assert f"commit {head}" in lochan("tag", "show", "my-lake/v1.0").out
    lochan("tag", "delete", "my-lake/v1.0", "--yes")
    lochan("tag", "show", "my-lake/v1.0", code=3)


def test_retention_is_set_shown_and_taken_away(lochan: LakeCommands) -> None:
    rules = ("gc", "rules")
    assert "kept for ever" in lochan(*rules, "get", "my-lake", code=3).err
    lochan(*rules, "set", "my-lake", "--default-days", "21", "--branch", "main=28")

    assert lochan.json(*rules, "get", "my-lake") == {
        "default_retention_days": 21,
        "branches": [{"branch_id": "main", "retention_days": 28}],
    }
    shown = [line.split()[-1] for line in lochan(*rules, "get", "my-lake").lines]
    assert shown == ["DAYS", "28", "21"]
    lochan(*rules, "set", "my-lake", "--default-days", "1", "--branch", "main", code=2)
    lochan(*rules, "delete", "my-lake")
    lochan(*rules, "get", "my-lake", code=3)
    lochan(*rules, "get", "nothing-here", code=3)


def test_refs_are_dumped_and_restored_into_a_bare_repository(
    lochan: LakeCommands, tmp_path: Path
) -> None:
    lochan.put("my-lake/main/a", "1")
    lochan("commit", "my-lake/main", "-m", "one")
    lochan("tag", "create", "my-lake/v1", "main")
    before = lochan.json("log", "my-lake/main")
    dumped = tmp_path / "refs.json"
    dumped.write_text(lochan("refs", "dump", "my-lake").out)
    place = lochan.json("repo", "show", "my-lake")["storage_namespace"]

    lochan("repo", "delete", "my-lake", "--yes")
    Path(place.removeprefix("local://"), "_lakefs/dummy").unlink()  # the mark of its first owner
    lochan("repo", "create-bare", "again", "--namespace", place)
    lochan("refs", "restore", "again", "--file", dumped)

    assert lochan.json("log", "again/v1") == before
    assert lochan("fs", "cat", "again/main/a").out == "1"


def test_what_is_no_dump_is_refused(lochan: LakeCommands, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps({"commits": "x"}))

    assert "is not what" in lochan("refs", "restore", "my-lake", "--file", wrong, code=2).err
