# SPDX-License-Identifier: Apache-2.0
"""`lochan auth groups`: users together, and the policies that hold for them all."""

from typing import Annotated

import typer

from lochan.cli.auth.policies import PolicyName
from lochan.cli.auth.users import USER_COLUMNS, UserName
from lochan.cli.on_lake import on_lake
from lochan.cli.options import Prefix, Yes, sure
from lochan.cli.show import Columns, Show, when
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.shapes.access import Group

app = new_app("Make, list, describe and delete groups, their members and policies.")
members = new_app("List, add and remove the members of a group.")
app.add_typer(members, name="members")

GroupName = Annotated[str, typer.Argument(metavar="GROUP", help="Name of the group.")]
_COLUMNS: Columns[Group] = {
    "group": lambda one: one.name or one.id,
    "created": lambda one: when(one.creation_date),
    "description": lambda one: one.description,
}


@on_lake(app, "list")
def list_groups(show: Show, lake: Lake, prefix: Prefix = "") -> None:
    """List the groups, by name.

    Example: lochan auth groups list
    """
    show.rows(lake.groups.list(prefix), _COLUMNS)


@on_lake(app, "create")
def create(
    show: Show,
    lake: Lake,
    group: GroupName,
    *,
    description: Annotated[str, typer.Option("--description", help="What it is for.")] = "",
) -> None:
    """Make a group, without members and policies.

    Example: lochan auth groups create analysts --description "who reads all"
    """
    made = lake.groups.create(group, description)
    show.done(f"created group {group}", id=made.id, creation_date=made.creation_date)


@on_lake(app, "show")
def show_group(show: Show, lake: Lake, group: GroupName) -> None:
    """Describe a group, with its policies.

    Example: lochan auth groups show analysts
    """
    found = lake.groups.get(group)
    policies = [one.id for one in lake.groups.policies(group)]
    if show.json:
        show.value({"id": found.id, "description": found.description, "policies": policies})
        return
    show.record(found, {**_COLUMNS, "policies": lambda _: ", ".join(policies)})


@on_lake(app, "delete")
def delete(show: Show, lake: Lake, group: GroupName, *, yes: Yes = False) -> None:
    """Delete a group; its members stay users. It asks before.

    Example: lochan auth groups delete analysts --yes
    """
    sure(f"Delete group {group}?", yes=yes)
    lake.groups.delete(group)
    show.done(f"deleted group {group}", id=group)


@on_lake(app, "attach")
def attach(show: Show, lake: Lake, group: GroupName, policy: PolicyName) -> None:
    """Attach a policy to a group.

    Example: lochan auth groups attach analysts FSReadAll
    """
    lake.groups.attach_policy(group, policy)
    show.done(f"attached {policy} to {group}", group=group, policy=policy)


@on_lake(app, "detach")
def detach(show: Show, lake: Lake, group: GroupName, policy: PolicyName) -> None:
    """Detach a policy from a group.

    Example: lochan auth groups detach analysts FSReadAll
    """
    lake.groups.detach_policy(group, policy)
    show.done(f"detached {policy} from {group}", group=group, policy=policy)


@on_lake(members, "list")
def list_members(show: Show, lake: Lake, group: GroupName) -> None:
    """List the members of a group, by name.

    Example: lochan auth groups members list analysts
    """
    show.rows(lake.groups.members(group), USER_COLUMNS)


@on_lake(members, "add")
def add(show: Show, lake: Lake, group: GroupName, user: UserName) -> None:
    """Put a user into a group.

    Example: lochan auth groups members add analysts ann
    """
    lake.groups.add_member(group, user)
    show.done(f"{user} is in {group}", group=group, user=user)


@on_lake(members, "remove")
def remove(show: Show, lake: Lake, group: GroupName, user: UserName) -> None:
    """Take a user out of a group.

    Example: lochan auth groups members remove analysts ann
    """
    lake.groups.remove_member(group, user)
    show.done(f"{user} is no longer in {group}", group=group, user=user)
