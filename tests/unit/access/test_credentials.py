# SPDX-License-Identifier: Apache-2.0
import re

import msgspec
import pytest

from lochan.access.authenticate import known_key
from lochan.access.credentials import (
    create_credentials,
    delete_credentials,
    get_credentials,
    list_user_credentials,
)
from lochan.access.keyring import KeyRing
from lochan.access.rotate import rotate_secrets
from lochan.access.users import create_user, delete_user
from lochan.errors import Corruption, Internal, InvalidInput, NotFound, NotUnique
from lochan.model.instant import EPOCH
from support.access_ground import SECRET, AccessGround

QUICKSTART = ("AKIAIOSFOLQUICKSTART", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
NEW = b"the secret that the server has n"


@pytest.fixture
def ground() -> AccessGround:
    found = AccessGround()
    create_user(found.access, "ann")
    return found


def test_a_user_has_several_access_keys_of_the_known_shape(ground: AccessGround) -> None:
    made = [create_credentials(ground.access, "ann") for _ in range(3)]
    for issued in made:
        assert re.fullmatch(r"AKIA[A-Z2-7]{16}", issued.access_key_id)
        assert re.fullmatch(r"[A-Za-z0-9+/]{40}", issued.secret_access_key)
        assert ground.knows(issued)
    listed = list_user_credentials(ground.access, "ann").results
    assert [one.access_key_id for one in listed] == sorted(one.access_key_id for one in made)
    assert listed[0].creation_date == made[0].creation_date


def test_a_given_access_key_works_and_has_one_owner(ground: AccessGround) -> None:
    key, secret = QUICKSTART
    create_user(ground.access, "bob")
    issued = create_credentials(ground.access, "ann", access_key_id=key, secret_access_key=secret)
    assert ground.knows(issued)
    for user in ("ann", "bob"):
        with pytest.raises(NotUnique):
            create_credentials(
                ground.access, user, access_key_id=key, secret_access_key="another-one"
            )
    assert ground.knows(issued)


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        ("a", "long enough"),
        ("a:b", "longenough"),
        ("a/b", "longenough"),
        ("abc", "short"),
        ("abc", "with space in it"),
        ("abc", ""),
        ("", "longenough"),
        ("ä" * 4, "longenough"),
    ],
)
def test_an_access_key_that_no_header_could_carry_is_refused(
    ground: AccessGround, key: str, secret: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        create_credentials(ground.access, "ann", access_key_id=key, secret_access_key=secret)
    assert not secret or secret not in str(refused.value)


def test_a_deleted_access_key_is_dead_and_the_others_live(ground: AccessGround) -> None:
    one, other = (create_credentials(ground.access, "ann") for _ in range(2))
    assert ground.knows(one, ground.access)
    delete_credentials(ground.access, "ann", one.access_key_id)
    assert not ground.knows(one, ground.access)
    assert ground.knows(other, ground.access)
    for act in (delete_credentials, get_credentials):
        with pytest.raises(NotFound):
            act(ground.access, "ann", one.access_key_id)
    assert get_credentials(ground.access, "ann", other.access_key_id)


def test_nobody_deletes_or_reads_the_key_of_another(ground: AccessGround) -> None:
    create_user(ground.access, "bob")
    issued = create_credentials(ground.access, "ann")
    for act in (delete_credentials, get_credentials):
        for key in (issued.access_key_id, "", "../x", "\ud800"):
            with pytest.raises(NotFound):
                act(ground.access, "bob", key)
    assert ground.knows(issued)


def test_rel_S33_GHSA_hh33_a_user_made_again_does_not_revive_old_keys(ground: AccessGround) -> None:
    old = create_credentials(ground.access, "ann")
    left = ground.rows()
    delete_user(ground.access, "ann")
    assert not ground.knows(old, ground.access)
    create_user(ground.access, "ann")
    assert not ground.knows(old)
    for key, value in left.items():  # whatever a crash could have left behind
        if not key.startswith(b"iam/users/"):
            ground.store.set(b"auth", key, value)
    assert not ground.knows(old)
    assert known_key(ground.process(), old.access_key_id).unique_identifier is None
    assert list_user_credentials(ground.access, "ann").results == ()


def test_rel_S33_the_key_of_a_dead_user_may_be_given_again(ground: AccessGround) -> None:
    key, secret = QUICKSTART
    create_credentials(ground.access, "ann", access_key_id=key, secret_access_key=secret)
    index = ground.store.get(b"auth", b"iam/credentials/" + key.encode()).value
    delete_user(ground.access, "ann")
    ground.store.set(b"auth", b"iam/credentials/" + key.encode(), index)
    create_user(ground.access, "bob")
    issued = create_credentials(ground.access, "bob", access_key_id=key, secret_access_key=secret)
    assert ground.knows(issued)


def test_rel_S27_no_secret_is_stored_or_shown(ground: AccessGround) -> None:
    issued = create_credentials(ground.access, "ann")
    stored = b"".join(ground.rows().values())
    assert issued.secret_access_key.encode() not in stored
    shown = repr(
        (issued, ground.access, get_credentials(ground.access, "ann", issued.access_key_id))
    )
    assert issued.secret_access_key not in shown
    assert SECRET.decode() not in shown


def test_rel_S27_each_secret_has_a_nonce_of_its_own_and_is_bound_to_its_key(
    ground: AccessGround,
) -> None:
    one, two = (
        get_credentials(
            ground.access, "ann", create_credentials(ground.access, "ann").access_key_id
        )
        for _ in range(2)
    )
    assert one.nonce != two.nonce
    moved = msgspec.structs.replace(one, access_key_id=two.access_key_id)
    with pytest.raises(Corruption):
        ground.access.keys.unseal(moved)


def test_rel_S27_the_server_secret_is_replaced_without_losing_a_key(ground: AccessGround) -> None:
    issued = create_credentials(ground.access, "ann")
    both = ground.process(SECRET, secret=NEW)
    assert ground.knows(issued, both)
    assert rotate_secrets(both) == 1
    assert rotate_secrets(both) == 0
    assert ground.knows(issued, ground.process(secret=NEW))
    with pytest.raises(Internal) as unknown:
        ground.knows(issued, ground.process())
    assert unknown.value.code == "unknown-secret-key"


def test_rel_S27_a_short_server_secret_is_refused() -> None:
    for secret, previous in ((b"x" * 31, ()), (b"x" * 32, (b"y",))):
        with pytest.raises(InvalidInput):
            KeyRing(secret, previous)


def test_keys_derived_from_two_secrets_differ() -> None:
    one, two = KeyRing(SECRET), KeyRing(NEW)
    assert one.current != two.current
    assert one.signing_key() != two.signing_key()
    assert one.seal("k", "s", b"0" * 12, EPOCH) != two.seal("k", "s", b"0" * 12, EPOCH)
