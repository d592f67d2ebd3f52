# SPDX-License-Identifier: Apache-2.0
import timeit

import pytest

from lochan.access.access import Access
from lochan.access.attachments import detach_policy_from_user
from lochan.access.authenticate import authenticate
from lochan.access.credentials import create_credentials
from lochan.access.memberships import delete_group_membership
from lochan.access.needed import Permission
from lochan.access.policies import update_policy
from lochan.access.users import create_user, delete_user
from lochan.errors import Unauthenticated, Unavailable
from lochan.faults import Fault
from lochan.kv.faulty import fail_nth, no_faults
from support.access_ground import READ, AccessGround, with_ann

READING = Permission("fs:ReadObject", "arn:lakefs:fs:::repository/lake/object/a")
WRITING = Permission("fs:WriteObject", "arn:lakefs:fs:::repository/lake/object/a")


def refusal(access: Access, key: str, secret: str) -> tuple[object, ...]:
    with pytest.raises(Unauthenticated) as refused:
        authenticate(access, key, secret)
    return str(refused.value), refused.value.code, str(refused.value.facts), refused.value.status


def test_the_right_secret_gives_the_user_and_its_rights() -> None:
    ground = AccessGround()
    ann = with_ann(ground)
    found = authenticate(ground.access, ann.access_key_id, ann.secret_access_key)
    assert found.user == "ann"
    assert found.allows(READING)
    assert found.allows(WRITING)


def test_rel_S7_every_refusal_is_the_same_and_does_the_same_work() -> None:
    ground = AccessGround()
    ann = with_ann(ground)
    create_user(ground.access, "bob")
    bob = create_credentials(ground.access, "bob")
    delete_user(ground.access, "bob")
    attempts = [
        (ann.access_key_id, "wrong"),
        (ann.access_key_id, ""),
        (ann.access_key_id, ann.secret_access_key + "x"),
        (ann.access_key_id, "\ud800"),
        ("AKIAUNKNOWN000000000", ann.secret_access_key),
        (bob.access_key_id, bob.secret_access_key),
        ("", "x"),
        ("k" * 5000, "x"),
        ("\ud800", "x"),
    ]
    seen = set()
    for key, secret in attempts:
        access, faulty = ground.failing(no_faults)
        first, cold = refusal(access, key, secret), faulty.calls
        again, warm = refusal(access, key, secret), faulty.calls
        seen.add((first, again, cold, warm))
    assert len(seen) == 1
    assert (cold, warm) == (3, 3)


def test_a_store_that_fails_is_no_refusal() -> None:
    ground = AccessGround()
    ann = with_ann(ground)
    for number in range(1, 12):
        access, faulty = ground.failing(fail_nth(number, Fault.ERROR))
        with pytest.raises(Unavailable):
            authenticate(access, ann.access_key_id, ann.secret_access_key)
        assert faulty.calls == number
        assert authenticate(access, ann.access_key_id, ann.secret_access_key).user == "ann"


def test_what_this_process_changes_counts_at_once() -> None:
    ground = AccessGround()
    ann = with_ann(ground)

    def may(needed: Permission) -> bool:
        found = authenticate(ground.access, ann.access_key_id, ann.secret_access_key)
        return found.allows(needed)

    assert may(WRITING)
    detach_policy_from_user(ground.access, "ann", "writing")
    assert not may(WRITING)
    update_policy(ground.access, "reading", [READ, READ])
    assert may(READING)
    delete_group_membership(ground.access, "readers", "ann")
    assert not may(READING)
    delete_user(ground.access, "ann")
    refusal(ground.access, ann.access_key_id, ann.secret_access_key)


def test_what_another_process_changes_counts_after_a_second() -> None:
    ground = AccessGround()
    ann = with_ann(ground)
    other = ground.process()
    authenticate(other, ann.access_key_id, ann.secret_access_key)
    ground.clock.sleep(0.9)
    delete_user(ground.access, "ann")
    assert authenticate(other, ann.access_key_id, ann.secret_access_key).user == "ann"
    ground.clock.sleep(0.1)
    refusal(other, ann.access_key_id, ann.secret_access_key)


def test_what_was_read_while_this_process_changed_it_is_not_remembered() -> None:
    ground = AccessGround()
    ann = with_ann(ground)
    access, _ = ground.failing(no_faults)

    def slow_read(key: str) -> object:
        value = object()
        with access.changing():
            pass
        return value

    first = access.known_keys.get(ann.access_key_id, slow_read)  # type: ignore[arg-type] # any value
    assert access.known_keys.get(ann.access_key_id, slow_read) is not first  # type: ignore[arg-type] # any value


def test_what_is_remembered_is_bounded() -> None:
    ground = AccessGround()
    kept = ground.access.known_keys
    for number in range(20_000):
        kept.get(f"key-{number}", lambda _: ground.access)  # type: ignore[arg-type,return-value] # any value
    assert len(kept._entries) == 16_384


def test_a_known_key_is_judged_in_microseconds() -> None:
    ground = AccessGround()
    ann = with_ann(ground)

    def judge() -> None:
        found = authenticate(ground.access, ann.access_key_id, ann.secret_access_key)
        found.require(READING)

    judge()
    each_us = min(timeit.repeat(judge, number=2000, repeat=5)) / 2000 * 1e6
    print(f"authenticate and decide, warm: {each_us:.1f} us")
    assert each_us < 15
