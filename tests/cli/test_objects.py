# SPDX-License-Identifier: Apache-2.0
"""Objects by commands: listed, read, moved, uploaded and downloaded."""

import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from lochan.cli.app import run
from lochan.cli.files import checksum_of
from lochan.cli.fs import resume
from lochan.cli.fs.resume import download_by_pieces
from lochan.errors import Unavailable
from support.lake_commands import LakeCommands


@pytest.fixture
def filled(lochan: LakeCommands) -> LakeCommands:
    """Give a lake with some objects that are staged on main."""
    with lochan.opened() as lake:
        main = lake.repository("my-lake").branch("main")
        for path, content in {"a/1": "1", "a/2": "22", "b/c/3": "333", "top": "4444"}.items():
            main.upload(path, content, metadata={"owner": "ann"})
    return lochan


def paths(found: list[dict[str, str]]) -> list[str]:
    return [one["path"] for one in found]


def test_ls_lists_a_level_or_all(filled: LakeCommands) -> None:
    assert filled("fs", "ls", "my-lake/main/").lines == ["a/", "b/", "top"]
    assert filled("fs", "ls", "my-lake/main", "-r").lines == ["a/1", "a/2", "b/c/3", "top"]
    long = filled("fs", "ls", "my-lake/main/a/", "-l").lines
    assert [line.split()[-1] for line in long] == ["PATH", "a/1", "a/2"]
    assert long[2].startswith("2 B")
    found = filled.json("fs", "ls", "my-lake/main/a/", "--limit", "1")
    assert found[0]["metadata"] == {"owner": "ann"}
    assert filled("fs", "ls", "my-lake/main/nothing/").out == ""


def test_du_counts_by_folder_and_in_sum(filled: LakeCommands) -> None:
    lines = [line.split() for line in filled("fs", "du", "my-lake/main/").lines[1:]]
    assert lines == [
        ["3", "B", "2", "a/"],
        ["3", "B", "1", "b/"],
        ["4", "B", "1", "top"],
        ["10", "B", "4", "total"],
    ]
    told = filled.json("fs", "du", "my-lake/main/a/")["total"]
    assert told == {"path": "a/", "objects": 2, "size_bytes": 3}


def test_stat_and_cat_an_object(filled: LakeCommands) -> None:
    told = filled.json("fs", "stat", "my-lake/main/a/2")
    assert (told["size_bytes"], told["metadata"]) == (2, {"owner": "ann"})
    assert "meta owner" in filled("fs", "stat", "my-lake/main/a/2").out
    assert filled("fs", "cat", "my-lake/main/a/2").out == "22"
    assert filled.json("fs", "cat", "my-lake/main/a/2") == {"path": "a/2", "text": "22"}
    filled("fs", "cat", "my-lake/main/none", code=3)


def test_bytes_that_are_no_text_come_as_they_are(
    lochan: LakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lochan.opened() as lake:
        lake.repository("my-lake").branch("main").upload("x", b"\xff\x00")
    lochan("fs", "cat", "my-lake/main/x", "--json", code=2)

    out = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(out))
    assert run(["fs", "cat", "my-lake/main/x", *lochan.options]) == 0
    assert out.getvalue() == b"\xff\x00"


def test_copies_share_bytes(filled: LakeCommands) -> None:
    made = filled.json("fs", "cp", "my-lake/main/a/1", "my-lake/main/copies/")
    assert made["objects"][0]["path"] == "copies/1"
    address = [
        filled.json("fs", "stat", f"my-lake/main/{path}")["physical_address"]
        for path in ("a/1", "copies/1")
    ]
    assert address[0] == address[1]

    filled("commit", "my-lake/main", "-m", "all")
    filled("branch", "create", "my-lake/fix")
    said = filled("fs", "cp", "my-lake/main/a/", "my-lake/fix/z/", "-r").out
    assert said == "copied 2 objects to lochan://my-lake/fix/z/\n"
    assert paths(filled.json("diff", "my-lake/fix")) == ["z/1", "z/2"]
    filled("fs", "cp", "my-lake/main/none/", "my-lake/fix/z/", "-r", code=3)
    filled("fs", "cp", "my-lake/main/a/1", "other/main/z", code=2)


