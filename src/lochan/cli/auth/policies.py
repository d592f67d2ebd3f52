# SPDX-License-Identifier: Apache-2.0
"""`lochan auth policies`: statements under a name, which allow or deny."""

import sys
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from lochan.cli.on_lake import on_lake
from lochan.cli.options import Prefix, Yes, sure
from lochan.cli.show import Show, when
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import InvalidInput
from lochan.shapes.access import Policy, Statement

app = new_app("Make, list, describe and delete policies.")
_STDIN: Final = Path("-")

PolicyName = Annotated[str, typer.Argument(metavar="POLICY", help="Name of the policy.")]
Statements = Annotated[
    Path, typer.Option("--statements", help="File with a JSON array of statements; - reads stdin.")
]


@on_lake(app, "list")
def list_policies(show: Show, lake: Lake, prefix: Prefix = "") -> None:
    """List the policies, by name.

    Example: lochan auth policies list --prefix FS
    """
    show.rows(
        lake.policies.list(prefix),
        {
            "policy": lambda one: one.id,
            "created": lambda one: when(one.creation_date or 0),
            "statements": lambda one: len(one.statement),
        },
    )


@on_lake(app, "show")
def show_policy(show: Show, lake: Lake, policy: PolicyName) -> None:
    """Show what a policy allows and denies.

    Example: lochan auth policies show FSReadAll
    """
    _tell(show, lake.policies.get(policy))


@on_lake(app, "create")
def create(show: Show, lake: Lake, policy: PolicyName, *, statements: Statements) -> None:
    """Make a policy.

    A statement is {"effect": "allow", "action": ["fs:Read*"], "resource": "arn:lakefs:fs:::*"}.

    Example: lochan auth policies create read-raw --statements read-raw.json
    """
    _tell(show, lake.policies.create(policy, _read(statements)))


@on_lake(app, "update")
def update(show: Show, lake: Lake, policy: PolicyName, *, statements: Statements) -> None:
    """Give a policy other statements instead of those that it has.

    Example: lochan auth policies update read-raw --statements read-raw.json
    """
    _tell(show, lake.policies.update(policy, _read(statements)))


@on_lake(app, "delete")
def delete(show: Show, lake: Lake, policy: PolicyName, *, yes: Yes = False) -> None:
    """Delete a policy, wherever it is attached. It asks before.

    Example: lochan auth policies delete read-raw --yes
    """
    sure(f"Delete policy {policy}?", yes=yes)
    lake.policies.delete(policy)
    show.done(f"deleted policy {policy}", id=policy)


def _read(file: Path) -> list[Statement]:
    text = sys.stdin.read() if file == _STDIN else file.read_text()
    try:
        return msgspec.json.decode(text, type=list[Statement])
    except msgspec.DecodeError as error:
        message = f"{file} holds no JSON array of statements: {error}"
        raise InvalidInput(message, code="invalid-statements") from error


def _tell(show: Show, policy: Policy) -> None:
    if show.json:
        show.value(policy)
        return
    show.rows(
        policy.statement,
        {
            "effect": lambda one: one.effect,
            "action": lambda one: ", ".join(one.action),
            "resource": lambda one: one.resource,
        },
        title=policy.id,
    )
