# SPDX-License-Identifier: Apache-2.0
import json
import logging
import multiprocessing
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput
from lochan.logs import AccessLog, AuditLog, Lines, Log, RequestScope, open_log, request_id
from lochan.logs.access import Ended
from lochan.logs.lines import timestamp
from lochan.logs.log import Format, Level, capture_standard_logging
from lochan.logs.request import accepted_id

SECRET = "wJalrXUtnFEMI7MDENGbPxRfiCYEXAMPLEKEY"
ENVIRONMENT = RealEnvironment()


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "log"


def log_to(file: Path, level: Level = "debug", form: Format = "auto") -> Log:
    return open_log(Lines(file), ENVIRONMENT, level=level, format=form)


def test_an_event_is_one_json_object_with_time_level_and_facts(file: Path) -> None:
    log_to(file).warning("a store\nis slow", seconds=1.5, keys=["a"])
    (line,) = read(file)

    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("timestamp"))
    assert line == {"level": "warning", "event": "a store\nis slow", "seconds": 1.5, "keys": ["a"]}


def test_levels_below_the_chosen_one_are_silent(file: Path) -> None:
    log = log_to(file, "warning")
    for name in ("debug", "info", "warning", "error"):
        getattr(log, name)(name)

    assert [line["level"] for line in read(file)] == ["warning", "error"]


def test_lines_of_a_request_carry_its_id_and_others_do_not(file: Path) -> None:
    log = log_to(file)
    with RequestScope("r-1"):
        log.info("inside")
        other = threading.Thread(target=log.info, args=("another thread",))
        other.start()
        other.join()
    log.info("outside")

    assert [line.get("request_id") for line in read(file)] == ["r-1", None, None]
    assert request_id() == ""


@pytest.mark.parametrize("given", ["abc-1", "0" * 128, "a.b:c_d"])
def test_an_id_from_a_client_is_kept(given: str) -> None:
    assert accepted_id(given) == given


@pytest.mark.parametrize("given", [None, "", "a b", "a\r\nb", "0" * 129, "ä", "<x>"])
def test_rel_S11_an_id_that_could_be_more_than_an_id_is_not(given: str | None) -> None:
    assert accepted_id(given) is None


def leak(log: Log, level: str) -> None:
    say = getattr(log, level)
    say(f"Authorization: Basic {SECRET}", headers={"Cookie": SECRET}, url=f"x://u:{SECRET}@h/")
    say("a pair", pair=("authorization", SECRET), raw=f"?X-Amz-Signature={SECRET}".encode())
    say("failed", exc_info=ValueError(f"secret_access_key={SECRET} is wrong"))
    logging.getLogger("botocore.auth").log(
        logging.getLevelNamesMapping()[level.upper()], "Signature:\n%s", f"Signature={SECRET}"
    )


@pytest.fixture
def _root() -> Iterator[None]:
    root = logging.getLogger()
    kept = root.handlers, root.level
    yield
    root.handlers, root.level = kept[0], kept[1]


@pytest.mark.usefixtures("_root")
@pytest.mark.parametrize("form", ["json", "console"])
@pytest.mark.parametrize("level", ["debug", "info", "warning", "error"])
def test_rel_GHSA_4rgc_no_level_logs_credentials(file: Path, level: Level, form: Format) -> None:
    log = log_to(file, "debug", form)
    capture_standard_logging(log, "debug")
    leak(log, level)
    text = file.read_text()

    assert SECRET not in text
    assert all(word in text for word in ("a pair", "failed", "ValueError", "botocore.auth"))


def test_an_error_is_logged_with_its_traceback(file: Path) -> None:
    try:
        [].pop()
    except IndexError as error:
        log_to(file).exception("unexpected error", exc_info=error, path="/x")
    (line,) = read(file)

    assert line["level"] == "error"
    assert "test_log.py" in line["exception"]
    assert "IndexError: pop from empty list" in line["exception"]


def test_a_person_reads_lines_that_no_text_can_feign(file: Path) -> None:
    log_to(file, form="console").info("one\n2026 [info] two\x1b[2J", key="a\x1bb")

    assert file.read_text().count("\n") == 1
    assert "\x1b" not in file.read_text()


def test_a_file_is_continued_and_one_that_cannot_be_opened_is_refused(file: Path) -> None:
    for event in ("first", "second"):
        log_to(file).info(event)

    assert [line["event"] for line in read(file)] == ["first", "second"]
    with pytest.raises(InvalidInput, match=r"log file .*Not a directory.*name another"):
        Lines(file / "below" / "a file")


def test_a_line_that_cannot_be_written_is_counted_and_stops_nobody() -> None:
    lines = Lines(Path("/dev/full"))
    open_log(lines, ENVIRONMENT).info("dropped")

    assert lines.lost == 1


def test_each_request_is_one_line(file: Path) -> None:
    access = AccessLog(Lines(file), ENVIRONMENT)
    access.request(Ended(0.5, "GET", "/repositories/{repository}", 200, 0.01234, 42, "alice", "r"))
    access.close()
    (line,) = read(file)

    assert line == {
        "timestamp": "1970-01-01T00:00:00.500Z",
        "level": "info",
        "event": "request",
        "request_id": "r",
        "method": "GET",
        "route": "/repositories/{repository}",
        "status": 200,
        "ms": 12.34,
        "bytes": 42,
        "principal": "alice",
    }


def test_lines_that_gathered_are_all_written_when_the_log_is_closed(file: Path) -> None:
    access = AccessLog(Lines(file), ENVIRONMENT)
    for number in range(1000):
        access.request(Ended(0.0, "GET", "/x", 200, 0.0, 0, "", f"r{number}"))
    access.close()
    assert [line["request_id"] for line in read(file)] == [f"r{number}" for number in range(1000)]


def test_rel_S31_an_action_is_written_down_with_who_what_where_and_how(file: Path) -> None:
    audit = AuditLog(Lines(file), ENVIRONMENT, log_to(file))
    with RequestScope("r-1"):
        audit.record("alice", "fs:DeleteBranch", "arn:x", "denied", address="10.0.0.7")
    (line,) = read(file)

    assert {
        "request_id": "r-1",
        "principal": "alice",
        "action": "fs:DeleteBranch",
    }.items() <= line.items()
    assert {
        "resource": "arn:x",
        "result": "denied",
        "address": "10.0.0.7",
        "n": 1,
    }.items() <= line.items()
    assert file.stat().st_mode & 0o077 == 0


def test_rel_S31_an_audit_line_that_is_lost_is_reported(file: Path) -> None:
    audit = AuditLog(Lines(Path("/dev/full")), ENVIRONMENT, log_to(file))
    audit.record("alice", "fs:DeleteBranch", "arn:x", "allowed")

    assert read(file)[0]["line"]["principal"] == "alice"


def _record_many(file: Path, who: str) -> None:
    audit = AuditLog(Lines(file), ENVIRONMENT, log_to(file))
    for _ in range(500):
        audit.record(who, "fs:WriteObject", "arn:" + "x" * 2000, "allowed")


def test_rel_S31_processes_append_to_one_file_without_mixing(file: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_record_many, args=(file, who)) for who in ("a", "b", "c")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    lines = read(file)

    assert len(lines) == 1500
    for who in ("a", "b", "c"):
        assert [line["n"] for line in lines if line["principal"] == who] == list(range(1, 501))


def test_a_time_is_written_in_milliseconds() -> None:
    assert timestamp(0) == "1970-01-01T00:00:00.000Z"
    assert timestamp(1.5) == "1970-01-01T00:00:01.500Z"
