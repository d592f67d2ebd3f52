# SPDX-License-Identifier: Apache-2.0
"""The web application in this process, asked through Falcon's test client."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import falcon.testing

from lochan.access.attachments import attach_policy_to_user
from lochan.access.credentials import IssuedCredential, create_credentials
from lochan.access.policies import create_policy
from lochan.access.setup import setup
from lochan.access.users import create_user
from lochan.bootstrap.server import open_services
from lochan.config.secret import Secret
from lochan.config.server import Auth, Encrypt, Logging, Settings
from lochan.environment import RealEnvironment
from lochan.model.access import Statement
from lochan.web.application import PREFIX, new_application
from lochan.web.environ import HEADERS
from lochan.web.services import Services


def settings_in(folder: Path, **changed: Any) -> Settings:
    """Give the settings of a server whose lake lies in a folder."""
    return Settings(
        lake=folder,
        auth=Auth(encrypt=Encrypt(secret_key=Secret("0123456789abcdef" * 4))),
        logging=Logging(file=folder / "log", format="json"),
        **changed,
    )


class Api:
    """A client of the API: signed in as one user, or as nobody."""

    def __init__(self, services: Services, credential: IssuedCredential | None) -> None:
        self.services = services
        self._client = falcon.testing.TestClient(new_application(services))
        self.credential = credential

    def ask(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        prefix: str = PREFIX,
        extras: Mapping[str, object] | None = None,
        **rest: Any,
    ) -> falcon.testing.Result:
        """Send a request; `params`, `json` and `body` are Falcon's, `extras` go to the environ."""
        sent = dict(headers or {})
        if self.credential is not None and "authorization" not in sent:
            pair = f"{self.credential.access_key_id}:{self.credential.secret_access_key}"
            sent["authorization"] = "Basic " + b64encode(pair.encode()).decode()
        # Falcon's client knows WSGI's folded headers alone; ours come raw, too.
        raw = [(name.lower(), value) for name, value in sent.items()]
        return self._client.simulate_request(
            method,
            prefix + path,
            headers=sent,
            extras={HEADERS: raw, **(extras or {})},
            params_csv=False,
            **rest,
        )

    def get(self, path: str, **rest: Any) -> falcon.testing.Result:
        return self.ask("GET", path, **rest)

    def post(self, path: str, **rest: Any) -> falcon.testing.Result:
        return self.ask("POST", path, **rest)

    def put(self, path: str, **rest: Any) -> falcon.testing.Result:
        return self.ask("PUT", path, **rest)

    def delete(self, path: str, **rest: Any) -> falcon.testing.Result:
        return self.ask("DELETE", path, **rest)

    def head(self, path: str, **rest: Any) -> falcon.testing.Result:
        return self.ask("HEAD", path, **rest)

    def nobody(self) -> "Api":
        """Give a client without credentials."""
        return Api(self.services, None)

    def user(self, name: str, *statements: Statement) -> "Api":
        """Make a user with a policy of these statements, and give its client."""
        access = self.services.access
        create_user(access, name)
        if statements:
            create_policy(access, f"{name}-policy", statements)
            attach_policy_to_user(access, name, f"{name}-policy")
        return Api(self.services, create_credentials(access, name))


@contextmanager
def open_api(folder: Path, **changed: Any) -> Iterator[Api]:
    """Set a lake up in a folder and give its administrator's client."""
    folder.mkdir(exist_ok=True)
    workers = folder / "workers"
    workers.mkdir(exist_ok=True)
    with open_services(settings_in(folder, **changed), RealEnvironment(), workers) as services:
        yield Api(services, setup(services.access, "admin"))
