# SPDX-License-Identifier: Apache-2.0
"""Connections to PostgreSQL, and what each failure of a statement proves.

Every write is one statement in a transaction of its own, so:

    no connection was to be had                  it was not sent: Unavailable
    the server answered with an error, and the
    connection still stands                      it was rolled back: Unavailable
    the connection broke, or anything else       a write: UnknownOutcome; a read: Unavailable

An error that ends the connection proves nothing: a server that is shut down may have committed
first. A pooled connection that died while it lay idle is noticed before anything is sent on it.

Time limits: the server gives up on a statement after `timeout_s`, before this side gives up on a
silent network ten seconds later. So when a call has returned, its statement runs nowhere any more.
The caller waits for as long as the connection stands.
"""

import select
from typing import NamedTuple, TypeAlias

import psycopg
import psycopg_pool
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from lochan.errors import LochanError, Unavailable, UnknownOutcome
from lochan.kv.drivers.postgres_schema import Place, make_if_absent

Connection: TypeAlias = psycopg.Connection[tuple[bytes, ...]]
Values: TypeAlias = tuple[bytes | int | list[bytes], ...]

# By how much this side waits longer than the server works.
_MARGIN_S = 10


class Answer(NamedTuple):
    """The rows of a query, or how many rows a write changed."""

    rows: list[tuple[bytes, ...]]
    changed: int


class Calls:
    """Runs single statements on pooled connections, and says of each failure what it proves."""

    def __init__(self, place: Place) -> None:
        """Connect, make the table if it is not there, and fill the pool as it is needed."""
        self._place = place
        conninfo = _conninfo(place)
        try:
            with psycopg.connect(conninfo, autocommit=True) as connection:
                self._configure(connection)
                make_if_absent(connection, place)
        except psycopg.Error as error:
            raise self.failure(error, "cannot be opened") from error
        self._pool: psycopg_pool.ConnectionPool[Connection] = psycopg_pool.ConnectionPool(
            conninfo,
            kwargs={"autocommit": True},
            min_size=1,
            max_size=place.connections,
            timeout=place.timeout_s,
            reconnect_timeout=place.timeout_s,
            configure=self._configure,
            open=True,
            name=f"lochan {place.schema}.{place.table}",
        )

    def read(self, statement: bytes, values: Values) -> list[tuple[bytes, ...]]:
        """Run a query. Raises Unavailable."""
        return self._run(statement, values, writing=False).rows

    def write(self, statement: bytes, values: Values) -> int:
        """Run a statement that writes, and count the rows. Raises Unavailable, UnknownOutcome."""
        return self._run(statement, values, writing=True).changed

    def close(self) -> None:
        """Close all connections. Idempotent."""
        self._pool.close()

    def failure(self, error: psycopg.Error, what: str) -> LochanError:
        """Word a failure that certainly wrote nothing."""
        return Unavailable(f"PostgreSQL {what}: {_words(error)}", sqlstate=error.sqlstate or "")

    def _run(self, statement: bytes, values: Values, *, writing: bool) -> Answer:
        connection = self._borrow()
        try:
            cursor = connection.execute(statement, values, prepare=True, binary=True)
            return Answer(cursor.fetchall() if cursor.description else [], cursor.rowcount)
        except psycopg.Error as error:
            rolled_back = error.sqlstate is not None and not connection.closed
            if writing and not rolled_back:
                message = (
                    f"PostgreSQL was lost during a write: {_words(error)}; read before repeating"
                )
                raise UnknownOutcome(message, sqlstate=error.sqlstate or "") from error
            raise self.failure(error, "refused a statement") from error
        finally:
            self._pool.putconn(connection)

    def _borrow(self) -> Connection:
        try:
            while not _stands(connection := self._pool.getconn()):
                connection.close()
                self._pool.putconn(connection)  # the pool replaces what comes back closed
            return connection  # noqa: TRY300 - nothing after it can raise
        except psycopg_pool.PoolClosed as error:
            raise Unavailable("the PostgreSQL store is closed", code="store-closed") from error
        except psycopg.Error as error:
            raise self.failure(error, "gives no connection") from error

    def _configure(self, connection: Connection) -> None:
        """Set what a database or role may have set otherwise.

        Acknowledged writes must be durable, so a default of synchronous_commit=off is overruled;
        what is stricter stays. A write waits for another of the same row, then sees its effect:
        that is read committed. Every statement is served by the primary key, in its order: planning
        once is enough (a third of a get's time), and a plan made while the table was small must not
        sort or read it whole when it is large.
        """
        settings = {
            "statement_timeout": f"{self._place.timeout_s}s",
            "default_transaction_isolation": "read committed",
            "plan_cache_mode": "force_generic_plan",
            "enable_seqscan": "off",
            "enable_bitmapscan": "off",
        }
        connection.execute(
            "SELECT set_config(name, value, false)"
            " FROM unnest(%s::text[], %s::text[]) AS settings (name, value)",
            (list(settings), list(settings.values())),
        )
        connection.execute(
            "SELECT set_config('synchronous_commit', 'on', false)"
            " WHERE current_setting('synchronous_commit') = 'off'"
        )


def _conninfo(place: Place) -> str:
    """Add to an address what it leaves open: only a primary will do, and silence has limits."""
    defaults: dict[str, str | int | None] = {
        "application_name": "lochan",
        "target_session_attrs": "read-write",
        "connect_timeout": place.timeout_s,
        "keepalives_idle": place.timeout_s,
        "keepalives_interval": _MARGIN_S // 3,
        "keepalives_count": 3,
        "tcp_user_timeout": (place.timeout_s + _MARGIN_S) * 1000,
    }
    given = {key: str(value) for key, value in conninfo_to_dict(place.conninfo).items()}
    return make_conninfo("", **{**defaults, **given})


def _stands(connection: Connection) -> bool:
    """Say whether the server still holds its end of an idle connection.

    An idle connection has nothing to read; if it has, it is the end of file or a last word. The
    pool's own check would ask the server each time, and wait a second for each that failed.
    """
    watch = select.poll()
    watch.register(connection.fileno(), select.POLLIN)
    return not watch.poll(0)


def _words(error: psycopg.Error) -> str:
    """Give the first line of an error: the rest may repeat the statement and its values."""
    return (str(error) or type(error).__name__).splitlines()[0]
