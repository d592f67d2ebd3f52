# SPDX-License-Identifier: Apache-2.0
"""What surrounds this process: the only reader and writer of `os.environ`."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from lochan.errors import InvalidInput


def variables() -> Mapping[str, str]:
    """Give the environment variables as they are now; an empty one counts as not set."""
    return MappingProxyType({name: value for name, value in os.environ.items() if value})


def home() -> Path:
    """Give the folder in which a person's own settings lie."""
    return Path(os.environ.get("HOME") or "~").expanduser()


def kernel_choice() -> str:
    """Say which kernel LOCHAN_KERNEL asks for: "native", "twin", or "" for the best there is."""
    wanted = os.environ.get("LOCHAN_KERNEL", "")
    if wanted not in {"", "native", "twin"}:
        raise InvalidInput(f"LOCHAN_KERNEL is {wanted!r}; it takes native or twin")
    return wanted


def is_debugging() -> bool:
    """Say whether LOCHAN_DEBUG asks for tracebacks."""
    return bool(os.environ.get("LOCHAN_DEBUG"))


def tell_children(told: Mapping[str, str]) -> None:
    """Set variables for programs that this process starts; some read nothing else."""
    os.environ.update(told)
