# SPDX-License-Identifier: Apache-2.0
"""A lake in this process: `lochan.open("./lake")`, without a server.

The folder holds kv.db and objects/, and is made if it is not there. Several processes may open it
at the same time, a server among them. Whoever can read and write these files can do everything to
the lake anyway, so requests from inside are an administrator's and need no credentials. Users and
policies are for servers; those of the folder are left as they are.

<lake>/kv.db         the key-value store
<lake>/objects/      the storage namespaces of repositories
<lake>/secret.key    what seals secrets and signs addresses (`secret_key`)
"""

import getpass
import os
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

from lochan.access.arn import ANY
from lochan.access.decide import ALLOW, rules
from lochan.access.principal import Principal
from lochan.bootstrap.background import Background
from lochan.bootstrap.run_here import run_set
from lochan.bootstrap.secret_key import draw_secret_key
from lochan.bootstrap.server import open_services
from lochan.client.connect import within_process
from lochan.client.in_process import Environ, Headers
from lochan.client.lake import Lake
from lochan.config.secret import Secret
from lochan.config.server import Auth, Blockstore, Encrypt, Logging, Settings
from lochan.environment import Environment, RealEnvironment
from lochan.errors import InvalidInput, Unavailable
from lochan.model.access import Statement
from lochan.model.ids import UniqueIdentifier
from lochan.pipelines.jobs.try_datums import try_datum
from lochan.web.application import new_application
from lochan.web.authenticate import PRINCIPAL
from lochan.web.environ import decoded_path, new_environ

_EVERYTHING: Final = (Statement(ALLOW, ("*",), ANY),)


def open_embedded(
    path: str | os.PathLike[str],
    *,
    namespace_prefixes: Sequence[str] = (),
    environment: Environment | None = None,
) -> Lake:
    """Open the lake in a folder, and make it if there is none.

    Repositories may also lie below `namespace_prefixes`, such as s3://bucket/lake. Files of this
    machine may be imported where they lie. Raises Unavailable, InvalidInput.
    """
    environment = environment or RealEnvironment()
    folder = _folder(Path(path))
    opened = ExitStack()
    try:
        workers = Path(opened.enter_context(TemporaryDirectory(prefix="lochan-embedded-")))
        settings = _settings(folder, namespace_prefixes, environment)
        services = opened.enter_context(open_services(settings, environment, workers))
        background = Background(services.lake, services.log, services.metrics)
        opened.enter_context(closing(background))
        background.start()
        transport = within_process(new_application(services), _describe_as(_owner()), environment)
    except BaseException:
        opened.close()
        raise
    # Nobody closes in a notebook. What came from a lake outlives it, but not its transport.
    weakref.finalize(transport, opened.close)
    return Lake(
        transport,
        name=str(folder),
        then=opened.close,
        inside=services.lake,
        trial=partial(try_datum, services.lake),
        drive=partial(run_set, services.lake),
    )


def _settings(folder: Path, prefixes: Sequence[str], environment: Environment) -> Settings:
    try:
        secret = draw_secret_key(folder, environment).read_text(encoding="ascii").strip()
    except OSError as error:
        message = f"the secret of the lake in {folder} cannot be read: {error.strerror}"
        raise Unavailable(message) from error
    return Settings(
        lake=folder,
        auth=Auth(encrypt=Encrypt(secret_key=Secret(secret))),
        blockstore=Blockstore(
            allowed_namespace_prefixes=tuple(prefixes), readable_folders=(Path("/"),)
        ),
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
