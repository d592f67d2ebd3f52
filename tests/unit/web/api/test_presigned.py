# SPDX-License-Identifier: Apache-2.0
"""Signed URLs of our own: they open what they were signed for, and nothing else."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from lochan.config.secret import Secret
from lochan.config.server import Blockstore, Settings, Signing
from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, PermissionDenied
from lochan.operations.repositories import delete_repository
from lochan.web.presign import Ticket, opened, signing_key, supports_presign
from lochan.web.services import Services
from support.object_routes import Objects, make_repository
from support.web import Api, open_api


@pytest.fixture
def objects(api: Api) -> Objects:
    made = Objects.made(api)
    made.put("a.html", b"0123456789", content_type="text/html")
    return made


def read_url(objects: Objects, path: str = "a.html") -> str:
    found: str = objects.get(path, presign="true").headers["location"]
    return found


def write_url(objects: Objects) -> str:
    params = {"path": "b", "presign": "true"}
    answer = objects.api.get(f"{objects.branch}/staging/backing", params=params)
    found: str = answer.json["presigned_url"]
    return found


def token_of(url: str) -> str:
    return parse_qs(urlsplit(url).query)["token"][0]


def with_token(url: str, token: str) -> str:
    return f"{url.partition('token=')[0]}token={token}"


def unpacked(token: str) -> list[object]:
    raw = token.partition(".")[0]
    found: list[object] = json.loads(base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4)))
    return found


def packed(fields: list[object], signature: str) -> str:
    raw = base64.urlsafe_b64encode(json.dumps(fields, separators=(",", ":")).encode()).decode()
    return f"{raw.rstrip('=')}.{signature}"


def test_rel_S17_what_a_signed_url_gives_is_disarmed_too(objects: Objects) -> None:
    answer = objects.fetch("GET", read_url(objects))
    assert (answer.status_code, answer.content) == (200, b"0123456789")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''a.html"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_signed_url_gives_ranges_and_heeds_what_the_client_has(objects: Objects) -> None:
    url = read_url(objects)
    part = objects.fetch("GET", url, headers={"range": "bytes=2-3"})
    assert (part.status_code, part.content) == (206, b"23")
    assert objects.fetch("GET", url, headers={"range": "bytes=10-"}).status_code == 416
    etag = part.headers["etag"]
    assert objects.fetch("GET", url, headers={"if-none-match": etag}).status_code == 304


def test_a_url_to_read_does_not_write_and_one_to_write_does_not_read(objects: Objects) -> None:
    assert objects.fetch("PUT", read_url(objects), body=b"x").status_code == 403
    assert objects.fetch("GET", write_url(objects)).status_code == 403
    assert objects.get("a.html").content == b"0123456789"


@pytest.mark.parametrize("place", range(9))
def test_any_changed_field_makes_it_worthless(objects: Objects, place: int) -> None:
    url = read_url(objects)
    token = token_of(url)
    fields = unpacked(token)
    was = fields[place]
    fields[place] = "PUT" if place == 0 else was + 1 if isinstance(was, int) else f"{was}x"
    forged = with_token(url, packed(fields, token.partition(".")[2]))
    for method in ("GET", "PUT"):
        answer = objects.fetch(method, forged, **({"body": b"x"} if method == "PUT" else {}))
        assert (answer.status_code, answer.json["code"]) == (403, "invalid-signed-url")


@pytest.mark.parametrize("token", ["", ".", "a.b", "é.é", "W10.", "W10.AAAA", "=.="])
def test_what_is_no_token_is_refused_like_a_wrong_one(objects: Objects, token: str) -> None:
    params = {"token": token}
    answer = objects.api.nobody().get("/repositories/lake/presigned", params=params)
    assert (answer.status_code, answer.json["code"]) == (403, "invalid-signed-url")


@pytest.mark.parametrize("name", ["no-such-lake", "No Name!"])
def test_a_wrong_token_does_not_tell_which_repositories_there_are(
    objects: Objects, name: str
) -> None:
    nobody, params = objects.api.nobody(), {"token": "a.b"}
    there = nobody.get("/repositories/lake/presigned", params=params)
    absent = nobody.get(f"/repositories/{name}/presigned", params=params)
    assert (absent.status_code, absent.json) == (there.status_code, there.json)


def test_a_url_opens_nothing_in_another_repository_or_a_later_one_of_the_name(
    objects: Objects,
) -> None:
    url = read_url(objects)
    make_repository(objects.api, "pond")
    assert objects.fetch("GET", url.replace("/lake/", "/pond/")).status_code == 403
    services = objects.api.services
    old = services.repositories.fresh("lake")
    token = token_of(url)
    assert opened(services, old, token, "GET").address
    delete_repository(services.lake, old)
    services.repositories.forget("lake")
    assert objects.fetch("GET", url).status_code == 403


def test_a_url_opens_nothing_when_its_time_is_over(objects: Objects) -> None:
    services = objects.api.services
    repository = services.repositories.fresh("lake")
    token = token_of(read_url(objects))
    ticket = opened(services, repository, token, "GET")
    assert 0 < ticket.expires - services.lake.environment.now() <= 900
    late = _later(services, 901.0)
    with pytest.raises(PermissionDenied, match="time is over"):
        opened(late, repository, token, "GET")


def test_another_server_s_key_opens_nothing(objects: Objects) -> None:
    services = objects.api.services
    repository = services.repositories.fresh("lake")
    token = token_of(read_url(objects))
    other = Blockstore(signing=Signing(secret_key=Secret("f" * 64)))
    stranger = replace(services, settings=Settings(auth=services.settings.auth, blockstore=other))
    with pytest.raises(PermissionDenied, match="not ours"):
        opened(stranger, repository, token, "GET")


def test_nothing_is_signed_with_a_key_that_anybody_could_guess() -> None:
    assert not supports_presign(Settings())
    with pytest.raises(InvalidInput, match="signing"):
        signing_key(Settings())


def test_a_url_leads_to_where_the_server_says_it_is(objects: Objects, tmp_path: Path) -> None:
    assert read_url(objects).startswith("http://falconframework.org/api/v1/repositories/lake/")
    with open_api(tmp_path / "named", public_url="https://lake.example/") as api:
        named = Objects.made(api)
        named.put("a.html")
        assert read_url(named).startswith("https://lake.example/api/v1/repositories/lake/")


def test_a_ticket_says_no_more_than_it_must(objects: Objects) -> None:
    ticket = unpacked(token_of(write_url(objects)))
    assert len(ticket) == len(Ticket.__struct_fields__)
    assert ticket[4:] == ["", 0, "", "", "", -1]


class _Ahead(RealEnvironment):
    """A clock that goes ahead of the others."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def now(self) -> float:
        return super().now() + self._seconds


