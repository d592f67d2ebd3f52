# SPDX-License-Identifier: Apache-2.0
"""`lochan gc rules`: how long history is kept. `lochan.cli.collect` has the other words of gc."""

from typing import Annotated

import typer

from lochan.cli.address import RepositoryAddress, repository_at
from lochan.cli.on_lake import on_lake
from lochan.cli.show import Show
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import InvalidInput, NotFound
from lochan.shapes.retention import GarbageCollectionRule, GarbageCollectionRules

app = new_app("Say how long history is kept, and remove the rest.")
rules = new_app("Say for how many days replaced objects are kept.")
app.add_typer(rules, name="rules")


@on_lake(rules, "get")
def get(show: Show, lake: Lake, repository: RepositoryAddress) -> None:
    """Show how long history is kept; code 3 where nobody has said so.

    Example: lochan gc rules get my-lake
    """
    found = repository_at(lake, repository).settings.find_retention()
    if found is None:
        message = (
            f"{repository} has no rules: history is kept for ever; `gc rules set` says otherwise"
        )
        raise NotFound(message, code="no-rules")
    _tell(show, found)


@on_lake(rules, "set")
def set_rules(
    show: Show,
    lake: Lake,
    repository: RepositoryAddress,
    *,
    days: Annotated[
        int, typer.Option("--default-days", min=0, help="For branches without a rule of their own.")
    ],
    branch: Annotated[
        list[str] | None,
        typer.Option("--branch", metavar="NAME=DAYS", help="A rule of a branch's own."),
    ] = None,
) -> None:
    """Say how long history is kept, instead of what was said before.

    Example: lochan gc rules set my-lake --default-days 21 --branch main=28
    """
    told = GarbageCollectionRules(
        default_retention_days=days, branches=[_rule(text) for text in branch or ()]
    )
    repository_at(lake, repository).settings.set_retention(told)
    _tell(show, told)


@on_lake(rules, "delete")
def delete(show: Show, lake: Lake, repository: RepositoryAddress) -> None:
    """Keep history for ever.

    Example: lochan gc rules delete my-lake
    """
    named = repository_at(lake, repository)
    named.settings.delete_retention()
    show.done(f"the history of {named.id} is kept for ever", id=named.id)


def _tell(show: Show, found: GarbageCollectionRules) -> None:
    if show.json:
        show.value(found)
        return
    rows = [(one.branch_id, one.retention_days) for one in found.branches]
    show.rows(
        [*rows, ("(other branches)", found.default_retention_days)],
        {"branch": lambda one: one[0], "days": lambda one: one[1]},
    )


def _rule(text: str) -> GarbageCollectionRule:
    name, _, days = text.partition("=")
    if not name or not days.isdecimal():
        raise InvalidInput(f"{text!r} is no rule; write --branch main=28")
    return GarbageCollectionRule(branch_id=name, retention_days=int(days))
