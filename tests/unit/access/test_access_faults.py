# SPDX-License-Identifier: Apache-2.0
"""Every call of every change fails: once, or from there on for ever.

After each run another process looks, and repeats what was tried. What it may see: the state before
or after, never rights that nobody gave; and after the repeat, exactly what a run without a failure
leaves, not a row more.
"""

from collections.abc import Callable

import pytest

from lochan.access.access import Access
from lochan.access.attachments import (
    attach_policy_to_group,
    attach_policy_to_user,
    detach_policy_from_user,
)
from lochan.access.credentials import IssuedCredential, create_credentials, delete_credentials
from lochan.access.effective import effective_policies
from lochan.access.groups import create_group, delete_group
from lochan.access.memberships import (
    add_group_membership,
    delete_group_membership,
    list_group_members,
    list_user_groups,
)
from lochan.access.policies import create_policy, delete_policy, update_policy
from lochan.access.users import create_user, delete_user, get_user
from lochan.errors import AlreadyExists, LochanError, NotFound, Unavailable, UnknownOutcome
from lochan.faults import Crashed
from lochan.kv.faulty import Faulty, Plan
from support.access_ground import READ, WRITE, AccessGround, with_ann
from support.repository_life import FAILURES, every_call, outcome

GIVEN = {"access_key_id": "AKIAGIVEN", "secret_access_key": "given-secret"}
Act = Callable[[Access, IssuedCredential], object]

CHANGES: dict[str, Act] = {
    "create user": lambda access, _: create_user(access, "bob"),
    "create group": lambda access, _: create_group(access, "writers"),
    "create policy": lambda access, _: create_policy(access, "other", [READ]),
    "update policy": lambda access, _: update_policy(access, "reading", [WRITE]),
    "delete user": lambda access, _: delete_user(access, "ann"),
    "delete group": lambda access, _: delete_group(access, "readers"),
    "delete policy": lambda access, _: delete_policy(access, "reading"),
    "create credentials": lambda access, _: create_credentials(access, "ann", **GIVEN),
    "delete credentials": lambda access, ann: delete_credentials(access, "ann", ann.access_key_id),
    "add member": lambda access, _: add_group_membership(access, "idle", "ann"),
    "delete member": lambda access, _: delete_group_membership(access, "readers", "ann"),
    "attach to user": lambda access, _: attach_policy_to_user(access, "ann", "idle"),
    "attach to group": lambda access, _: attach_policy_to_group(access, "readers", "idle"),
    "detach from user": lambda access, _: detach_policy_from_user(access, "ann", "writing"),
}


class Scene:
    """Ann with all that may belong to a user, and something idle to join."""

    def __init__(self) -> None:
        self.ground = AccessGround()
        self.ann = with_ann(self.ground, access_key_id="AKIAANN", secret_access_key="secret-of-ann")
        create_group(self.ground.access, "idle")
        create_policy(self.ground.access, "idle", [READ])
        self.secrets = {self.ann, IssuedCredential(**GIVEN, creation_date=self.ann.creation_date)}

    def seen(self) -> tuple[object, ...]:
        """Give all that another process can observe of ann, and check that it agrees in itself."""
        access = self.ground.process()
        keys = frozenset(one for one in self.secrets if self.ground.knows(one, access))
        try:
            ann = get_user(access, "ann")
        except NotFound:
            assert not keys
            return ("no ann",)
        groups = {group.name for group in list_user_groups(access, "ann").results}
        for name in ("readers", "idle"):
            try:
                members = {user.name for user in list_group_members(access, name).results}
            except NotFound:
                members = set()
            assert (name in groups) == ("ann" in members)
        policies = {one.name: one.statement for one in effective_policies(access, ann)}
        return keys, frozenset(groups), frozenset(policies.items())


def after(act: Act) -> tuple[tuple[object, ...], tuple[object, ...], list[str]]:
    """Give what is seen before and after a change that meets no failure, and its keys."""
    scene = Scene()
    before = scene.seen()
    act(scene.ground.access, scene.ann)
    return before, scene.seen(), scene.ground.stored()


def shape(keys: list[str]) -> list[str]:
    """Leave unique identifiers out: a repeated creation draws another."""
    return sorted("/".join(part for part in key.split("/") if len(part) != 32) for key in keys)


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("act", CHANGES.values(), ids=CHANGES)
def test_rel_R18_S33_a_change_that_fails_anywhere_is_finished_by_repeating_it(
    act: Act, failure: Callable[[int], Plan]
) -> None:
    old, new, keys = after(act)

    def run(number: int) -> Faulty:
        scene = Scene()
        rows = scene.ground.rows()
        access, faulty = scene.ground.failing(failure(number))
        result = outcome(lambda: act(access, scene.ann))
        shown = scene.seen()
        assert shown in {old, new}
        if isinstance(result, Unavailable | Crashed):
            if isinstance(result, Unavailable) and not isinstance(result, UnknownOutcome):
                assert scene.ground.rows() == rows
        else:
            assert not isinstance(result, LochanError)
            assert shown == new
        again = outcome(lambda: act(scene.ground.process(), scene.ann))
        assert not isinstance(again, LochanError) or isinstance(again, NotFound | AlreadyExists)
        assert scene.seen() == new
        assert shape(scene.ground.stored()) == shape(keys)
        return faulty

    assert every_call(run) >= 1
