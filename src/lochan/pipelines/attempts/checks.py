# SPDX-License-Identifier: Apache-2.0
"""Checks: what must hold of an output before anybody sees it.

A job has squashed its shards into a tree that no ref names; checks look at that tree, and the job
publishes it or fails. A function gets the tree's files as its one argument, and raises, or gives
False, when they are not as they should be. A query is run by whoever has an engine for it.

Functions are the author's code: they run where attempts run, never in a server. So a `CheckTask` is
data, as a job's task is, and what comes back is, too.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, Final

import msgspec

from lochan.committed import Files, Snapshots
from lochan.environment import Environment
from lochan.errors import InvalidInput, JobFailed, NotFound
from lochan.kernel.records import Record
from lochan.model.ids import MetaRangeId, StorageNamespace
from lochan.pipelines.attempts.datum_log import AttemptLog
from lochan.pipelines.attempts.failed_code import outage_behind, told
from lochan.pipelines.attempts.input_files import DatumReading, InputFile, key_of
from lochan.pipelines.attempts.loaded_code import find_function, using
from lochan.pipelines.attempts.places import Storages
from lochan.pipelines.model.datum import DatumFile, Member
from lochan.pipelines.model.spec import Check
from lochan.pipelines.model.work import Code

_OUT: Final = "out"


class CheckTask(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to check an output: the tree lies in the output's namespace."""

    job: str
    pipeline: str
    code: Code
    checks: tuple[Check, ...]
    output_namespace: str
    tree: str  # metarange id


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one check said."""

    name: str
    passed: bool
    reason: str = ""


Query = Callable[[CheckTask, Check], bool]  # runs a query over the tree as the table `out`


class OutputTree:
    """The files of an output that nobody sees yet."""

    def __init__(self, snapshots: Snapshots, tree: MetaRangeId, reading: DatumReading) -> None:
        """Stand for a tree; nothing is read yet."""
        self._snapshots = snapshots
        self._tree = tree
        self._reading = reading
        self._file = DatumFile(_OUT, _OUT, b"/", (), ())

    def under(self, prefix: str) -> Iterator[InputFile]:
        """Yield the files whose paths begin so, in byte order."""
        for record in self._snapshots.list(self._tree, key_of(prefix)):
            if isinstance(record, Record):
                yield self._found(record)

    @property
    def paths(self) -> Iterator[str]:
        """Yield the paths of all files."""
        return (file.path for file in self)

    def file(self, path: str) -> InputFile:
        """Find a file. Raises NotFound."""
        record = self._snapshots.get(self._tree, key_of(path))
        if record is None:
            raise NotFound(f"the output has no file {path!r}")
        return self._found(record)

    def open(self, path: str, mode: str = "rb", encoding: str = "utf-8") -> IO[Any]:
        """Open a file to be read: rb gives bytes, r text."""
        return self.file(path).open(mode, encoding)

    def read_bytes(self, path: str) -> bytes:
        """Read a file whole."""
        return self.file(path).read_bytes()

    def read_text(self, path: str, encoding: str = "utf-8") -> str:
        """Read a file whole, as text."""
        return self.file(path).read_text(encoding)

    def __iter__(self) -> Iterator[InputFile]:
        return self.under("")

    def __contains__(self, path: str) -> bool:
        return self._snapshots.get(self._tree, key_of(path)) is not None

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _found(self, record: Record) -> InputFile:
        member = Member(record.key, record.identity, record.value)
        return InputFile(self._reading, self._file, member)


def run_checks(
    task: CheckTask, environment: Environment, storages: Storages, query: Query | None = None
) -> tuple[CheckResult, ...]:
    """Run all checks, also after one that failed.

    Raises: InvalidInput for one that cannot be run here; Unavailable and its like.
    """
    reading = DatumReading(storages, {_OUT: task.output_namespace})
    objects = storages(StorageNamespace(task.output_namespace)).objects
    log = AttemptLog(task.job, 0, "checks", environment)
    try:
        with (
            using(task.code, storages),
            Snapshots(Files(objects, environment), environment) as snapshots,
            log.catching(),
        ):
            tree = OutputTree(snapshots, MetaRangeId(task.tree), reading)
            return tuple(
                _run(task, check, number, tree, log, query)
                for number, check in enumerate(task.checks, 1)
            )
    finally:
        reading.close()
        log.close()


def require_passed(results: Sequence[CheckResult]) -> None:
    """Let an output pass, or raise JobFailed, code check-failed, naming all that failed."""
    failed = [result for result in results if not result.passed]
    if failed:
        said = "; ".join(f"check {one.name} failed: {one.reason}" for one in failed)
        message = f"{said}; nothing was published"
        raise JobFailed(message, code="check-failed", checks=[one.name for one in failed])


def _run(
    task: CheckTask,
    check: Check,
    number: int,
    tree: OutputTree,
    log: AttemptLog,
    query: Query | None,
) -> CheckResult:
    name = check.name or check.function or f"{number} (sql)"
    if check.function:
        reason = _called(find_function(check.function), tree, log)
    elif query is None:
        message = f"check {name} is a query, and this engine runs none; use a Spark engine"
        raise InvalidInput(message, code="engine-needed")
    else:
        reason = "" if query(task, check) else f"{check.sql!r} did not give true"
    return CheckResult(name=name, passed=not reason, reason=reason)


def _called(function: Callable[..., Any], tree: OutputTree, log: AttemptLog) -> str:
    """Call a check; give why it failed, nothing if it did not."""
    log.begin(b"")
    try:
        reason = "it gave False" if function(tree) is False else ""
    except (Exception, SystemExit) as error:
        outage = outage_behind(error)
        if outage is not None:
            raise outage from error
        reason = told(error)
    log.end()
    if reason and log.last:
        reason += f"; it said: {' | '.join(log.last)}"
    return reason
