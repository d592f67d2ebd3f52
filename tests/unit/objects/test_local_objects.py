# SPDX-License-Identifier: Apache-2.0
import errno
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event, Thread

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import (
    Corruption,
    InvalidInput,
    LochanError,
    PredicateFailed,
    Refused,
    Unavailable,
    UnknownOutcome,
)
from lochan.objects.drivers.local import LocalObjects, disk
from lochan.objects.drivers.local import store as driver
from lochan.objects.store import IF_ABSENT, IfMatch
from lochan.testing.objects_puts import AWKWARD

ENVIRONMENT = RealEnvironment()
BODY = b"some bytes"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "lake"


@pytest.fixture
def store(root: Path) -> LocalObjects:
    return LocalObjects(root, ENVIRONMENT)


def files(folder: Path) -> set[str]:
    found = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return {str(path.relative_to(folder)) for path in found}


def test_no_address_reaches_out_of_the_root(store: LocalObjects, root: Path) -> None:
    outside = root.parent / "lake2"
    outside.mkdir()
    for address in [*AWKWARD, f"{outside}/x", "../lake2/x", "data/../../lake2/x", "data/./../x"]:
        store.put(address, b"1")
        assert store.local_path(address).resolve().is_relative_to(root)

    assert {path.name for path in root.parent.iterdir()} == {"lake", "lake2"}
    assert list(outside.iterdir()) == []
    assert {path.name for path in root.iterdir()} == {".lochan", "~keys", "data"}


def test_folders_and_files_are_the_owners_alone(store: LocalObjects, root: Path) -> None:
    store.put("data/1/a", BODY)
    store.put("x/y", BODY)

    folders = [root, *(path for path in root.rglob("*") if path.is_dir())]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o777 for path in folders} == {0o700}
    assert {stat.S_IMODE((root / name).stat().st_mode) for name in files(root)} == {0o600}


@pytest.mark.parametrize(("link", "to"), [("data", "."), ("data/1", "1"), ("data/1/a", "1/a")])
def test_a_symbolic_link_is_never_followed(
    store: LocalObjects, root: Path, link: str, to: str
) -> None:
    outside = root.parent / "outside"
    (outside / "1").mkdir(parents=True)
    (outside / "1/a").write_bytes(b"secret")
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(outside / to)
    before = files(outside)

    for call in (
        lambda: store.get("data/1/a").read(),
        lambda: store.put("data/1/a/b" if link == "data/1/a" else "data/1/a", BODY),
        lambda: store.copy("data/1/a", "data/2/a"),
    ):
        with pytest.raises(Corruption, match="symbolic link"):
            call()
    assert files(outside) == before
    assert (outside / "1/a").read_bytes() == b"secret"


def test_a_put_or_delete_of_a_linked_name_touches_the_link_alone(
    store: LocalObjects, root: Path
) -> None:
    outside = root.parent / "outside"
    outside.write_bytes(b"secret")
    (root / "data/1").mkdir(parents=True)
    (root / "data/1/a").symlink_to(outside)
    (root / "data/1/b").symlink_to(outside)

    assert store.list("data/").entries == ()
    store.put("data/1/a", BODY)
    store.delete("data/1/b")
    assert store.get("data/1/a").read() == BODY
    assert outside.read_bytes() == b"secret"
    assert not (root / "data/1/b").is_symlink()


def swap_with_link(folder: Path, outside: Path, done: Event) -> None:
    """Put a link in a folder's place and take it away again, over and over."""
    away = folder.with_name("away")
    while not done.is_set():
        shutil.rmtree(away, ignore_errors=True)
        with suppress(OSError):  # the store makes the folder anew in between
            folder.rename(away)
            folder.symlink_to(outside)
            folder.unlink()
            away.rename(folder)


def test_no_race_with_a_link_leads_out_of_the_root(store: LocalObjects, root: Path) -> None:
    outside = root.parent / "outside"
    (outside / "1").mkdir(parents=True)
    (outside / "1/a").write_bytes(b"secret")
    done = Event()
    thread = Thread(target=swap_with_link, args=(root / "data", outside, done))
    thread.start()
    seen: set[object] = set()
    try:
        for number in count():
            if number >= 300 and (seen or number >= 100_000):
                break
            with suppress(LochanError):
                store.put("data/1/a", b"%d" % number)
            with suppress(LochanError):
                seen.add(store.get("data/1/a").read())
    finally:
        done.set()
        thread.join()
    assert seen
    assert b"secret" not in seen
    assert (outside / "1/a").read_bytes() == b"secret"
    assert files(outside) == {"1/a"}


