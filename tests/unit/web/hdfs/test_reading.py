# SPDX-License-Identifier: Apache-2.0
"""Status, listings, summaries and bytes, by the operations of WebHDFS."""

import pytest

from lochan.web.hdfs import listed
from support.hdfs import Hdfs, exception


def test_a_file_has_its_size_and_time(hdfs: Hdfs) -> None:
    hdfs.objects.put("a/b.csv", b"1,2\n")
    found = hdfs.status("a/b.csv")
    assert (found["type"], found["length"], found["pathSuffix"]) == ("FILE", 4, "")
    stat = hdfs.objects.stat("a/b.csv").json
    assert found["modificationTime"] // 1000 == stat["mtime"]


@pytest.mark.parametrize("path", ["/", "/lake", "/lake/main", "a", "a/b/"])
def test_what_has_keys_below_it_is_a_directory(hdfs: Hdfs, path: str) -> None:
    hdfs.objects.put("a/b/c")
    found = hdfs.status(path)
    assert (found["type"], found["length"]) == ("DIRECTORY", 0)


@pytest.mark.parametrize("path", ["a/b", "ab", "/lake/none/a", "/none", "/none/main/a", "a/c/d"])
def test_what_is_not_there_is_a_missing_file(hdfs: Hdfs, path: str) -> None:
    hdfs.objects.put("a/bc")
    assert exception(hdfs.get("GETFILESTATUS", path)) == (404, "FileNotFoundException")
    if path != "/none":
        assert exception(hdfs.get("LISTSTATUS", path)) == (404, "FileNotFoundException")


def test_a_directory_lists_files_and_directories(hdfs: Hdfs) -> None:
    for path in ("a/1", "a/b/2", "a/b/3", "a-1", "b"):
        hdfs.objects.put(path)
    assert hdfs.names() == ["a-1", "a/", "b"]
    assert hdfs.names("a") == ["1", "b/"]
    assert hdfs.names("a/b") == ["2", "3"]


def test_the_root_lists_repositories_and_a_repository_its_branches(hdfs: Hdfs) -> None:
    assert hdfs.names("/") == ["lake/"]
    assert hdfs.names("/lake") == ["main/"]


def test_a_file_lists_itself_and_an_empty_branch_nothing(hdfs: Hdfs) -> None:
    assert hdfs.names() == []
    hdfs.objects.put("a/b")
    assert hdfs.names("a/b") == [""]


def test_names_that_are_no_ascii_are_found_again(hdfs: Hdfs) -> None:
    hdfs.write("größe=1/ü b.csv", b"1")
    assert hdfs.names() == ["größe=1/"]
    assert hdfs.names("größe=1") == ["ü b.csv"]
    assert hdfs.read("größe=1/ü b.csv") == b"1"


def test_a_commit_lists_and_reads_what_it_holds_whatever_the_branch_shows(hdfs: Hdfs) -> None:
    hdfs.objects.put("a/b", b"old")
    at = "/repositories/lake/branches/main/commits"
    commit = hdfs.api.post(at, json={"message": "x"}).json["id"]
    hdfs.objects.put("a/b", b"new")
    hdfs.objects.put("a/c")
    assert hdfs.names(f"/lake/{commit}/a") == ["b"]
    assert hdfs.read(f"/lake/{commit}/a/b") == b"old"
    assert hdfs.read("a/b") == b"new"


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed, "PAGE", 3)


PATHS = ["d", "d-1", "d-2", "d/x", "e/1", "e/2", "f", "g/h/i", "j", "k/l"]


@pytest.mark.usefixtures("small_pages")
def test_a_large_directory_is_listed_whole_in_one_answer(hdfs: Hdfs) -> None:
    for path in PATHS:
        hdfs.objects.put(f"t/{path}")
    assert hdfs.names("t") == ["d", "d-1", "d-2", "d/", "e/", "f", "g/", "j", "k/"]


