# SPDX-License-Identifier: Apache-2.0
"""A folder and a branch, kept alike by commands."""

import os
from collections.abc import Mapping
from pathlib import Path
from time import monotonic

import pytest
import yaml

from lochan.cli.files import LocalFile
from lochan.cli.local import apply
from lochan.cli.local.changes import compare
from lochan.cli.local.index import Entry, Index, Seen, save_index
from lochan.cli.local.link import link_of
from lochan.errors import Conflict
from support.lake_commands import LakeCommands

START = {"raw/a": "1", "raw/deep/b": "2", "raw/c": "3", "elsewhere": "x"}


@pytest.fixture
def cloned(lochan: LakeCommands, tmp_path: Path) -> Path:
    """Give a folder that mirrors raw/ of main."""
    change(lochan, START)
    lochan("local", "clone", "my-lake/main/raw", tmp_path / "raw")
    return tmp_path / "raw"


def change(lochan: LakeCommands, files: Mapping[str, str | None]) -> None:
    """Commit to main behind the folder's back."""
    with lochan.opened() as lake:
        main = lake.repository("my-lake").branch("main")
        for path, content in files.items():
            if content is None:
                main.object(path).delete()
            else:
                main.upload(path, content)
        main.commit("theirs")


def files(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    below = {str(path.relative_to(folder)): path.read_text() for path in found
             if ".lochan" not in path.parts and path.name != ".lakefs_ref.yaml"}  # fmt: skip
    return dict(sorted(below.items()))


def edit(folder: Path, changed: Mapping[str, str | None]) -> None:
    for name, content in changed.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.unlink()
        else:
            path.write_text(content)


def test_a_clone_has_the_files_and_lakectls_link(lochan: LakeCommands, cloned: Path) -> None:
    assert files(cloned) == {"a": "1", "c": "3", "deep/b": "2"}
    head = lochan.json("branch", "show", "my-lake/main")["id"]
    link = yaml.safe_load((cloned / ".lakefs_ref.yaml").read_text())
    assert link == {"src": "lakefs://my-lake/main/raw/", "at_head": head}

    assert "nothing was changed here" in lochan("local", "status", cloned / "deep").out
    lochan("local", "clone", "my-lake/main/raw", cloned, code=4)
    lochan("local", "clone", "my-lake/main/raw", cloned.parent, code=5)


def test_a_folder_that_lakectl_linked_is_read(lochan: LakeCommands, tmp_path: Path) -> None:
    change(lochan, START)
    head = lochan.json("branch", "show", "my-lake/main")["id"]
    folder = tmp_path / "theirs"
    edit(folder, {"a": "1", "c": "changed", "deep/b": "2"})
    told = {"src": "lakefs://my-lake/main/raw/", "at_head": head, "active_operation": ""}
    (folder / ".lakefs_ref.yaml").write_text(yaml.safe_dump(told))

    found = lochan.json("local", "status", folder)
    assert [(one["type"], one["path"]) for one in found["local"]] == [("changed", "c")]


def test_status_tells_what_changed_here_and_there(lochan: LakeCommands, cloned: Path) -> None:
    edit(cloned, {"a": "changed", "deep/b": None, "new/d": "4"})
    change(lochan, {"raw/c": "theirs", "elsewhere": "y"})

    assert lochan("local", "status", cloned).lines[1:] == [
        "~ a  (7 B)",
        "- deep/b  (1 B)",
        "+ new/d  (1 B)",
        "1 added (1 B), 1 removed (1 B), 1 changed (7 B)",
        "the branch has changed 1 file since; `lochan local pull` brings them",
    ]
    told = lochan.json("local", "status", cloned)
    assert (len(told["local"]), told["remote"]) == (3, ["c"])
    assert lochan.json("local", "status", cloned, "--here")["remote"] == []


def test_changes_are_committed_by_one_commit(lochan: LakeCommands, cloned: Path) -> None:
    edit(cloned, {"a": "changed", "deep/b": None, "new/d": "4"})
    made = lochan.json("local", "commit", cloned, "-m", "mine", "--meta", "k=v")

    assert (made["message"], made["metadata"]["k"], len(made["parents"])) == ("mine", "v", 1)
    shown = lochan.json("show", "my-lake/main")["changes"]
    assert [(one["type"], one["path"]) for one in shown] == [
        ("changed", "raw/a"),
        ("removed", "raw/deep/b"),
        ("added", "raw/new/d"),
    ]
    assert lochan.json("local", "commit", cloned, "-m", "again") == {"committed": False}
    names = [one["id"] for one in lochan.json("branch", "list", "my-lake", "--all")]
    assert names == ["main"]


def test_others_changes_come_with_a_commit(lochan: LakeCommands, cloned: Path) -> None:
    edit(cloned, {"a": "mine"})
    change(lochan, {"raw/c": "theirs", "raw/e": "new"})
    lochan("local", "commit", cloned, "-m", "mine")

    assert files(cloned) == {"a": "mine", "c": "theirs", "deep/b": "2", "e": "new"}
    assert lochan.json("local", "status", cloned)["remote"] == []


def test_a_commit_in_conflict_changes_nothing(lochan: LakeCommands, cloned: Path) -> None:
    edit(cloned, {"a": "mine", "c": "mine"})
    change(lochan, {"raw/a": "theirs"})
    before = lochan.json("branch", "show", "my-lake/main")

    ran = lochan("local", "commit", cloned, "-m", "mine", code=4)
    assert "raw/a" in ran.out
    assert lochan.json("branch", "show", "my-lake/main") == before
    assert files(cloned)["a"] == "mine"
    assert [one["id"] for one in lochan.json("branch", "list", "my-lake", "--all")] == ["main"]


def test_a_pull_keeps_what_was_changed_here(lochan: LakeCommands, cloned: Path) -> None:
    edit(cloned, {"a": "mine", "new": "n", "same": "both"})
    change(lochan, {"raw/c": "theirs", "raw/deep/b": None, "raw/same": "both"})

    told = lochan.json("local", "pull", cloned)
    assert told["changed"] == ["c", "deep/b"]
    assert files(cloned) == {"a": "mine", "c": "theirs", "new": "n", "same": "both"}
    assert not (cloned / "deep").exists()
    assert len(lochan.json("local", "status", cloned)["local"]) == 2


@pytest.mark.parametrize("mine", ["mine", None])
@pytest.mark.parametrize("theirs", ["theirs", None])
def test_a_pull_in_conflict_needs_force(
    lochan: LakeCommands, cloned: Path, mine: str | None, theirs: str | None
) -> None:
    edit(cloned, {"a": mine})
    change(lochan, {"raw/a": theirs, "raw/c": "theirs"})
    before = files(cloned)
    if mine == theirs:
        lochan("local", "pull", cloned)
        return

    assert lochan("local", "pull", cloned, code=4).lines == ["CONFLICT", "a"]
    assert files(cloned) == before
    lochan("local", "pull", cloned, "--force")
    assert files(cloned).get("a") == theirs


def test_a_checkout_loses_nothing_unless_it_is_forced(lochan: LakeCommands, cloned: Path) -> None:
    lochan("tag", "create", "my-lake/v1", "main")
    change(lochan, {"raw/a": "2"})
    lochan("local", "pull", cloned)
    edit(cloned, {"a": "mine", "new": "n", "c": None})
    before = files(cloned)

    assert "--force" in lochan("local", "checkout", cloned, "--ref", "v1", code=4).err
    assert files(cloned) == before
    told = lochan.json("local", "checkout", cloned, "--ref", "v1", "--force")
    assert told["src"] == "lakefs://my-lake/v1/raw/"
    assert files(cloned) == {"a": "1", "c": "3", "deep/b": "2"}
    lochan("local", "commit", cloned, "-m", "nothing")
    lochan("local", "checkout", cloned, "--ref", "main")
    assert files(cloned)["a"] == "2"


def test_a_folder_with_files_is_linked_to_an_empty_prefix(
    lochan: LakeCommands, tmp_path: Path
) -> None:
    change(lochan, START)
    edit(tmp_path / "mine", {"x": "1"})
    assert "--force" in lochan("local", "init", "my-lake/main/raw/", tmp_path / "mine", code=5).err
    lochan("local", "init", "my-lake/main/fresh", tmp_path / "mine")
    lochan("local", "commit", tmp_path / "mine", "-m", "first")

    assert lochan("fs", "cat", "my-lake/main/fresh/x").out == "1"
    lochan("local", "init", "my-lake/main/fresh", tmp_path / "mine", code=4)


def test_linked_folders_are_listed(
    lochan: LakeCommands, cloned: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listing = LakeCommands(cloned, (), cloned, capsys)
    assert [one["folder"] for one in listing.json("local", "list", cloned.parent)] == [str(cloned)]
    assert listing("local", "list", cloned.parent).lines[1].split()[1].endswith("/main/raw/")
    lochan("local", "status", cloned.parent, code=3)


def test_an_interrupted_folder_is_left_alone_but_by_force(
    lochan: LakeCommands, cloned: Path
) -> None:
    with (cloned / ".lakefs_ref.yaml").open("a") as file:
        file.write("active_operation: pull\n")
    assert "was interrupted" in lochan("local", "pull", cloned, code=4).err
    lochan("local", "checkout", cloned, "--force")
    lochan("local", "pull", cloned)

    (cloned / ".lakefs_ref.yaml").write_text("src: [")
    assert "is damaged" in lochan("local", "pull", cloned, code=2).err


def test_keys_that_no_file_can_have_stay_as_they_are(lochan: LakeCommands, cloned: Path) -> None:
    change(lochan, {"raw/dir/": "", "raw/../up": "x", "raw/.lochan/index": "x", "raw/d": "4"})
    lochan("local", "pull", cloned)
    assert files(cloned) == {"a": "1", "c": "3", "d": "4", "deep/b": "2"}

    edit(cloned, {"d": "5"})
    lochan("local", "commit", cloned, "-m", "mine")
    assert [one["path"] for one in lochan.json("show", "my-lake/main")["changes"]] == ["raw/d"]


def test_a_file_that_changes_while_it_is_replaced_is_kept(
    lochan: LakeCommands, cloned: Path
) -> None:
    with lochan.opened() as lake:
        found = compare(lake, link_of(cloned))
        edit(cloned, {"a": "just now"})
        with pytest.raises(Conflict, match="changed while this ran"):
            apply._delete(cloned, "a", found.files["a"])
        with pytest.raises(Conflict):
            apply._require_as_found(cloned, "c", None)
    assert files(cloned)["a"] == "just now"


def test_a_file_is_read_again_unless_it_is_older_than_the_index() -> None:
    index = Index(seen={"a": Seen(1, 1_000_000_000, "sum")}, saved_ns=2_000_000_000)
    assert index.known(LocalFile("a", 1, 1_000_000_000)) == "sum"
    assert index.known(LocalFile("a", 2, 1_000_000_000)) == ""
    assert index.known(LocalFile("a", 1, 1_000_000_001)) == ""
    index.saved_ns = 1_000_000_500
    assert index.known(LocalFile("a", 1, 1_000_000_000)) == ""


def test_ten_thousand_files_are_compared_without_reading_them(
    lochan: LakeCommands, cloned: Path
) -> None:
    names = [f"many/{number}" for number in range(10_000)]
    (cloned / "many").mkdir()
    for name in names:
        (cloned / name).touch()
        os.utime(cloned / name, ns=(1, 1))
    with lochan.opened() as lake:
        link = link_of(cloned)
        index = compare(lake, link).index
        index.base |= {name: Entry(0, "not its MD5") for name in names}
        index.seen |= {name: Seen(0, 1, "not its MD5") for name in names}
        save_index(link, index, lake.transport.environment)
        began = monotonic()
        assert compare(lake, link).changes == {}
        print(f"10,000 files are compared in {monotonic() - began:.3f} s")


def test_a_touched_file_and_a_lost_index_are_no_change(lochan: LakeCommands, cloned: Path) -> None:
    os.utime(cloned / "a", ns=(1, 1))
    assert lochan.json("local", "status", cloned)["local"] == []
    (cloned / ".lochan/index").write_bytes(b"damaged")
    assert lochan.json("local", "status", cloned)["local"] == []


def test_links_and_folders_linked_themselves_are_left_out(
    lochan: LakeCommands, cloned: Path, tmp_path: Path
) -> None:
    (cloned / "out").symlink_to(tmp_path)
    lochan("local", "clone", "my-lake/main/raw/deep/", cloned / "deep2")
    assert lochan.json("local", "status", cloned)["local"] == []
