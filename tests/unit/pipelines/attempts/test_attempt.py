# SPDX-License-Identifier: Apache-2.0
import hashlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, JobFailed, Unavailable
from lochan.model.codec import decode_entry
from lochan.model.entry import identity
from lochan.objects.address import find_data
from lochan.objects.store import WHOLE, Extent, ObjectStore, Reading
from lochan.pipelines.attempts.function_call import Context, Function
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.manifests import find_manifests
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.model.datum import DatumState, datums_hash, source_of
from lochan.pipelines.model.spec import DatumRules, FilesTransform
from lochan.pipelines.model.work import WORK
from support.attempts import Ground


def upper(src: InputFiles, out: Out) -> None:
    out.write(src.path, src.read_text().upper())


def test_a_function_reads_each_input_by_its_name_and_writes_to_out() -> None:
    ground = Ground()

    made = ground.run(upper, *ground.datums({"a": b"one", "b/c": b"", "d": b"\xc3\xa4"}))

    assert ground.written(made) == {"a": b"ONE", "b/c": b"", "d": "Ä".encode()}
    assert (made.processed, made.failed, made.files, made.bytes) == (3, 0, 3, 5)


def test_what_is_written_lies_under_fresh_addresses_with_its_size_and_sha256() -> None:
    ground = Ground()

    rows = ground.rows(ground.run(upper, *ground.datums({"a.txt": b"one"})))

    entry = decode_entry(rows[0].outputs[0].entry)
    assert find_data(entry.address) is not None
    assert entry.address.endswith(".txt")
    assert (entry.size, entry.e_tag) == (3, hashlib.sha256(b"ONE").hexdigest())
    assert entry.is_relative


def test_rows_stand_by_the_numbers_of_their_datums_and_say_what_they_read() -> None:
    ground = Ground()
    datums = ground.datums({"a": b"1", "b": b"2", "c": b"3"})

    rows = ground.rows(ground.run(upper, datums[2], datums[0], datums[1]))

    assert [row.number for row in rows] == [0, 1, 2]
    assert [row.sources for row in rows] == [(source_of(datum.files[0]),) for datum in datums]
    assert [(row.id, row.hash) for row in rows] == [(datum.id, datum.hash) for datum in datums]


def test_the_manifest_is_there_when_all_is_and_can_be_found_again() -> None:
    ground = Ground()
    datums = ground.datums({"a": b"1"})

    made = ground.run(upper, *datums, shard=7)

    assert list(find_manifests(ground.outputs, "job1")) == [made]
    assert (made.shard, made.datums_hash) == (7, datums_hash(datums))
    assert list(find_manifests(ground.outputs, "job")) == []


def test_a_manifest_that_is_damaged_counts_for_none() -> None:
    ground = Ground()
    good, bad = (ground.run(upper, *ground.datums({"a": b"1"})) for _ in range(2))
    ground.outputs.put(bad.fragment.replace("/fragment", "/manifest"), b"{")

    assert list(find_manifests(ground.outputs, "job1")) == [good]


def test_nothing_but_records_lies_below_the_attempts_folder() -> None:
    ground = Ground()

    made = ground.run(upper, *ground.datums({"a": b"1"}))

    listed = {one.address.rpartition("/") for one in ground.outputs.list(f"{WORK}/").entries}
    folder = f"{WORK}/job1/1/0/{made.attempt}"
    assert listed == {(folder, "/", name) for name in ("fragment", "log", "manifest")}


def test_rel_P6_a_second_attempt_writes_the_same_and_touches_nothing_of_the_first() -> None:
    ground = Ground()
    datums = ground.datums({"a": b"1", "b": b"2"})
    first = ground.run(upper, *datums)
    before = {one.address: one.info for one in ground.outputs.list().entries}

    second = ground.run(upper, *datums)

    after = {one.address: one.info for one in ground.outputs.list().entries}
    made = [
        [identity(decode_entry(file.entry)) for row in ground.rows(one) for file in row.outputs]
        for one in (first, second)
    ]
    assert before.items() <= after.items()
    assert made[0] == made[1]
    assert first.datums_hash == second.datums_hash


