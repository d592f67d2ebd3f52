# SPDX-License-Identifier: Apache-2.0
import inspect
import shutil
import sysconfig
from importlib import import_module

import pytest

from lochan.kernel import twin
from lochan.kernel.interface import Kernel

OFFERED = sorted(name for name in vars(Kernel) if not name.startswith("_"))


def has_compiler() -> bool:
    configured = (sysconfig.get_config_var("CC") or "cc").split()[0]
    return any(shutil.which(name) for name in (configured, "cc", "gcc", "clang"))


def test_the_native_kernel_is_built_where_a_compiler_exists() -> None:
    if not has_compiler():
        pytest.skip("NATIVE KERNEL NOT TESTED: this machine has no C compiler")
    native = import_module("lochan.kernel.native")
    assert [name for name in OFFERED if not callable(getattr(native, name, None))] == []


def test_the_twin_offers_exactly_the_names_of_the_interface() -> None:
    assert sorted(twin.__all__) == OFFERED


@pytest.mark.parametrize("name", OFFERED)
def test_the_twin_keeps_the_signatures_of_the_interface(name: str) -> None:
    promised = inspect.signature(getattr(Kernel, name))
    without_self = promised.replace(parameters=list(promised.parameters.values())[1:])
    assert inspect.signature(getattr(twin, name)) == without_self
