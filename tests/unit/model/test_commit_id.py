# SPDX-License-Identifier: Apache-2.0
import hashlib

import msgspec
import pytest

from lochan.errors import Corruption, InvalidInput
from lochan.model import ident
from lochan.model.commit_id import check_commit_id, commit_id, new_commit
from lochan.model.ids import CommitId, LineageId, MetaRangeId, RepositoryId
from lochan.model.instant import Instant, from_seconds
from lochan.model.records import Clock, Commit, Provenance

FIRST = Commit(
    id=CommitId("e7720703b5e19f0c37c665b0bf14fc291522d882cd951d854edb8b1f1c33689d"),
    committer="",
    message="Repository created",
    creation_date=from_seconds(1_700_000_000),
    meta_range_id=MetaRangeId(""),
    version=1,
)
OURS = new_commit(
    committer="ann",
    message="one",
    creation_date=Instant(1_700_000_000_000_000_123),
    meta_range_id=MetaRangeId("ab" * 32),
    clocks=(Clock(LineageId("x"), 0), Clock(LineageId("y"), 4)),
    metadata={"b": "2", "a": "1"},
    parents=(FIRST.id, CommitId("cd" * 32)),
    generation=2,
)
HASHED = [
    {"committer": "bob"},
    {"message": "two"},
    {"creation_date": Instant(1_700_000_000_000_000_124)},
    {"meta_range_id": MetaRangeId("")},
    {"metadata": {"a": "1"}},
    {"parents": (CommitId("cd" * 32), FIRST.id)},
    {"clocks": (Clock(LineageId("x"), 0), Clock(LineageId("y"), 5))},
    {"version": 1},
]
NOT_HASHED = [
    {"generation": 9},
    {"started": Instant(1)},
    {"finished": Instant(2)},
    {"provenance": (Provenance(repository_id=RepositoryId("in"), commit_id=FIRST.id),)},
    {"unknown": b"\xf8\x07\x01"},
]


@pytest.mark.parametrize("version", [0, 1])
def test_a_commit_from_lakefs_keeps_its_id(version: int) -> None:
    commit = msgspec.structs.replace(FIRST, version=version)

    assert commit_id(commit) == FIRST.id
    check_commit_id(commit)


def test_filling_clock_and_generation_of_a_restored_commit_does_not_change_its_id() -> None:
    filled = msgspec.structs.replace(FIRST, clocks=OURS.clocks, generation=7)

    assert commit_id(filled) == FIRST.id


def test_our_formula_is_the_documented_one() -> None:
    encoded = (
        ident.string("lochan:commit:v1")
        + ident.string("ann")
        + ident.string("one")
        + ident.string("ab" * 32)
        + ident.int64(1_700_000_000)
        + ident.int64(123)
        + ident.string_map({"a": "1", "b": "2"})
        + b"\x05"
        + ident.octets(hashlib.sha256(ident.string_list([FIRST.id, "cd" * 32])).digest())
        + ident.clock_list([("x", 0), ("y", 4)])
    )

    assert OURS.version == 100
    assert OURS.id == hashlib.sha256(encoded).hexdigest()


def test_our_worked_value_stays_for_ever() -> None:
    assert OURS.id == "bff86a11b7eeda0f8441518d33ade81764d3b6217292056c650ffc40edda9e1d"


@pytest.mark.parametrize("change", HASHED, ids=lambda change: next(iter(change)))
def test_the_id_depends_on_what_the_commit_says(change: dict[str, object]) -> None:
    assert commit_id(msgspec.structs.replace(OURS, **change)) != OURS.id


@pytest.mark.parametrize("change", NOT_HASHED, ids=lambda change: next(iter(change)))
def test_the_id_does_not_depend_on_what_is_filled_in_later(change: dict[str, object]) -> None:
    assert commit_id(msgspec.structs.replace(OURS, **change)) == OURS.id


def test_a_commit_that_does_not_hash_to_its_id_is_corrupt() -> None:
    forged = msgspec.structs.replace(OURS, message="forged")

    with pytest.raises(Corruption, match=f"commit {OURS.id} is damaged"):
        check_commit_id(forged)


def test_a_version_from_the_future_is_refused_not_guessed() -> None:
    with pytest.raises(InvalidInput, match="version 101 is not known"):
        commit_id(msgspec.structs.replace(OURS, version=101))
