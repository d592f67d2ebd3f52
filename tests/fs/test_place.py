# SPDX-License-Identifier: Apache-2.0
"""Paths of the filesystem, with and without scheme and server."""

import pytest
from fsspec.core import url_to_fs

from lochan.fs.place import Place, place_of, server_of, stripped

CASES = [
    ("lochan://repo/main/a/b", "", "repo/main/a/b"),
    ("lakefs://repo/main/a/b/", "", "repo/main/a/b"),
    ("lochan://host:8000/repo/main/a", "host:8000", "repo/main/a"),
    ("lochan://[::1]:8000/repo/main", "[::1]:8000", "repo/main"),
    ("lochan://127.0.0.1:80", "127.0.0.1:80", ""),
    ("lochan://", "", ""),
    ("repo/main/a", "", "repo/main/a"),
    ("/repo/main/a", "", "repo/main/a"),
    ("repo/main/a:80/b", "", "repo/main/a:80/b"),
]


@pytest.mark.parametrize(("text", "server", "path"), CASES)
def test_scheme_and_server_are_taken_off(text: str, server: str, path: str) -> None:
    assert (server_of(text), stripped(text)) == (server, path)
    assert stripped(path) == path


def test_a_path_is_repository_ref_and_the_rest() -> None:
    assert place_of("repo/main/a/b") == Place("repo", "main", "a/b")
    assert place_of("repo") == Place("repo")
    assert place_of("") == Place("")
    assert Place("repo", "main").prefix == ""
    assert Place("repo", "main", "a").prefix == "a/"


def test_fsspec_finds_the_filesystem_by_its_entry_point() -> None:
    fs, path = url_to_fs("lochan://127.0.0.1:1/repo/main/a.csv", username="u", password="p")

    assert type(fs).__name__ == "LochanFileSystem"
    assert path == "repo/main/a.csv"
    assert fs.lake.transport.endpoint == "http://127.0.0.1:1"
