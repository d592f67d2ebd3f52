# SPDX-License-Identifier: Apache-2.0
"""Retention rules and metadata of a repository: set, read, taken away, refused."""

from threading import Barrier, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput, NotFound, Refused
from lochan.model.settings import GarbageCollectionRules, RepositoryMetadata
from lochan.model.settings_codec import (
    decode_gc_rules,
    decode_repository_metadata,
    encode_gc_rules,
    encode_repository_metadata,
)
from lochan.operations.repositories import set_read_only
from lochan.operations.repository_metadata import (
    MOST_BYTES,
    delete_repository_metadata,
    get_repository_metadata,
    set_repository_metadata,
)
from lochan.operations.retention import delete_gc_rules, get_gc_rules, set_gc_rules
from support.lakes import open_stage

DAYS = st.integers(0, 2**31 - 1)


@given(DAYS, st.dictionaries(st.text("abc_", min_size=1), DAYS))
def test_retention_rules_come_back_as_they_were_set(default: int, days: dict[str, int]) -> None:
    stage = open_stage()
    set_gc_rules(stage.lake, stage.repository, default, days)
    rules = get_gc_rules(stage.lake, stage.repository)
    assert (rules.default_retention_days, dict(rules.branch_retention_days)) == (default, days)
    assert decode_gc_rules(encode_gc_rules(rules) + b"\xc0\x3e\x01").unknown == b"\xc0\x3e\x01"


def test_without_rules_there_are_none_to_read() -> None:
    stage = open_stage()
    with pytest.raises(NotFound, match="no retention rules"):
        get_gc_rules(stage.lake, stage.repository)
    set_gc_rules(stage.lake, stage.repository, 7, {"main": 1})
    delete_gc_rules(stage.lake, stage.repository)
    with pytest.raises(NotFound):
        get_gc_rules(stage.lake, stage.repository)


@pytest.mark.parametrize(("default", "days"), [(-1, {}), (1, {"main": 2**31}), (1, {"a/b": 1})])
def test_a_rule_that_means_nothing_is_refused(default: int, days: dict[str, int]) -> None:
    stage = open_stage()
    with pytest.raises(InvalidInput):
        set_gc_rules(stage.lake, stage.repository, default, days)


def test_a_read_only_repository_keeps_its_settings_unless_forced() -> None:
    stage = open_stage()
    set_read_only(stage.lake, stage.repository, read_only=True)
    with pytest.raises(Refused):
        set_gc_rules(stage.lake, stage.repository, 1, {})
    with pytest.raises(Refused):
        set_repository_metadata(stage.lake, stage.repository, {"a": "1"})
    set_repository_metadata(stage.lake.forcing(), stage.repository, {"a": "1"})
    assert get_repository_metadata(stage.lake, stage.repository) == {"a": "1"}


def test_metadata_is_set_and_taken_away_key_by_key() -> None:
    stage = open_stage()
    assert get_repository_metadata(stage.lake, stage.repository) == {}
    set_repository_metadata(stage.lake, stage.repository, {"a": "1", "b": "2"})
    set_repository_metadata(stage.lake, stage.repository, {"b": "3", "c": "4"})
    delete_repository_metadata(stage.lake, stage.repository, ["a", "never"])
    assert get_repository_metadata(stage.lake, stage.repository) == {"b": "3", "c": "4"}


def test_two_who_set_different_keys_at_once_both_find_theirs() -> None:
    stage, together = open_stage(), Barrier(2)

    def work(mine: str) -> None:
        together.wait()
        for number in range(50):
            set_repository_metadata(stage.lake, stage.repository, {f"{mine}{number}": "x"})

    workers = [Thread(target=work, args=(name,)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(get_repository_metadata(stage.lake, stage.repository)) == 100


def test_metadata_that_is_too_large_is_refused_and_changes_nothing() -> None:
    stage = open_stage()
    with pytest.raises(InvalidInput, match="at most"):
        set_repository_metadata(stage.lake, stage.repository, {"a": "x" * MOST_BYTES})
    assert get_repository_metadata(stage.lake, stage.repository) == {}


def test_what_a_newer_program_wrote_stays() -> None:
    later = encode_repository_metadata(RepositoryMetadata(metadata={"a": "1"})) + b"\xc0\x3e\x01"
    assert encode_repository_metadata(decode_repository_metadata(later)) == later
    empty = GarbageCollectionRules(default_retention_days=0)
    assert decode_gc_rules(encode_gc_rules(empty)) == empty
