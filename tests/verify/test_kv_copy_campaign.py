# SPDX-License-Identifier: Apache-2.0
"""A copy from SQLite to PostgreSQL under writers, killed at every single step."""

from pathlib import Path

import pytest

from lochan.kv.open import open_store
from support.grown_lake import grown
from support.kv_copies import WORLD, assert_all_there, moved


@pytest.mark.campaign
def test_killed_at_every_single_step(tmp_path: Path, postgres_url: str) -> None:
    """Each run dies at one call more than the one before, until one comes to its end."""
    source = open_store(f"sqlite://{tmp_path}/every.db", WORLD)
    target = open_store(f"{postgres_url}?schema=every", WORLD)
    there, writers = moved(grown(source), target, tuple(range(1, 400)))
    assert_all_there(there.lake, *writers)
    for store in (source, target):
        store.close()