@pytest.mark.parametrize(("first", "second"), [("data/1", "data/1/a"), ("data/1/a", "data/1")])
def test_in_a_tree_an_object_is_not_a_folder_too(
    store: LocalObjects, first: str, second: str
) -> None:
    store.put(first, BODY)
    for when in (IF_ABSENT, IfMatch("0-0-0")):
        with pytest.raises(LochanError):
            store.put(second, b"other", when=when)
    with pytest.raises(InvalidInput):
        store.put(second, b"other")
    assert store.get(first).read() == BODY

    store.delete(first)
    store.put(second, b"other", when=IF_ABSENT)
    assert store.get(second).read() == b"other"


def test_an_empty_folder_left_by_a_crash_is_in_nobodys_way(store: LocalObjects, root: Path) -> None:
    (root / "data/1/a").mkdir(parents=True)

    assert store.list(delimiter="/").prefixes == ()
    store.put("data/1/a", BODY, when=IF_ABSENT)
    assert store.get("data/1/a").read() == BODY


def test_empty_folders_go_with_their_last_object(store: LocalObjects, root: Path) -> None:
    store.put("data/1/2/3/a", BODY)
    store.put("data/1/b", BODY)
    store.delete("data/1/2/3/a")
    assert sorted(path.name for path in (root / "data/1").iterdir()) == ["b"]

    store.delete("data/1/b")
    assert not (root / "data").exists()


def test_files_of_others_are_read_by_their_address_and_strays_are_passed_over(
    store: LocalObjects, root: Path
) -> None:
    folder = root / "data/1/0/Country=DE"
    folder.mkdir(parents=True)
    (folder / "part-0.snappy.parquet").write_bytes(BODY)
    (folder / ".part-0.snappy.parquet.crc").write_bytes(b"stray")
    (root / "data/1/\u00e9").write_bytes(b"stray")
    (root / "stray").write_bytes(b"stray")
    os.mkfifo(root / "data/1/pipe")

    address = "data/1/0/Country=DE/part-0.snappy.parquet"
    assert [listed.address for listed in store.list().entries] == [address]
    assert store.get(address).read() == BODY
    store.put(address, b"new", when=IfMatch(store.head(address).etag))


def test_an_etag_outlives_the_store_and_names_one_version(store: LocalObjects, root: Path) -> None:
    etags = [store.put("data/1/a", BODY).etag for _ in range(50)]
    store.close()

    assert len(set(etags)) == 50
    with LocalObjectsOpened(root) as again:
        assert again.head("data/1/a").etag == etags[-1]


class LocalObjectsOpened:
    """A store that is closed at the end of a block."""

    def __init__(self, root: Path) -> None:
        self.store = LocalObjects(root, ENVIRONMENT)

    def __enter__(self) -> LocalObjects:
        return self.store

    def __exit__(self, *_: object) -> None:
        self.store.close()


def test_what_dead_writers_left_is_swept_and_what_living_ones_write_is_not(
    store: LocalObjects, root: Path
) -> None:
    dead = root / ".lochan/incoming/dead"
    dead.write_bytes(b"half a body")

    def body() -> list[bytes]:
        with LocalObjectsOpened(root):  # another opener sweeps while we are in the middle
            assert not dead.exists()
        return [BODY]

    halves: list[Callable[[], list[bytes]]] = [lambda: [b"first "], body]
    store.put("data/1/a", (piece for half in halves for piece in half()))
    assert store.get("data/1/a").read() == b"first " + BODY
    assert files(root / ".lochan") == {"layout"}


