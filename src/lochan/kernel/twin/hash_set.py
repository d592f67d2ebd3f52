# SPDX-License-Identifier: Apache-2.0
"""A set of hashes: Python's own."""

from lochan.kernel.interface import HashSet


def hash_set() -> HashSet:
    """Make an empty set of hashes."""
    return set[int]()
