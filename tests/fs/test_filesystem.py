# SPDX-License-Identifier: Apache-2.0
"""What fsspec's own suite leaves out: listings, renames, transactions, errors."""

import io
import pickle
from datetime import UTC, datetime
from pathlib import Path

import fsspec
import pytest
from fsspec.callbacks import Callback

from lochan.client import Lake
from lochan.errors import LochanError, Unavailable
from lochan.fs.filesystem import LochanFileSystem

ROOT = "fs-lake/main"


def paths(fs: LochanFileSystem, folder: str = ROOT) -> list[str]:
    return [name.removeprefix(f"{ROOT}/") for name in fs.find(folder)]


def test_the_lake_its_repositories_and_refs_are_folders(fs: LochanFileSystem) -> None:
    fs.pipe(f"{ROOT}/a/b", b"1")

    assert "fs-lake" in fs.ls("", detail=False)
    assert ROOT in fs.ls("lochan://fs-lake", detail=False)
    assert fs.isdir("")
    assert fs.isdir("fs-lake")
    assert fs.isdir(ROOT)
    assert fs.ls(ROOT, detail=False) == [f"{ROOT}/a"]
    assert fs.info(f"{ROOT}/a")["type"] == "directory"
    for wrong in ("no-lake", "fs-lake/nope", f"{ROOT}/nope", f"{ROOT}/a/nope"):
        assert not fs.exists(wrong)
        with pytest.raises(FileNotFoundError):
            fs.ls(wrong)


def test_an_empty_branch_is_an_empty_folder(fs: LochanFileSystem) -> None:
    assert fs.ls(ROOT) == []
    assert fs.find(ROOT) == []


def test_a_file_is_described(fs: LochanFileSystem) -> None:
    fs.pipe(f"{ROOT}/a", b"12345")
    info = fs.info(f"lakefs://{ROOT}/a")

    assert (info["name"], info["size"], info["type"]) == (f"{ROOT}/a", 5, "file")
    assert fs.checksum(f"{ROOT}/a") == "827ccb0eea8a706c4c34a16891f84e7b"
    assert abs(fs.modified(f"{ROOT}/a") - datetime.now(UTC)).total_seconds() < 60
    assert fs.created(f"{ROOT}/a") == fs.modified(f"{ROOT}/a")
    assert "token=" in fs.sign(f"{ROOT}/a")


def test_find_and_glob_see_all_depths(fs: LochanFileSystem) -> None:
    for name in ("a/1.csv", "a/b/2.csv", "a/b/c/3.txt", "ab/4.csv"):
        fs.touch(f"{ROOT}/{name}")

    assert paths(fs, f"{ROOT}/a") == ["a/1.csv", "a/b/2.csv", "a/b/c/3.txt"]
    assert fs.find(f"{ROOT}/a", maxdepth=1) == [f"{ROOT}/a/1.csv"]
    assert fs.find(f"{ROOT}/a/1.csv") == [f"{ROOT}/a/1.csv"]
    assert fs.glob(f"lochan://{ROOT}/**/*.csv") == [
        f"{ROOT}/{name}" for name in ("a/1.csv", "a/b/2.csv", "ab/4.csv")
    ]
    assert fs.glob(f"{ROOT}/a/*") == [f"{ROOT}/a/1.csv", f"{ROOT}/a/b"]
    assert f"{ROOT}/a/b/c" in fs.find(f"{ROOT}/a", withdirs=True)


def test_ranges_count_from_either_end(fs: LochanFileSystem) -> None:
    fs.pipe(f"{ROOT}/r", b"0123456789")
    read = fs.cat_file

    assert read(f"{ROOT}/r", 2, 4) == b"23"
    assert read(f"{ROOT}/r", -3) == b"789"
    assert read(f"{ROOT}/r", -5, -3) == b"56"
    assert read(f"{ROOT}/r", None, 3) == b"012"
    assert fs.cat_ranges([f"{ROOT}/r"] * 2, [0, 8], [2, 99]) == [b"01", b"89"]
    assert fs.tail(f"{ROOT}/r", 2) == b"89"


def test_files_are_read_and_written_through_open(fs: LochanFileSystem) -> None:
    with fs.open(f"{ROOT}/t.txt", "w", encoding="utf-8") as file:
        file.write("ä\nb\n")
    with fs.open(f"{ROOT}/z.gz", "wb", compression="gzip") as file:
        file.write(b"packed")

    assert fs.open(f"{ROOT}/t.txt", "r", encoding="utf-8").readlines() == ["ä\n", "b\n"]
    assert fs.open(f"{ROOT}/z.gz", "rb", compression="infer").read() == b"packed"
    with fsspec.open(f"lochan://{ROOT}/y.bz2", "w", compression="bz2", lake=fs.lake) as file:
        file.write("packed")
    assert fs.open(f"{ROOT}/y.bz2", "r", compression="bz2").read() == "packed"
    with fs.open(f"{ROOT}/t.txt", "rb", cache_type="bytes", block_size=2) as file:
        file.seek(3)
        assert file.readline() == b"b\n"


