# SPDX-License-Identifier: Apache-2.0
"""Bodies that are read whole: bounded in size, in depth, and in the time that they take to come."""

import io
from pathlib import Path

import pytest

from lochan.config.server import Limits
from support.web import Api, open_api

LOGIN = "/auth/login"
JSON = {"content-type": "application/json"}


class Drops(io.RawIOBase):
    """A body that comes letter by letter, and has no end."""

    def __init__(self) -> None:
        self.read_so_far = 0

    def read(self, _: int = -1) -> bytes:
        self.read_so_far += 1
        return b" "


def test_rel_S18_a_body_that_comes_drop_by_drop_is_cut_off_for_anybody(tmp_path: Path) -> None:
    limits = Limits(body_seconds=0.01)
    drops = Drops()
    with open_api(tmp_path / "lake", limits=limits) as api:
        answer = api.nobody().post(LOGIN, headers=JSON, extras={"wsgi.input": drops})
    assert (answer.status_code, answer.json["code"]) == (408, "body-stalled")
    assert 0 < drops.read_so_far < limits.json_body


def test_rel_S18_a_form_that_comes_drop_by_drop_is_cut_off_too(tmp_path: Path) -> None:
    with open_api(tmp_path / "lake", limits=Limits(body_seconds=1e-6)) as api:
        extras = {"wsgi.input": Drops()}
        answer = api.nobody().ask("POST", "/oauth2/token", prefix="", extras=extras)
    assert (answer.status_code, answer.json["error"]) == (408, "body-stalled")


@pytest.mark.parametrize("inside", ["[" * 100_000, '{"a":' * 100_000], ids=["lists", "objects"])
def test_rel_S18_a_deep_body_is_a_mistake_of_who_sends_it(api: Api, inside: str) -> None:
    body = f'{{"unknown":{inside}'.encode()
    answer = api.nobody().post(LOGIN, headers=JSON, body=body)
    assert answer.status_code == 400
