# SPDX-License-Identifier: Apache-2.0
"""`lochan quickstart`: a server to try things out on, with data in it, by one command.

Its credentials are published ones: lakeFS's, so that clients and tutorials that hold them work
unchanged. That is why it serves this machine alone.
"""

from typing import Annotated, Final

import typer

from lochan.access.access import Access, open_access
from lochan.access.authenticate import authenticate
from lochan.access.setup import is_set_up, setup
from lochan.bootstrap.process import serve as serve_processes
from lochan.bootstrap.secret_key import draw_secret_key
from lochan.cli.serve import make_folder, ready_to_serve, url_of
from lochan.cli.settings import Config, LakeFolder, lake_settings, opened_lake, server_settings
from lochan.cli.show import Show
from lochan.cli.verb import new_app, verb
from lochan.config.server import Settings
from lochan.environment import RealEnvironment
from lochan.errors import Refused, Unauthenticated
from lochan.model.ids import BranchName, RepositoryId
from lochan.operations.create_repository import create_repository
from lochan.operations.lake import Lake
from lochan.operations.sample_data import add_sample_data
from lochan.operations.storage_namespaces import allowed_namespace
from lochan.refs.repositories import list_repositories

ACCESS_KEY_ID: Final = "AKIAIOSFOLQUICKSTART"
SECRET_ACCESS_KEY: Final = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"  # noqa: S105 - published
USER: Final = "quickstart"
REPOSITORY: Final = RepositoryId("quickstart")
MAIN: Final = BranchName("main")

app = new_app()


@verb(app, "quickstart")
def quickstart(
    show: Show,
    config: Config = None,
    lake: LakeFolder = None,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to serve on.")] = 8000,
) -> None:
    """Start a server with a sample repository and known credentials, on this machine alone."""
    given: dict[str, object] = {
        "lake": lake,
        "listen": f"127.0.0.1:{port}",
        "quickstart": True,
        "logging.level": "warning",
    }
    named = lake_settings(lake, None, config)
    make_folder(named.lake)
    draw_secret_key(named.lake, RealEnvironment())
    settings = server_settings(given, config)
    ready_to_serve(settings)
    with opened_lake(settings) as opened:
        secret = settings.auth.encrypt.secret_key.derive("access")
        _let_in(open_access(opened.store, opened.environment, secret), settings)
        _add_sample(opened, settings)
    _greet(show, settings)
    serve_processes(settings)


def _let_in(access: Access, settings: Settings) -> None:
    """Make the user of the published credentials, in a lake that has no users."""
    if not is_set_up(access):
        pair = {"access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET_ACCESS_KEY}
        setup(access, USER, **pair)
        return
    try:
        authenticate(access, ACCESS_KEY_ID, SECRET_ACCESS_KEY)
    except Unauthenticated as error:
        message = (
            f"the lake in {settings.lake} has users of its own, and published credentials would"
            " open it to anybody; use `lochan serve`, or another --lake"
        )
        raise Refused(message, code="lake-in-use") from error


def _add_sample(lake: Lake, settings: Settings) -> None:
    if any(found.repository_id == REPOSITORY for found in list_repositories(lake.store)):
        return
    namespace = allowed_namespace("", REPOSITORY, settings.namespace_prefixes)
    made = create_repository(lake, REPOSITORY, namespace, MAIN, committer=USER)
    add_sample_data(lake, made, USER)


def _greet(show: Show, settings: Settings) -> None:
    url = url_of(settings)
    facts = {
        "url": url,
        "access_key_id": ACCESS_KEY_ID,
        "secret_access_key": SECRET_ACCESS_KEY,
        "lake": str(settings.lake.absolute()),
    }
    show.record(facts)
    show.line("")
    show.line("To try in another terminal:", style="bold")
    for name, value in (
        ("LOCHAN_SERVER_ENDPOINT_URL", url),
        ("LOCHAN_CREDENTIALS_ACCESS_KEY_ID", ACCESS_KEY_ID),
        ("LOCHAN_CREDENTIALS_SECRET_ACCESS_KEY", SECRET_ACCESS_KEY),
    ):
        show.line(f"  export {name}={value}")
    show.line(f"  lochan fs ls lochan://{REPOSITORY}/{MAIN}/")
    show.line(f"  lochan branch create lochan://{REPOSITORY}/try --source {MAIN}")
    show.line(f"  lochan log lochan://{REPOSITORY}/{MAIN}")
    show.line("Ctrl-C ends the server; what it holds stays in the lake's folder.", style="dim")
