# SPDX-License-Identifier: Apache-2.0
"""Plain files as objects: read and listed, never written, and only where it was allowed."""

from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, NotFound, Refused
from lochan.objects.drivers.plain import PlainFiles
from lochan.objects.foreign import is_full, split_foreign, split_prefix
from lochan.objects.open import open_objects
from lochan.objects.store import Span
from lochan.objects.walk import walk, walk_beside, walk_prefixes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "in"
    for name in ("a.csv", "a/b", "a/c/d", "a-b", "z"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(name.encode()) if name != "a/b" else None
    (root / "a/b").write_bytes(b"a/b")
    (tmp_path / "secret").write_bytes(b"secret")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "out").symlink_to(tmp_path)
    return root


def opened(folder: Path) -> PlainFiles:
    return PlainFiles([folder], folder)


def test_a_url_says_which_folders_may_be_read(folder: Path) -> None:
    allowed = f"file:///?allow=/nowhere:{quote(str(folder))}"
    store = open_objects(allowed, RealEnvironment())
    assert store.get(str(folder / "z")[1:]).read() == b"z"
    with pytest.raises(Refused):
        open_objects("file:///", RealEnvironment()).get(str(folder / "z")[1:])
    for wrong in ("file:///srv", "file:///?only=/"):
        with pytest.raises(InvalidInput):
            open_objects(wrong, RealEnvironment())


def test_a_folder_that_is_denied_is_not_read_by_any_way(folder: Path) -> None:
    (folder / "way").symlink_to(folder / "a")
    url = f"file:///?allow={quote(str(folder))}&deny={quote(str(folder / 'a'))}"
    store = open_objects(url, RealEnvironment())
    assert store.head(str(folder / "z")[1:]).size == 1
    for name in ("a/b", "way/b", "a/c/d"):
        with pytest.raises(Refused):
            store.get(str(folder / name)[1:])
    with pytest.raises(Refused):
        list(walk(store, f"{folder}/a/"[1:]))


def test_files_are_listed_in_the_order_of_their_names_by_pages_of_any_size(folder: Path) -> None:
    store = opened(folder)
    names = ["a-b", "a.csv", "a/b", "a/c/d", "z"]
    for limit in range(1, 7):
        assert [found.address for found in walk(store, limit=limit)] == names
    assert [found.address for found in walk(store, "a/")] == ["a/b", "a/c/d"]
    assert [found.address for found in walk(store, "a/c")] == ["a/c/d"]
    assert list(walk_prefixes(store, limit=1)) == ["a/"]


def test_files_are_read_whole_and_in_part(folder: Path) -> None:
    store = opened(folder)
    assert store.get("a/c/d").read() == b"a/c/d"
    assert store.get("a.csv", Span(2, 4)).read() == b"cs"
    assert store.head("a/b").size == 3


@pytest.mark.parametrize("name", ["nothing", "a", "a.csv/x"])
def test_what_is_no_file_is_not_found(folder: Path, name: str) -> None:
    for ask in (opened(folder).get, opened(folder).head):
        with pytest.raises(NotFound):
            ask(name)


def test_nothing_outside_of_the_allowed_folders_is_read(folder: Path) -> None:
    inside = opened(folder)
    for name in ("link", "out/secret"):
        with pytest.raises(Refused, match="in no folder that may be read"):
            inside.get(name)
    for name in ("../secret", "a/../a.csv", "a//b"):
        with pytest.raises(InvalidInput):
            inside.get(name)
    with pytest.raises(Refused):
        inside.list("out/")
    anywhere = PlainFiles([folder])
    with pytest.raises(Refused):
        anywhere.head(str(folder.parent / "secret")[1:])
    assert anywhere.get(str(folder / "z")[1:]).read() == b"z"


def test_a_folder_that_is_not_there_is_no_empty_one(folder: Path) -> None:
    with pytest.raises(NotFound, match="no folder 'b/'"):
        opened(folder).list("b/")


def test_nothing_is_ever_written(folder: Path) -> None:
    store = opened(folder)
    for write in (
        lambda: store.put("new", b"x"),
        lambda: store.delete("z"),
        lambda: store.copy("z", "new"),
    ):
        with pytest.raises(Refused):
            write()
    store.close()
    assert not (folder / "new").exists()


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("s3://bucket/a//b?c", ("s3://bucket", "a//b?c")),
        ("file:///srv/a", ("file:///", "srv/a")),
        ("local:///srv/a", ("file:///", "srv/a")),
        ("gs://bucket/a", ("gs://bucket", "a")),
    ],
)
def test_a_full_address_is_split_behind_the_authority(address: str, parts: tuple[str, str]) -> None:
    assert is_full(address)
    assert split_foreign(address) == parts


@pytest.mark.parametrize(
    "address", ["data/1/x", "s3:/a/b", "://a/b", "s3://", "s3://bucket", "s3:///a"]
)
def test_what_names_no_object_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput):
        split_foreign(address)


def test_a_prefix_may_be_a_whole_store() -> None:
    assert split_prefix("s3://bucket") == ("s3://bucket", "")
    assert not is_full("data/1/a://b")


@settings(max_examples=60, deadline=None)
@given(
    st.sets(
        st.lists(st.sampled_from(["a", "b", "a-", "c.csv"]), min_size=1, max_size=4).map(tuple)
    ),
    st.integers(1, 5),
)
def test_pages_that_are_read_beside_each_other_give_every_object_once(
    parts: set[tuple[str, ...]], limit: int
) -> None:
    # A name that is a folder's, too, is no file.
    names = {"/".join(one) for one in parts}
    files = {one for one in names if not any(other.startswith(f"{one}/") for other in names)}
    with TemporaryDirectory() as top:
        for name in files:
            place = Path(top, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(b"x")
        Path(top, "empty/within").mkdir(parents=True)
        store = opened(Path(top))
        found = [one.address for one in walk_beside(store, RealEnvironment(), limit=limit)]
        shown = [one.split("/")[0] + "/" for one in files if "/" in one]
        assert list(walk_prefixes(store, limit=limit)) == sorted(set(shown))
    assert sorted(found) == sorted(files)
