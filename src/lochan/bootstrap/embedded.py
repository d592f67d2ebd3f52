# SPDX-License-Identifier: Apache-2.0
"""A lake in this process: `lochan.open("./lake")`, without a server.

The folder holds kv.db and objects/, and is made if it is not there. Several processes may open it
at the same time, a server among them. Whoever can read and write these files can do everything to
the lake anyway, so requests from inside are an administrator's and need no credentials. Users and
policies are for servers; those of the folder are left as they are.

    <lake>/kv.db          the key-value store
    <lake>/objects/       the storage namespaces of repositories
    <lake>/secret         the key that seals secrets and signs addresses, 64 hex digits, mode 0600
"""

import getpass
import os
import weakref
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

from lochan.access.arn import ANY
from lochan.access.decide import ALLOW, rules
from lochan.access.principal import Principal
from lochan.bootstrap.server import open_services
from lochan.client.connect import within_process
from lochan.client.in_process import Environ, Headers
from lochan.client.lake import Lake
from lochan.config.secret import Secret
from lochan.config.server import Auth, Encrypt, Logging, Settings
from lochan.environment import Environment, RealEnvironment
from lochan.errors import InvalidInput, Unavailable
from lochan.model.access import Statement
from lochan.model.ids import UniqueIdentifier
from lochan.web.application import new_application
from lochan.web.authenticate import PRINCIPAL
from lochan.web.environ import decoded_path, new_environ

SECRET: Final = "secret"  # noqa: S105 - the name of a file
_SECRET_BYTES: Final = 32
_EVERYTHING: Final = (Statement(ALLOW, ("*",), ANY),)


def open_embedded(path: str | os.PathLike[str], *, environment: Environment | None = None) -> Lake:
    """Open the lake in a folder, and make it if there is none. Raises Unavailable, InvalidInput."""
    environment = environment or RealEnvironment()
    folder = _folder(Path(path))
    opened = ExitStack()
    try:
        workers = Path(opened.enter_context(TemporaryDirectory(prefix="lochan-embedded-")))
        settings = embedded_settings(folder, environment)
        services = opened.enter_context(open_services(settings, environment, workers))
        transport = within_process(new_application(services), _describe_as(_owner()), environment)
        opened.callback(transport.close)
    except BaseException:
        opened.close()
        raise
    lake = Lake(transport, opened.close, name=str(folder))
    weakref.finalize(lake, opened.close)  # a notebook's kernel ends without closing anything
    return lake


def embedded_settings(folder: Path, environment: Environment) -> Settings:
    """Give the settings of a lake that nobody serves."""
    return Settings(
        lake=folder,
        auth=Auth(encrypt=Encrypt(secret_key=Secret(_secret(folder / SECRET, environment)))),
        logging=Logging(level="error", file=Path(os.devnull)),
    )


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise InvalidInput(f"{path} is a file; a lake is a folder", code="not-a-folder") from error
    except OSError as error:
        raise Unavailable(f"the lake's folder {path} cannot be made: {error.strerror}") from error
    return path.absolute()


def _secret(path: Path, environment: Environment) -> str:
    """Read the lake's secret; the first who comes draws it, and nobody replaces it."""
    fresh = path.with_name(f".{SECRET}.{environment.new_id()}")
    try:
        if not path.exists():
            with os.fdopen(
                os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w"
            ) as file:
                file.write(environment.random_bytes(_SECRET_BYTES).hex())
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(fresh, path)
            fresh.unlink()
        return path.read_text().strip()
    except OSError as error:
        raise Unavailable(f"the lake's secret {path} cannot be read: {error.strerror}") from error


def _owner() -> Principal:
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in many containers
        name = "owner"
    return Principal(name, UniqueIdentifier("embedded"), rules(_EVERYTHING, name))


def _describe_as(principal: Principal) -> Callable[..., Environ]:
    def describe(
        *, method: str, raw_path: str, query: str, headers: Headers, body: IO[bytes]
    ) -> Environ:
        environ = new_environ(
            method=method,
            path=decoded_path(raw_path),
            query=query,
            headers=headers,
            body=body,
        )
        environ[PRINCIPAL] = principal
        return environ

    return describe
