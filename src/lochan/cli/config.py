# SPDX-License-Identifier: Apache-2.0
"""`lochan config`: what is wrong with the settings here, and which are in effect."""

import typer

from lochan.cli.failing import WRONG
from lochan.cli.settings import Config, Kv, LakeFolder, gathered
from lochan.cli.show import Show
from lochan.cli.verb import new_app, verb
from lochan.config import show as shown
from lochan.config.gather import Finding

app = new_app("Check and show the settings of a server. It opens and changes nothing.")


@verb(app, "check")
def check(show: Show, config: Config = None) -> None:
    """Find all that is wrong with the settings; exit code 2 where a server would not start."""
    findings = gathered({}, config).findings
    if not findings and not show.json:
        show.line("the settings are right")
        return
    show.rows([finding._asdict() for finding in findings])
    if any(_is_error(finding) for finding in findings):
        raise typer.Exit(WRONG)


def _is_error(finding: Finding) -> bool:
    return finding.severity == "error"


@verb(app, "show")
def show_settings(
    show: Show, config: Config = None, lake: LakeFolder = None, kv: Kv = None
) -> None:
    """Show the settings in effect, without what is secret; `config check` says what is wrong."""
    found = gathered({"lake": lake, "kv": kv}, config)
    if show.json:
        show.value(shown.tree(found.settings))
    else:
        show.text(shown.effective(found.settings))
