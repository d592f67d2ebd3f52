# SPDX-License-Identifier: Apache-2.0
"""One attempt of a shard: its datums one after the other, then fragment, log and manifest.

An attempt touches no key-value store and nothing that others write: objects go under fresh
addresses, its own records below its own folder (`work`). Any number of attempts of a shard may run
at once; the job links what one of them wrote.

A datum is tried `tries` times. What is wrong with the storage rather than with the datum
(Unavailable, Throttled, and so UnknownOutcome) never makes it FAILED: when tries are used up it
ends the attempt, which the engine repeats. What its own code raises, or an input that is gone, ends
the job (on_error fail) or puts the datum into quarantine: a row without outputs, with the reason.

The log is stored also when the attempt fails.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from lochan.environment import Environment
from lochan.errors import InvalidInput, JobFailed, LochanError
from lochan.model.ids import StorageNamespace
from lochan.objects.store import IF_ABSENT
from lochan.pipelines.attempts.command_call import CommandCall
from lochan.pipelines.attempts.datum_log import AttemptLog
from lochan.pipelines.attempts.deadline import Stuck, TimedOut
from lochan.pipelines.attempts.failed_code import outage_behind, shown, told, trace
from lochan.pipelines.attempts.fragment import write_fragment
from lochan.pipelines.attempts.function_call import Call, Function, FunctionCall
from lochan.pipelines.attempts.input_files import DatumReading, text_of
from lochan.pipelines.attempts.loaded_code import find_function, using
from lochan.pipelines.attempts.manifests import FRAGMENT, LOG, attempt_folder, write_manifest
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.attempts.places import Storages
from lochan.pipelines.model.datum import (
    Datum,
    DatumRow,
    DatumState,
    OutputFile,
    datums_hash,
    source_of,
)
from lochan.pipelines.model.spec import FilesTransform
from lochan.pipelines.model.work import JobTask, Manifest, Shard

_PATHS: Final = 3  # that a message names
_LINE: Final = 200  # characters of each line of a log that a message shows
_PAUSE_S: Final = 0.2  # before the storage is asked again, doubled each time

Done = Callable[[DatumRow], None]  # what it raises ends the attempt


def tell_nobody(row: DatumRow) -> None:
    """Tell nobody that a datum is done."""


def run_shard(
    task: JobTask,
    shard: Shard,
    environment: Environment,
    storages: Storages,
    *,
    done: Done = tell_nobody,
    function: Function | None = None,
) -> Manifest:
    """Run the datums of a shard; `function` stands in for the one that the transform names.

    Raises: JobFailed when a datum failed for good, InvalidInput when the code cannot be run at all,
    Unavailable and its like when the storage failed; and what `done` raises.
    """
    attempt = environment.new_id()
    folder = attempt_folder(task.folder, shard.number, attempt)
    objects = storages(StorageNamespace(task.output_namespace)).objects
    began = environment.monotonic()
    log = AttemptLog(task.job, shard.number, attempt, environment)
    run = _Attempt(task, shard.number, environment, storages, log, f"{folder}/{LOG}")
    try:
        with _stored_log(run, log), _call(run, shard, function) as call:
            rows = run.rows(call, sorted(shard.datums, key=lambda one: one.number), done)
    finally:
        log.close()
    write_fragment(objects, f"{folder}/{FRAGMENT}", rows)
    manifest = Manifest(
        shard=shard.number,
        attempt=attempt,
        fragment=f"{folder}/{FRAGMENT}",
        log=f"{folder}/{LOG}",
        processed=sum(row.state is DatumState.PROCESSED for row in rows),
        failed=sum(row.state is DatumState.FAILED for row in rows),
        files=sum(len(row.outputs) for row in rows),
        bytes=run.bytes,
        milliseconds=round((environment.monotonic() - began) * 1000),
        datums_hash=datums_hash(shard.datums),
    )
    write_manifest(objects, folder, manifest)
    return manifest


class _Attempt:
    """What the datums of one attempt share."""

    def __init__(
        self,
        task: JobTask,
        shard: int,
        environment: Environment,
        storages: Storages,
        log: AttemptLog,
        log_address: str,
    ) -> None:
        self.task = task
        self._shard = shard
        self.environment = environment
        self.storages = storages
        self._place = storages(StorageNamespace(task.output_namespace))
        self.log = log
        self._log_address = log_address
        self.bytes = 0

    def rows(self, call: Call, datums: list[Datum], done: Done) -> list[DatumRow]:
        """Run datums; gives a row for each."""
        rows = []
        with self.log.catching():
            for datum in datums:
                rows.append(self._row(call, datum))
                done(rows[-1])
        return rows

    def store_log(self) -> None:
        """Store the log under its address."""
        self._place.objects.put(self._log_address, self.log.chunks(), when=IF_ABSENT)

    def _row(self, call: Call, datum: Datum) -> DatumRow:
        began = self.environment.monotonic()
        self.log.begin(datum.id)
        outputs: tuple[OutputFile, ...] = ()
        reason = ""
        try:
            outputs = self._tried(call, datum)
        except _DatumFailed as failed:
            reason = str(failed)
        has_lines = self.log.end()
        if reason and self.task.rules.on_error == "fail":
            raise _job_failed(datum, reason, tuple(self.log.last))
        return DatumRow(
            id=datum.id,
            hash=datum.hash,
            state=DatumState.FAILED if reason else DatumState.PROCESSED,
            sources=tuple(map(source_of, datum.files)),
            outputs=outputs,
            number=datum.number,
            job=self.task.job,
            shard=self._shard,
            bytes=datum.bytes,
            milliseconds=round((self.environment.monotonic() - began) * 1000),
            reason=reason,
            log=self._log_address if has_lines else "",
        )

    def _tried(self, call: Call, datum: Datum) -> tuple[OutputFile, ...]:
        """Try a datum until it succeeds. Raises _DatumFailed, and what is no datum's fault."""
        tries = max(1, self.task.rules.tries)
        for number in range(1, tries + 1):
            try:
                return self._once(call, datum)
            except JobFailed:  # no datum can be run at all
                raise
            except Stuck as error:
                raise _stuck(datum, self.task.rules.timeout_s) from error
            except (Exception, SystemExit, TimedOut) as error:
                reason = self._reason(error)
                self.log.add("lochan", f"try {number} of {tries} failed: {reason}\n")
                self.log.add("stderr", trace(error))
                outage = outage_behind(error)
                if number == tries and outage is not None:
                    raise outage from error
            if outage is not None:
                self.environment.sleep(_PAUSE_S * 2**number)
        raise _DatumFailed(reason)

    def _once(self, call: Call, datum: Datum) -> tuple[OutputFile, ...]:
        reading = DatumReading(self.storages, self.task.input_namespaces)
        out = Out(self._place, self.environment)
        try:
            call(datum, reading, out)
            outputs = out.end()
        finally:
            out.discard()
            reading.close()
        self.bytes += out.bytes
        return outputs

    def _reason(self, error: BaseException) -> str:
        if isinstance(error, TimedOut):
            return f"it took longer than {self.task.rules.timeout_s:g} s"
        return told(error)


