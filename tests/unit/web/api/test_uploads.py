# SPDX-License-Identifier: Apache-2.0
"""uploadObject: bodies raw and in forms, metadata, conditions, and what must not be stored."""

import base64
import hashlib
import io
from pathlib import Path

import pytest
from falcon.testing import Result

from lochan.config.server import Limits
from lochan.config.values import Size
from lochan.web.body import BodyBroken
from support.object_routes import OBJECT, Objects, allow
from support.web import Api, open_api


@pytest.fixture
def objects(api: Api) -> Objects:
    return Objects.made(api)


def form(*parts: tuple[str, bytes, str], end: bytes = b"--edge--\r\n") -> bytes:
    body = b""
    for name, content, kind in parts:
        body += b"--edge\r\n" + f'Content-Disposition: form-data; name="{name}"'.encode()
        body += f'; filename="f"\r\nContent-Type: {kind}\r\n\r\n'.encode() + content + b"\r\n"
    return body + end


FORM = {"content-type": "multipart/form-data; boundary=edge"}


def test_an_upload_is_described_as_lakefs_does(objects: Objects) -> None:
    answer = objects.put("a/b.csv", b"hello", content_type="text/csv")
    told = answer.json
    assert answer.status_code == 201
    assert told["checksum"] == hashlib.md5(b"hello").hexdigest()
    assert (told["path"], told["path_type"], told["size_bytes"]) == ("a/b.csv", "object", 5)
    assert (told["content_type"], told["metadata"]) == ("text/csv", {})
    assert told["physical_address"].startswith("local:///")
    assert objects.stat("a/b.csv").json == told


def test_metadata_keys_keep_their_letters_and_internal_ones_their_prefix(objects: Objects) -> None:
    headers = {
        "X-Lakefs-Meta-my_key": "one",
        "x-lakefs-meta-my-key": "two",
        "x-lakefs-internal-client-mtime": "3",
        "x-other": "no",
    }
    told = objects.upload("a", b"x", headers).json
    expected = {"my_key": "one", "my-key": "two", "::lakefs::client-mtime": "3"}
    assert told["metadata"] == expected


def test_a_body_without_a_type_is_plain_bytes(objects: Objects) -> None:
    assert objects.put("a").json["content_type"] == "application/octet-stream"


