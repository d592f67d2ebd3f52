# SPDX-License-Identifier: Apache-2.0
"""Questions that executors answer before our package is there.

This file is sent by its content, so it imports nothing of ours.
"""

import importlib
import os
import platform
from collections.abc import Iterable, Iterator


def machine(_: Iterable[int]) -> Iterator[str]:
    """Say what compiled code depends on: system, processor, Python, C library."""
    libc = "".join(platform.libc_ver()[:1])
    python = ".".join(platform.python_version_tuple()[:2])
    told = (platform.system(), platform.machine(), platform.python_implementation(), python, libc)
    yield " ".join(told)


def imported(_: Iterable[int]) -> Iterator[str]:
    """Say which version of our package is imported, or why none is."""
    try:
        importlib.import_module("lochan.kernel")
        yield str(importlib.import_module("lochan").__version__)
    except Exception as error:  # noqa: BLE001 - whatever it is, the driver tells it
        yield f"{type(error).__name__}: {error}"


class Sees:
    """The question whether an executor finds files where the driver does."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        """Ask for these."""
        self._paths = paths

    def __call__(self, _: Iterable[int]) -> Iterator[str]:
        """Say yes or no."""
        yield "yes" if all(os.path.exists(path) for path in self._paths) else "no"  # noqa: PTH110 - text is what was sent
