# SPDX-License-Identifier: Apache-2.0
"""getObject and headObject: bytes, ranges, validators, and headers that disarm what is stored."""

import pytest

from lochan.model.entry import AddressType, Entry
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.instant import Instant
from lochan.operations.put_object import stage_entry
from support.object_routes import Objects
from support.web import Api

LARGE = bytes(range(256)) * 8192  # 2 MiB


@pytest.fixture
def objects(api: Api) -> Objects:
    return Objects.made(api)


def test_an_object_comes_back_with_its_headers(objects: Objects) -> None:
    objects.put("a/b.csv", b"1,2\n", content_type="text/csv")
    answer = objects.get("a/b.csv")
    assert (answer.status_code, answer.content) == (200, b"1,2\n")
    assert answer.headers["content-type"] == "text/csv"
    assert answer.headers["content-length"] == "4"
    assert answer.headers["cache-control"] == "no-store, must-revalidate"
    assert answer.headers["last-modified"].endswith(" GMT")


def test_a_large_object_is_streamed_whole(objects: Objects) -> None:
    objects.put("large", LARGE)
    answer = objects.get("large")
    assert answer.content == LARGE
    assert answer.headers["content-length"] == str(len(LARGE))


@pytest.mark.parametrize(
    ("asked", "span"),
    [
        ("bytes=0-0", (0, 1)),
        ("bytes=2-4", (2, 5)),
        ("bytes=7-", (7, 10)),
        ("bytes=-3", (7, 10)),
        ("bytes=-99", (0, 10)),
        ("bytes=8-99999999999999999", (8, 10)),
    ],
)
def test_a_range_gives_206_and_says_which_bytes(
    objects: Objects, asked: str, span: tuple[int, int]
) -> None:
    objects.put("digits", b"0123456789")
    answer = objects.get("digits", {"range": asked})
    start, stop = span
    assert (answer.status_code, answer.content) == (206, b"0123456789"[start:stop])
    assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/10"
    assert objects.head("digits", {"range": asked}).headers["content-length"] == str(stop - start)


@pytest.mark.parametrize("asked", ["bytes=10-", "bytes=10-12", "bytes=-0"])
def test_a_range_that_holds_nothing_gives_416_and_the_size(objects: Objects, asked: str) -> None:
    objects.put("digits", b"0123456789")
    answer = objects.get("digits", {"range": asked})
    assert (answer.status_code, answer.headers["content-range"]) == (416, "bytes */10")
    assert answer.json["code"] == "invalid-range"


def test_a_range_of_an_empty_object_tells_that_it_is_empty(objects: Objects) -> None:
    objects.put("empty", b"")
    answer = objects.get("empty", {"range": "bytes=0-"})
    assert (answer.status_code, answer.headers["content-range"]) == (416, "bytes */0")
    assert objects.get("empty").content == b""


@pytest.mark.parametrize("asked", ["bytes=1-2,4-5", "lines=1-2", "bytes=4-2", "bytes=-", "bytes"])
def test_what_is_no_single_range_is_not_heeded(objects: Objects, asked: str) -> None:
    objects.put("digits", b"0123456789")
    answer = objects.get("digits", {"range": asked})
    assert (answer.status_code, answer.content) == (200, b"0123456789")


def test_a_range_of_a_version_that_is_gone_gives_the_whole(objects: Objects) -> None:
    objects.put("digits", b"0123456789")
    etag = objects.get("digits").headers["etag"]
    assert objects.get("digits", {"range": "bytes=0-1", "if-range": etag}).status_code == 206
    assert objects.get("digits", {"range": "bytes=0-1", "if-range": '"old"'}).status_code == 200


def test_a_version_that_the_client_has_gives_304_without_a_body(objects: Objects) -> None:
    objects.put("a", b"one")
    etag = objects.get("a").headers["etag"]
    for known in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        answer = objects.get("a", {"if-none-match": known})
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] == etag
    assert objects.get("a", {"if-none-match": '"other"'}).status_code == 200


def test_head_tells_what_get_would_and_sends_nothing(objects: Objects) -> None:
    objects.put("a", b"12345", content_type="text/plain")
    got, head = objects.get("a"), objects.head("a")
    drop = {"x-request-id"}
    assert {k: v for k, v in got.headers.items() if k not in drop} == {
        k: v for k, v in head.headers.items() if k not in drop
    }
    assert head.content == b""
    missing = objects.head("nothing")
    assert (missing.status_code, missing.content) == (404, b"")


@pytest.mark.parametrize(
    ("content_type", "place"),
    [
        ("text/plain; charset=utf-8", "inline"),
        ("image/png", "inline"),
        ("IMAGE/PNG", "inline"),
        ("text/html", "attachment"),
        ("image/svg+xml", "attachment"),
        ("application/xhtml+xml", "attachment"),
        ("application/pdf", "attachment"),
        ("text/xml", "attachment"),
        ("application/octet-stream", "attachment"),
    ],
)
def test_rel_S17_GHSA_9phh_an_object_is_served_disarmed(
    objects: Objects, content_type: str, place: str
) -> None:
    objects.put("page.html", b"<script>alert(1)</script>", content_type=content_type)
    for answer in (objects.get("page.html"), objects.head("page.html")):
        headers = answer.headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"] == "default-src 'none'; sandbox"
        assert headers["x-frame-options"] == "SAMEORIGIN"
        assert headers["content-disposition"] == f"{place}; filename*=UTF-8''page.html"


@pytest.mark.parametrize("evil", ["a\r\nset-cookie: x=1", "a\x00b", 'a"; filename=evil.exe', "ü\n"])
def test_rel_S11_nothing_that_people_wrote_can_add_a_header(objects: Objects, evil: str) -> None:
    lake = objects.api.services.lake
    repository = objects.api.services.repositories.fresh("lake")
    stored = lake.storage(repository.storage_namespace).objects
    stored.put("data/x", b"abc")
    entry = Entry(
        address="data/x",
        last_modified=Instant(-(10**18)),
        size=3,
        e_tag=evil,
        address_type=AddressType.RELATIVE,
        content_type=evil,
    )
    stage_entry(lake, repository, BranchName("main"), ObjectKey(evil.encode()), entry)
    answer = objects.get(evil)
    assert answer.content == b"abc"
    assert answer.headers["content-type"] == "application/octet-stream"
    for name, value in answer.headers.items():
        assert all(" " <= letter <= "~" for letter in value), name
    assert "set-cookie" not in answer.headers
    assert answer.headers["etag"].count('"') == 2
    assert '"' not in answer.headers["content-disposition"]


def test_presign_sends_the_client_to_a_url_that_needs_no_credentials(objects: Objects) -> None:
    objects.put("a.txt", b"hello", content_type="text/plain")
    answer = objects.get("a.txt", presign="true")
    assert (answer.status_code, answer.content) == (302, b"")
    fetched = objects.fetch("GET", answer.headers["location"])
    assert (fetched.status_code, fetched.content) == (200, b"hello")
    assert fetched.headers["etag"] == objects.get("a.txt").headers["etag"]


def test_who_may_not_read_gets_nothing_and_not_even_whether_it_is_there(objects: Objects) -> None:
    objects.put("secret", b"x")
    other = objects.as_user("eve")
    assert other.get("secret").status_code == other.get("nothing").status_code == 403
    assert Objects(objects.api.nobody()).get("secret").status_code == 401
