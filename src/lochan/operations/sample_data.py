# SPDX-License-Identifier: Apache-2.0
"""A small data set for a first look: a year of temperatures at three places, a README, a commit.

The numbers follow the seasons and the hours of the day, with some weather from a hash: the same in
every repository, so that what a tutorial says about them is true. The default branch is protected
afterwards, as it would be in earnest: changes come in by merging.
"""

import hashlib
from collections.abc import Iterator
from datetime import date, timedelta
from math import cos, pi

from lochan.errors import InvalidInput
from lochan.model.ids import ObjectKey
from lochan.model.records import Commit, Repository
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.lake import Lake
from lochan.operations.protection import add_branch_protection
from lochan.operations.put_object import put_object
from lochan.operations.reference import commit_of
from lochan.refs.outcomes import begun

_PLACES = {"attic": 17.0, "cellar": 12.0, "garden": 10.0}  # and how warm each is on average
_SWING = {"attic": 6.0, "cellar": 2.0, "garden": 11.0}  # and how far winter and summer are apart
_FIRST, _DAYS = date(2025, 1, 1), 365
_HOTTEST = 200  # day of the year
_HOURS = range(0, 24, 3)

_README = """\
# Sample data

A year of temperatures, made up but the same everywhere, to try things out on.

| path | what it holds |
|---|---|
| `readings/<year>-<month>/<place>.csv` | day, hour and degrees Celsius, every three hours |
| `places.csv` | the places and where they are |

The branch `{branch}` is protected: make a branch of it, change something there, commit, and merge
it back.
"""


def add_sample_data(lake: Lake, repository: Repository, committer: str) -> Commit:
    """Put the data set on a new repository's default branch, commit it, and protect the branch.

    After an error it may be repeated, until the branch is protected. Raises: UnknownOutcome; what
    putting, committing and protecting raise.
    """
    branch = repository.default_branch
    with begun(f"adding sample data to {repository.repository_id!r}"):
        for path, content_type, text in _files(branch):
            key = ObjectKey(path.encode())
            put_object(lake, repository, branch, key, text.encode(), content_type=content_type)
        made = _committed(lake, repository, CommitRequest(committer, "Add sample data"))
        add_branch_protection(lake, repository, branch)
    return made


def _committed(lake: Lake, repository: Repository, request: CommitRequest) -> Commit:
    """Commit the data set, or find that an earlier try has."""
    try:
        return commit(lake, repository, repository.default_branch, request)
    except InvalidInput as error:
        if error.code != "no-changes":
            raise
        return commit_of(lake, repository, repository.default_branch)


def _files(branch: str) -> Iterator[tuple[str, str, str]]:
    """Give path, content type and content of every file."""
    yield "README.md", "text/markdown", _README.format(branch=branch)
    rows = "".join(f"{place},{'outside' if place == 'garden' else 'inside'}\n" for place in _PLACES)
    yield "places.csv", "text/csv", f"place,where\n{rows}"
    months: dict[tuple[str, str], list[str]] = {}
    for place in _PLACES:
        for number in range(_DAYS):
            day = _FIRST + timedelta(days=number)
            readings = (f"{day},{hour:02},{_celsius(place, number, hour):.1f}\n" for hour in _HOURS)
            months.setdefault((f"{day:%Y-%m}", place), []).extend(readings)
    for (month, place), lines in sorted(months.items()):
        yield f"readings/{month}/{place}.csv", "text/csv", "day,hour,celsius\n" + "".join(lines)


def _celsius(place: str, day: int, hour: int) -> float:
    weather = hashlib.sha256(f"{day}/{place}".encode()).digest()[0] / 64 - 2
    season = cos(2 * pi * (day - _HOTTEST) / _DAYS)
    noon = cos(2 * pi * (hour - 15) / 24)
    return _PLACES[place] + _SWING[place] * season + 0.3 * _SWING[place] * noon + weather
