# SPDX-License-Identifier: Apache-2.0
"""A listener of its own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.wired import Served, serving


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as started:
        yield started