def test_parameters_come_by_name_or_in_the_context() -> None:
    ground = Ground(transform=FilesTransform(function="f", params={"size": 3, "mode": "x"}))
    seen: list[Any] = []

    def look(size: int, ctx: Context, other: str = "default") -> None:
        seen.extend([size, ctx.params["mode"], other, ctx])

    (datum,) = ground.datums({"a": b""})
    ground.run(look, datum)
    ground.run(lambda **rest: seen.append(sorted(rest)), datum)

    assert seen[:3] == [3, "x", "default"]
    assert (seen[3].datum, seen[3].idempotency_key) == (datum.id.hex(), datum.hash.hex())
    assert (seen[3].job, seen[3].pipeline, seen[3].number) == ("job1", "texts", 0)
    assert seen[4] == ["ctx", "mode", "out", "size", "src"]


def generator(src: InputFiles) -> Iterator[int]:
    yield len(src)


def by_position(src: InputFiles, /) -> None:
    assert src


def other_names(image: InputFiles, out: Out) -> None:
    out.put("x", image.open())


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (other_names, "asks for image; there are ctx, out, src"),
        (generator, "yields or awaits"),
        (by_position, "by position only"),
    ],
)
def test_a_function_that_nothing_fits_is_refused_before_it_runs(
    function: Function, said: str
) -> None:
    ground = Ground(rules=DatumRules(on_error="quarantine"))

    with pytest.raises(InvalidInput, match=said) as caught:
        ground.run(function, *ground.datums({"a": b""}))

    assert caught.value.code == "function-signature"


def test_of_a_try_that_failed_nothing_is_kept() -> None:
    ground = Ground(rules=DatumRules(tries=3))
    tried: list[int] = []

    def third_time(src: InputFiles, out: Out) -> None:
        tried.append(len(tried))
        out.write(f"try {len(tried)}", b"x")
        out.write("same", str(len(tried)))
        if len(tried) < 3:
            raise ValueError("not yet")

    made = ground.run(third_time, *ground.datums({"a": b""}))

    assert ground.written(made) == {"try 3": b"x", "same": b"3"}
    assert ("lochan", "try 2 of 3 failed: ValueError: not yet") in ground.lines()


def failing(src: InputFiles, out: Out) -> None:
    out.write(src.path, b"")
    print("looking at", src.path)
    if src.path == "b":
        raise ValueError("b is bad")


def test_a_datum_that_fails_ends_the_job_and_is_named_with_the_end_of_its_log() -> None:
    ground = Ground(rules=DatumRules(tries=2))
    datums = ground.datums({"a": b"", "b": b"", "c": b""})

    with pytest.raises(JobFailed) as caught:
        ground.run(failing, *datums)

    error = caught.value
    assert error.code == "datum-failed"
    assert f"datum {datums[1].id.hex()[:12]} (src:b) failed: ValueError: b is bad" in str(error)
    assert error.facts["paths"] == ["src:b"]
    assert "looking at b" in str(error)
    assert "looking at a" not in str(error)
    assert list(find_manifests(ground.outputs, "job1")) == []
    assert ("stdout", "looking at a") in ground.lines()  # the log is there all the same
    assert "ValueError: b is bad" in [text for _, text in ground.lines()]


def test_a_datum_in_quarantine_has_a_row_with_the_reason_and_without_outputs() -> None:
    ground = Ground(rules=DatumRules(tries=1, on_error="quarantine"))

    made = ground.run(failing, *ground.datums({"a": b"", "b": b"", "c": b""}))

    rows = ground.rows(made)
    states = [DatumState.PROCESSED, DatumState.FAILED, DatumState.PROCESSED]
    assert [row.state for row in rows] == states
    assert [len(row.outputs) for row in rows] == [1, 0, 1]
    assert rows[1].reason == "ValueError: b is bad"
    assert (made.processed, made.failed, made.files) == (2, 1, 2)
    assert rows[1].log == made.log


