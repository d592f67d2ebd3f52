# SPDX-License-Identifier: Apache-2.0
"""A lake moves from SQLite to PostgreSQL and back, under writers, killed on the way."""

from pathlib import Path

from lochan.kv.open import open_store
from support.grown_lake import grown
from support.kv_copies import WORLD, assert_all_there, every_row, moved

# Where the copy dies, one after the other; then it comes to its end.
DEATHS = (1, 9, 40, 90, 170)


def test_sqlite_to_postgres_and_back_under_writers(tmp_path: Path, postgres_url: str) -> None:
    first = open_store(f"sqlite://{tmp_path}/first.db", WORLD)
    middle = open_store(f"{postgres_url}?schema=copied", WORLD)
    last = open_store(f"sqlite://{tmp_path}/last.db", WORLD)
    there, writers = moved(grown(first), middle, DEATHS)
    back, others = moved(there, last, DEATHS)

    assert all(writer.acknowledged for writer in (*writers, *others))
    assert_all_there(there.lake, *writers)
    assert_all_there(back.lake, *writers, *others)
    assert {key for key in every_row(middle) if b"sealed" in key[1]} <= set(every_row(last))
    for store in (first, middle, last):
        store.close()
