# SPDX-License-Identifier: Apache-2.0
"""A repository and its storage namespace: nobody shares one."""

from pathlib import Path

import pytest

from lochan.bootstrap.lake import open_lake
from lochan.environment import RealEnvironment
from lochan.errors import AlreadyExists, NotUnique
from lochan.model.ids import BranchName, ObjectKey, RepositoryId, StorageNamespace
from lochan.model.records import Repository
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.create_repository import create_repository
from lochan.operations.lake import Lake
from lochan.operations.put_object import put_object
from lochan.operations.read_object import stat_object

MAIN = BranchName("main")
ENVIRONMENT = RealEnvironment()


def create(lake: Lake, name: str, folder: Path) -> Repository:
    namespace = StorageNamespace(f"local://{folder}")
    return create_repository(lake, RepositoryId(name), namespace, MAIN)


def test_a_lake_on_disk_keeps_what_was_committed(tmp_path: Path) -> None:
    kv = f"sqlite://{tmp_path}/kv.db"
    with open_lake(kv, ENVIRONMENT) as lake:
        repository = create(lake, "readings", tmp_path / "objects")
        put_object(lake, repository, MAIN, ObjectKey(b"a"), b"one")
        commit(lake, repository, MAIN, CommitRequest("ada", "first"))
    with open_lake(kv, ENVIRONMENT) as lake:
        assert stat_object(lake, repository, MAIN, ObjectKey(b"a")).size == 3


def test_a_namespace_in_use_is_refused_and_so_is_one_inside_it(tmp_path: Path) -> None:
    with open_lake("memory://", ENVIRONMENT) as lake:
        create(lake, "one", tmp_path / "objects")
        for folder in ("objects", "objects/inside"):
            with pytest.raises(AlreadyExists) as refused:
                create(lake, "two", tmp_path / folder)
            assert refused.value.code == "namespace-in-use"
            assert "'one'" not in refused.value.message, "not everybody may know of it"


def test_rel_H12_a_namespace_of_another_lake_is_refused(tmp_path: Path) -> None:
    with open_lake("memory://", ENVIRONMENT) as lake:
        create(lake, "one", tmp_path / "objects")
    with (
        open_lake("memory://", ENVIRONMENT) as other,
        pytest.raises(AlreadyExists, match="is in use"),
    ):
        create(other, "one", tmp_path / "objects")


def test_a_name_that_is_taken_claims_no_namespace(tmp_path: Path) -> None:
    with open_lake("memory://", ENVIRONMENT) as lake:
        create(lake, "one", tmp_path / "first")
        with pytest.raises(NotUnique):
            create(lake, "one", tmp_path / "second")
        create(lake, "two", tmp_path / "second")
