# SPDX-License-Identifier: Apache-2.0
"""Conditions on what a branch shows for a key, for writes that must not overwrite blindly."""

from collections.abc import Callable

from lochan.kernel.records import Record
from lochan.model.codec import decode_entry

# Given the record that a branch shows for a key, or None; says whether a write may replace it.
Condition = Callable[[Record | None], bool]


def if_absent(shown: Record | None) -> bool:
    """Write only where no object is: If-None-Match: *."""
    return shown is None


def if_present(shown: Record | None) -> bool:
    """Write only over an object, whichever: If-Match: *."""
    return shown is not None


def if_match(e_tag: str) -> Condition:
    """Write only over the object with this checksum: If-Match."""
    return lambda shown: shown is not None and decode_entry(shown.value).e_tag == e_tag
