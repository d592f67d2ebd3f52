# SPDX-License-Identifier: Apache-2.0
"""Python's collector looks seldom while campaigns run that many small worlds are made for.

A world is full of cycles and lives for milliseconds; what lives on is what pytest has imported and
the trees that scenes remember. With Python's own settings a quarter of the time goes into walking
over those again and again.
"""

import gc
from collections.abc import Generator

import pytest

LIMITS = (20_000, 10, 10)  # of them young objects: some worlds, and a few megabytes


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave out what is there to stay."""
    if any(_has_many_worlds(item) for item in session.items):
        gc.collect()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Set the limits for one test."""
    before = gc.get_threshold()
    if _has_many_worlds(item):
        gc.set_threshold(*LIMITS)
    try:
        return (yield)
    finally:
        gc.set_threshold(*before)


def _has_many_worlds(item: pytest.Item) -> bool:
    return item.get_closest_marker("beside_others") is not None
