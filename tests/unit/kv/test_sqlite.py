# SPDX-License-Identifier: Apache-2.0
import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import Corruption, InvalidInput, LochanError, Refused, Unavailable
from lochan.kv.drivers import sqlite_file
from lochan.kv.drivers.sqlite import SqliteStore
from lochan.kv.drivers.sqlite_turn import Turn
from lochan.kv.store import Store
from lochan.testing.kv_given import in_threads

ENVIRONMENT = RealEnvironment()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kv.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(path, ENVIRONMENT)
    yield opened
    opened.close()


def pragma(path: Path, name: str) -> object:
    connection = sqlite3.connect(path)
    value = connection.execute(f"PRAGMA {name}").fetchone()[0]
    connection.close()
    return value


def test_the_file_says_whose_it_is(store: Store, path: Path) -> None:
    assert pragma(path, "application_id") == 0x4C63686E
    assert pragma(path, "user_version") == 1
    assert pragma(path, "journal_mode") == "wal"
    assert path.stat().st_mode & 0o777 == 0o600


def test_every_connection_syncs_fully(store: SqliteStore) -> None:
    store.set(b"p", b"k", b"v")
    store.get(b"p", b"k")
    for connection in (store._connection, *store._idle):
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert len(store._idle) == 1


def test_a_file_that_lost_its_log_gets_one_again(path: Path) -> None:
    SqliteStore(path, ENVIRONMENT).close()
    assert pragma(path, "journal_mode = DELETE") == "delete"
    SqliteStore(path, ENVIRONMENT).close()
    assert pragma(path, "journal_mode") == "wal"


