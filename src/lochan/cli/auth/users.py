# SPDX-License-Identifier: Apache-2.0
"""`lochan auth users`: made, listed, described, deleted, and given policies."""

from typing import Annotated

import typer

from lochan.cli.auth.policies import PolicyName
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Prefix, Yes, sure
from lochan.cli.show import Columns, Show, when
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.shapes.access import User

app = new_app("Make, list, describe and delete users, and attach policies to them.")

UserName = Annotated[str, typer.Argument(metavar="USER", help="Name of the user.")]
USER_COLUMNS: Columns[User] = {
    "user": lambda one: one.id,
    "created": lambda one: when(one.creation_date),
    "email": lambda one: one.email,
}


@on_lake(app, "list")
def list_users(show: Show, lake: Lake, prefix: Prefix = "") -> None:
    """List the users, by name.

    Example: lochan auth users list --prefix team-
    """
    show.rows(lake.users.list(prefix), USER_COLUMNS)


@on_lake(app, "create")
def create(show: Show, lake: Lake, user: UserName) -> None:
    """Make a user; it may do nothing until a policy or a group says otherwise.

    Example: lochan auth users create ann
    """
    show.done(f"created user {user}", **_facts(lake.users.create(user)))


@on_lake(app, "show")
def show_user(show: Show, lake: Lake, user: UserName) -> None:
    """Describe a user, with its groups and the policies that hold for it.

    Example: lochan auth users show ann
    """
    found = lake.users.get(user)
    has = {
        "groups": [one.name or one.id for one in lake.users.groups(user)],
        "policies": [one.id for one in lake.users.policies(user)],
        "effective_policies": [one.id for one in lake.users.policies(user, effective=True)],
    }
    if show.json:
        show.value({**_facts(found), **has})
        return
    show.record(
        {
            "user": found.id,
            "created": when(found.creation_date),
            "groups": ", ".join(has["groups"]),
            "policies": ", ".join(has["policies"]),
            "with groups'": ", ".join(has["effective_policies"]),
        }
    )


@on_lake(app, "delete")
def delete(show: Show, lake: Lake, user: UserName, *, yes: Yes = False) -> None:
    """Delete a user, and its credentials. It asks before.

    Example: lochan auth users delete ann --yes
    """
    sure(f"Delete user {user} and its credentials?", yes=yes)
    lake.users.delete(user)
    show.done(f"deleted user {user}", id=user)


@on_lake(app, "attach")
def attach(show: Show, lake: Lake, user: UserName, policy: PolicyName) -> None:
    """Attach a policy to a user.

    Example: lochan auth users attach ann FSReadAll
    """
    lake.users.attach_policy(user, policy)
    show.done(f"attached {policy} to {user}", user=user, policy=policy)


@on_lake(app, "detach")
def detach(show: Show, lake: Lake, user: UserName, policy: PolicyName) -> None:
    """Detach a policy from a user.

    Example: lochan auth users detach ann FSReadAll
    """
    lake.users.detach_policy(user, policy)
    show.done(f"detached {policy} from {user}", user=user, policy=policy)


def _facts(user: User) -> dict[str, object]:
    return {"id": user.id, "creation_date": user.creation_date}
