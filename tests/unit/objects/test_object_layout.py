# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/formats/object-layout.md are true."""

import re
from pathlib import Path

from lochan.objects.address import parse_data
from lochan.objects.drivers.local.names import Names

PAGE = Path(__file__).parents[3] / "docs/formats/object-layout.md"


def test_the_files_of_the_page_are_the_drivers_own() -> None:
    table = PAGE.read_text().partition("| address | file |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \|$", table, re.MULTILINE)

    assert len(rows) == 12
    for address, file in rows:
        place = Names(folds_case=False).place(address)
        assert "/".join((*place.folders, place.file)) == file


def test_the_times_of_the_page_are_those_of_the_addresses() -> None:
    table = PAGE.read_text().partition("| address | made at |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(.+)`.* \| (\d+) s \|$", table, re.MULTILINE)

    assert len(rows) == 2
    for address, seconds in rows:
        assert parse_data(address).created == int(seconds)
