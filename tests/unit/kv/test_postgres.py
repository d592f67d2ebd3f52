# SPDX-License-Identifier: Apache-2.0
import os
import signal
import threading
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import tuple_row

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, LochanError, Refused, Unavailable, UnknownOutcome
from lochan.kv.drivers.postgres import PostgresStore
from lochan.kv.drivers.postgres_schema import place_of
from lochan.kv.open import open_store
from lochan.testing.kv_given import in_threads
from servers.lossy_proxy import lossy_proxy
from servers.postgres import new_server

ENVIRONMENT = RealEnvironment()


@pytest.fixture
def schema() -> str:
    return "s" + ENVIRONMENT.new_id()


@pytest.fixture
def address(postgres_url: str, schema: str) -> str:
    return f"{postgres_url}?schema={schema}&connections=4&timeout_s=10"


@pytest.fixture
def store(address: str) -> Iterator[PostgresStore]:
    opened = PostgresStore.open(address, ENVIRONMENT)
    yield opened
    opened.close()


@pytest.fixture
def session(postgres_url: str) -> Iterator[psycopg.Connection]:
    """An administrator's own connection."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


def outcome_of(call: Callable[[], object]) -> tuple[threading.Thread, list[LochanError | None]]:
    """Start a call beside this thread; the list gets its error, or None."""
    outcomes: list[LochanError | None] = []

    def run() -> None:
        try:
            call()
        except LochanError as error:
            outcomes.append(error)
        else:
            outcomes.append(None)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, outcomes


def blocked_backend(session: psycopg.Connection, schema: str) -> int:
    """Wait until a statement on our table waits for a row, and name its process."""
    query = (
        "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE %s"
        " AND pid <> pg_backend_pid()"
    )
    while not (row := session.execute(query, (f"%{schema}%",)).fetchone()):
        session.execute("SELECT pg_stat_clear_snapshot()")  # else a transaction sees no news
    pid: int = row[0]
    return pid


def test_two_lakes_share_a_database_by_schema_and_table(postgres_url: str, schema: str) -> None:
    places = [(schema, "kv"), (schema, "kv2"), (f'odd "{schema[:20]}"; --', "Ünïcode ' table")]
    stores = []
    for space, table in places:
        query = urlencode({"schema": space, "table": table, "connections": 2})
        stores.append(open_store(f"{postgres_url}?{query}", ENVIRONMENT))
    for number, store in enumerate(stores):
        store.set(b"p", b"k", b"%d" % number)
    for number, store in enumerate(stores):
        assert list(store.scan(b"p")) == [(b"k", b"%d" % number)]
        store.close()


def test_servers_that_start_together_make_one_table(address: str) -> None:
    stores: list[PostgresStore] = []
    in_threads(6, lambda _: stores.append(PostgresStore.open(address, ENVIRONMENT)))
    stores[0].set(b"p", b"k", b"v")
    assert {store.get(b"p", b"k").value for store in stores} == {b"v"}
    for store in stores:
        store.close()


def test_the_table_is_partitioned_by_hash(
    store: PostgresStore, session: psycopg.Connection, schema: str
) -> None:
    store.set_many(b"p", {b"%d" % n: b"v" for n in range(10)})
    store.set(b"q", b"k", b"v")
    children = session.execute(
        "SELECT count(*) FROM pg_inherits WHERE inhparent = %s::regclass", (f"{schema}.kv",)
    ).fetchone()
    used = session.execute(f"SELECT count(DISTINCT tableoid) FROM {schema}.kv").fetchone()
    assert (children, used) == ((16,), (2,))


def test_another_programs_table_is_refused(
    session: psycopg.Connection, schema: str, address: str
) -> None:
    session.execute(f"CREATE SCHEMA {schema}")
    session.execute(f"CREATE TABLE {schema}.kv (partition_key bytea, key bytea, value bytea)")
    with pytest.raises(Refused, match="not Lochan's"):
        PostgresStore.open(address, ENVIRONMENT)


def test_a_newer_format_is_refused(
    store: PostgresStore, session: psycopg.Connection, schema: str, address: str
) -> None:
    session.execute(f"COMMENT ON TABLE {schema}.kv IS 'lochan kv 2'")
    with pytest.raises(Refused, match="upgrade") as caught:
        PostgresStore.open(address, ENVIRONMENT)
    assert caught.value.code == "newer-format"


def test_who_may_only_change_rows_can_use_a_table_made_by_others(
    store: PostgresStore, session: psycopg.Connection, schema: str, address: str
) -> None:
    role = "r" + schema
    session.execute(f"CREATE ROLE {role} LOGIN")
    session.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
    session.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.kv TO {role}")
    other = PostgresStore.open(address.replace("postgres@", f"{role}@"), ENVIRONMENT)
    other.set(b"p", b"k", b"v")
    assert store.get(b"p", b"k").value == b"v"
    other.close()


@pytest.mark.parametrize(
    "query", ["schema=", "table=" + 60 * "x", "connections=0", "connections=many", "nonsense=1"]
)
def test_an_address_that_cannot_be_meant_is_refused_without_repeating_it(query: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        PostgresStore.open(f"postgres://me:secret@127.0.0.1/db?{query}", ENVIRONMENT)
    assert "secret" not in str(caught.value)


def test_parameters_that_are_not_ours_reach_libpq_unchanged() -> None:
    place = place_of("postgres://me:p%40ss@h1:1,h2:2/db?table=t&options=-c%20work_mem%3D8MB%2B")
    given = conninfo_to_dict(place.conninfo)
    assert (given["host"], given["port"], given["password"]) == ("h1,h2", "1,2", "p@ss")
    assert given["options"] == "-c work_mem=8MB+"
    assert (place.schema, place.table, place.connections) == ("lochan", "t", 16)


def test_no_server_is_unavailable_and_the_password_stays_hidden() -> None:
    with pytest.raises(Unavailable, match="cannot be opened") as caught:
        PostgresStore.open("postgres://me:secret@127.0.0.1:1/db", ENVIRONMENT)
    assert "secret" not in str(caught.value)


def test_a_statement_that_takes_too_long_was_not_applied(
    session: psycopg.Connection, schema: str, address: str
) -> None:
    store = PostgresStore.open(address.replace("timeout_s=10", "timeout_s=1"), ENVIRONMENT)
    store.set(b"p", b"k", b"old")
    with session.transaction():
        session.execute(f"SELECT 1 FROM {schema}.kv FOR UPDATE")
        with pytest.raises(Unavailable, match="timeout") as caught:
            store.set(b"p", b"k", b"new")
    assert caught.type is Unavailable
    assert store.get(b"p", b"k").value == b"old"
    store.close()


@pytest.mark.parametrize("name", ["set", "set_if", "delete", "set_many"])
def test_a_connection_lost_during_a_write_leaves_the_outcome_unknown(
    name: str, store: PostgresStore, session: psycopg.Connection, schema: str
) -> None:
    store.set(b"p", b"k", b"old")
    old = store.get(b"p", b"k").predicate
    calls: dict[str, Callable[[], None]] = {
        "set": lambda: store.set(b"p", b"k", b"new"),
        "set_if": lambda: store.set_if(b"p", b"k", b"new", old),
        "delete": lambda: store.delete(b"p", b"k"),
        "set_many": lambda: store.set_many(b"p", {b"k": b"new"}),
    }
    with session.transaction():
        session.execute(f"SELECT 1 FROM {schema}.kv FOR UPDATE")
        thread, outcomes = outcome_of(calls[name])
        session.execute("SELECT pg_terminate_backend(%s)", (blocked_backend(session, schema),))
        thread.join()
    assert isinstance(outcomes[0], UnknownOutcome)
    assert store.get(b"p", b"k").value == b"old"


def test_rel_K7_a_write_whose_answer_was_lost_may_have_been_applied(
    postgres_url: str, schema: str, session: psycopg.Connection
) -> None:
    port = session.info.port
    with lossy_proxy("127.0.0.1", port) as proxy:
        address = postgres_url.replace(f":{port}/", f":{proxy.port}/")
        store = PostgresStore.open(f"{address}?schema={schema}&connections=1", ENVIRONMENT)
        store.set(b"p", b"k", b"old")
        proxy.lose_answers.set()
        with pytest.raises(UnknownOutcome):
            store.set(b"p", b"k", b"new")
        proxy.lose_answers.clear()
        assert store.get(b"p", b"k").value == b"new"
        store.close()


def test_idle_connections_that_the_server_ended_are_noticed_before_anything_is_sent(
    store: PostgresStore, session: psycopg.Connection, schema: str
) -> None:
    in_threads(4, lambda number: store.set(b"p", b"%d" % number, b"v"))
    ended = session.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE application_name = 'lochan' AND query LIKE %s",
        (f"%{schema}%",),
    ).fetchall()
    assert (True,) in ended
    in_threads(4, lambda number: store.set(b"p", b"%d" % number, b"w"))
    assert {value for _, value in store.scan(b"p")} == {b"w"}


def test_a_server_that_is_down_is_unavailable_and_comes_back() -> None:
    with new_server() as server:
        store = PostgresStore.open(f"{server.url}?timeout_s=1", ENVIRONMENT)
        store.set(b"p", b"k", b"v")
        server.stop(signal.SIGQUIT)
        for call in (lambda: store.set(b"p", b"k", b"w"), lambda: store.get(b"p", b"k")):
            with pytest.raises(Unavailable) as caught:
                call()
            assert caught.type is Unavailable
        server.start()
        assert store.get(b"p", b"k").value == b"v"
        store.set(b"p", b"k", b"w")
        store.close()


def test_a_suspended_scan_holds_no_transaction(
    store: PostgresStore, session: psycopg.Connection, schema: str
) -> None:
    store.set_many(b"p", {b"%04d" % number: b"v" for number in range(500)})
    scan = store.scan(b"p")
    next(scan)
    states = session.execute(
        "SELECT DISTINCT state FROM pg_stat_activity WHERE application_name = 'lochan'"
        " AND query LIKE %s",
        (f"%{schema}%",),
    ).fetchall()
    assert states == [("idle",)]
    assert len(list(scan)) == 499


def test_what_a_database_has_set_otherwise_is_overruled(
    session: psycopg.Connection, address: str, schema: str
) -> None:
    role = "r" + schema
    session.execute(f"CREATE ROLE {role} LOGIN SUPERUSER")
    session.execute(f"ALTER ROLE {role} SET synchronous_commit = off")
    session.execute(f"ALTER ROLE {role} SET default_transaction_isolation = 'serializable'")
    store = PostgresStore.open(address.replace("postgres@", f"{role}@"), ENVIRONMENT)
    asked = b"SELECT current_setting('%s')::bytea"
    names = [b"synchronous_commit", b"default_transaction_isolation", b"statement_timeout"]
    found = [store._calls.read(asked % name, ())[0][0] for name in names]
    assert found == [b"on", b"read committed", b"10s"]
    store.close()


def test_a_stricter_synchronous_commit_stays(
    session: psycopg.Connection, address: str, schema: str
) -> None:
    role = "r" + schema
    session.execute(f"CREATE ROLE {role} LOGIN SUPERUSER")
    session.execute(f"ALTER ROLE {role} SET synchronous_commit = remote_apply")
    store = PostgresStore.open(address.replace("postgres@", f"{role}@"), ENVIRONMENT)
    rows = store._calls.read(b"SELECT current_setting('synchronous_commit')::bytea", ())
    assert rows == [(b"remote_apply",)]
    store.close()


@pytest.mark.parametrize("name", ["get", "scan", "replace", "delete_if"])
def test_statements_are_served_by_the_primary_key_without_a_sort(
    name: str, store: PostgresStore
) -> None:
    values = {
        "get": (b"p", b"k"),
        "scan": (b"p", b"k", 10),
        "replace": (b"v", b"p", b"k", b"w"),
        "delete_if": (b"p", b"k", b"v"),
    }
    statement = b"EXPLAIN " + store._statements[name].replace(b"%b", b"%t")
    with store._calls._pool.connection() as connection:
        cursor = connection.cursor(row_factory=tuple_row)  # a plan is text
        plan = "\n".join(row[0] for row in cursor.execute(statement, values[name]))
    assert "Index Scan" in plan
    assert "Seq Scan" not in plan
    assert "Sort " not in plan


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # forking is what is tested
def test_a_store_is_refused_after_a_fork(store: PostgresStore) -> None:
    store.set(b"p", b"k", b"v")
    child = os.fork()
    if not child:
        try:
            store.get(b"p", b"k")
        except Refused:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert store.get(b"p", b"k").value == b"v"