@pytest.mark.parametrize(("sync", "stored"), [(1, False), (2, True)])
def test_after_a_failed_sync_nothing_more_is_written(
    store: LocalObjects, monkeypatch: pytest.MonkeyPatch, sync: int, *, stored: bool
) -> None:
    store.put("data/1/a", BODY)
    calls = []

    def failing(_: int) -> None:
        calls.append(1)
        if len(calls) == sync:
            raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(disk, "_sync", failing)
    with pytest.raises(Unavailable) as caught:
        store.put("data/1/b", BODY)

    assert isinstance(caught.value, UnknownOutcome) is stored
    for call in (lambda: store.put("data/1/c", BODY), lambda: store.delete("data/1/a")):
        with pytest.raises(Unavailable, match="restart"):
            call()
    assert store.get("data/1/a").read() == BODY


LIMITED = """
import resource, sys
from pathlib import Path
from lochan.environment import RealEnvironment
from lochan.errors import Unavailable
from lochan.objects.drivers.local import LocalObjects

store = LocalObjects(Path(sys.argv[1]), RealEnvironment())
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
try:
    store.put("data/1/a", [bytes(60_000), bytes(60_000)])
except Unavailable as error:
    print("refused", error)
store.put("data/1/b", bytes(60_000))
"""


def test_a_disk_that_takes_no_more_leaves_nothing_of_the_object(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, root], capture_output=True, text=True, check=True
    )

    assert done.stdout.startswith("refused")
    assert files(root) == {".lochan/layout", "data/1/b"}


class RenamesLate:
    """The module `os`, whose first rename waits until another put has had its chance."""

    def __init__(self, chance: Callable[[], object]) -> None:
        self._chances = [chance]

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)

    def rename(self, source: str, target: str, **folders: int) -> None:
        if self._chances:
            self._chances.pop()()
        os.rename(source, target, **folders)  # noqa: PTH104  needs dir_fd


@pytest.mark.parametrize("others_turn", ["put", "delete"])
def test_between_the_look_at_a_version_and_its_replacement_nobody_comes(
    store: LocalObjects, root: Path, monkeypatch: pytest.MonkeyPatch, others_turn: str
) -> None:
    first = IfMatch(store.put("data/1/a", b"first").etag)
    outcomes: list[object] = []

    def others() -> None:
        with LocalObjectsOpened(root) as other:
            if others_turn == "delete":
                other.delete("data/1/a")
                outcomes.append(None)
                return
            try:
                other.put("data/1/a", b"other", when=first)
            except PredicateFailed as error:
                outcomes.append(error)

    thread = Thread(target=others)

    def give_chance() -> None:
        thread.start()
        thread.join(timeout=0.3)  # a store without a lock lets it end here, and both succeed

    monkeypatch.setattr(driver, "os", RenamesLate(give_chance))
    store.put("data/1/a", b"own", when=first)
    thread.join()
    if others_turn == "put":
        assert len(outcomes) == 1
        assert store.get("data/1/a").read() == b"own"
    else:
        assert store.list("data/").entries == ()


def test_a_layout_of_a_newer_lochan_is_refused(store: LocalObjects, root: Path) -> None:
    store.close()
    (root / ".lochan/layout").write_bytes(b'{"version": 2, "folds_case": false}')
    with pytest.raises(Refused):
        LocalObjects(root, ENVIRONMENT)
    (root / ".lochan/layout").write_bytes(b"{")
    with pytest.raises(Corruption):
        LocalObjects(root, ENVIRONMENT)


def test_the_layout_says_how_names_are_written(root: Path) -> None:
    (root / ".lochan").mkdir(parents=True)
    (root / ".lochan/layout").write_bytes(b'{"version": 1, "folds_case": true}')
    store = LocalObjects(root, ENVIRONMENT)
    for address in ("A", "a", "data/1/X.CSV"):
        store.put(address, address.encode())

    assert [listed.address for listed in store.list().entries] == ["A", "a", "data/1/X.CSV"]
    names = [name.lower() for name in files(root)]
    assert len(set(names)) == len(names)
    assert store.local_path("A").name == "~41"


def test_a_root_that_is_no_folder_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Unavailable):
        LocalObjects(tmp_path / "file", ENVIRONMENT)


def test_a_folder_is_marked_durable_once(store: LocalObjects, root: Path) -> None:
    store.put("data/1/a", BODY)

    assert (root / "data").stat().st_mode & stat.S_ISVTX
    assert (root / "data/1").stat().st_mode & stat.S_ISVTX
