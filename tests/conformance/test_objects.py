# SPDX-License-Identifier: Apache-2.0
"""The object drivers against the suite of `lochan.testing.objects`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lochan.objects.drivers.memory import MemoryObjects
from lochan.objects.faulty import Faulty, no_faults
from lochan.objects.store import ObjectStore
from lochan.testing.objects import (
    ENVIRONMENT,
    ObjectStoreConformance,
    SharedObjectStoreConformance,
    opened,
)
from servers.azurite import AzureServer
from servers.seaweedfs import S3Server


class TestMemoryObjects(ObjectStoreConformance):
    @pytest.fixture
    def store(self) -> Iterator[ObjectStore]:
        yield from opened("mem://conformance")

    @pytest.fixture
    def other(self) -> Iterator[ObjectStore]:
        yield from opened("mem://conformance")


class TestFaultlessFaultyObjects(ObjectStoreConformance):
    @pytest.fixture
    def store(self) -> ObjectStore:
        return Faulty(MemoryObjects(ENVIRONMENT), no_faults, ENVIRONMENT)


class TestLocalObjects(SharedObjectStoreConformance):
    @pytest.fixture
    def location(self, tmp_path: Path) -> str:
        return f"local://{tmp_path}/objects"


class TestS3Objects(SharedObjectStoreConformance):
    # SeaweedFS keeps a tree of folders, sorts by it, and takes `a` for the folder of `a/b`.
    keeps_any_address = False
    # It removes empty folders a little later.
    forgets_prefixes = False
    # It lets each loser wait for about a second.
    competitors = 3
    part_bytes = 5 << 20

    @pytest.fixture
    def location(self, seaweedfs: S3Server) -> str:
        return seaweedfs.location(ENVIRONMENT.new_id(), part_bytes=self.part_bytes)


class TestAzureObjects(SharedObjectStoreConformance):
    # obstore cannot address every key, and Azurite sorts `a/b` before `a-b`.
    keeps_any_address = False

    @pytest.fixture
    def location(self, azurite: AzureServer) -> str:
        return azurite.location(ENVIRONMENT.new_id(), part_bytes=5 << 20)
