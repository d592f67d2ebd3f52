# SPDX-License-Identifier: Apache-2.0
import json
import pickle

import msgspec
import pytest

from lochan.config.secret import Secret
from lochan.config.values import Location

TEXT = "a-very-well-kept-secret"


@pytest.mark.parametrize("show", [repr, str, "{}".format, "%s".__mod__, "%r".__mod__])
def test_rel_S27_a_secret_is_never_shown(show: object) -> None:
    assert callable(show)
    assert TEXT not in show(Secret(TEXT))
    assert TEXT not in show([Secret(TEXT)])


def test_rel_S27_encoders_refuse_a_secret() -> None:
    with pytest.raises(TypeError):
        json.dumps({"key": Secret(TEXT)})
    with pytest.raises(TypeError):
        msgspec.json.encode({"key": Secret(TEXT)})


def test_a_secret_is_given_to_who_asks_and_to_workers() -> None:
    assert Secret(TEXT).reveal() == TEXT
    assert pickle.loads(pickle.dumps(Secret(TEXT))).reveal() == TEXT


def test_secrets_are_equal_by_content_and_empty_ones_are_false() -> None:
    assert Secret(TEXT) == Secret(TEXT)
    assert hash(Secret(TEXT)) == hash(Secret(TEXT))
    assert Secret(TEXT) not in {Secret("another"), TEXT}
    assert Secret(TEXT)
    assert not Secret()


def test_keys_for_two_purposes_differ_and_are_the_same_each_time() -> None:
    secret = Secret(TEXT)

    assert secret.derive("a") == secret.derive("a") != secret.derive("b")
    assert len(secret.derive("a")) == 32
    assert secret.derive("a") != Secret("another").derive("a")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgres://me:pass@word@host/db?schema=s", "postgres://me:********@host/db?schema=s"),
        (
            "postgres://host/db?password=hidden&schema=s",
            "postgres://host/db?password=********&schema=s",
        ),
        ("postgres://me@host/db", "postgres://me@host/db"),
        ("s3://bucket?secret_access_key=hidden", "s3://bucket?secret_access_key=********"),
        ("sqlite:///var/lake/kv.db", "sqlite:///var/lake/kv.db"),
    ],
)
def test_rel_S27_a_location_is_shown_without_its_password(url: str, shown: str) -> None:
    assert str(Location(url)) == shown
    assert shown in repr(Location(url))
    assert Location(url).reveal() == url
