# SPDX-License-Identifier: Apache-2.0
"""The index against a dictionary of rows: every look-up, after any changes, and in any steps."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.pipelines.datums.datum_index import DatumIndex, Totals, value_key
from lochan.pipelines.datums.keys_under import keys_under
from lochan.pipelines.model.datum import DatumRow, DatumState, OutputFile, Source
from support.trees import build, open_snapshots

KEYS = st.sampled_from([b"a", b"a\x00b", b"b/c", b"b/", b"b", b"\xff\xff", b"/"])
INPUTS = st.sampled_from(["img", "model", "m"])
IDS = st.integers(0, 20).map(lambda number: number.to_bytes(32))
ROWS = st.builds(
    DatumRow,
    id=IDS,
    hash=st.integers(0, 3).map(lambda number: number.to_bytes(32)),
    state=st.sampled_from(DatumState),
    sources=st.lists(st.builds(Source, INPUTS, st.just("photos"), KEYS, KEYS), max_size=3).map(
        tuple
    ),
    outputs=st.lists(st.builds(OutputFile, KEYS, KEYS), max_size=3).map(tuple),
    number=st.integers(0, 2),
)
STEPS = st.lists(
    st.tuples(st.lists(IDS, max_size=6), st.lists(ROWS, max_size=12, unique_by=lambda row: row.id)),
    max_size=4,
)
Model = dict[bytes, DatumRow]


def after(steps: list[tuple[list[bytes], list[DatumRow]]]) -> tuple[DatumIndex, Model]:
    """Take some steps with an index and with a dictionary."""
    index, model = DatumIndex(open_snapshots()), Model()
    for gone, rows in steps:
        index = index.changed(gone, rows, {})
        model = {name: row for name, row in model.items() if name not in gone}
        model.update((row.id, row) for row in rows)
    return index, model


@given(STEPS)
@settings(max_examples=60, deadline=None)
def test_an_index_answers_as_a_dictionary_of_its_rows(
    steps: list[tuple[list[bytes], list[DatumRow]]],
) -> None:
    index, model = after(steps)
    rows = [model[name] for name in sorted(model)]
    assert list(index.rows()) == rows
    assert index.find([b"?" * 32, *model]) == model
    assert {name: known.hash for name, known in index.every()} == {row.id: row.hash for row in rows}
    failed = [row.id for row in rows if row.state is DatumState.FAILED]
    assert list(index.failed()) == failed
    assert [
        name for name, known in index.known(sorted(model)).items() if not known.is_processed
    ] == failed
    assert index.totals() == Totals(len(rows), len(failed))
    for key in {output.key for row in rows for output in row.outputs} | {b"none"}:
        wrote = tuple(row.id for row in rows if key in {one.key for one in row.outputs})
        assert index.writers([key]).get(key, ()) == wrote
    for name, key in {(one.input, one.key) for row in rows for one in row.sources}:
        read = tuple(
            row.id for row in rows if (name, key) in {(one.input, one.key) for one in row.sources}
        )
        assert index.readers(name, [key]) == {key: read}


@given(STEPS)
@settings(max_examples=30, deadline=None)
def test_an_index_is_the_same_whatever_the_way_there(
    steps: list[tuple[list[bytes], list[DatumRow]]],
) -> None:
    index, model = after(steps)
    assert DatumIndex(index.snapshots).changed((), model.values(), {}).id == index.id


def test_rel_P6_a_datum_that_ran_again_with_the_same_hash_has_its_new_outputs_alone() -> None:
    row = DatumRow(b"i" * 32, b"h" * 32, DatumState.PROCESSED, (), (OutputFile(b"a", b"1"),))
    again = DatumRow(b"i" * 32, b"h" * 32, DatumState.PROCESSED, (), (OutputFile(b"a", b"2"),))
    index = DatumIndex(open_snapshots()).changed((), [row], {}).changed((), [again], {})
    assert list(index.rows()) == [again]


def test_parts_are_found_by_the_value_they_are_joined_on() -> None:
    facts = {
        value_key("a", value, key): True for value, key in [("x", b"1"), ("xy", b"2"), ("x", b"3")]
    }
    index = DatumIndex(open_snapshots()).changed((), (), facts)
    assert index.parts_with("a", ["x", "xy", "z"]) == {"x": (b"1", b"3"), "xy": (b"2",)}
    assert index.parts_with("b", ["x"]) == {}
    less = index.changed((), (), {value_key("a", "x", b"1"): False})
    assert less.parts_with("a", ["x"]) == {"x": (b"3",)}
    assert set(less.value_keys()) == set(facts) - {value_key("a", "x", b"1")}


@given(
    st.dictionaries(st.binary(min_size=1, max_size=4), st.just((b"1", b"")), max_size=40),
    st.sets(st.binary(max_size=3), max_size=12),
)
def test_prefixes_are_sought_and_met_alike(
    rows: dict[bytes, tuple[bytes, bytes]], asked: set[bytes]
) -> None:
    snapshots = open_snapshots()
    tree = build(snapshots, rows)
    wanted = sorted(
        (prefix, key[len(prefix) :]) for prefix in asked for key in rows if key.startswith(prefix)
    )
    for few in (0, 100):
        assert sorted(keys_under(snapshots, tree, sorted(asked), few)) == wanted
