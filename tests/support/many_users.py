# SPDX-License-Identifier: Apache-2.0
"""A group of very many users, written as fast as the store takes them."""

import time
from collections.abc import Callable
from typing import TypeVar

from lochan.access.access import Access
from lochan.kv.set_many import set_many
from lochan.model.access import Group, Membership, User
from lochan.model.access_codec import encode_membership, encode_user
from lochan.model.ids import UniqueIdentifier
from lochan.model.keys import AUTH, GROUP_USERS, USER_GROUPS, USERS, belonging_to

T = TypeVar("T")


def fill(access: Access, group: Group, count: int) -> None:
    """Write what create_user and add_group_membership write, all at once."""
    rows: dict[bytes, bytes] = {}
    for number in range(count):
        user = User(name=f"user-{number:06d}", unique_identifier=UniqueIdentifier(f"{number:032x}"))
        place = Membership(user.name, user.unique_identifier, group.name, group.unique_identifier)
        rows[USERS + user.name.encode()] = encode_user(user)
        joined = encode_membership(place)
        rows[USER_GROUPS + belonging_to(user.unique_identifier, group.name)] = joined
        rows[GROUP_USERS + belonging_to(group.unique_identifier, user.name)] = joined
    set_many(access.store, AUTH, rows)


def timed(what: str, act: Callable[[], T]) -> tuple[T, float]:
    began = time.perf_counter()
    found = act()
    took = time.perf_counter() - began
    print(f"{what}: {took * 1e3:.2f} ms")
    return found, took
