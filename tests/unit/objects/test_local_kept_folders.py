# SPDX-License-Identifier: Apache-2.0
"""What a store on local files holds open: a few folders for a second, and nothing else."""

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import Corruption, LochanError, NotFound
from lochan.objects.drivers.local import LocalObjects
from lochan.objects.drivers.local.kept import MOST_KEPT
from lochan.objects.store import IfMatch

ENVIRONMENT = RealEnvironment()
BODY = b"what was put"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


@pytest.fixture
def store(root: Path) -> Iterator[LocalObjects]:
    with closing(LocalObjects(root, ENVIRONMENT)) as store:
        yield store


def open_files(root: Path) -> int:
    """Count the files and folders below a root that this process holds open."""
    found = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the listing's own
            found += descriptor.readlink().is_relative_to(root)
    return found


def test_a_store_holds_no_files_open_after_its_calls(store: LocalObjects, root: Path) -> None:
    store.put("data/1/a", BODY)
    store.get("data/1/a").read()  # its folder is kept for the next one
    before = open_files(root)
    for _ in range(20):
        store.put("data/1/a", BODY, when=IfMatch(store.head("data/1/a").etag))
        store.get("data/1/a").read()
        store.list(delimiter="/")
        store.copy("data/1/a", "data/2/b")
        store.delete("data/2/b")
        with pytest.raises(LochanError):
            store.put("data/1/a", [b"x"], size=2)
        with pytest.raises(NotFound):
            store.get("data/1/b")
    assert open_files(root) == before


def test_a_few_folders_are_kept_open_until_the_store_is_closed(root: Path) -> None:
    with closing(LocalObjects(root, ENVIRONMENT)) as store:
        opened = open_files(root)
        for number in range(3 * MOST_KEPT):
            store.put(f"data/{number}/a", BODY)
            assert store.get(f"data/{number}/a").read() == BODY
            assert open_files(root) <= opened + MOST_KEPT
    assert open_files(root) == 0


def test_what_lies_in_a_folder_made_again_is_found(store: LocalObjects) -> None:
    for content in (b"one", b"other"):
        store.put("data/1/a", content)
        assert store.get("data/1/a").read() == content
        store.delete("data/1/a")  # and its folder with it
        with pytest.raises(NotFound):
            store.get("data/1/a")


def test_a_link_that_takes_the_name_of_a_file_in_a_kept_folder_is_refused(
    store: LocalObjects, root: Path
) -> None:
    store.put("data/1/a", BODY)
    store.get("data/1/a").read()
    (root / "data" / "1" / "a").unlink()
    (root / "data" / "1" / "a").symlink_to("/etc/passwd")
    with pytest.raises(Corruption):
        store.get("data/1/a")