def _later(services: Services, seconds: float) -> Services:
    return replace(services, lake=replace(services.lake, environment=_Ahead(seconds)))


def test_rel_S9_the_pin_of_an_open_file_is_no_signed_url(objects: Objects) -> None:
    params = {"op": "OPEN"}
    opened = objects.api.ask("GET", "/webhdfs/v1/lake/main/a.html", prefix="", params=params)
    pin = parse_qs(urlsplit(opened.headers["location"]).query)["pin"][0]
    answer = objects.fetch("GET", with_token(read_url(objects), pin))
    assert (answer.status_code, answer.json["code"]) == (403, "invalid-signed-url")


def test_other_bytes_are_not_given_for_those_that_were_linked(tmp_path: Path) -> None:
    far = tmp_path / "raw" / "a.csv"
    far.parent.mkdir()
    far.write_bytes(b"hello")
    stores = Blockstore(readable_folders=(far.parent,))
    with open_api(tmp_path / "lake", blockstore=stores) as api:
        objects = Objects.made(api)
        told = {"physical_address": f"file://{far}", "checksum": "5d41", "size_bytes": 5}
        linked = api.put(f"{objects.branch}/objects", params={"path": "a.csv"}, json=told)
        assert linked.status_code == 201
        url = read_url(objects, "a.csv")
        assert objects.fetch("GET", url).content == b"hello"
        far.write_bytes(b"changed")
        answer = objects.fetch("GET", url)
        assert (answer.status_code, answer.json["code"]) == (409, "object-changed")
