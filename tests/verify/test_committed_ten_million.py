# SPDX-License-Identifier: Apache-2.0
"""Ten million records at the default cuts, on local disk: commits of one key, and days of commits.

Prints the table that stands beside seed 001's 99 %.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from statistics import mean
from tempfile import TemporaryDirectory

import pytest

from lochan.committed import Cuts, Files, Snapshots
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.objects.open import open_objects
from lochan.objects.store import ObjectStore
from support.day_of_commits import HEADING, Begin, Day, line, run
from support.generated_rows import in_pieces
from support.one_key import EXPECTED, costs
from support.trees import ENVIRONMENT, Watched, open_snapshots

RECORDS = 10_000_000
# At the default cuts these are 200 ranges; ten times as many show what a lake of 100 million does.
FINER = Cuts(Cuts().raggedness // 10)
SHARES = (0.05, 0.20)


class Lake:
    """A store, its snapshots, and the one of ten million records."""

    def __init__(self, objects: ObjectStore, cuts: Cuts) -> None:
        self.objects = objects
        self.snapshots = Snapshots(Files(objects, ENVIRONMENT), ENVIRONMENT, cuts=cuts)
        self.base: MetaRangeId = self.snapshots.apply(EMPTY_TREE, in_pieces(RECORDS)).id


@contextmanager
def new_lake(cuts: Cuts) -> Iterator[Lake]:
    with TemporaryDirectory(prefix="lochan-ten-million-") as folder:  # large: gone at once
        made = Lake(open_objects(f"local://{folder}", ENVIRONMENT), cuts)
        yield made
        made.snapshots.close()
        made.objects.close()


@pytest.fixture(scope="module")
def lake() -> Iterator[Lake]:
    with new_lake(Cuts()) as made:
        yield made


@pytest.mark.campaign
def test_a_commit_of_one_key_among_ten_million_rewrites_one_range(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    watched = Watched(lake.objects)
    with open_snapshots(watched.objects, Cuts(), memory_bytes=64 << 20) as snapshots:
        found = costs(watched, snapshots, lake.base)
    ranges = len(lake.snapshots.files.metarange(lake.base))
    with capsys.disabled():
        print(f"\n{RECORDS:,} records in {ranges} ranges; a commit of one key:")
        for what, cost in found.items():
            print(f"{what:>36}: {cost}")
    assert found == EXPECTED


def check_days(lake: Lake, densities: tuple[float, ...]) -> None:
    """Print and check a day of every kind, each from the same base."""
    print(f"\n{RECORDS:,} records; a day of 20 commits\n{HEADING}")
    for begin, share, density in product(Begin, SHARES, densities):
        day = Day(share, density, begin)
        commits = run(lake.objects, lake.snapshots, lake.base, day)
        print(line(day, commits), flush=True)
        assert mean(each.reuse for each in commits) >= day.least_reuse(commits[0].before)


@pytest.mark.campaign
def test_days_of_commits_reuse_what_the_seed_expects(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        check_days(lake, (0.01, 0.1, 1.0))


@pytest.mark.campaign
def test_days_of_commits_to_many_ranges_reuse_what_the_seed_expects(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with new_lake(FINER) as finer, capsys.disabled():
        check_days(finer, (0.1,))


@pytest.mark.campaign
def test_ten_million_records_are_whole(lake: Lake) -> None:
    assert lake.snapshots.verify(lake.base) == RECORDS