def test_a_store_without_a_log_is_not_opened(path: Path) -> None:
    # SQLite keeps quiet when it cannot switch; a database in memory never can.
    connection = sqlite3.connect(":memory:")
    with pytest.raises(Unavailable, match="journal mode memory"):
        sqlite_file.make_ours(connection, path)
    connection.close()


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE other (x)", "PRAGMA user_version = 7", "PRAGMA application_id = 7"]
)
def test_another_programs_file_is_left_as_it_is(statement: str, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(Refused, match="left as it is") as caught:
        SqliteStore(path, ENVIRONMENT)
    assert caught.value.code == "not-our-file"
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_as_it_is(path: Path) -> None:
    path.write_bytes(b"precious notes " * 100)
    with pytest.raises(Refused, match="no SQLite file"):
        SqliteStore(path, ENVIRONMENT)
    assert path.read_bytes() == b"precious notes " * 100


def test_a_newer_format_is_refused(store: SqliteStore, path: Path) -> None:
    store._connection.execute("PRAGMA user_version = 2")
    with pytest.raises(Refused, match=r"format 2.*upgrade") as caught:
        SqliteStore(path, ENVIRONMENT)
    assert caught.value.code == "newer-format"


def test_a_damaged_file_is_called_damaged(path: Path) -> None:
    store = SqliteStore(path, ENVIRONMENT)
    store.set_many(b"p", {b"%d" % number: b"v" * 100 for number in range(1000)})
    store.close()
    damaged = bytearray(path.read_bytes())
    damaged[4096:] = b"\xa5" * (len(damaged) - 4096)
    path.write_bytes(damaged)
    store = SqliteStore(path, ENVIRONMENT)
    with pytest.raises(Corruption, match=r"kv\.db is damaged"):
        store.get(b"p", b"7")
    store.close()


def test_a_file_that_was_taken_away_is_unavailable(store: SqliteStore, path: Path) -> None:
    path.unlink()
    with pytest.raises(Unavailable, match="cannot be used now"):
        store.get(b"p", b"k")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no folder .*nowhere"):
        SqliteStore(tmp_path / "nowhere" / "kv.db", ENVIRONMENT)


@pytest.mark.parametrize("name", ["kv?.db", "kv #1%.db", "kv\xe9.db"])
def test_an_address_keeps_awkward_names(name: str, tmp_path: Path) -> None:
    store = SqliteStore.open(sqlite_file.url_of(tmp_path / name), ENVIRONMENT)
    store.set(b"p", b"k", b"v")
    store.close()
    assert (tmp_path / name).is_file()


def test_a_relative_address_is_below_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    SqliteStore.open("sqlite://kv.db", ENVIRONMENT).close()
    assert (tmp_path / "kv.db").is_file()


@pytest.fixture
def turn(path: Path) -> Iterator[Turn]:
    """Another process's turn."""
    other = Turn(path, ENVIRONMENT, patience_s=5)
    yield other
    other.close()


def ask(store: SqliteStore, turn: Turn, count: int) -> list[threading.Thread]:
    """Let threads ask for a write each while the turn is held: the first waits for it for all."""
    threads = [
        threading.Thread(target=store.set, args=(b"p", b"%d" % number, b"v"))
        for number in range(count)
    ]
    threads[0].start()
    while is_free(turn._queue):
        ENVIRONMENT.sleep(0)
    for thread in threads[1:]:
        thread.start()
    while len(store._writer._waiting) < count:
        ENVIRONMENT.sleep(0)
    return threads


def is_free(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(lock, fcntl.LOCK_UN)
    return True


def test_many_threads_share_one_commit(store: SqliteStore, turn: Turn) -> None:
    with turn:
        threads = ask(store, turn, 16)
    for thread in threads:
        thread.join()
    assert store._writer.batches == 1
    assert len(list(store.scan(b"p"))) == 16


def test_one_failed_predicate_does_not_touch_the_others_of_its_batch(store: SqliteStore) -> None:
    store.set(b"p", b"taken", b"v")

    def write(number: int) -> None:
        if number % 2:
            store.set(b"p", b"%d" % number, b"v")
        else:
            with pytest.raises(LochanError):
                store.set_if(b"p", b"taken", b"mine", None)

    in_threads(16, write)
    assert len(list(store.scan(b"p"))) == 9
    assert store.get(b"p", b"taken").value == b"v"


def test_a_full_disk_writes_nothing_and_is_survived(store: SqliteStore) -> None:
    store.set(b"p", b"k", b"old")
    store._connection.execute("PRAGMA max_page_count = 10")
    with pytest.raises(Unavailable, match="nothing was written") as caught:
        store.set(b"p", b"k", bytes(1 << 20))
    assert caught.type is Unavailable
    assert store.get(b"p", b"k").value == b"old"
    store.set(b"p", b"k", b"new")
    assert store.get(b"p", b"k").value == b"new"


TOO_LARGE_A_FILE = """
import resource, sys
from pathlib import Path
from lochan.environment import RealEnvironment
from lochan.errors import Unavailable, UnknownOutcome
from lochan.kv.drivers.sqlite import SqliteStore

store = SqliteStore(Path(sys.argv[1]), RealEnvironment())
store.set(b"p", b"kept", b"v")
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    store.set(b"p", b"lost", bytes(1 << 20))
except UnknownOutcome as error:
    print(error)
for call in (lambda: store.set(b"p", b"k", b"v"), lambda: store.get(b"p", b"kept"),
             lambda: list(store.scan(b"p"))):
    try:
        call()
    except UnknownOutcome:
        print("unknown")
    except Unavailable as error:
        print(error.code)
store.close()
"""


def test_after_a_disk_error_the_store_stops_serving(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TOO_LARGE_A_FILE, path], capture_output=True, text=True, check=True
    )
    first, *rest = done.stdout.splitlines()
    assert "nobody knows what was kept" in first
    assert rest == ["store-stopped"] * 3
    store = SqliteStore(path, ENVIRONMENT)
    assert store.get(b"p", b"kept").value == b"v"
    store.close()


def test_a_foreign_lock_is_waited_for_a_bounded_time(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_S", 0.05)
    store = SqliteStore(path, ENVIRONMENT)
    foreign = sqlite3.connect(path)
    foreign.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="nothing was written"):
        store.set(b"p", b"k", b"v")
    assert list(store.scan(b"p")) == []  # readers never wait for writers
    foreign.rollback()
    foreign.close()
    store.set(b"p", b"k", b"v")
    store.close()


def test_a_held_turn_is_waited_for_a_bounded_time(
    path: Path, turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_S", 0.05)
    store = SqliteStore(path, ENVIRONMENT)
    with turn, pytest.raises(Unavailable, match="try again") as held:
        store.set(b"p", b"k", b"v")
    assert held.value.code == "store-busy"
    store.close()


def test_a_suspended_scan_holds_no_transaction(store: SqliteStore, path: Path) -> None:
    store.set_many(b"p", {b"%04d" % number: b"v" for number in range(500)})
    scan = store.scan(b"p")
    next(scan)
    store.set(b"p", b"later", b"v")
    other = sqlite3.connect(path)
    # A checkpoint that empties the log succeeds only when nobody reads an older state.
    assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    other.close()
    assert len(list(scan)) == 500


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # forking is what is tested
def test_a_store_is_refused_after_a_fork(store: SqliteStore) -> None:
    store.set(b"p", b"k", b"v")
    child = os.fork()
    if not child:
        refused = 0
        for call in (
            lambda: store.get(b"p", b"k"),
            lambda: store.set(b"p", b"k", b"w"),
            store.close,
        ):
            try:
                call()
            except Refused:
                refused += 1
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    store.set(b"p", b"k", b"still ours")
    assert store.get(b"p", b"k").value == b"still ours"


def test_a_bug_in_the_writer_wakes_its_caller_and_stops(path: Path) -> None:
    store = SqliteStore(path, ENVIRONMENT)
    with pytest.raises(Unavailable, match="met a bug"):
        store._writer.submit(lambda _: 1 // 0)
    with pytest.raises(Unavailable, match="stopped serving"):
        store.set(b"p", b"k", b"v")
    store.close()


def test_closing_finishes_what_was_asked_before(path: Path, turn: Turn) -> None:
    store = SqliteStore(path, ENVIRONMENT)
    with turn:
        threads = ask(store, turn, 2)
        threads.append(threading.Thread(target=store.close))
        threads[-1].start()
    for thread in threads:
        thread.join()
    again = SqliteStore(path, ENVIRONMENT)
    assert len(list(again.scan(b"p"))) == 2
    again.close()


def test_rel_K7_an_interrupted_caller_leaves_only_when_its_write_is_decided(
    store: SqliteStore, turn: Turn
) -> None:
    interrupted, main = threading.Event(), threading.main_thread().ident
    assert main is not None

    def note(number: int, _: object) -> None:
        if not interrupted.is_set():
            interrupted.set()
            signal.default_int_handler(number, None)

    def interrupt() -> None:
        while is_free(turn._queue):
            ENVIRONMENT.sleep(0)
        # Again and again: a signal just before the wait begins would not end it.
        while not interrupted.wait(0.01):
            signal.pthread_kill(main, signal.SIGINT)
        turn.__exit__(None, None, None)

    before = signal.signal(signal.SIGINT, note)
    turn.__enter__()
    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        store.set(b"p", b"k", b"v")
    assert store.get(b"p", b"k").value == b"v"
    interrupter.join()
    signal.signal(signal.SIGINT, before)


def test_a_second_store_in_a_process_takes_no_locks_from_the_first(
    path: Path, store: SqliteStore
) -> None:
    store.set(b"p", b"first", b"1")
    SqliteStore(path, ENVIRONMENT).close()  # closing a handle of the file would drop all locks
    log = path.with_name("kv.db-wal")
    before = log.stat().st_ino

    code = "import sys, sqlite3; c = sqlite3.connect(sys.argv[1]); c.execute('select * from kv')"
    subprocess.run([sys.executable, "-c", f"{code}; c.close()", str(path)], check=True)

    assert log.stat().st_ino == before  # nobody took himself for the last one
    store.set(b"p", b"second", b"2")
    assert pragma(path, "integrity_check") == "ok"
