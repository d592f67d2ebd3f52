# SPDX-License-Identifier: Apache-2.0
"""Layers: what of a token's rows is shown, beside the plainest filter that says the same."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.environment import RealEnvironment
from lochan.kv.drivers.memory import MemoryStore
from lochan.model.ids import BranchName, CommitId, StagingToken
from lochan.model.records import Branch, Forgotten, StagedEntry
from lochan.staging import layers as module
from lochan.staging.area import StagingArea
from lochan.staging.fold import folded, staged_changes
from lochan.staging.layers import Layer, layers_of, noted, shown_rows, still_forgotten

TOKENS = tuple(StagingToken(name) for name in ("now", "third", "second", "first"))
keys = st.binary(max_size=2).map(lambda key: bytes(byte & 3 for byte in key))
forgetting = st.builds(Forgotten, keys, st.none() | keys, st.sampled_from(TOKENS[1:]))
notes = st.lists(forgetting.filter(lambda one: one.stop is None or one.start < one.stop)).map(tuple)
forgetting_now = forgetting.filter(lambda one: one.newest == TOKENS[1])
tokens_rows = st.dictionaries(keys, st.booleans(), max_size=8)


def area_of(rows: dict[StagingToken, dict[bytes, bool]]) -> StagingArea:
    area = StagingArea(MemoryStore(RealEnvironment()))
    for token, found in rows.items():
        for key, is_there in found.items():
            identity = token.encode() if is_there else b""
            area.set(token, StagedEntry(key, identity, identity))
    return area


def branch_of(forgotten: tuple[Forgotten, ...] = ()) -> Branch:
    return Branch(
        branch_id=BranchName("main"),
        commit_id=CommitId("head"),
        staging_token=TOKENS[0],
        sealed_tokens=TOKENS[1:],
        forgotten=forgotten,
    )


@given(tokens_rows, notes, keys)
def test_a_layer_shows_what_no_interval_covers(
    rows: dict[bytes, bool], forgotten: tuple[Forgotten, ...], start: bytes
) -> None:
    area = area_of({TOKENS[1]: rows})
    under = tuple(one._replace(newest=TOKENS[1]) for one in forgotten)
    layer = layers_of(branch_of(under))[1]
    shown = [row.key for row in shown_rows(area, layer, start)]
    assert shown == sorted(
        key for key in rows if key >= start and not any(one.covers(key) for one in forgotten)
    )
    assert sorted(key for key in rows if key >= start and not layer.hiding(key)) == shown
    ends = [(one.start, one.stop) for one in layer.forgotten]
    assert all(one[1] is not None and one[1] < other[0] for one, other in pairwise(ends))


@given(st.fixed_dictionaries(dict.fromkeys(TOKENS, tokens_rows)), notes, keys)
def test_rel_H7_what_is_folded_is_the_newest_row_that_came_after_the_last_reset_of_its_key(
    rows: dict[StagingToken, dict[bytes, bool]], forgotten: tuple[Forgotten, ...], start: bytes
) -> None:
    expected: dict[bytes, bytes] = {}
    for token in reversed(TOKENS):  # as they were written, and reset when they were full
        expected |= {key: token.encode() if there else b"" for key, there in rows[token].items()}
        for one in forgotten:
            if one.newest == token:
                expected = {key: row for key, row in expected.items() if not one.covers(key)}
    area, layers = area_of(rows), layers_of(branch_of(forgotten))
    found = {row.key: row.identity or b"" for row in folded(area, layers, start)}
    assert found == {key: row for key, row in expected.items() if key >= start}
    changed = [bytes(key) for chunk in staged_changes(area, layers) for key in chunk.keys]
    assert changed == sorted(expected)


@given(st.sampled_from([1, 2, 1000]), tokens_rows, notes)
def test_a_scan_that_passes_many_hidden_rows_begins_anew_behind_them(
    passed: int, rows: dict[bytes, bool], forgotten: tuple[Forgotten, ...]
) -> None:
    area = area_of({TOKENS[3]: rows})
    layer = layers_of(branch_of(forgotten))[3]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PASSED", passed)
        shown = [row.key for row in shown_rows(area, layer)]
    assert shown == sorted(key for key in rows if not any(one.covers(key) for one in forgotten))


@given(tokens_rows, notes, forgetting_now)
def test_a_note_that_covers_earlier_ones_stands_for_them(
    rows: dict[bytes, bool], forgotten: tuple[Forgotten, ...], late: Forgotten
) -> None:
    area = area_of(dict.fromkeys(TOKENS, rows))
    every, fewer = (*forgotten, late), noted(forgotten, late)
    assert len(fewer) <= len(every)
    assert fewer[-1] == late
    for some in zip(layers_of(branch_of(every)), layers_of(branch_of(fewer)), strict=True):
        shown = [[row.key for row in shown_rows(area, layer)] for layer in some]
        assert shown[0] == shown[1]


def test_the_staging_token_hides_nothing_and_an_older_one_all_that_newer_ones_hide() -> None:
    early = Forgotten(b"a", b"b", TOKENS[2])
    late = Forgotten(b"x", None, TOKENS[1])
    layers = layers_of(branch_of((early, late)))
    assert [layer.forgotten for layer in layers] == [(), (late,), (early, late), (early, late)]
    touching = Forgotten(b"b", b"c", TOKENS[1])
    (_, _, _, oldest) = layers_of(branch_of((early, touching)))
    assert [(one.start, one.stop) for one in oldest.forgotten] == [(b"a", b"c")]
    assert tuple(layer.token for layer in layers) == TOKENS


def test_some_tokens_of_a_branch_hide_what_they_hide_among_all() -> None:
    forgotten = (Forgotten(b"a", b"b", TOKENS[1]),)
    (oldest,) = layers_of(branch_of(forgotten), TOKENS[3:])
    assert oldest == Layer(TOKENS[3], forgotten)


def test_what_was_reset_is_noted_as_long_as_its_newest_token_is_left() -> None:
    early, late = Forgotten(b"a", b"b", TOKENS[2]), Forgotten(b"x", None, TOKENS[1])
    branch = branch_of((early, late))
    assert still_forgotten(branch, TOKENS[1:]) == (early, late)
    assert still_forgotten(branch, TOKENS[1:2]) == (late,)
    assert still_forgotten(branch, ()) == ()
