# SPDX-License-Identifier: Apache-2.0
import base64
import json
from collections.abc import Callable

import jwt
import pytest

from lochan.access.access import Access
from lochan.access.authenticate import authenticate
from lochan.access.credentials import (
    IssuedCredential,
    create_credentials,
    delete_credentials,
    void_logins,
)
from lochan.access.limit import ALL_BURST, KEY_BURST, LoginLimit
from lochan.access.login import LASTS_S, issue_login, login, verify_login
from lochan.access.users import create_user, delete_user
from lochan.errors import InvalidInput, Throttled, Unauthenticated
from support.access_ground import SECRET, AccessGround, with_ann

NEW = b"the secret that the server has n"


class Scene:
    """Ann, logged in."""

    def __init__(self) -> None:
        self.ground = AccessGround()
        self.access = self.ground.access
        self.ann: IssuedCredential = with_ann(self.ground)
        self.login = login(self.access, self.ann.access_key_id, self.ann.secret_access_key)

    def claims(self) -> dict[str, object]:
        found: dict[str, object] = jwt.decode(self.login.token, options={"verify_signature": False})
        return found

    def signed(
        self, claims: dict[str, object], *, algorithm: str = "HS256", kid: str | None = None
    ) -> str:
        """Sign as the server does, or nearly."""
        headers = {"kid": self.access.keys.current if kid is None else kid}
        key = None if algorithm == "none" else self.access.keys.signing_key()
        return jwt.encode(claims, key, algorithm=algorithm, headers=headers)  # type: ignore[arg-type] # no key for none


@pytest.fixture
def scene() -> Scene:
    return Scene()


def refused(access: Access, token: str) -> None:
    with pytest.raises(Unauthenticated) as void:
        verify_login(access, token)
    assert void.value.code == "login-not-valid"


def test_a_login_stands_for_the_user_until_it_expires(scene: Scene) -> None:
    assert verify_login(scene.access, scene.login.token).user == "ann"
    assert scene.login.token_expiration == scene.ground.clock.now() + LASTS_S
    scene.ground.clock.sleep(LASTS_S - 1)
    assert verify_login(scene.access, scene.login.token).user == "ann"
    scene.ground.clock.sleep(1)
    refused(scene.access, scene.login.token)


def test_a_login_has_the_claims_that_lakefs_clients_know(scene: Scene) -> None:
    claims = scene.claims()
    assert (claims["iss"], claims["aud"], claims["sub"]) == ("auth", "login", "ann")
    assert set(claims) == {"jti", "iss", "aud", "sub", "uid", "epoch", "iat", "exp"}
    assert jwt.get_unverified_header(scene.login.token)["alg"] == "HS256"
    assert "token" not in repr(scene.login).replace("token_expiration", "")


def test_what_is_signed_like_a_login_is_one(scene: Scene) -> None:
    assert verify_login(scene.access, scene.signed(scene.claims())).user == "ann"


@pytest.mark.parametrize("algorithm", ["none", "HS384", "HS512"])
@pytest.mark.filterwarnings("ignore:The HMAC key")  # it is long enough for the algorithm we use
def test_rel_S12_another_algorithm_is_refused(scene: Scene, algorithm: str) -> None:
    refused(scene.access, scene.signed(scene.claims(), algorithm=algorithm))


@pytest.mark.parametrize("claim", ["jti", "iss", "aud", "sub", "uid", "epoch", "iat", "exp"])
def test_rel_S12_every_claim_is_required(scene: Scene, claim: str) -> None:
    claims = scene.claims()
    del claims[claim]
    refused(scene.access, scene.signed(claims))


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("iss", "somebody"),
        ("aud", "password"),
        ("sub", "bob"),
        ("uid", "0" * 32),
        ("epoch", 7),
        ("epoch", "x"),
        ("exp", 0),
        ("exp", "soon"),
        ("exp", 9e15),
        ("iat", 4e9),
    ],
)
def test_rel_S12_a_claim_that_is_not_ours_is_refused(
    scene: Scene, claim: str, value: object
) -> None:
    refused(scene.access, scene.signed(scene.claims() | {claim: value}))


def test_rel_S12_a_token_that_was_touched_is_refused(scene: Scene) -> None:
    header, body, signature = scene.login.token.split(".")
    other = base64.urlsafe_b64encode(json.dumps(scene.claims() | {"sub": "root"}).encode())
    changed = other.rstrip(b"=").decode()
    for token in (
        f"{header}.{changed}.{signature}",
        f"{header}.{body}.",
        f"{header}.{body}.{signature[:-2]}AA",
        scene.signed(scene.claims(), kid="0" * 16),
        scene.signed(scene.claims(), kid=""),
        "",
        "a.b.c",
        "ä",
        "x" * 5000,
    ):
        refused(scene.access, token)


@pytest.mark.parametrize(
    "act",
    [
        lambda access, _: delete_user(access, "ann"),
        lambda access, key: delete_credentials(access, "ann", key),
        lambda access, _: void_logins(access, "ann"),
    ],
)
def test_rel_S12_a_change_of_user_or_credentials_ends_logins(
    scene: Scene, act: Callable[[Access, str], None]
) -> None:
    assert verify_login(scene.access, scene.login.token)
    act(scene.access, scene.ann.access_key_id)
    refused(scene.access, scene.login.token)
    refused(scene.ground.process(), scene.login.token)


def test_rel_S33_a_login_does_not_pass_to_a_user_made_again(scene: Scene) -> None:
    delete_user(scene.access, "ann")
    create_user(scene.access, "ann")
    create_credentials(scene.access, "ann")
    refused(scene.access, scene.login.token)


def test_rel_S12_a_server_secret_is_replaced_without_ending_logins(scene: Scene) -> None:
    both = scene.ground.process(SECRET, secret=NEW)
    assert verify_login(both, scene.login.token).user == "ann"
    refused(scene.ground.process(secret=NEW), scene.login.token)


def test_a_login_lasts_two_weeks_at_most(scene: Scene) -> None:
    ann = authenticate(scene.access, scene.ann.access_key_id, scene.ann.secret_access_key)
    for seconds in (0, 14 * 24 * 3600 + 1):
        with pytest.raises(InvalidInput):
            issue_login(scene.access, ann, lasts_s=seconds)


def test_rel_S14_failed_attempts_on_one_key_are_limited(scene: Scene) -> None:
    key = scene.ann.access_key_id
    for _ in range(int(KEY_BURST)):
        with pytest.raises(Unauthenticated):
            login(scene.access, key, "wrong")
    with pytest.raises(Throttled) as throttled:
        login(scene.access, key, scene.ann.secret_access_key)
    assert throttled.value.status == 429
    assert throttled.value.facts["retry_after"] == 7
    with pytest.raises(Unauthenticated):
        login(scene.access, "AKIAOTHER", "wrong")
    scene.ground.clock.sleep(6)
    assert login(scene.access, key, scene.ann.secret_access_key)


def test_rel_S14_logins_that_succeed_do_not_use_up_a_key(scene: Scene) -> None:
    for _ in range(3 * int(KEY_BURST)):
        login(scene.access, scene.ann.access_key_id, scene.ann.secret_access_key)


def test_rel_S14_all_attempts_together_are_limited_in_bounded_memory(scene: Scene) -> None:
    limit = LoginLimit(scene.ground.clock, most_keys=50)
    for number in range(int(ALL_BURST)):
        limit.take(f"key-{number}")
    assert len(limit) == 50
    with pytest.raises(Throttled):
        limit.take("another")
    scene.ground.clock.sleep(1)
    limit.take("another")
