# SPDX-License-Identifier: Apache-2.0
"""Writers that say what was acknowledged, and the check of what is left after they were cut off.

A writer is a process (this file run as a script) with a few threads. Thread t does its writes
number 0, 1, 2 ... and tells each outcome on its standard output, once the store has answered:

    A t n    acknowledged      N t n    certainly not applied      U t n    nobody knows

Of each four writes, three set a record of their own (one of them on condition that it is new) and
the fourth deletes the first. The value follows from thread and number, so a check needs no log of
values. An acknowledged record must be there, an acknowledged deletion must hold, and a record that
was called not applied must not be there."""

import argparse
import hashlib
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from lochan.environment import RealEnvironment
from lochan.errors import LochanError, UnknownOutcome
from lochan.kv.drivers import sqlite_file
from lochan.kv.drivers.sqlite import SqliteStore

PARTITION = b"lake-main:token"
Step = tuple[int, int]


def key_of(thread: int, number: int) -> bytes:
    return b"key/%d/%06d" % (thread, number)


def value_of(thread: int, number: int) -> bytes:
    seed = hashlib.sha256(b"%d %d" % (thread, number)).digest()
    return seed * (1 + seed[0] // 16 if number % 50 else 200)


def apply(store: SqliteStore, thread: int, number: int) -> None:
    key, value = key_of(thread, number), value_of(thread, number)
    match number % 4:
        case 3:
            store.delete(PARTITION, key_of(thread, number - 3))
        case 1:
            store.set_if(PARTITION, key, value, None)
        case _:
            store.set(PARTITION, key, value)


@dataclass
class Told:
    """What a writer has told so far."""

    acknowledged: set[Step] = field(default_factory=set)
    not_applied: set[Step] = field(default_factory=set)
    unknown: set[Step] = field(default_factory=set)
    order: list[str] = field(default_factory=list)

    def hear(self, line: str) -> None:
        kind, thread, number = line.split()
        heard = {"A": self.acknowledged, "N": self.not_applied, "U": self.unknown}[kind]
        heard.add((int(thread), int(number)))
        self.order.append(kind)

    def snapshot(self) -> "Told":
        return Told(set(self.acknowledged), set(self.not_applied), set(self.unknown))


def wrong(path: Path, told: Told) -> list[str]:
    """List what a file does not hold though it was acknowledged, or holds though it must not."""
    with closing(SqliteStore(path, RealEnvironment())) as store:
        found = dict(store.scan(PARTITION))
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("PRAGMA integrity_check").fetchall()
    complaints = [words for (words,) in rows if words != "ok"]
    for thread, number in told.acknowledged:
        complaints += _missing(found, thread, number)
    for thread, number in told.not_applied:
        if number % 4 != 3 and key_of(thread, number) in found:
            complaints.append(f"{thread} {number} is there, but was called not applied")
    for key, value in found.items():
        _, thread_name, number_name = key.split(b"/")
        if value != value_of(int(thread_name), int(number_name)):
            complaints.append(f"{key!r} holds what nobody wrote")
    return complaints


def _missing(found: dict[bytes, bytes], thread: int, number: int) -> list[str]:
    if number % 4 == 3:
        first = key_of(thread, number - 3)
        return [f"{first!r} was deleted, and is back"] if first in found else []
    if number % 4 == 0:  # it may have been deleted meanwhile, before that was told
        return []
    return [] if key_of(thread, number) in found else [f"{thread} {number} is lost"]


class Writer:
    """A writing process, and a thread that hears what it tells."""

    def __init__(self, path: Path, *options: str) -> None:
        here = Path(__file__).resolve()
        environment = {**os.environ, "PYTHONPATH": str(here.parent.parent)}
        self._process = subprocess.Popen(
            [sys.executable, str(here), str(path), *options],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.told = Told()
        self._news = threading.Condition()
        self._ended = False
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def _listen(self) -> None:
        assert self._process.stdout
        with self._process.stdout as lines:
            for line in lines:
                with self._news:
                    self.told.hear(line)
                    self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def wait_for(self, acknowledged: int) -> Told:
        """Wait until so many were acknowledged or the writer ended; give what it has told."""
        with self._news:
            self._news.wait_for(lambda: len(self.told.acknowledged) >= acknowledged or self._ended)
            return self.told.snapshot()

    def wait_for_end(self) -> Told:
        with self._news:
            self._news.wait_for(lambda: self._ended)
        assert self._process.wait() == 0
        return self.told

    def kill(self) -> Told:
        """Kill the process with SIGKILL, and give all that it told before."""
        self._process.kill()
        self._process.wait()
        with self._news:
            self._news.wait_for(lambda: self._ended)
        return self.told


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("--threads", type=int, default=3)
    parser.add_argument("--first-thread", type=int, default=0)
    parser.add_argument("--first-number", type=int, default=0)
    parser.add_argument("--writes", type=int, default=10**9, help="of each thread")
    parser.add_argument("--reopen-after", type=int, default=10**9, help="writes of each thread")
    parser.add_argument("--checkpoint-pages", type=int, default=60)
    parser.add_argument(
        "--synchronous", default=sqlite_file.SYNCHRONOUS, help="a mutant, if not FULL"
    )
    options = parser.parse_args()
    sqlite_file.SYNCHRONOUS = options.synchronous
    numbers = range(options.first_number, options.first_number + options.writes)
    for start in range(numbers.start, numbers.stop, options.reopen_after):
        _write(options, range(start, min(start + options.reopen_after, numbers.stop)))


def _write(options: argparse.Namespace, numbers: range) -> None:
    try:
        store = SqliteStore(options.path, RealEnvironment())
    except LochanError:
        sys.exit(0)  # the disk fails, or is damaged, already: nothing was promised
    # The log is moved into the file often, so that crashes meet it.
    store._connection.execute(f"PRAGMA wal_autocheckpoint = {options.checkpoint_pages}")

    def work(thread: int) -> None:
        for number in numbers:
            outcome, code = "A", ""
            try:
                apply(store, thread, number)
            except UnknownOutcome:
                outcome = "U"
            except LochanError as error:
                outcome, code = "N", error.code
            os.write(1, f"{outcome} {thread} {number}\n".encode())
            if code == "store-stopped":
                return

    first = options.first_thread
    threads = [
        threading.Thread(target=work, args=(thread,))
        for thread in range(first, first + options.threads)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()


if __name__ == "__main__":
    main()
