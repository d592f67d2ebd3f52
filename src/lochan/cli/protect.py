# SPDX-License-Identifier: Apache-2.0
"""`lochan branch protect`: branches that change by merging alone."""

from typing import Annotated

import typer

from lochan.cli.address import RepositoryAddress, repository_at
from lochan.cli.on_lake import on_lake
from lochan.cli.show import Show
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import NotFound

app = new_app("Say which branches change by merging alone.")

Pattern = Annotated[str, typer.Argument(help="Names of branches; * and ? stand for any letters.")]


@on_lake(app, "add")
def add(show: Show, lake: Lake, repository: RepositoryAddress, pattern: Pattern) -> None:
    """Protect the branches of a pattern.

    Example: lochan branch protect add my-lake 'release-*'
    """
    settings = repository_at(lake, repository).settings
    settings.protect_branches(sorted({*settings.protected_branches(), pattern}))
    show.done(f"protected {pattern}", pattern=pattern)


@on_lake(app, "list")
def list_rules(show: Show, lake: Lake, repository: RepositoryAddress) -> None:
    """List the patterns of branches that are protected.

    Example: lochan branch protect list my-lake
    """
    patterns = repository_at(lake, repository).settings.protected_branches()
    show.rows([{"pattern": pattern} for pattern in patterns])


@on_lake(app, "delete")
def delete(show: Show, lake: Lake, repository: RepositoryAddress, pattern: Pattern) -> None:
    """Protect the branches of a pattern no more.

    Example: lochan branch protect delete my-lake 'release-*'
    """
    settings = repository_at(lake, repository).settings
    patterns = settings.protected_branches()
    if pattern not in patterns:
        raise NotFound(f"no rule is {pattern!r}; `lochan branch protect list` shows them")
    settings.protect_branches([one for one in patterns if one != pattern])
    show.done(f"{pattern} is no longer protected", pattern=pattern)
