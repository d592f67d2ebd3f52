# SPDX-License-Identifier: Apache-2.0
"""The web application over a lake: what one worker process of a server holds."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from lochan import __version__
from lochan.access.access import open_access
from lochan.bootstrap.lake import open_lake
from lochan.config.server import Logging, Settings
from lochan.environment import Environment
from lochan.logs import AccessLog, AuditLog, Lines, open_log
from lochan.metrics import Metrics, Workers
from lochan.operations.repository_reads import RepositoryReads
from lochan.operations.tasks import Tasks
from lochan.web.admission import Admission
from lochan.web.readiness import Readiness
from lochan.web.services import Services


@contextmanager
def open_services(
    settings: Settings, environment: Environment, workers_folder: Path
) -> Iterator[Services]:
    """Open all that handlers need, and close it at the end.

    `workers_folder` is shared by the processes of one server (`metrics.workers`).
    Raises: InvalidInput, Unavailable.
    """
    with ExitStack() as opened:
        lines = opened.enter_context(closing(Lines(settings.logging.file)))
        said = settings.logging
        log = open_log(lines, environment, level=said.level, format=said.format)
        audited = lines
        if said.audit_file is not None:
            audited = opened.enter_context(closing(Lines(said.audit_file)))
        requests = opened.enter_context(
            closing(AccessLog(lines, environment, console=_console(said, lines)))
        )
        requests.start()
        metrics = Metrics(environment)
        workers = opened.enter_context(closing(Workers(workers_folder, metrics, environment)))
        workers.start()
        lake = opened.enter_context(
            open_lake(
                settings.kv_url,
                environment,
                readable=settings.blockstore.readable_folders,
                private=settings.private_folders,
            )
        )
        tasks = opened.enter_context(
            closing(
                Tasks(
                    lake.store,
                    environment,
                    lambda error: log.error("a task broke", exc_info=error),
                )
            )
        )
        secret = settings.auth.encrypt.secret_key.derive("access")
        yield Services(
            lake,
            open_access(
                lake.store,
                environment,
                secret,
                logins_per_minute=settings.limits.logins_per_minute,
            ),
            settings,
            RepositoryReads(lake.store, environment),
            tasks,
            Readiness(lake.store, environment, workers_folder),
            Admission(environment, settings.limits.requests_per_second),
            log,
            requests,
            AuditLog(audited, environment, log),
            metrics,
            workers,
            __version__,
        )


def _console(said: Logging, lines: Lines) -> bool:
    """Say whether lines are for a person."""
    return said.format == "console" or (said.format == "auto" and lines.is_terminal)