@pytest.mark.parametrize("page", [2, 3, 4, 5])
def test_batches_give_each_name_once_though_a_file_and_a_directory_share_one(
    hdfs: Hdfs, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(listed, "PAGE", page)
    for path in PATHS:
        hdfs.objects.put(f"t/{path}")
    found: list[str] = []
    remaining = 1
    while remaining and len(found) < 20:
        after = found[-1].rstrip("/") if found else ""
        answer = hdfs.get("LISTSTATUS_BATCH", "t", startafter=after).json["DirectoryListing"]
        rows = answer["partialListing"]["FileStatuses"]["FileStatus"]
        found += [row["pathSuffix"] + "/" * (row["type"] == "DIRECTORY") for row in rows]
        remaining = answer["remainingEntries"]
    assert found == ["d", "d-1", "d-2", "d/", "e/", "f", "g/", "j", "k/"]


def test_a_batch_of_a_file_of_nothing_and_of_the_root(hdfs: Hdfs) -> None:
    hdfs.objects.put("a/b")
    batch = hdfs.get("LISTSTATUS_BATCH", "a/b").json["DirectoryListing"]
    assert batch["partialListing"]["FileStatuses"]["FileStatus"][0]["type"] == "FILE"
    assert exception(hdfs.get("LISTSTATUS_BATCH", "c")) == (404, "FileNotFoundException")
    batch = hdfs.get("LISTSTATUS_BATCH", "/").json["DirectoryListing"]
    assert batch["partialListing"]["FileStatuses"]["FileStatus"][0]["pathSuffix"] == "lake"


def test_a_summary_counts_files_directories_and_bytes(hdfs: Hdfs) -> None:
    for path in ("a/1", "a/b/2", "a/b/3", "a/c/d/4", "e"):
        hdfs.objects.put(path, b"12345")
    hdfs.make("a/empty")
    found = hdfs.get("GETCONTENTSUMMARY", "a").json["ContentSummary"]
    assert (found["fileCount"], found["directoryCount"], found["length"]) == (4, 5, 20)
    found = hdfs.get("GETCONTENTSUMMARY", "e").json["ContentSummary"]
    assert (found["fileCount"], found["directoryCount"], found["length"]) == (1, 0, 5)
    assert exception(hdfs.get("GETCONTENTSUMMARY", "f")) == (404, "FileNotFoundException")


@pytest.mark.parametrize("size", [0, 10, 300_000])
def test_a_file_is_read_from_any_offset(hdfs: Hdfs, size: int) -> None:
    content = (b"0123456789" * (size // 10))[:size]
    hdfs.objects.put("a", content)
    assert hdfs.read("a") == content
    assert hdfs.read("a", offset=size // 2) == content[size // 2 :]
    assert hdfs.read("a", offset=size) == b""
    assert hdfs.read("a", offset=size // 2, length=3) == content[size // 2 : size // 2 + 3]
    beyond = hdfs.follow("GET", hdfs.get("OPEN", "a"), offset=size + 1)
    assert exception(beyond) == (403, "IOException")


def test_an_open_file_stays_one_version_while_its_branch_moves_on(hdfs: Hdfs) -> None:
    hdfs.objects.put("a", b"first version")
    opened = hdfs.get("OPEN", "a")
    hdfs.objects.put("a", b"second")
    assert hdfs.follow("GET", opened, offset=6).content == b"version"
    hdfs.delete("a")
    assert hdfs.follow("GET", opened).content == b"first version"


def test_rel_S16_a_pin_opens_only_the_path_that_it_was_made_for(hdfs: Hdfs) -> None:
    hdfs.objects.put("a", b"secret")
    hdfs.objects.put("b", b"public")
    pin = hdfs.get("OPEN", "a").headers["location"].partition("&pin=")[2]
    for wrong in (pin, pin[:-2], "x.y", "é"):
        answer = hdfs.api.ask(
            "GET", "/webhdfs/v1/lake/main/b", prefix="", params={"op": "OPEN", "pin": wrong}
        )
        assert exception(answer) == (400, "IllegalArgumentException")


def test_what_is_no_file_cannot_be_opened(hdfs: Hdfs) -> None:
    hdfs.objects.put("a/b")
    for path in ("a", "c", "", "/lake", "/"):
        assert exception(hdfs.get("OPEN", path)) == (404, "FileNotFoundException")


def test_rel_S17_no_answer_has_a_type_and_none_may_be_guessed(hdfs: Hdfs) -> None:
    hdfs.objects.put("page.html", b"<script>alert(1)</script>", content_type="text/html")
    opened = hdfs.get("OPEN", "page.html")
    for answer in (opened, hdfs.follow("GET", opened), hdfs.get("GETFILESTATUS", "page.html")):
        assert answer.headers["content-type"] == ""  # which the server does not send
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-disposition"] == "attachment"
        assert "sandbox" in answer.headers["content-security-policy"]