@pytest.mark.parametrize("size", [0, 5, 32_768, 1 << 20, (3 << 20) + 1])
def test_a_form_s_part_named_content_is_the_object(objects: Objects, size: int) -> None:
    content = bytes(range(256)) * (size // 256) + b"\r" * (size % 256)
    body = form(("note", b"ignored", "text/plain"), ("content", content, "text/x-thing"))
    told = objects.upload("a", body, FORM).json
    assert (told["size_bytes"], told["content_type"]) == (size, "text/x-thing")
    assert objects.get("a").content == content


@pytest.mark.parametrize(
    "body",
    [
        form(("content", b"abc", "text/plain"), end=b""),
        form(("content", b"abc", "text/plain"), end=b"--edge"),
        form(("content", b"abc" * 20_000, "text/plain"))[:40_000],
        form(("other", b"abc", "text/plain")),
        b"no form at all",
        b"",
    ],
)
def test_a_form_that_is_not_complete_stores_nothing(objects: Objects, body: bytes) -> None:
    answer = objects.upload("a", body, FORM)
    assert (answer.status_code, answer.json["code"]) == (400, "bad-form")
    assert objects.paths() == []


def test_a_form_without_a_boundary_is_refused(objects: Objects) -> None:
    answer = objects.upload("a", b"x", {"content-type": "multipart/form-data"})
    assert (answer.status_code, answer.json["code"]) == (400, "bad-form")


class Breaking(io.BytesIO):
    """A body whose client goes away in the middle."""

    def read(self, size: int | None = -1) -> bytes:
        piece = super().read(size)
        if not piece:
            raise BodyBroken("the request's body ended before it was complete")
        return piece


@pytest.mark.parametrize("headers", [{}, FORM])
def test_a_body_that_breaks_off_leaves_no_entry_and_no_object(
    objects: Objects, headers: dict[str, str]
) -> None:
    body = form(("content", b"abc" * 1000, "text/plain"))[:2000]
    answer = _ask(objects, Breaking(body), {**headers, "transfer-encoding": "chunked"})
    assert (answer.status_code, answer.json["code"]) == (400, "body-incomplete")
    assert objects.paths() == []
    assert _stored(objects) == []


def test_a_body_shorter_than_its_length_is_not_stored(objects: Objects) -> None:
    answer = _ask(objects, io.BytesIO(b"abc"), {"content-length": "4"})
    assert (answer.status_code, answer.json["code"]) == (400, "incomplete-body")
    assert (objects.paths(), _stored(objects)) == ([], [])


def test_an_md5_that_the_client_tells_must_be_the_body_s(objects: Objects) -> None:
    digest = base64.b64encode(hashlib.md5(b"hello").digest()).decode()
    assert objects.put("a", b"hello", content_md5=digest).status_code == 201
    wrong = objects.put("b", b"hellO", content_md5=digest)
    assert (wrong.status_code, wrong.json["code"]) == (400, "bad-digest")
    assert objects.put("b", b"hello", content_md5="what").json["code"] == "bad-digest"
    assert objects.paths() == ["a"]


def test_if_none_match_star_writes_only_where_nothing_is(objects: Objects) -> None:
    assert objects.put("a", b"one", if_none_match="*").status_code == 201
    assert objects.put("a", b"two", if_none_match="*").status_code == 412
    assert objects.get("a").content == b"one"
    assert objects.put("a", b"two", if_none_match='"x"').status_code == 501


def test_if_match_writes_only_over_the_version_that_was_read(objects: Objects) -> None:
    assert objects.put("a", b"one", if_match="*").status_code == 412
    etag = f'"{objects.put("a", b"one").json["checksum"]}"'
    assert objects.put("a", b"two", if_match='"other"').status_code == 412
    assert objects.put("a", b"two", if_match=f'"other", {etag}').status_code == 201
    assert objects.put("a", b"three", if_match=etag).status_code == 412
    assert objects.put("a", b"three", if_match="*").status_code == 201
    assert objects.put("b", b"x", if_match="*", if_none_match="*").status_code == 412
    assert objects.get("a").content == b"three"


def test_rel_S18_an_object_larger_than_the_limit_is_refused(tmp_path: Path) -> None:
    with open_api(tmp_path / "small", limits=Limits(upload=Size(10))) as small:
        objects = Objects.made(small)
        assert objects.put("a", b"0123456789").status_code == 201
        assert objects.put("b", b"0123456789x").status_code == 413
        chunked = {"transfer-encoding": "chunked"}
        assert _ask(objects, io.BytesIO(b"0123456789x"), chunked).status_code == 413
        body = form(("content", b"0123456789x", "text/plain"))
        assert objects.upload("b", body, FORM).status_code == 413
        assert (objects.paths(), len(_stored(objects))) == (["a"], 1)


@pytest.mark.parametrize("path", ["x" * 1025, "ü" * 513, ""])
def test_a_path_that_is_too_long_or_empty_is_refused(objects: Objects, path: str) -> None:
    assert objects.put(path).status_code == 400


@pytest.mark.parametrize("path", ["../../etc/passwd", "/a//b", "a\x00b", "a b+c&d=é%2f", ".", "*"])
def test_rel_S21_any_other_path_is_a_plain_name(objects: Objects, path: str) -> None:
    assert objects.put(path, b"x").status_code == 201
    assert objects.get(path).content == b"x"
    assert objects.paths() == [path]


def test_a_branch_that_is_not_there_takes_no_bytes(objects: Objects) -> None:
    objects.branch = "/repositories/lake/branches/other"
    assert objects.put("a").status_code == 404
    assert _stored(objects) == []


def test_the_preflight_says_whether_an_upload_would_be_let_through(objects: Objects) -> None:
    at, params = f"{objects.branch}/objects/stage_allowed", {"path": "a"}
    assert objects.api.get(at, params=params).status_code == 204
    writer = objects.as_user("ann", allow("fs:WriteObject", on=OBJECT + "b"))
    assert writer.api.get(at, params=params).status_code == 403
    assert writer.api.get(at, params={"path": "b"}).status_code == 204
    assert objects.api.get(at.replace("main", "other"), params=params).status_code == 404


def _ask(objects: Objects, body: io.BytesIO, headers: dict[str, str]) -> Result:
    """Upload from a stream, which Falcon's client cannot: it is put in place of the body."""
    extras = {"wsgi.input": body}
    return objects.api.ask(
        "POST", f"{objects.branch}/objects", params={"path": "a"}, headers=headers, extras=extras
    )


def _stored(objects: Objects) -> list[str]:
    services = objects.api.services
    repository = services.repositories.fresh("lake")
    store = services.lake.storage(repository.storage_namespace).objects
    return [listed.address for listed in store.list("data/").entries]
