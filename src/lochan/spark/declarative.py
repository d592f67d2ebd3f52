# SPDX-License-Identifier: Apache-2.0
"""Run a project of Spark Declarative Pipelines for a job: its tables become folders of the output.

Such a project empties its tables before it computes them anew, so that whoever reads them while it
runs, or after it has failed, finds nothing. Here it runs where nobody looks:

    warehouse   below an address that nobody else has, data/<partition>/<id>: <table>/part-...
    catalog     in memory, this run's own
    storage     of checkpoints: a folder that goes with the run, whatever the project says
    inputs      folders of links to the objects of the pinned commits; a definition finds each by
                spark.conf.get("spark.lochan.input.<name>"), a query by ${spark.lochan.input.<name>}

When the whole project has succeeded the files of its tables are linked, and the job publishes them
by one swap. Every run computes everything: what a stream had read before is not known to it.

The project runs in a process of its own, the driver's (`drive`): it needs Spark Connect, and a
process has one kind of session.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml

from lochan.config.surroundings import tell_children
from lochan.environment import Environment
from lochan.errors import InvalidInput, JobFailed, LochanError
from lochan.model.codec import decode_entry
from lochan.model.ids import StorageNamespace
from lochan.objects.foreign import is_full
from lochan.pipelines.attempts.loaded_code import using
from lochan.pipelines.attempts.places import OpenedPlace, ProcessPlaces
from lochan.pipelines.model.datum import Datum, Member
from lochan.pipelines.model.spec import DeclarativeTransform
from lochan.pipelines.model.work import JobTask, Manifest, Shard
from lochan.spark.attempt_record import output_of, record_attempt, row_of
from lochan.spark.places import Place, find_place
from lochan.spark.session import settings, tell_processes
from lochan.spark.written import Written, synced

_NAMES: Final = ("spark-pipeline.yml", "spark-pipeline.yaml")  # as Spark calls them
_LOCAL: Final = "local[*]"
_DATABASE: Final = ".db/"
_NO_CLOUDS: Final[frozenset[str]] = frozenset()


class ProjectRun:
    """Runs projects, one in the life of a process."""

    def __init__(self, environment: Environment) -> None:
        """Open storage by the credentials of this machine."""
        self._environment = environment
        self._storages = ProcessPlaces(environment)

    def __call__(self, task: JobTask, shard: Shard) -> Manifest:
        """Run a project whole. Raises JobFailed, InvalidInput, Unavailable."""
        began = self._environment.monotonic()
        place = self._storages(StorageNamespace(task.output_namespace))
        address = place.addresses.new()
        target = _on_disk(f"{task.output_namespace.rstrip('/')}/{address}", "the output")
        with TemporaryDirectory(prefix="lochan-project-") as name:
            folder = Path(name)
            inputs = _linked(task, shard.datums, folder / "inputs")
            spec = self._project(task, folder)
            _run(spec, _settings(task, target.path, inputs), _full_refresh(task))
        return self._recorded(task, shard, place, address, target, began)

    def _project(self, task: JobTask, folder: Path) -> Path:
        """Copy a project, so that it keeps nothing where it lies; gives its spec."""
        transform = task.transform
        if not isinstance(transform, DeclarativeTransform):
            raise InvalidInput("only projects are run here", code="engine-needed")
        with using(task.code, self._storages) as code:
            source = (code or Path()) / transform.project
            found = [source / each for each in _NAMES if (source / each).is_file()]
            if not found:
                message = f"{transform.project!r} has no {_NAMES[0]}; name the project's folder"
                raise InvalidInput(message, code="no-project")
            copied = shutil.copytree(source, folder / "project")
        spec = copied / found[0].name
        said = yaml.safe_load(spec.read_text(encoding="utf-8"))
        if not isinstance(said, dict):
            raise InvalidInput(f"{found[0].name} of {transform.project!r} is no mapping")
        said["storage"] = (folder / "storage").as_uri()
        spec.write_text(yaml.safe_dump(said), encoding="utf-8")
        return spec

    def _recorded(
        self,
        task: JobTask,
        shard: Shard,
        place: OpenedPlace,
        address: str,
        target: Place,
        began: float,
    ) -> Manifest:
        written = synced(target, self._environment) if Path(target.path).is_dir() else []
        if not written:
            raise JobFailed("the project has written no table", code="project-failed")
        outputs = [output_of("", address, one._replace(path=_shown(one))) for one in written]
        [datum] = shard.datums
        return record_attempt(
            place.objects,
            self._environment,
            task,
            shard,
            [row_of(task, shard, datum, outputs)],
            written=sum(one.size for one in written),
            seconds=self._environment.monotonic() - began,
        )


def _run(spec: Path, conf: Mapping[str, str], full_refresh: bool) -> None:  # noqa: FBT001 - Spark's
    """Run a project on a Connect server of this process."""
    tell_processes()
    tell_children({"SPARK_REMOTE": conf["spark.remote"]})
    try:
        sql: Any = import_module("pyspark.sql")
        cli: Any = import_module("pyspark.pipelines.cli")
    except ImportError as error:
        message = "projects need Spark Connect: pip install 'lochan[connect]'"
        raise InvalidInput(message, code="connect-not-installed") from error
    builder = sql.SparkSession.builder
    for name, value in conf.items():
        builder = builder.config(name, value)
    before = Path.cwd()
    try:
        builder.getOrCreate()
        cli.run(
            spec_path=spec,
            full_refresh=[],
            full_refresh_all=full_refresh,
            refresh=[],
            dry=False,
        )
    except LochanError:
        raise
    except (Exception, SystemExit) as error:  # Spark's errors have no common class
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = lines[0] if lines else type(error).__name__
        raise JobFailed(f"the project failed: {said}", code="project-failed") from error
    finally:
        os.chdir(before)


def _settings(task: JobTask, warehouse: str, inputs: Mapping[str, Path]) -> dict[str, str]:
    master = task.spark.master or _LOCAL
    if not master.startswith("local"):
        message = f"a project runs on the machine of its driver, and not on {master}"
        raise InvalidInput(f"{message}; leave the master out", code="engine-needed")
    own = {
        "spark.remote": master,
        "spark.sql.warehouse.dir": warehouse,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.ui.enabled": "false",
    }
    told = {f"spark.lochan.input.{name}": str(folder) for name, folder in inputs.items()}
    return {**settings(), **task.spark.conf, **own, **told}


def _full_refresh(task: JobTask) -> bool:
    return isinstance(task.transform, DeclarativeTransform) and task.transform.full_refresh


def _linked(task: JobTask, datums: Sequence[Datum], top: Path) -> dict[str, Path]:
    """Make a folder for each input, with a link for each of its objects."""
    found: dict[str, Path] = {}
    for datum in datums:
        for file in datum.files:
            folder = found.setdefault(file.input, top / file.input)
            folder.mkdir(parents=True, exist_ok=True)
            for member in file.members:
                _link(folder, task.input_namespaces[file.repository], member)
    return found


def _link(folder: Path, namespace: str, member: Member) -> None:
    key, entry = member.key.decode(errors="surrogateescape"), decode_entry(member.entry)
    if not entry.address:
        message = f"{key!r} is a file of several blocks; copy it to one object for Spark"
        raise InvalidInput(message, code="several-blocks")
    link = folder / key
    if not link.resolve().is_relative_to(folder.resolve()):
        raise InvalidInput(f"{key!r} is no path of a file", code="invalid-path")
    address = entry.address
    whole = address if is_full(address) else f"{namespace.rstrip('/')}/{address}"
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(_on_disk(whole, repr(key)).path)


def _on_disk(address: str, what: str) -> Place:
    found = find_place(address, "", _NO_CLOUDS)
    if found is None or found.scheme != "file":
        message = f"{what} lies at {address}; a project reads and writes folders of this machine"
        raise InvalidInput(f"{message} alone", code="storage-unreachable")
    return found


def _shown(one: Written) -> str:
    """Name a file of a table: of the default database <table>/..., else <database>/<table>/..."""
    return one.path.replace(_DATABASE, "/", 1)