@pytest.mark.parametrize(("mode", "codec"), [("w", None), ("wb", "gzip"), ("w", "bz2")])
def test_an_error_in_the_block_writes_nothing(
    fs: LochanFileSystem, mode: str, codec: str | None
) -> None:
    def fail() -> None:
        with fs.open(f"{ROOT}/w", mode, compression=codec) as file:
            file.write(b"half" if "b" in mode else "half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert paths(fs) == []


def test_appending_is_refused_clearly(fs: LochanFileSystem) -> None:
    for mode in ("ab", "r+b"):
        with pytest.raises(io.UnsupportedOperation, match="replaced whole"):
            fs.open(f"{ROOT}/a", mode)


def test_renames_are_by_metadata(fs: LochanFileSystem, lake: Lake) -> None:
    fs.pipe({f"{ROOT}/a/1": b"1", f"{ROOT}/a/b/2": b"2", f"{ROOT}/c/3": b"3"})
    before = lake.object(f"lochan://{ROOT}/a/1").stat().physical_address
    fs.mv(f"{ROOT}/a/1", f"{ROOT}/one")
    fs.mv(f"{ROOT}/a", f"{ROOT}/new", recursive=True)
    fs.mv(f"{ROOT}/new", f"{ROOT}/c", recursive=True)
    fs.mv(f"{ROOT}/c/3", f"{ROOT}/c/new/")

    assert paths(fs) == ["c/new/3", "c/new/b/2", "one"]
    assert lake.object(f"lochan://{ROOT}/one").stat().physical_address == before
    with pytest.raises(FileNotFoundError):
        fs.mv(f"{ROOT}/nope", f"{ROOT}/x")


def test_a_folder_is_renamed_by_one_request(fs: LochanFileSystem, lake: Lake) -> None:
    fs.pipe({f"{ROOT}/a/{number}": b"" for number in range(9)})
    writes: list[str] = []
    hooks = lake.transport._http.event_hooks
    hooks["request"].append(lambda sent: writes.append(f"{sent.method} {sent.url.path}"))
    fs.mv(f"{ROOT}/a", f"{ROOT}/b", recursive=True)
    hooks["request"].clear()

    written = [asked for asked in writes if not asked.startswith("GET")]
    assert [asked.rpartition("/")[2] for asked in written] == ["rename"]
    assert len(paths(fs, f"{ROOT}/b")) == 9


def test_copies_go_between_branches_and_repositories(fs: LochanFileSystem, lake: Lake) -> None:
    lake.repository("fs-lake").branch("side").create("main", exist_ok=True)
    lake.repository("other-lake").create(exist_ok=True)
    fs.pipe(f"{ROOT}/d/a", b"1")
    fs.cp_file(f"{ROOT}/d/a", "fs-lake/side/a")
    fs.cp(f"{ROOT}/d", "other-lake/main/d", recursive=True)
    fs.mv(f"{ROOT}/d/a", "fs-lake/side/b")

    assert fs.cat(["fs-lake/side/a", "fs-lake/side/b", "other-lake/main/d/a"]) == {
        "fs-lake/side/a": b"1",
        "fs-lake/side/b": b"1",
        "other-lake/main/d/a": b"1",
    }
    assert paths(fs) == []


def test_folders_are_deleted_with_all_in_them(fs: LochanFileSystem) -> None:
    fs.pipe({f"{ROOT}/a/{number}": b"" for number in range(5)} | {f"{ROOT}/ab": b""})
    fs.rm(f"{ROOT}/a", recursive=True)
    assert paths(fs) == ["ab"]
    fs.rm_file(f"{ROOT}/ab")
    for call in (fs.rm, fs.rm_file):
        with pytest.raises(FileNotFoundError):
            call(f"{ROOT}/ab")


def test_a_transaction_writes_all_at_its_end(fs: LochanFileSystem, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"3")
    with fs.transaction:
        fs.pipe_file(f"{ROOT}/a", b"1")
        with fs.open(f"{ROOT}/b", "wb") as file:
            file.write(b"2")
        fs.put_file(str(tmp_path / "f"), f"{ROOT}/c")
        assert paths(fs) == []

    assert fs.cat(f"{ROOT}/*") == {
        f"{ROOT}/{n}": n_ for n, n_ in zip("abc", [b"1", b"2", b"3"], strict=True)
    }


def test_a_transaction_that_fails_writes_nothing(fs: LochanFileSystem) -> None:
    def fail() -> None:
        with fs.transaction, fs.open(f"{ROOT}/a", "wb") as file:
            file.write(b"1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert paths(fs) == []


def test_callbacks_hear_of_every_byte(fs: LochanFileSystem, tmp_path: Path) -> None:
    (tmp_path / "up").write_bytes(b"x" * 3_000_000)
    up, down = Callback(), Callback()
    fs.put_file(str(tmp_path / "up"), f"{ROOT}/f", callback=up)
    fs.get_file(f"{ROOT}/f", str(tmp_path / "down"), callback=down)

    assert (up.size, up.value) == (down.size, down.value) == (3_000_000, 3_000_000)
    assert (tmp_path / "down").stat().st_size == 3_000_000


def test_a_lake_that_cannot_be_asked_is_not_an_empty_folder(fs: LochanFileSystem) -> None:
    away = LochanFileSystem(host="127.0.0.1:1", username="u", password="p", retries=0)
    for ask in (away.ls, away.find, away.exists, away.isdir, away.glob):
        with pytest.raises(Unavailable, match="no server answers"):
            ask(f"{ROOT}/a*" if ask == away.glob else f"{ROOT}/a")


def test_a_filesystem_over_a_folder_can_be_sent_to_another_process(tmp_path: Path) -> None:
    fs = fsspec.filesystem("lochan", lake=str(tmp_path / "lake"))
    fs.lake.repository("sent").create()
    fs.pipe("sent/main/a", b"1")

    assert pickle.loads(pickle.dumps(fs)).cat("sent/main/a") == b"1"
    fs.lake.close()
    type(fs).clear_instance_cache()


def test_options_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(LochanError, match="not both"):
        LochanFileSystem(host="h:1", lake="x")
