# SPDX-License-Identifier: Apache-2.0
"""An export makes a folder, or a prefix of a store, what a ref shows, and later only the rest."""

from pathlib import Path

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import Conflict, InvalidInput
from lochan.objects.drivers.memory import MemoryObjects
from lochan.objects.walk import walk
from lochan.operations.export_places import StorePlace, open_place
from lochan.operations.export_ref import STATE, export_ref
from support.collected_lake import Ground
from support.lakes import MAIN

WORLD = RealEnvironment()


@pytest.fixture
def ground() -> Ground:
    ground = Ground.open()
    ground.put("a.txt", b"a")
    ground.put("sub/b.txt", b"bb")
    ground.commit()
    return ground


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != STATE)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_a_folder_gets_all_and_later_what_changed(ground: Ground, tmp_path: Path) -> None:
    place = open_place(str(tmp_path / "out"), WORLD)
    first = export_ref(*ground.where, MAIN, place)
    assert (first.written, first.size, first.since) == (2, 3, "")
    assert files(tmp_path / "out") == {"a.txt": b"a", "sub/b.txt": b"bb"}
    ground.put("a.txt", b"new")
    ground.delete("sub/b.txt")
    ground.commit()
    second = export_ref(*ground.where, MAIN, place)
    assert (second.written, second.deleted, second.since) == (1, 0, first.commit_id)
    assert files(tmp_path / "out") == {"a.txt": b"new", "sub/b.txt": b"bb"}


def test_deletes_come_along_if_asked_for(ground: Ground, tmp_path: Path) -> None:
    place = open_place(str(tmp_path), WORLD)
    export_ref(*ground.where, MAIN, place)
    (tmp_path / "sub" / "mine.txt").write_bytes(b"not exported")
    ground.delete("sub/b.txt")
    ground.commit()
    assert export_ref(*ground.where, MAIN, place, delete=True).deleted == 1
    assert files(tmp_path) == {"a.txt": b"a", "sub/mine.txt": b"not exported"}


def test_an_interrupted_export_begins_where_the_last_whole_one_ended(
    ground: Ground, tmp_path: Path
) -> None:
    place = open_place(str(tmp_path), WORLD)
    export_ref(*ground.where, MAIN, place)
    ground.put("a.txt", b"new")
    ground.put("z.txt", b"z")
    ground.commit()

    def stops(objects: int, size: int) -> None:
        raise KeyboardInterrupt(objects, size)

    with pytest.raises(KeyboardInterrupt):
        export_ref(*ground.where, MAIN, place, progress=stops)
    assert export_ref(*ground.where, MAIN, place).written == 2
    assert files(tmp_path) == {"a.txt": b"new", "sub/b.txt": b"bb", "z.txt": b"z"}


def test_what_an_interrupted_export_left_is_mended_by_one_of_another_commit(
    ground: Ground, tmp_path: Path
) -> None:
    place = open_place(str(tmp_path), WORLD)
    export_ref(*ground.where, MAIN, place)
    ground.put("a.txt", b"of a commit that is then undone")
    ground.put("z.txt", b"z")
    ground.commit()

    def stops(objects: int, size: int) -> None:
        raise KeyboardInterrupt(objects, size)

    with pytest.raises(KeyboardInterrupt):
        export_ref(*ground.where, MAIN, place, progress=stops)
    export_ref(*ground.where, "main~1", place, delete=True)
    assert files(tmp_path) == {"a.txt": b"a", "sub/b.txt": b"bb"}


def test_a_store_gets_the_same(ground: Ground) -> None:
    objects = MemoryObjects(WORLD)
    export_ref(*ground.where, MAIN, StorePlace(objects))
    assert [one.address for one in walk(objects)] == [STATE, "a.txt", "sub/b.txt"]


def test_what_is_another_repositorys_is_left_alone(ground: Ground, tmp_path: Path) -> None:
    place = open_place(str(tmp_path), WORLD)
    export_ref(*ground.where, MAIN, place)
    with pytest.raises(Conflict, match="another"):
        export_ref(*Ground.open().where, MAIN, place)


@pytest.mark.parametrize("key", ["../out.txt", "a//b", "/a", "nul\0"])
def test_a_key_that_is_no_path_is_refused(tmp_path: Path, key: str) -> None:
    ground = Ground.open()
    ground.put(key)
    ground.commit()
    with pytest.raises(InvalidInput, match="no path"):
        export_ref(*ground.where, MAIN, open_place(str(tmp_path / "out"), WORLD))


def test_no_link_leads_out_of_the_folder(ground: Ground, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sub").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidInput, match="leads out"):
        export_ref(*ground.where, MAIN, open_place(str(tmp_path / "out"), WORLD))
    assert not list((tmp_path / "elsewhere").iterdir())
