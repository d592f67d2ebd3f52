# SPDX-License-Identifier: Apache-2.0
"""Each kind of damage gives its finding, which names the damaged thing, and no other."""

import re
from contextlib import nullcontext
from pathlib import Path

import msgspec
import pytest

from lochan.errors import Corruption, NotFound, Unavailable
from lochan.faults import Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.commit_id import commit_id
from lochan.model.keys import (
    CLOCKS,
    clock_key,
    partition_of,
    reach_key,
)
from lochan.operations.compact import compact
from lochan.operations.delete_objects import delete_prefix
from lochan.operations.findings import Finding, Kind, Severity
from lochan.operations.fsck import Checked, fsck
from lochan.operations.repair import repair
from support.damages import (
    ABSENT,
    DAMAGES,
    Damage,
    clock_row_of_nobody,
    damaged_range,
    dangling_tag,
    left_reach_row,
    missing_clock_row,
    missing_commit,
    missing_merged_row,
    missing_object,
    unreadable_staged_row,
    wrong_clock_row,
    wrong_reach_row,
)
from support.grown_lake import DEV, MAIN, NAME, grown, head, open_lake
from support.lakes import Stage
from support.repository_life import every_call


def found(stage: Stage) -> list[Finding]:
    return list(fsck(stage.lake))


@pytest.mark.parametrize(
    ("damage", "kind"), DAMAGES, ids=lambda case: getattr(case, "__name__", "")
)
def test_one_damage_is_one_finding_that_names_it(damage: Damage, kind: Kind) -> None:
    stage = grown()
    named = damage(stage)
    findings = [f for f in found(stage) if f.kind is not Kind.UNCHECKED_ROWS]

    assert {finding.kind for finding in findings} == {kind}, "\n".join(map(str, findings))
    assert len(findings) == 1, "\n".join(map(str, findings))
    assert named in findings[0].where + findings[0].what
    assert findings[0].advice


def test_a_branch_whose_staged_deletions_were_compacted_to_nothing_is_whole() -> None:
    stage = grown()
    delete_prefix(stage.lake, stage.repository, DEV, b"")
    compact(stage.lake, stage.repository, DEV)
    assert found(stage) == []


def test_every_kind_of_finding_has_its_damage() -> None:
    assert {kind for _, kind in DAMAGES} == set(Kind) - {Kind.UNCHECKED_ROWS}


def test_a_lake_in_order_has_no_findings_and_is_not_changed() -> None:
    stage = grown(store := MemoryStore(grown().lake.environment))
    before = {name: dict(rows.values) for name, rows in store._partitions.items()}
    told: list[Checked] = []

    assert list(fsck(stage.lake, progress=told.append)) == []
    assert {name: dict(rows.values) for name, rows in store._partitions.items()} == before
    assert {checked.repository for checked in told} == {NAME}


def test_several_damages_are_all_found_in_one_run() -> None:
    stage = grown()
    harmless = (dangling_tag, damaged_range, unreadable_staged_row, wrong_reach_row)
    for damage in harmless:
        damage(stage)
    assert {finding.kind for finding in found(stage)} == {
        kind for damage, kind in DAMAGES if damage in harmless
    }


def test_without_objects_none_is_asked_for() -> None:
    stage = grown()
    missing_object(stage)
    assert list(fsck(stage.lake, objects=False)) == []


def test_rel_H9_a_store_that_fails_is_never_a_finding() -> None:
    stage = grown()

    def run(number: int) -> Faulty:
        store = Faulty(stage.lake.store, fail_nth(number, Fault.ERROR), stage.lake.environment)
        lake = open_lake(store, stage.lake.environment, stage.storage)
        findings: list[Finding] = []
        try:
            findings.extend(fsck(lake))
        except Unavailable:
            return store
        assert store.calls < number
        assert findings == []
        return store

    assert every_call(run) > 70


REPAIRABLE = [wrong_clock_row, clock_row_of_nobody, missing_clock_row, wrong_reach_row]
REPAIRABLE += [missing_merged_row, left_reach_row]


@pytest.mark.parametrize("damage", REPAIRABLE)
def test_rows_that_follow_from_commits_are_repaired(damage: Damage) -> None:
    stage = grown()
    damage(stage)
    assert found(stage)
    done = repair(stage.lake, stage.repository)
    assert done.written + done.removed == 1
    assert found(stage) == []


def test_rows_of_a_merge_that_is_being_made_are_left_alone() -> None:
    stage = grown()
    line, place = head(stage, MAIN).clocks[-1]
    key = reach_key(line, head(stage, DEV).clocks[-1].branch, place + 1, ABSENT)
    stage.lake.store.set(partition_of(stage.repository), key, b"1")
    repair(stage.lake, stage.repository)
    assert stage.lake.store.get(partition_of(stage.repository), key).value == b"1"


def test_a_history_with_holes_is_not_repaired() -> None:
    stage = grown()
    missing_commit(stage)
    with pytest.raises(Corruption, match="missing-commit"):
        repair(stage.lake, stage.repository)
    with pytest.raises(NotFound):
        stage.lake.store.get(partition_of(stage.repository), CLOCKS + b"none")
    assert any(finding.severity is Severity.ERROR for finding in found(stage))


def test_every_kind_of_finding_is_on_the_page() -> None:
    page = (Path(__file__).parents[3] / "docs/diagnostics.md").read_text()
    assert [kind.word for kind in Kind if not re.search(rf"\b{kind.word}\b", page)] == []


@pytest.mark.parametrize("is_placed", [True, False])
def test_a_commit_without_parent_and_without_clock_is_a_finding(*, is_placed: bool) -> None:
    stage = grown()
    tables, partition = stage.lake.tables(stage.repository), partition_of(stage.repository)
    tip = head(stage, DEV)
    bare = msgspec.structs.replace(tip, parents=(ABSENT,), clocks=())
    lost = msgspec.structs.replace(bare, id=commit_id(bare))
    tables.commits.set(lost.id.encode(), lost)
    if is_placed:
        stage.lake.store.set(partition, clock_key(*tip.clocks[-1]), lost.id.encode())
    else:
        branch = tables.branches.get(DEV.encode()).record
        tables.branches.set(DEV.encode(), msgspec.structs.replace(branch, commit_id=lost.id))
    findings = found(stage)

    assert any(lost.id in finding.where + finding.what for finding in findings)
    expected = Kind.WRONG_CLOCK_ROW if is_placed else Kind.MISSING_COMMIT
    assert expected in {finding.kind for finding in findings}
    if not is_placed:
        assert {Kind.WRONG_CLOCK, Kind.WRONG_LINE} <= {finding.kind for finding in findings}
    with pytest.raises(Corruption) if not is_placed else nullcontext():
        repair(stage.lake, stage.repository)
