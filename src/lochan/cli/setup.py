# SPDX-License-Identifier: Apache-2.0
"""`lochan setup`: the first user of a lake, made beside its servers."""

from typing import Annotated

import typer

from lochan.access.access import open_access
from lochan.access.setup import setup as make_first_user
from lochan.bootstrap.secret_key import draw_secret_key
from lochan.cli.serve import make_folder
from lochan.cli.settings import Config, Kv, LakeFolder, lake_settings, opened_lake, server_settings
from lochan.cli.show import Show
from lochan.cli.verb import new_app, verb
from lochan.environment import RealEnvironment

app = new_app()


@verb(app, "setup")
def setup(
    show: Show,
    user: Annotated[str, typer.Option("--user", help="Name of the first user.")] = "admin",
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
) -> None:
    """Make the first user of a lake, and show its credentials: once, they are not kept readable."""
    named = lake_settings(lake, kv, config)
    if not named.kv:  # a lake in a folder; others share a secret that settings must give
        make_folder(named.lake)
        draw_secret_key(named.lake, RealEnvironment())
    settings = server_settings({"lake": lake, "kv": kv}, config)
    with opened_lake(settings) as opened:
        secret = settings.auth.encrypt.secret_key.derive("access")
        issued = make_first_user(open_access(opened.store, opened.environment, secret), user)
    credentials = {
        "user": user,
        "access_key_id": issued.access_key_id,
        "secret_access_key": issued.secret_access_key,
    }
    show.record(credentials)
    show.line("Keep the secret: it is not shown again.", style="yellow")
