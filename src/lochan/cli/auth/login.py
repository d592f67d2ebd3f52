# SPDX-License-Identifier: Apache-2.0
"""`lochan auth login` and `whoami`: as whom this machine asks."""

from lochan import connect
from lochan.cli.client_file import AccessKeyId, EndpointUrl, asked, client_file, write_client_file
from lochan.cli.on_lake import on_lake
from lochan.cli.show import Show
from lochan.cli.verb import new_app, verb
from lochan.client.lake import Lake

app = new_app()


@on_lake(app, "whoami")
def whoami(show: Show, lake: Lake) -> None:
    """Say as whom this machine asks, and which server.

    Example: lochan auth whoami
    """
    user = lake.user
    if show.json:
        show.value({"user": user, "endpoint_url": lake.transport.endpoint})
    else:
        show.line(f"{user.id} at {lake.transport.endpoint}")


@verb(app, "login")
def login(show: Show, endpoint_url: EndpointUrl = "", access_key_id: AccessKeyId = "") -> None:
    """Try a key, and keep it in ~/.lochan.yaml, which nobody else can read.

    What is not given is asked for. The secret is asked for, or read from stdin in scripts.

    Example: lochan auth login --endpoint-url http://127.0.0.1:8000
    """
    told = asked(endpoint_url, access_key_id)
    with connect(
        told.endpoint_url,
        access_key_id=told.access_key_id,
        secret_access_key=told.secret_access_key,
    ) as lake:
        user = lake.user.id
    file = client_file()
    write_client_file(file, told)
    show.done(f"logged in as {user}; {file} has the key", user=user, file=str(file))
