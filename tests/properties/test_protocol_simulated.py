# SPDX-License-Identifier: Apache-2.0
"""The protocol of seed 004 on the real code, in many orders; its holes must be caught."""

from collections.abc import Callable

import pytest

from lochan.committed import Applied
from lochan.model.ids import BranchName, StagingToken
from lochan.model.records import Branch, Repository
from lochan.operations import commit as committing
from lochan.operations import put_object, view
from lochan.operations.lake import Lake
from lochan.staging.fold import changes, folded
from lochan.staging.sealed import Tokens
from support.simulated_lake import Lost, run_seeds

SEEDS = 150
MOST = 1500  # a hole that is not seen in so many orders counts as missed


def test_rel_G1_G7_G15_nothing_acknowledged_is_lost_in_any_order_tried() -> None:
    steps = run_seeds(1, SEEDS)
    print(f"{SEEDS} seeds, {steps} steps, 0 violations")
    assert steps > 100 * SEEDS


@pytest.mark.campaign
def test_rel_G1_G7_G15_campaign() -> None:
    steps = run_seeds(100_000, 20_000)
    print(f"20,000 seeds, {steps} steps, 0 violations")


def build_without_validation(
    lake: Lake, repository: Repository, _: BranchName, branch: Branch, tokens: Tokens
) -> object:
    """H1: believe a tree whatever happened to its tokens while they were scanned."""
    snapshots = lake.storage(repository.storage_namespace).snapshots
    base = view.committed_tree(lake, repository, branch)
    applied: Applied = snapshots.apply(base, changes(folded(lake.staging, tokens)))
    return committing._Tree(applied.id, branch.commit_id, tokens)


def compare_staging_tokens_only(one: Branch, other: Branch) -> bool:
    """H3: re-check the staging token alone after a read."""
    return one.staging_token == other.staging_token


def write_once(
    lake: Lake, repository: Repository, name: BranchName, write: Callable[[StagingToken], None]
) -> None:
    """No re-check after a write at all."""
    write(lake.branches.seen(repository, name).record.staging_token)


@pytest.mark.parametrize(
    ("module", "name", "hole"),
    [
        (committing, "_build", build_without_validation),
        (view, "is_same_view", compare_staging_tokens_only),
        (put_object, "stage", write_once),
    ],
    ids=["rel_H1", "rel_H3", "no re-check of a write"],
)
def test_a_protocol_with_a_hole_is_caught(
    monkeypatch: pytest.MonkeyPatch, module: object, name: str, hole: Callable[..., object]
) -> None:
    monkeypatch.setattr(module, name, hole)
    with pytest.raises(Lost):
        run_seeds(1, MOST)
