# SPDX-License-Identifier: Apache-2.0
"""The KV drivers against the suite of `lochan.testing.kv`, each on its real store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lochan.environment import RealEnvironment
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, no_faults
from lochan.kv.open import open_store
from lochan.kv.store import Store
from lochan.testing.kv import (
    DropPartitionConformance,
    GetAtOnceConformance,
    SetIfAllConformance,
    SetThenGetConformance,
    SharedStoreConformance,
    StoreConformance,
    opened,
)

ENVIRONMENT = RealEnvironment()


class TestMemoryStore(
    StoreConformance, DropPartitionConformance, SetThenGetConformance, SetIfAllConformance
):
    @pytest.fixture
    def store(self) -> Iterator[Store]:
        yield from opened("memory://")


class TestFaultlessFaultyStore(StoreConformance):
    @pytest.fixture
    def store(self) -> Store:
        return Faulty(MemoryStore(ENVIRONMENT), no_faults, ENVIRONMENT)


class TestSqliteStore(
    SharedStoreConformance,
    DropPartitionConformance,
    GetAtOnceConformance,
    SetThenGetConformance,
    SetIfAllConformance,
):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite://{tmp_path}/kv.db"

    @pytest.fixture
    def store(self, url: str) -> Iterator[Store]:
        self.address = url
        yield from opened(url)

    def reopen(self, store: Store) -> Store:  # noqa: ARG002 - the address says it all
        return open_store(self.address, ENVIRONMENT)


class TestPostgresStore(SharedStoreConformance, DropPartitionConformance):
    @pytest.fixture
    def url(self, postgres_url: str) -> str:
        return f"{postgres_url}?schema=conformance&connections=6"

    @pytest.fixture
    def store(self, url: str) -> Iterator[Store]:
        self.address = url
        yield from opened(url)

    def reopen(self, store: Store) -> Store:  # noqa: ARG002 - the address says it all
        return open_store(self.address, ENVIRONMENT)
