# SPDX-License-Identifier: Apache-2.0
"""The page about keys names what there is: each function, each key as the code makes it."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from lochan.model import keys
from lochan.model.ids import CommitId, LineageId, RepositoryId, StagingToken, UniqueIdentifier

PAGE = (Path(__file__).parents[3] / "docs/formats/kv-keys.md").read_text()
KEYS = PAGE.partition("## Partitions and keys")[2].partition("\n\n*")[0]
FUNCTIONS = sorted(set(re.findall(r"`(lochan\.[\w.]+)`", PAGE)))
SEED_ITERATORS = {
    "branch_iterator",
    "commit_iterator",
    "commit_ordered_iterator",
    "repository_iterator",
    "tag_iterator",
    "staging/iterator",
}


def test_every_iterator_of_the_seed_has_its_row() -> None:
    rows = PAGE.partition("## Iterators")[2].partition("\n## ")[0]
    named = {name for row in rows.splitlines() for name in re.findall(r"^\| `([\w/]+)`", row)}
    assert named == SEED_ITERATORS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_on_the_page_exists(name: str) -> None:
    parts = name.split(".")
    capital = next((place for place, part in enumerate(parts) if part[0].isupper()), len(parts) - 1)
    found: object = import_module(".".join(parts[:capital]))
    for part in parts[capital:]:
        found = getattr(found, part)
    assert callable(found)


def test_every_prefix_and_partition_of_the_code_is_on_the_page() -> None:
    constants = [value for value in vars(keys).values() if isinstance(value, bytes)]
    assert constants
    assert [value for value in constants if f"`{value.decode()}" not in KEYS] == []


LINE, OTHER = LineageId("<lineage>"), LineageId("<foreign>")
REPO, UNIQUE = RepositoryId("<repository>"), UniqueIdentifier("<unique identifier>")
MERGE = CommitId("<commit id>")
MADE = [
    keys.repository_partition(REPO, UNIQUE),
    keys.token_partition(StagingToken("<staging token>")),
    keys.clock_key(LINE, 0).replace(b"0" * 20, b"<place>"),
    keys.reach_key(LINE, OTHER, 0, MERGE).replace(b"9" * 20, b"<inverted place>"),
    keys.copies_key(0, "<id>").replace(b"0" * 15, b"<time>"),
    keys.merged_key(LINE, 0, MERGE).replace(b"9" * 20, b"<inverted place>"),
]


@pytest.mark.parametrize("key", MADE)
def test_keys_are_written_as_the_code_makes_them(key: bytes) -> None:
    assert f"`{key.decode()}`" in KEYS
