# SPDX-License-Identifier: Apache-2.0
"""Fixtures that run a test on both kernels, or compare them. A conftest imports them."""

from importlib import import_module
from typing import cast

import pytest

from lochan.kernel.interface import Kernel


def load(name: str) -> Kernel:
    """Import a kernel by name, or skip loudly; `test_native_is_built` fails where it could be."""
    try:
        return cast("Kernel", import_module(f"lochan.kernel.{name}"))
    except ImportError as error:
        pytest.skip(f"THE {name.upper()} KERNEL IS NOT TESTED: {error}")


@pytest.fixture(params=["twin", "native"], scope="session")
def kernel(request: pytest.FixtureRequest) -> Kernel:
    """Each kernel in turn."""
    return load(request.param)


@pytest.fixture(scope="session")
def native() -> Kernel:
    """The compiled kernel, to be compared with the twin."""
    return load("native")
