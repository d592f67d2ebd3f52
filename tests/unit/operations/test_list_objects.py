# SPDX-License-Identifier: Apache-2.0
"""Listings of any ref, page by page."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.committed import Cuts
from lochan.errors import Unavailable
from lochan.faults import Fault
from lochan.kernel.records import Record
from lochan.kv.faulty import Call, Faulty
from lochan.operations.lake import Lake
from lochan.operations.list_objects import list_objects
from lochan.operations.seal import seal
from support.branch_content import (
    WORLD,
    committed_and_cleaned,
    delete,
    every_place,
    put,
    record,
)
from support.lakes import MAIN, Stage, open_stage

keys = st.text("ab/", min_size=1, max_size=4).map(str.encode)
steps = st.lists(st.tuples(keys, st.booleans()), max_size=12)


@settings(max_examples=60, deadline=None)
@given(steps, steps, st.sampled_from([b"", b"a", b"a/"]), st.integers(1, 4))
def test_a_commit_lists_what_was_committed_and_a_branch_what_is_shown(
    before: list[tuple[bytes, bool]], after: list[tuple[bytes, bool]], prefix: bytes, amount: int
) -> None:
    stage, model = open_stage(cuts=Cuts(raggedness=2)), set[bytes]()
    run(stage, model, before)
    made, kept = record(stage), set(model)
    run(stage, model, after)
    for delimiter in (b"", b"/"):
        wanted = expected(kept, prefix, delimiter)
        assert listed(stage, made.id, prefix, delimiter, amount) == wanted
        assert listed(stage, "main@", prefix, delimiter, amount) == wanted
        assert listed(stage, MAIN, prefix, delimiter, amount) == expected(model, prefix, delimiter)


def run(stage: Stage, model: set[bytes], todo: list[tuple[bytes, bool]]) -> None:
    for key, is_put in todo:
        if is_put:
            put(stage, key, key)
            model.add(key)
        else:
            delete(stage, key)
            model.discard(key)


def listed(stage: Stage, ref: str, prefix: bytes, delimiter: bytes, amount: int) -> list[bytes]:
    found: list[bytes] = []
    while True:
        page = list_objects(
            stage.lake,
            stage.repository,
            ref,
            prefix,
            after=found[-1] if found else b"",
            delimiter=delimiter,
            amount=amount,
        )
        found += [item.key if isinstance(item, Record) else item.prefix for item in page.items]
        if not page.has_more:
            return found


def expected(model: set[bytes], prefix: bytes, delimiter: bytes) -> list[bytes]:
    items = set()
    for key in model:
        if key.startswith(prefix):
            hidden = key.find(delimiter, len(prefix)) if delimiter else -1
            items.add(key if hidden < 0 else key[: hidden + 1])
    return sorted(items)


def test_rel_H9_a_page_whose_scan_fails_is_an_error() -> None:
    stage = open_stage()
    for key in (b"a", b"b", b"c"):
        put(stage, key, key)
    for number in range(1, 6):
        rows = 0

        def fail(call: Call, last: int = number) -> Fault:
            nonlocal rows
            rows += call.operation in {"scan", "scan_next"}
            return Fault.ERROR if rows == last else Fault.OK

        lake = Lake.of(Faulty(stage.lake.store, fail, WORLD), WORLD, stage.lake.storage)
        with pytest.raises(Unavailable):
            list_objects(lake, stage.repository, MAIN)


def test_rel_H2_a_page_is_whole_whatever_is_committed_and_cleaned_meanwhile() -> None:
    def prepare(stage: Stage) -> None:
        for key in (b"a", b"b/1", b"b/2", b"c"):
            put(stage, key, key)
        record(stage)
        delete(stage, b"b/1")
        seal(stage.lake, stage.repository, MAIN)
        put(stage, b"d", b"d")

    for _, harried in every_place(prepare, committed_and_cleaned):
        assert listed(harried, MAIN, b"", b"", 9) == [b"a", b"b/2", b"c", b"d"]
