# SPDX-License-Identifier: Apache-2.0
"""The table of a KV store in PostgreSQL: where it is, how it is made, how it is recognised.

One table, hash-partitioned by partition_key into 16 children `<table>_0` to `<table>_15`, so that
vacuum and index pages of busy partitions are spread; docs/formats/kv-store.md has the schema. The
table's comment, `lochan kv 1`, says that it is ours and in which format. Several lakes share a
database by schema or table name; all names are quoted, so any will do.
"""

from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from lochan.errors import InvalidInput, Refused

FORMAT = 1
CHILDREN = 16
# Two lakes that start in one new schema must not both make it, so all makers in a database share
# one lock: "lochankv" as a number.
_MAKING = int.from_bytes(b"lochankv", "big")
# PostgreSQL cuts names off at 63 bytes; children add up to three.
_LONGEST_NAME = 59
_OURS = "lochan kv "
_OUR_PARAMETERS = frozenset({"schema", "table", "connections", "timeout_s"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a store lies: how to connect, and the table's name."""

    conninfo: str
    schema: str
    table: str
    connections: int
    timeout_s: int

    def __post_init__(self) -> None:
        """Refuse names that PostgreSQL would cut off, and sizes that make no sense."""
        for name in (self.schema, self.table):
            if not 0 < len(name.encode()) <= _LONGEST_NAME or "\0" in name:
                message = f"schema and table names have 1 to {_LONGEST_NAME} bytes: {name!r}"
                raise InvalidInput(message)
        if self.connections < 1 or self.timeout_s < 1:
            raise InvalidInput("connections and timeout_s are at least 1")

    @property
    def name(self) -> sql.Identifier:
        """The table's full name, quoted."""
        return sql.Identifier(self.schema, self.table)


def place_of(url: str) -> Place:
    """Split our own parameters from those of libpq.

    Ours: schema, table, connections (the pool's size) and timeout_s. All others go to libpq.
    """
    parts = urlsplit(url)
    given = parse_qsl(parts.query, keep_blank_values=True)
    ours = {key: value for key, value in given if key in _OUR_PARAMETERS}
    rest = [(key, value) for key, value in given if key not in _OUR_PARAMETERS]
    conninfo = urlunsplit(
        parts._replace(scheme="postgresql", query=urlencode(rest, quote_via=quote))
    )
    try:
        conninfo_to_dict(conninfo)
    except psycopg.Error:
        # Neither the address nor libpq's words are repeated: they may hold the password.
        raise InvalidInput("libpq cannot read this PostgreSQL address") from None
    return Place(
        conninfo,
        schema=ours.get("schema", "lochan"),
        table=ours.get("table", "kv"),
        connections=_number(ours, "connections", 16),
        timeout_s=_number(ours, "timeout_s", 20),
    )


def _number(given: dict[str, str], name: str, default: int) -> int:
    try:
        return int(given.get(name, default))
    except ValueError as error:
        raise InvalidInput(f"{name} is a whole number, not {given[name]!r}") from error


def make_if_absent(connection: psycopg.Connection[tuple[object, ...]], place: Place) -> None:
    """Recognise the table as ours, or make it.

    Who may only read and write rows can use a table that somebody else has made. Raises: Refused
    for a table of others or of a newer Lochan, psycopg.Error.
    """
    if _is_ours(connection, place):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
        if not _is_ours(connection, place):
            _make(connection, place)


def _is_ours(connection: psycopg.Connection[tuple[object, ...]], place: Place) -> bool:
    row = connection.execute(
        "SELECT obj_description(c.oid, 'pg_class') FROM pg_class c"
        " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s",
        (place.schema, place.table),
    ).fetchone()
    if row is None:
        return False
    words = str(row[0])
    version = words.removeprefix(_OURS)
    if not words.startswith(_OURS) or not version.isdigit():
        message = f"table {place.schema}.{place.table} is not Lochan's; choose another name"
        raise Refused(message, code="not-our-table")
    if int(version) > FORMAT:
        message = (
            f"table {place.schema}.{place.table} has format {version}, this Lochan knows {FORMAT};"
            " upgrade Lochan"
        )
        raise Refused(message, code="newer-format", version=int(version))
    return True


def _make(connection: psycopg.Connection[tuple[object, ...]], place: Place) -> None:
    exists = connection.execute(
        "SELECT 1 FROM pg_namespace WHERE nspname = %s", (place.schema,)
    ).fetchone()
    if not exists:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(place.schema)))
    connection.execute(
        sql.SQL(
            "CREATE TABLE {} (partition_key bytea NOT NULL, key bytea NOT NULL,"
            " value bytea NOT NULL, PRIMARY KEY (partition_key, key))"
            " PARTITION BY HASH (partition_key)"
        ).format(place.name)
    )
    for child in range(CHILDREN):
        connection.execute(
            sql.SQL(
                "CREATE TABLE {} PARTITION OF {} FOR VALUES WITH (MODULUS {}, REMAINDER {})"
            ).format(
                sql.Identifier(place.schema, f"{place.table}_{child}"),
                place.name,
                sql.Literal(CHILDREN),
                sql.Literal(child),
            )
        )
    comment = sql.SQL("COMMENT ON TABLE {} IS {}")
    connection.execute(comment.format(place.name, sql.Literal(f"{_OURS}{FORMAT}")))