def test_reasons_are_short_lines_that_can_be_stored() -> None:
    ground = Ground(rules=DatumRules(tries=1, on_error="quarantine"))

    def fail(src: InputFiles) -> None:
        print("half \udcff", src.path)
        raise ValueError({"a": "x\ny\udcff", "b": "long" * 1000}[src.path])

    rows = ground.rows(ground.run(fail, *ground.datums({"a": b"", "b": b""})))

    assert rows[0].reason == "ValueError: x y\\udcff"
    assert len(rows[1].reason) == 1000
    assert ("stdout", "half \\udcff a") in ground.lines()


def test_an_error_without_a_word_is_a_failure_all_the_same() -> None:
    ground = Ground(rules=DatumRules(tries=1, on_error="quarantine"))

    def fail(src: InputFiles) -> None:
        assert src
        raise InvalidInput("")

    (row,) = ground.rows(ground.run(fail, *ground.datums({"a": b""})))

    assert (row.state, row.reason) == (DatumState.FAILED, "InvalidInput")


class Broken:
    """A store that does not answer."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self.asked = 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the store has
        return getattr(self._store, name)

    def get(self, address: str, extent: Extent = WHOLE) -> Reading:
        self.asked += 1
        raise Unavailable(f"the store is away, and with it {address} {extent}")


class Patient(RealEnvironment):
    def sleep(self, seconds: float) -> None:
        """Come back at once."""


def wrapping(src: InputFiles) -> None:
    try:
        src.read_bytes()
    except Unavailable as error:
        raise ValueError("cannot read") from error


@pytest.mark.parametrize("function", [upper, wrapping])
def test_rel_H9_a_store_that_does_not_answer_puts_no_datum_into_quarantine(
    function: Function,
) -> None:
    ground = Ground(Patient(), rules=DatumRules(tries=3, on_error="quarantine"))
    datums = ground.datums({"a": b"", "b": b""})
    broken = Broken(ground.inputs)
    ground.inputs = broken

    with pytest.raises(Unavailable, match="is away"):
        ground.run(function, *datums)

    assert broken.asked == 3
    assert list(find_manifests(ground.outputs, "job1")) == []


def test_a_log_that_stops_in_a_line_is_stored_to_its_last_letter() -> None:
    ground = Ground(Patient())
    datums = ground.datums({"a": b""})
    ground.inputs = Broken(ground.inputs)

    def speak(src: InputFiles) -> None:
        print("no end of", "line", end="")
        src.read_bytes()

    with pytest.raises(Unavailable):
        ground.run(speak, *datums)

    assert ("stdout", "no end of line") in ground.lines()


def test_a_thread_that_outlives_its_datum_writes_nothing_any_more() -> None:
    ground = Ground()
    go_on = threading.Event()
    refused: list[str] = []
    threads: list[threading.Thread] = []

    def leave(src: InputFiles, out: Out) -> None:
        def late() -> None:
            go_on.wait(30)
            with pytest.raises(InvalidInput) as caught:
                out.write(src.path, b"late")
            refused.append(caught.value.code)

        threads.append(threading.Thread(target=late))
        threads[0].start()
        raise ValueError("failed")

    with pytest.raises(JobFailed):
        ground.run(leave, *ground.datums({"a": b""}))
    go_on.set()
    threads[0].join()

    assert refused == ["datum-over"]
    assert not ground.outputs.list("data/").entries


def test_a_function_that_leaves_by_exit_has_failed() -> None:
    ground = Ground()

    with pytest.raises(JobFailed, match="SystemExit: 3"):
        ground.run(lambda src: sys.exit(len(src) + 2), *ground.datums({"a": b""}))
