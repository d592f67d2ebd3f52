# SPDX-License-Identifier: Apache-2.0
"""The verbs of 2016, by commands."""

from pathlib import Path

import pytest

from support.lake_commands import LakeCommands


def committed(lochan: LakeCommands, files: dict[str, str], branch: str = "main") -> str:
    """Put files by one commit, and give its hash."""
    opened = lochan("pfs", "start-commit", "my-lake", "--branch", branch).out.strip()
    for path, content in files.items():
        (lochan.folder / "put").write_text(content)
        lochan("pfs", "put-file", "my-lake", opened, path, "--file", lochan.folder / "put")
    made = lochan.json("pfs", "finish-commit", "my-lake", opened, "-m", "done", "--meta", "k=v")
    assert made["message"] == "done"
    return str(made["id"])


def test_files_are_put_behind_each_other_and_read_since_a_commit(lochan: LakeCommands) -> None:
    first = committed(lochan, {"log": "one\n", "d/x": "1"})
    second = committed(lochan, {"log": "two\n"})

    get = ("pfs", "get-file", "my-lake", second, "log")
    assert lochan(*get).out == "one\ntwo\n"
    assert lochan(*get, "--from", first).out == "two\n"
    assert lochan.json(*get)["text"] == "one\ntwo\n"
    told = lochan.json("pfs", "inspect-file", "my-lake", "main", "log")
    assert (told["kind"], told["size"]) == ("file", 8)
    assert "checksum" in lochan("pfs", "inspect-file", "my-lake", "main", "log").out

    listed = [line.split()[-1] for line in lochan("pfs", "list-file", "my-lake", "main").lines]
    assert listed == ["PATH", "d", "log"]
    assert [one["path"] for one in lochan.json("pfs", "list-file", "my-lake", "main", "d")] == [
        "d/x"
    ]


def test_commits_are_described_listed_and_followed(lochan: LakeCommands) -> None:
    first = committed(lochan, {"a": "1"})
    second = committed(lochan, {"a": "2"})

    assert lochan.json("pfs", "inspect-commit", "my-lake", second)["id"] == second
    assert second[:12] in lochan("pfs", "inspect-commit", "my-lake", second).out
    listed = lochan.json("pfs", "list-commit", "my-lake", "--branch", "main")
    assert [one["id"] for one in listed][-2:] == [first, second]
    assert second[:12] in lochan("pfs", "list-commit", "my-lake").lines[-1]
    since = lochan.json("pfs", "history", "my-lake", "main", "--from", first)
    assert [one["id"] for one in since] == [second]
    assert len(lochan("pfs", "history", "my-lake", "main", "--limit", "1").lines) == 2


def test_a_file_is_replaced_deleted_and_a_commit_given_up(
    lochan: LakeCommands, tmp_path: Path
) -> None:
    committed(lochan, {"a": "1", "b": "1"})
    opened = lochan.json("pfs", "start-commit", "my-lake", "--branch", "main")["id"]
    (tmp_path / "put").write_text("new")
    put = ("pfs", "put-file", "my-lake", opened, "a", "-f", tmp_path / "put")
    assert lochan(*put, "--overwrite").out == "put a\n"
    assert lochan.json("pfs", "delete-file", "my-lake", opened, "b")["path"] == "b"
    lochan("pfs", "finish-commit", "my-lake", opened)
    assert lochan("pfs", "get-file", "my-lake", "main", "a").out == "new"
    lochan("pfs", "get-file", "my-lake", "main", "b", code=3)

    given_up = lochan("pfs", "start-commit", "my-lake", "--branch", "main").out.strip()
    lochan("pfs", "cancel-commit", "my-lake", given_up, "--reason", "wrong")
    lochan("pfs", "finish-commit", "my-lake", given_up, code=4)


@pytest.mark.parametrize("squash", [True, False])
def test_commits_of_branches_are_merged(lochan: LakeCommands, *, squash: bool) -> None:
    for name in ("left", "right"):
        lochan("branch", "create", f"my-lake/{name}")
        committed(lochan, {name: name}, name)
    args = ("pfs", "merge-commits", "my-lake", "left", "right", "--to", "main")

    made = lochan.json(*args, *["--squash"] * squash)
    assert len(made) == (1 if squash else 2)
    assert lochan("fs", "ls", "my-lake/main/").lines == ["left", "right"]
