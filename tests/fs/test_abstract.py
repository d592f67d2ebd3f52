# SPDX-License-Identifier: Apache-2.0
"""fsspec's own suite of what a filesystem does."""

import posixpath
from collections.abc import Callable

import pytest
from fsspec.tests import abstract

from lochan.client import Lake
from lochan.fs.filesystem import LochanFileSystem


class Fixtures(abstract.AbstractFixtures):  # type: ignore[misc]  # fsspec has no types
    @pytest.fixture
    def fs(self, lake: Lake) -> LochanFileSystem:
        return LochanFileSystem(lake=lake, skip_instance_cache=True)

    @pytest.fixture
    def fs_path(self) -> str:
        return "fs-lake/main"

    @pytest.fixture
    def fs_join(self) -> Callable[..., str]:
        return posixpath.join

    @pytest.fixture
    def supports_empty_directories(self) -> bool:
        return False


class TestCopy(abstract.AbstractCopyTests, Fixtures):  # type: ignore[misc]  # fsspec has no types
    pass


class TestGet(abstract.AbstractGetTests, Fixtures):  # type: ignore[misc]  # fsspec has no types
    pass


class TestPut(abstract.AbstractPutTests, Fixtures):  # type: ignore[misc]  # fsspec has no types
    pass


class TestOpen(abstract.AbstractOpenTests, Fixtures):  # type: ignore[misc]  # fsspec has no types
    pass


class TestPipe(abstract.AbstractPipeTests, Fixtures):  # type: ignore[misc]  # fsspec has no types
    pass
