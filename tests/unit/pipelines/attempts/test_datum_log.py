# SPDX-License-Identifier: Apache-2.0
import json
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from lochan.environment import RealEnvironment
from lochan.pipelines.attempts import datum_log
from lochan.pipelines.attempts.datum_log import AttemptLog
from lochan.pipelines.attempts.function_call import Context
from lochan.pipelines.attempts.input_files import InputFiles
from support.attempts import Ground


@pytest.fixture
def log() -> Iterator[AttemptLog]:
    with closing(AttemptLog("job1", 3, "attempt1", RealEnvironment())) as made:
        yield made


def lines(log: AttemptLog) -> list[dict[str, object]]:
    return [json.loads(line) for line in b"".join(log.chunks()).splitlines()]


def said(log: AttemptLog) -> list[tuple[object, object]]:
    return [(line["stream"], line["text"]) for line in lines(log)]


def test_a_line_says_whose_it_is(log: AttemptLog) -> None:
    log.begin(b"\x01\x02")
    log.add("stdout", "hello\n")

    (line,) = lines(log)
    names = ("job", "shard", "attempt", "datum", "stream", "text")
    assert [line[name] for name in names] == ["job1", 3, "attempt1", "0102", "stdout", "hello"]
    assert str(line["time"]).endswith("+00:00")


def test_lines_are_written_when_they_end_or_the_datum_does(log: AttemptLog) -> None:
    log.begin(b"1")
    for text in ("on", "e\ntwo", "\n\nthree"):
        log.add("stdout", text)
    assert log.end()
    log.begin(b"2")
    assert not log.end()

    assert [text for _, text in said(log)] == ["one", "two", "", "three"]


def test_prints_bytes_and_logging_of_the_thread_are_caught_and_streams_are_put_back(
    log: AttemptLog, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (sys.stdout, sys.stderr, list(logging.getLogger().handlers))
    with log.catching():
        print("printed")
        print("wrong", file=sys.stderr)
        sys.stdout.buffer.write(b"bytes \xff\n")
        logging.getLogger("author").warning("careful")

    assert said(log) == [
        ("stdout", "printed"),
        ("stderr", "wrong"),
        ("stdout", "bytes \ufffd"),
        ("log", "WARNING author: careful"),
    ]
    assert (sys.stdout, sys.stderr, list(logging.getLogger().handlers)) == before
    assert capsys.readouterr() == ("", "")


def test_what_other_threads_print_goes_where_it_went(
    log: AttemptLog, capsys: pytest.CaptureFixture[str]
) -> None:
    with log.catching():
        other = threading.Thread(target=print, args=("elsewhere",))
        other.start()
        other.join()

    assert said(log) == []
    assert capsys.readouterr().out == "elsewhere\n"


def test_two_attempts_at_once_keep_their_lines_apart() -> None:
    logs = [AttemptLog("j", number, "a", RealEnvironment()) for number in range(4)]
    together = threading.Barrier(4)

    def work(number: int) -> None:
        with logs[number].catching():
            for _ in range(20):
                together.wait()
                print(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [said(log) for log in logs] == [[("stdout", str(n))] * 20 for n in range(4)]
    for log in logs:
        log.close()


def test_the_last_lines_of_a_datum_are_at_hand(log: AttemptLog) -> None:
    log.begin(b"1")
    log.add("stdout", "".join(f"{number}\n" for number in range(30)))

    assert list(log.last) == [str(number) for number in range(20, 30)]
    log.begin(b"2")
    assert not log.last


def test_a_datum_that_says_too_much_is_cut_and_the_next_is_not(
    log: AttemptLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datum_log, "_MOST", 100)
    log.begin(b"1")
    log.add("stdout", "x" * 49 + "\n" + "y" * 60 + "\n" + "z\n")
    log.begin(b"2")
    log.add("stdout", "next\n")

    texts = [text for _, text in said(log)]
    assert texts[:2] == ["x" * 49, "y" * 60]
    assert "the rest is left out" in str(texts[2])
    assert texts[3:] == ["next"]


def test_a_line_without_end_does_not_fill_the_memory(log: AttemptLog) -> None:
    for _ in range(10):
        log.add("stdout", "x" * datum_log._LONGEST)

    assert len(said(log)) == 10


def test_the_logger_of_the_context_says_everything() -> None:
    ground = Ground()

    def speak(src: InputFiles, ctx: Context) -> None:
        ctx.log.debug("%s has %d", src.path, src.size)

    ground.run(speak, *ground.datums({"a": b"1"}))

    assert ground.lines() == [("log", "DEBUG lochan.ctx: a has 1")]