def test_objects_move_alone_or_by_prefix(filled: LakeCommands) -> None:
    filled("fs", "mv", "my-lake/main/top", "my-lake/main/b/")
    assert filled.json("fs", "mv", "my-lake/main/a/", "my-lake/main/z/") == {"renamed": 2}
    assert filled("fs", "ls", "my-lake/main/", "-r").lines == ["b/c/3", "b/top", "z/1", "z/2"]

    filled("fs", "mv", "my-lake/main/z/1", "my-lake/main/z/2", code=4)
    filled("fs", "mv", "my-lake/main/z/1", "my-lake/main/z/2", "--overwrite")
    filled("fs", "mv", "my-lake/main/z/2", "my-lake/fix/z/2", code=2)


def test_objects_are_deleted_alone_or_by_prefix(filled: LakeCommands) -> None:
    filled("fs", "rm", "my-lake/main/top")
    filled("fs", "rm", "my-lake/main/top", code=3)
    said = filled("fs", "rm", "my-lake/main/a/", "-r", "--yes").out
    assert said == "deleted 2 objects below lochan://my-lake/main/a/\n"
    assert filled("fs", "ls", "my-lake/main/", "-r").lines == ["b/c/3"]


def test_a_folder_is_not_what_merely_begins_alike(filled: LakeCommands) -> None:
    filled.put("my-lake/main/a2/x", "x")
    filled("fs", "cp", "my-lake/main/a", "my-lake/main/z", "-r")
    filled("fs", "rm", "my-lake/main/a", "-r", "--yes")
    found = filled("fs", "ls", "my-lake/main/", "-r").lines
    assert found == ["a2/x", "b/c/3", "top", "z/1", "z/2"]


def test_an_address_of_a_store_becomes_an_object(lochan: LakeCommands, tmp_path: Path) -> None:
    file = tmp_path / "outside.csv"
    file.write_text("a,b\n")
    args = ("--location", f"file://{file}", "--size", "4", "--checksum", checksum_of(file))

    made = lochan.json("fs", "stage", "my-lake/main/in.csv", *args, "--meta", "k=v")
    assert (made["size_bytes"], made["metadata"]) == (4, {"k": "v"})
    assert lochan("fs", "cat", "my-lake/main/in.csv").out == "a,b\n"


