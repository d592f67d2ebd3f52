# SPDX-License-Identifier: Apache-2.0
"""A lake of its own for each test, asked by its administrator."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.web import Api, open_api


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with open_api(tmp_path / "lake") as opened:
        yield opened
