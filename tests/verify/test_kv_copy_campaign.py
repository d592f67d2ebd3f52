# SPDX-License-Identifier: Apache-2.0
"""A copy from SQLite to PostgreSQL and back under writers, killed at every single step."""

from pathlib import Path

import pytest

from lochan.kv.open import open_store
from support.grown_lake import grown
from support.kv_copies import WORLD, assert_all_there, moved

EVERY = range(1, 1_000_000)


@pytest.mark.campaign
def test_killed_at_every_single_step(tmp_path: Path, postgres_url: str) -> None:
    """Each run dies at one call more than the one before, to either store, part by part."""
    first = open_store(f"sqlite://{tmp_path}/every.db", WORLD)
    middle = open_store(f"{postgres_url}?schema=every", WORLD)
    last = open_store(f"sqlite://{tmp_path}/back.db", WORLD)
    there, writers = moved(grown(first), middle, EVERY)
    assert_all_there(there.lake, *writers)
    back, others = moved(there, last, EVERY)
    assert_all_there(back.lake, *writers, *others)
    for store in (first, middle, last):
        store.close()