def test_no_signed_url_is_given_that_leads_nowhere(filled: LakeCommands) -> None:
    assert "no server" in filled("fs", "presign", "my-lake/main/top", code=2).err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder of three files, one below another folder, and a link out of it."""
    root = tmp_path / "data"
    (root / "deep").mkdir(parents=True)
    for name, content in {"x.csv": "1", "y.json": "{}", "deep/z": "zzz"}.items():
        (root / name).write_text(content)
    (root / "link").symlink_to(tmp_path)
    return root


def test_a_folder_is_uploaded_and_what_is_alike_skipped(lochan: LakeCommands, folder: Path) -> None:
    said = lochan("fs", "upload", folder, "my-lake/main/in", "-r").out
    assert said == "uploaded 3 files, 6 B, to lochan://my-lake/main/in/\n"
    (folder / "x.csv").write_text("2")

    told = lochan.json("fs", "upload", folder, "my-lake/main/in/", "-r", "--sync")
    assert (paths(told["uploaded"]), told["skipped"]) == (["in/x.csv"], 2)
    types = {
        one["path"]: one["content_type"] for one in lochan.json("fs", "ls", "my-lake/main/", "-r")
    }
    assert types["in/x.csv"] == "text/csv"
    assert list(types) == ["in/deep/z", "in/x.csv", "in/y.json"]


def test_a_file_is_uploaded_under_its_own_or_another_name(
    lochan: LakeCommands, folder: Path
) -> None:
    lochan("fs", "upload", folder / "x.csv", "my-lake/main/in/")
    lochan("fs", "upload", folder / "x.csv", "my-lake/main/other", "--meta", "k=v", "--presign")
    assert lochan("fs", "ls", "my-lake/main/", "-r").lines == ["in/x.csv", "other"]
    assert lochan.json("fs", "stat", "my-lake/main/other")["metadata"] == {"k": "v"}

    assert "give -r" in lochan("fs", "upload", folder, "my-lake/main/", code=2).err
    assert (
        "leave -r out"
        in lochan("fs", "upload", folder / "x.csv", "my-lake/main/", "-r", code=2).err
    )
    assert "no file" in lochan("fs", "upload", folder / "none", "my-lake/main/", code=2).err


def test_what_is_piped_in_is_uploaded(
    lochan: LakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"piped")))

    lochan("fs", "upload", "-", "my-lake/main/a.txt")
    assert lochan("fs", "cat", "my-lake/main/a.txt").out == "piped"
    lochan("fs", "upload", "-", "my-lake/main/", code=2)


def test_objects_are_downloaded_and_what_is_alike_skipped(
    filled: LakeCommands, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    told = filled.json("fs", "download", "my-lake/main/", out, "-r")
    assert (len(told["files"]), told["size_bytes"]) == (4, 10)
    assert (out / "b/c/3").read_text() == "333"
    (out / "top").write_text("xxxx")

    said = filled("fs", "download", "my-lake/main/", out, "-r", "--sync").out
    assert said == "downloaded 1 object, 4 B, 3 unchanged\n"
    filled("fs", "download", "my-lake/main/a/1", out)
    filled("fs", "download", "my-lake/main/a/1", tmp_path / "alone")
    assert (out / "1").read_text() == (tmp_path / "alone").read_text() == "1"
    filled("fs", "download", "my-lake/main/none/", out, "-r", code=3)


def test_no_object_is_written_outside_of_the_folder(lochan: LakeCommands, tmp_path: Path) -> None:
    out = tmp_path / "a/b/out"
    out.mkdir(parents=True)
    (out / "leads").symlink_to(tmp_path)
    with lochan.opened() as lake:
        main = lake.repository("my-lake").branch("main")
        for path in ("in/../../evil", "in//abs", "in/dir/", "in/good"):
            main.upload(path, "x")
        main.upload("bad/leads/evil", "x")

    ran = lochan("fs", "download", "my-lake/main/in/", out, "-r")
    assert "3 objects are left out" in ran.err
    assert "symbolic link" in lochan("fs", "download", "my-lake/main/bad/", out, "-r", code=5).err
    assert not list(tmp_path.rglob("evil"))
    assert (out / "good").read_text() == "x"


def test_a_large_download_goes_on_where_it_broke_off(
    lochan: LakeCommands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resume, "_PIECE", 1000)
    content = bytes(range(256)) * 20
    with lochan.opened() as lake:
        main = lake.repository("my-lake").branch("main")
        checksum = main.upload("big", content).checksum
        part = tmp_path / f".big.{checksum}.part"
        part.write_bytes(content[:3000])
        told: list[int] = []
        download_by_pieces(main.object("big"), tmp_path / "big", lambda done, _: told.append(done))
        assert (told[0], (tmp_path / "big").read_bytes()) == (3000, content)

        part.write_bytes(b"x" * 3000)
        with pytest.raises(Unavailable, match="damaged"):
            download_by_pieces(main.object("big"), tmp_path / "big", lambda *_: None)
        assert not part.exists()


def test_the_first_failure_stops_an_upload_of_many(lochan: LakeCommands, folder: Path) -> None:
    lochan("fs", "upload", folder, "my-lake/none/in/", "-r", code=3)
