# SPDX-License-Identifier: Apache-2.0
"""The first user of a lake: once, for whoever comes first (S28).

    1. iam/setup             set_if(None) with the user's identifier and sealed credential: decided
    2. policies, groups, what they have
    3. the user, its place in Admins, its credential
    4. iam/setup             finished; the sealed credential is dropped from it

All that 2 to 4 need is in the record of 1, and each of them may be repeated. So a set-up that
crashed is finished by whoever calls next, who hears AlreadyExists like anybody else. If the one who
began it never saw the secret, it is lost: somebody with access to the store makes another.
"""

from contextlib import suppress

import msgspec

from lochan.access import builtin, kinds
from lochan.access.access import Access
from lochan.access.attachments import attach_policy_to_group
from lochan.access.credentials import IssuedCredential, draw_credential, sealed, store_credential
from lochan.access.entities import create_entity
from lochan.access.groups import create_group
from lochan.access.memberships import add_group_membership
from lochan.access.policies import create_policy
from lochan.errors import AlreadyExists, PredicateFailed, UnknownOutcome
from lochan.kv.outcomes import ATTEMPTS, begun
from lochan.model.access import Setup, SetupState, User, valid_name
from lochan.model.ids import UniqueIdentifier

_KEY = b""  # the record's key is the table's whole prefix


def setup(
    access: Access, user_name: str, *, access_key_id: str = "", secret_access_key: str = ""
) -> IssuedCredential:
    """Make the built-in groups and policies, and the first user with its access key.

    Raises: AlreadyExists when the lake has been set up, InvalidInput, Conflict, Unavailable when
    nothing was made, UnknownOutcome.
    """
    valid_name("user", user_name)
    issued = draw_credential(access, access_key_id, secret_access_key)
    wanted = Setup(
        user=user_name,
        user_unique_identifier=UniqueIdentifier(access.environment.new_id()),
        creation_date=issued.creation_date,
        credential=sealed(access, issued),
    )
    decided = _decide(access, wanted)
    ours = decided.user_unique_identifier == wanted.user_unique_identifier
    with begun("setting up the lake"):
        _finish(access, decided)
    if not ours:
        message = "the lake has been set up already; ask its administrator for an access key"
        raise AlreadyExists(message, code="already-set-up")
    return issued


def is_set_up(access: Access) -> bool:
    """Say whether somebody has set the lake up, or begun to."""
    return access.tables.setup.find(_KEY) is not None


def setup_date(access: Access) -> int:
    """Give when the lake was set up, an instant in nanoseconds; 0 when it was not."""
    found = access.tables.setup.find(_KEY)
    return found.record.creation_date if found else 0


def _decide(access: Access, wanted: Setup) -> Setup:
    """Give the set-up that counts: ours, or that of whoever came first."""
    table = access.tables.setup
    found = table.find(_KEY)
    for _ in range(ATTEMPTS):
        if found is not None:
            return found.record
        _check_free(access, wanted.user)
        with suppress(PredicateFailed, UnknownOutcome):  # what was lost or won is read below
            table.set_if(_KEY, wanted, None)
            return wanted
        with begun("setting up the lake"):
            found = table.find(_KEY)
    raise UnknownOutcome("the set-up may have begun; look whether the lake is set up")


def _check_free(access: Access, user_name: str) -> None:
    """Refuse a name that somebody has, made by hand before the set-up: it could not be finished."""
    if access.tables.users.find(user_name.encode()) is not None:
        message = f"there is a user {user_name!r} already; set the lake up under another name"
        raise AlreadyExists(message, code="user-already-exists")


def _finish(access: Access, decided: Setup) -> None:
    if decided.state is SetupState.FINISHED or decided.credential is None:
        return
    with access.changing():
        _make_groups(access)
        user = User(
            name=decided.user,
            unique_identifier=decided.user_unique_identifier,
            creation_date=decided.creation_date,
        )
        create_entity(kinds.users(access), user)
        add_group_membership(access, builtin.ADMINS, user.name)
        store_credential(access, user, decided.credential)
        access.tables.setup.update(
            _KEY,
            lambda found: (
                found and msgspec.structs.replace(found, state=SetupState.FINISHED, credential=None)
            ),
            access.environment,
        )


def _make_groups(access: Access) -> None:
    for name, statement in builtin.POLICIES.items():
        with suppress(AlreadyExists):
            create_policy(access, name, statement)
    for name, policies in builtin.GROUPS.items():
        with suppress(AlreadyExists):
            create_group(access, name)
        for policy in policies:
            attach_policy_to_group(access, name, policy)
