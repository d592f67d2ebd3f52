# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.logs.redact import HIDDEN, redact, redact_text

SECRET = "wJalrXUtnFEMI7MDENGbPxRfiCYEXAMPLEKEY"
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl"
TEXTS = [
    f"Authorization: Basic {SECRET}",
    f"authorization: Bearer {TOKEN}",
    f"Authorization: AWS4-HMAC-SHA256 Credential=AKIA/x, SignedHeaders=host, Signature={SECRET}",
    f"{{'Authorization': b'Basic {SECRET}', 'host': 'x'}}",
    f"('authorization', 'Digest {SECRET}')",
    f"GET /o?path=a&X-Amz-Signature={SECRET}&b=c HTTP/1.1",
    f"https://host/o?X-Amz-Credential={SECRET}%2F20260101&X-Amz-Security-Token={SECRET}",
    f"http://host/api/v1/o?sig={SECRET}#x",
    f"https://host/cb?access_token={SECRET}",
    f"postgres://me:{SECRET}@host/db",
    f"postgres://me:a@{SECRET}@host/db",
    f"postgres://host/db?password={SECRET}",
    f"LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY={SECRET}",
    f'{{"access_key_id": "AKIA", "secret_access_key": "{SECRET}"}}',
    f"password: {SECRET}",
    f"Set-Cookie: internal_auth_session={SECRET}; Path=/; HttpOnly",
    f"token {TOKEN} was refused",
]


@pytest.mark.parametrize("text", TEXTS)
def test_rel_GHSA_4rgc_credentials_in_a_text_are_hidden(text: str) -> None:
    shown = redact_text(text)

    assert SECRET not in shown
    assert TOKEN not in shown
    assert HIDDEN in shown


@pytest.mark.parametrize(
    "text",
    [
        "GET /api/v1/repositories/r/refs/main/objects?path=a/b.parquet",
        "the branch main has moved; read it again",
        "s3://bucket/prefix/data/x",
        "staging_token=4f2a is sealed",
        "took 12:30:45 and 3 s",
        "lakefs://repo/main/key@2026",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "name",
    [
        *(
            "password",
            "secret_access_key",
            "Authorization",
            "cookie",
            "set-cookie",
            "X-Amz-Signature",
        ),
        *("session_token", "apiKey", "private_key", "encrypt.secret_key"),
    ],
)
@pytest.mark.parametrize("value", [SECRET, SECRET.encode(), [SECRET], {"a": SECRET}])
def test_values_of_secret_names_are_hidden_wherever_they_stand(name: str, value: object) -> None:
    nested = {"outer": [{"inner": {name: value}}, (name, value)], name: value}

    assert SECRET not in repr(redact(nested))


def test_what_names_a_place_and_what_is_empty_stays() -> None:
    facts = {"staging_token": "4f2a", "path": "a/b", "password": "", "n": 1, "ok": True, "x": None}

    assert redact(facts) == facts


class Leaky:
    def __str__(self) -> str:
        return f"password={SECRET}"


@pytest.mark.parametrize("value", [Leaky(), [Leaky()], ValueError(f"token={SECRET}"), {1: Leaky()}])
def test_objects_are_shown_by_their_text_and_without_secrets(value: object) -> None:
    assert SECRET not in repr(redact(value))


def test_a_structure_without_end_comes_to_one() -> None:
    loop: list[object] = [{"secret": SECRET}]
    loop.append(loop)

    assert SECRET not in repr(redact(loop))


@given(st.recursive(st.text() | st.binary() | st.integers() | st.none(), st.lists, max_leaves=8))
def test_hiding_twice_hides_nothing_more(value: object) -> None:
    assert redact(redact(value)) == redact(value)
