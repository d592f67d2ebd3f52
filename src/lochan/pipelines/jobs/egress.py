# SPDX-License-Identifier: Apache-2.0
"""Egress: copy a published result to a folder or a store of others.

The destination keeps its own state (`_lochan_export.json`, see `operations.export_ref`): which
commit lies there, and which copies were begun. So a copy that is done again does nothing, one that
was interrupted is taken up, and the next commit's writes only what differs. `overwrite` also
deletes files that the output no longer has, and that a copy had written; `append` leaves them.

A server copies only below the places that it was told: whoever may create a pipeline could else
have it write wherever its own credentials reach.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlencode

from lochan.environment import Environment
from lochan.errors import InvalidInput, Refused
from lochan.model.records import Commit, Repository
from lochan.objects.foreign import is_full
from lochan.objects.namespace import Namespace
from lochan.objects.open import open_objects
from lochan.operations.export_places import ExportPlace, StorePlace, open_place
from lochan.operations.export_ref import Exported, Progress, export_ref, tell_nobody
from lochan.operations.lake import Lake
from lochan.pipelines.jobs.pin import repository_of
from lochan.pipelines.model.records import Job
from lochan.pipelines.model.spec import Egress

Send = Callable[[Job, Commit], None]
SendTable = Callable[[Lake, Repository, Commit, Egress], None]  # by JDBC, whoever can


def sender(
    lake: Lake,
    egresses: Sequence[Egress],
    *,
    tables: SendTable | None = None,
    places: Sequence[str] | None = None,
) -> Send | None:
    """Give what sends a job's result to all its destinations; None if there are none.

    `places` are those below which files may be copied; None is anywhere.
    """
    if not egresses:
        return None

    def send(job: Job, commit: Commit) -> None:
        repository = repository_of(lake, job.output_repository)
        for egress in egresses:
            if egress.files:
                send_files(lake, repository, commit, egress, places=places)
            elif tables is not None:
                tables(lake, repository, commit, egress)
            else:
                message = "a result is sent to a database by a Spark engine; this one has none"
                raise InvalidInput(message, code="engine-needed")

    return send


def send_files(
    lake: Lake,
    repository: Repository,
    commit: Commit,
    egress: Egress,
    *,
    places: Sequence[str] | None = None,
    progress: Progress = tell_nobody,
) -> Exported:
    """Bring a destination to what a commit shows.

    Raises: Refused for one that lies below no place; Conflict for one that belongs to another
    repository; InvalidInput; Unavailable.
    """
    if places is not None:
        _require_allowed(egress.files, places)
    with _opened(egress, lake.environment) as destination:
        return export_ref(
            lake,
            repository,
            commit.id,
            destination,
            delete=egress.mode == "overwrite",
            progress=progress,
        )


@contextmanager
def _opened(egress: Egress, environment: Environment) -> Iterator[ExportPlace]:
    if not is_full(egress.files) or egress.files.startswith("file://"):
        yield open_place(egress.files, environment)
        return
    options = f"?{urlencode(egress.options)}" if egress.options else ""
    with closing(open_objects(f"{egress.files}{options}", environment)) as objects:
        yield StorePlace(objects)


def _require_allowed(location: str, places: Sequence[str]) -> None:
    wanted = _spelled(location)
    if not any(
        wanted == place or wanted.startswith(f"{place}/") for place in map(_spelled, places)
    ):
        message = f"{location!r} lies below no place that results may be sent to; have it allowed"
        raise Refused(message, code="egress-not-allowed")


def _spelled(location: str) -> str:
    """Give the one spelling of a folder or a store's prefix; links of folders are followed."""
    if "://" in location and not location.startswith(("file://", "local://")):
        return str(Namespace.parse(location.partition("?")[0])).removesuffix("/")
    path = location.removeprefix("file://").removeprefix("local://")
    return f"file://{Path(path).resolve()}".removesuffix("/")
