# SPDX-License-Identifier: Apache-2.0
"""Where a client finds its server and its key."""

from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

import lochan
from lochan.client import Lake
from lochan.errors import InvalidInput, Unauthenticated


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody's own settings."""
    monkeypatch.setenv("HOME", str(tmp_path))


def pair_of(lake: Lake) -> str:
    """Give the key and secret that a lake shows to its server."""
    auth = lake.transport._http.auth
    assert auth is not None
    request = next(auth.auth_flow(httpx.Request("GET", lake.transport.endpoint)))
    return b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()


def test_arguments_win_over_what_lakectl_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKECTL_SERVER_ENDPOINT_URL", "http://lakectl:1/api/v1")
    monkeypatch.setenv("LAKECTL_CREDENTIALS_ACCESS_KEY_ID", "k")
    monkeypatch.setenv("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY", "s")
    with lochan.connect() as told, lochan.connect("http://given:2/") as given:
        assert (told.transport.endpoint, pair_of(told)) == ("http://lakectl:1", "k:s")
        assert (given.transport.endpoint, pair_of(given)) == ("http://given:2", "k:s")


def test_the_file_of_a_person_is_read(tmp_path: Path) -> None:
    (tmp_path / ".lochan.yaml").write_text("server:\n  endpoint_url: https://mine:3\n")
    with lochan.connect() as lake:
        assert repr(lake) == "<Lake https://mine:3>"


def test_an_address_without_a_scheme_is_refused() -> None:
    with pytest.raises(InvalidInput, match="write http://host:port"):
        lochan.connect("127.0.0.1:8000")


def test_a_wrong_secret_and_none_at_all_are_told(open_way: Callable[[str], Lake]) -> None:
    url = open_way("http").transport.endpoint
    for given in ({}, {"access_key_id": "AKIAIOSFOLQUICKSTART", "secret_access_key": "wrong"}):
        with lochan.connect(url, **given) as lake, pytest.raises(Unauthenticated):  # type: ignore[arg-type]  # the pair alone is given
            list(lake.repositories())


def test_a_secret_is_not_shown(open_way: Callable[[str], Lake]) -> None:
    with lochan.connect("http://h:1", access_key_id="k", secret_access_key="hidden") as lake:
        assert "hidden" not in f"{lake!r}{lake.transport!r}{vars(lake)!r}"
