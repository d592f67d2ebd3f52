# SPDX-License-Identifier: Apache-2.0
"""`lochan config`: what is wrong with settings, which are in effect, and the file of a client."""

from typing import Annotated

import typer

from lochan.cli.client_file import AccessKeyId, EndpointUrl, asked, client_file, write_client_file
from lochan.cli.failing import WRONG
from lochan.cli.settings import Config, Kv, LakeFolder, gathered
from lochan.cli.show import Show
from lochan.cli.verb import new_app, verb
from lochan.config import show as shown
from lochan.config.gather import Finding
from lochan.errors import AlreadyExists

app = new_app("Check and show the settings of a server, and write those of a client.")


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


@verb(app, "init")
def init(
    show: Show,
    endpoint_url: EndpointUrl = "",
    access_key_id: AccessKeyId = "",
    *,
    force: Annotated[bool, typer.Option("--force", help="Change a file that is there.")] = False,
) -> None:
    """Write ~/.lochan.yaml, which clients read, for its owner alone; `auth login` tries it, too.

    What is not given is asked for. The secret is asked for, or read from stdin in scripts.

    Example: lochan config init --endpoint-url http://127.0.0.1:8000
    """
    file = client_file()
    if file.exists() and not force:
        raise AlreadyExists(
            f"{file} is there already; give --force to change it", code="file-exists"
        )
    told = asked(endpoint_url, access_key_id)
    write_client_file(file, told)
    show.done(f"wrote {file}", file=str(file), endpoint_url=told.endpoint_url)
