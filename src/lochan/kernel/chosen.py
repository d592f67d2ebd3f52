# SPDX-License-Identifier: Apache-2.0
"""Choose the kernel once: native where it was built, else the twin, with a warning."""

import warnings
from importlib import import_module
from typing import cast

from lochan.config.surroundings import kernel_choice
from lochan.kernel.interface import Kernel


def choose(wanted: str) -> Kernel:
    """Import the kernel called `wanted` ("native" or "twin"), or the best there is for ""."""
    if wanted:
        return cast("Kernel", import_module(f"lochan.kernel.{wanted}"))  # modules fit the Protocol
    try:
        return cast("Kernel", import_module("lochan.kernel.native"))
    except ImportError as error:
        warnings.warn(
            f"the compiled kernel is not available ({error}); the pure-Python one serves, many"
            " times slower. Install a C compiler and reinstall lochan to get it",
            RuntimeWarning,
            stacklevel=2,
        )
        return cast("Kernel", import_module("lochan.kernel.twin"))


kernel: Kernel = choose(kernel_choice())
