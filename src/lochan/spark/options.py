# SPDX-License-Identifier: Apache-2.0
"""Options as Spark takes them: text, with true and false in small letters."""

from collections.abc import Mapping


def as_texts(options: Mapping[str, object]) -> dict[str, str]:
    """Write options as text; those that are None are not said."""
    return {name: as_text(value) for name, value in options.items() if value is not None}


def as_text(value: object) -> str:
    """Write one value."""
    return str(value).lower() if isinstance(value, bool) else str(value)
