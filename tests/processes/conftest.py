# SPDX-License-Identifier: Apache-2.0
"""One process that forks servers, for all tests of processes."""

from collections.abc import Iterator

import pytest

from support.launcher import Launcher, new_launcher


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    with new_launcher() as started:
        yield started
