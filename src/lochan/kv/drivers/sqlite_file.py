# SPDX-License-Identifier: Apache-2.0
"""Making, recognising and refusing the SQLite file of a KV store.

The file is ours when its application id is "Lchn" and its user version is one that this code knows;
docs/formats/kv-store.md has the schema. An empty file is made ours; anything else is left
untouched.

Every connection syncs fully, readers too: whichever is closed last moves the log into the file.
"""

import errno
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from threading import Lock
from urllib.parse import quote, unquote

from lochan.errors import Corruption, InvalidInput, LochanError, Refused, Unavailable
from lochan.kv.drivers.file_system import is_networked, kind_of

APPLICATION_ID = int.from_bytes(b"Lchn", "big")
USER_VERSION = 1
# FULL syncs the log at every commit. NORMAL would not: acknowledged writes would go with the power
# (tests/verify/test_kv_power_loss.py shows it).
SYNCHRONOUS = "FULL"
# How long a statement waits for a lock that a foreign tool holds; processes of ours take turns.
BUSY_S = 10.0
_making = Lock()

_SCHEMA = """
CREATE TABLE kv (
    partition BLOB NOT NULL,
    key BLOB NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (partition, key)
) WITHOUT ROWID
"""


def path_of(url: str) -> Path:
    """Read the file's path from `sqlite://` and what follows; per cent escapes stand for bytes."""
    prefix = "sqlite://"
    path = unquote(url.removeprefix(prefix))
    if not url.startswith(prefix) or not path or any(mark in url for mark in "?#\0"):
        raise InvalidInput(f"{url!r} is no SQLite address; write sqlite:///absolute/path/kv.db")
    return Path(path)


def url_of(path: Path) -> str:
    """Write the address of a file, escaping what an address gives a meaning to."""
    return "sqlite://" + quote(str(path))


def make_if_absent(path: Path) -> None:
    """Make an empty file, its name durable and its content for nobody else to read.

    Raises: InvalidInput without a folder to put it in, Refused on another machine's file system.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InvalidInput(f"no folder {folder} to keep {path.name} in; make it first")
    kind = kind_of(folder)
    if is_networked(kind):
        message = (
            f"{folder} is on a network file system ({kind}), where SQLite loses data: use a local"
            " disk, or a server such as PostgreSQL"
        )
        raise Refused(message, code="network-file-system", path=str(path), kind=kind)
    try:
        _make(path)
        sync_folder(folder)
    except OSError as error:
        raise Unavailable(f"{path} cannot be opened: {error.strerror}", path=str(path)) from error


def _make(path: Path) -> None:
    """Make an empty file where none is; one that is there is never opened here.

    A process that closes any handle of a file loses all POSIX locks that it has on it, those of its
    other SQLite connections too. The next process to close would then take itself for the last one
    and remove the log that they still write to.
    """
    with _making:
        if path.exists():
            if path.is_dir() or not os.access(path, os.R_OK | os.W_OK):
                code = errno.EISDIR if path.is_dir() else errno.EACCES
                raise OSError(code, os.strerror(code))
            return
        with suppress(FileExistsError):  # another process was quicker
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            os.close(os.open(path, flags, 0o600))


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def connect(path: Path, *, patience_s: float = BUSY_S) -> sqlite3.Connection:
    """Open one connection to a file that exists; any thread may use it, one at a time."""
    try:
        connection = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?mode=rw",
            uri=True,
            timeout=patience_s,
            isolation_level=None,  # we say BEGIN and COMMIT ourselves
            check_same_thread=False,
        )
    except sqlite3.Error as error:
        raise read_error(error, path) from error
    try:
        connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
        # On macOS an fsync leaves data in the disk's cache unless asked twice; elsewhere no effect.
        connection.execute("PRAGMA fullfsync = ON")
        connection.execute("PRAGMA checkpoint_fullfsync = ON")
    except sqlite3.Error as error:
        connection.close()
        raise read_error(error, path) from error
    return connection


def make_ours(connection: sqlite3.Connection, path: Path) -> None:
    """Recognise a file as ours, or make an empty one so.

    Requires: the turn. Raises: Refused for a file of others or of a newer Lochan.
    """
    try:
        kind = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        objects = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if (kind, version, objects) == (0, 0, 0):
            _require_log(connection, path)
            _write_schema(connection)
        elif kind != APPLICATION_ID:
            message = f"{path} is another program's SQLite file; it was left as it is"
            raise Refused(message, code="not-our-file", path=str(path))
        elif version > USER_VERSION:
            message = (
                f"{path} has format {version}, this Lochan knows {USER_VERSION}; upgrade Lochan"
            )
            raise Refused(message, code="newer-format", path=str(path), version=version)
        else:
            _require_log(connection, path)
        sync_folder(path.absolute().parent)
    except OSError as error:
        raise Unavailable(f"{path} cannot be made durable: {error.strerror}") from error
    except sqlite3.Error as error:
        raise read_error(error, path) from error


def read_error(error: sqlite3.Error, path: Path) -> LochanError:
    """Say what a failure means that cannot have written anything."""
    code = primary_code(error)
    if code == sqlite3.SQLITE_NOTADB:
        message = f"{path} is no SQLite file; it was left as it is"
        return Refused(message, code="not-our-file", path=str(path))
    if code == sqlite3.SQLITE_CORRUPT:
        return Corruption(f"SQLite says: {error}", file=str(path))
    message = f"{path} cannot be used now: {error} ({code_name(error)})"
    return Unavailable(message, path=str(path))


def primary_code(error: sqlite3.Error) -> int:
    """Give SQLite's result code without its extension; errors of the Python module have none: 0."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def code_name(error: sqlite3.Error) -> str:
    """Give SQLite's name of the result code."""
    return getattr(error, "sqlite_errorname", type(error).__name__)


def _require_log(connection: sqlite3.Connection, path: Path) -> None:
    """Switch to write-ahead logging, or make sure of it.

    When the switch fails, SQLite raises nothing and goes on with the mode it had, in which the last
    commit is lost with the power: the journal's removal is not synced.
    """
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise Unavailable(f"{path} cannot keep a write-ahead log (journal mode {mode}); try again")


def _write_schema(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_SCHEMA)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {USER_VERSION}")
    connection.execute("COMMIT")