class _DatumFailed(Exception):
    """All tries of a datum failed; the text is the reason of the last one."""


@contextmanager
def _call(run: "_Attempt", shard: Shard, function: Function | None) -> Iterator[Call]:
    """Make the transform ready to be called. Raises InvalidInput where it cannot be."""
    task = run.task
    transform = task.transform
    if not isinstance(transform, FilesTransform):
        message = f"a transform of kind {type(transform).__name__} is planned by Spark as a whole"
        raise InvalidInput(f"{message}; run it with a Spark engine", code="engine-needed")
    with using(task.code, run.storages) as folder:
        if transform.command and function is None:
            yield CommandCall(task, transform, folder, run.log, run.environment)
        else:
            found = function or find_function(transform.function)
            there = {file.input for datum in shard.datums for file in datum.files}
            yield FunctionCall(task, transform, found, frozenset({*task.commits, *there}))


@contextmanager
def _stored_log(run: "_Attempt", log: AttemptLog) -> Iterator[None]:
    """Store the log at the end, whatever the end is."""
    try:
        yield
    except BaseException as error:
        log.end()
        try:
            run.store_log()
        except LochanError as second:
            error.add_note(f"its log could not be stored: {second.message}")
        raise
    run.store_log()


def _paths(datum: Datum) -> list[str]:
    return [shown(f"{file.input}:{text_of(file.key)}") for file in datum.files]


def _name(datum: Datum) -> str:
    paths = _paths(datum)
    more = f" and {len(paths) - _PATHS} more" if len(paths) > _PATHS else ""
    return f"datum {datum.id.hex()[:12]} ({', '.join(paths[:_PATHS])}{more})"


def _job_failed(datum: Datum, reason: str, last: tuple[str, ...]) -> JobFailed:
    lines = [shown(line, _LINE) for line in last]
    said = f"; its log ends: {' | '.join(lines)}" if lines else ""
    return JobFailed(
        f"{_name(datum)} failed: {reason}{said}",
        code="datum-failed",
        datum=datum.id.hex(),
        paths=_paths(datum),
        reason=reason,
        log=lines,
    )


def _stuck(datum: Datum, seconds: float) -> JobFailed:
    return JobFailed(
        f"{_name(datum)} took longer than {seconds:g} s and cannot be stopped: it waits outside of"
        " Python; use a command, or a time-out of its own",
        code="datum-stuck",
        datum=datum.id.hex(),
    )
