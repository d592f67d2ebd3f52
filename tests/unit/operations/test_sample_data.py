# SPDX-License-Identifier: Apache-2.0
"""The sample data of a new repository."""

import csv

import pytest

from lochan.errors import Refused
from lochan.operations.sample_data import add_sample_data
from support.branch_content import content, put
from support.lakes import open_stage


def test_sample_data_is_committed_readable_and_protected() -> None:
    stage = open_stage()
    made = add_sample_data(stage.lake, stage.repository, "ada")
    found = content(stage, "main@")
    assert made.committer == "ada"
    assert b"`main` is protected" in found[b"README.md"]
    july = list(csv.DictReader(found[b"readings/2025-07/garden.csv"].decode().splitlines()))
    january = list(csv.DictReader(found[b"readings/2025-01/garden.csv"].decode().splitlines()))
    assert len(july) == 31 * 8
    assert max(float(row["celsius"]) for row in january) < max(
        float(row["celsius"]) for row in july
    )
    with pytest.raises(Refused):
        put(stage, b"README.md", b"mine")
