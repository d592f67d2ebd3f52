# SPDX-License-Identifier: Apache-2.0
"""`lochan auth credentials`: the keys of a user."""

from typing import Annotated

import typer

from lochan.cli.on_lake import on_lake
from lochan.cli.options import Yes, sure
from lochan.cli.show import Show, when
from lochan.cli.verb import new_app
from lochan.client.lake import Lake

app = new_app("Make, list and delete the keys of a user.")

WhoseKeys = Annotated[str, typer.Option("--user", help="Whose; else one's own.")]


@on_lake(app, "list")
def list_credentials(show: Show, lake: Lake, user: WhoseKeys = "") -> None:
    """List the keys of a user, without their secrets.

    Example: lochan auth credentials list --user ann
    """
    show.rows(
        lake.users.credentials(user or lake.user.id),
        {
            "access key id": lambda one: one.access_key_id,
            "created": lambda one: when(one.creation_date),
        },
    )


@on_lake(app, "create")
def create(show: Show, lake: Lake, user: WhoseKeys = "") -> None:
    """Make a key, and show its secret: this once.

    Example: lochan auth credentials create --user ann
    """
    made = lake.users.create_credentials(user or lake.user.id)
    show.record(made)
    show.line("Keep the secret: it is not shown again.", style="yellow")


@on_lake(app, "show")
def show_credentials(
    show: Show,
    lake: Lake,
    access_key_id: Annotated[str, typer.Argument(help="Which key.")],
    user: WhoseKeys = "",
) -> None:
    """Describe a key; its secret is told to nobody.

    Example: lochan auth credentials show AKIAJ4XAMPLE --user ann
    """
    show.record(lake.users.get_credentials(user or lake.user.id, access_key_id))


@on_lake(app, "delete")
def delete(
    show: Show,
    lake: Lake,
    access_key_id: Annotated[str, typer.Argument(help="Which key.")],
    user: WhoseKeys = "",
    *,
    yes: Yes = False,
) -> None:
    """Take a key away from a user. It asks before.

    Example: lochan auth credentials delete AKIAJ4XAMPLE --user ann --yes
    """
    sure(f"Delete key {access_key_id}?", yes=yes)
    lake.users.delete_credentials(user or lake.user.id, access_key_id)
    show.done(f"deleted key {access_key_id}", access_key_id=access_key_id)
