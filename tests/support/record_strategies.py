# SPDX-License-Identifier: Apache-2.0
"""Random records for the kernel tests: short alphabets, so that keys share prefixes and collide."""

from hypothesis import strategies as st

from lochan.kernel.records import Column, Records

Rows = dict[bytes, tuple[bytes, bytes]]

short_bytes = st.binary(max_size=6)
keys = st.one_of(
    st.text("ab/", max_size=8).map(str.encode),
    st.lists(st.sampled_from([b"\xff", b"\xfe", b"\x00", b"a"]), max_size=5).map(b"".join),
    st.binary(max_size=40),
)
identities = st.one_of(
    st.sampled_from([b"1", b"2", b"3"]), st.binary(min_size=1, max_size=40), st.just(b"i" * 200)
)
values = st.one_of(short_bytes, st.integers(0, 3000).map(lambda n: b"value " * n))


def rows(
    max_size: int = 40, identities: st.SearchStrategy[bytes] = identities
) -> st.SearchStrategy[Rows]:
    """Rows as a dictionary: what the models compute with."""
    return st.dictionaries(keys, st.tuples(identities, values), max_size=max_size)


# Identities from three values: rows of two lists then agree, differ or are missing about as often.
few = st.sampled_from([b"1", b"2", b"3"])
colliding_rows = st.dictionaries(
    st.text("abc", max_size=2).map(str.encode), st.tuples(few, short_bytes), max_size=12
)
changes = st.dictionaries(
    st.text("abc", max_size=2).map(str.encode),
    st.tuples(st.one_of(few, st.just(b"")), short_bytes),
    max_size=12,
)


def to_records(rows: Rows) -> Records:
    """Sort a dictionary's rows into columns that begin and end inside larger buffers."""
    listed = [(key, *row) for key, row in sorted(rows.items())]
    padded = Records.of([(b"before", b"x", b"y"), *listed, (b"after", b"x", b"y")])
    return padded.slice(1, len(listed) + 1)


def to_rows(records: Records) -> Rows:
    """Turn columns into a dictionary; keys must strictly increase."""
    found = {row.key: (row.identity, row.value) for row in records}
    assert list(records.keys) == sorted(found)
    return found


def to_column(values: list[bytes]) -> Column:
    """Make a column that begins and ends inside a larger buffer."""
    return Column.of([b"before", *values, b"after"]).slice(1, len(values) + 1)
