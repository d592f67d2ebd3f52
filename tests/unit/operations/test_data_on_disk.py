# SPDX-License-Identifier: Apache-2.0
"""A lake on a disk: a folder imported, renamed, copied and linked, then read by another process."""

from pathlib import Path

import pytest

from lochan.bootstrap.lake import open_lake
from lochan.environment import RealEnvironment
from lochan.errors import Refused
from lochan.model.ids import BranchName, ObjectKey, RepositoryId, StorageNamespace
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.copy_object import Source, copy_object
from lochan.operations.create_repository import create_repository
from lochan.operations.diff import diff_three_dot
from lochan.operations.import_objects import ImportRequest
from lochan.operations.import_paths import ImportPath, import_paths
from lochan.operations.link_object import Uploaded, link_object, new_address
from lochan.operations.read_object import get_object
from lochan.operations.rename_prefix import rename_prefix

MAIN, DEV = BranchName("main"), BranchName("dev")
ENVIRONMENT = RealEnvironment()


def test_a_folder_is_imported_moved_copied_and_joined_by_an_upload(tmp_path: Path) -> None:
    raw, objects, kv = tmp_path / "raw", tmp_path / "objects", f"sqlite://{tmp_path}/kv.db"
    (raw / "2024").mkdir(parents=True)
    (raw / "2024/a.csv").write_bytes(b"from a folder")
    with open_lake(kv, ENVIRONMENT, readable=[raw]) as lake:
        namespace = StorageNamespace(f"local://{objects}")
        where = (lake, create_repository(lake, RepositoryId("readings"), namespace, MAIN))
        made = import_paths(
            *where, MAIN, [ImportPath(f"file://{raw}", b"raw")], ImportRequest("ada")
        )
        create_branch(*where, DEV, made.id)
        assert rename_prefix(*where, DEV, b"raw/2024/", b"year/") == 1
        copy_object(*where, DEV, ObjectKey(b"copy.csv"), Source(MAIN, ObjectKey(b"raw/2024/a.csv")))
        given = new_address(*where, DEV, ObjectKey(b"up.csv"))
        Path(given.physical_address.removeprefix("local://")).parent.mkdir(
            parents=True, exist_ok=True
        )
        Path(given.physical_address.removeprefix("local://")).write_bytes(b"uploaded")
        link_object(*where, DEV, ObjectKey(b"up.csv"), Uploaded(given.physical_address, 8, "tag"))
        commit(*where, DEV, CommitRequest("ada", "moved"))
    (raw / "2024/a.csv").rename(raw / "kept")
    with open_lake(kv, ENVIRONMENT, readable=[raw]) as lake:
        where = (lake, where[1])
        found = [change.key for change in diff_three_dot(*where, MAIN, DEV).changes]
        assert found == [b"copy.csv", b"raw/2024/a.csv", b"up.csv", b"year/a.csv"]
        for key, body in ((b"copy.csv", b"from a folder"), (b"up.csv", b"uploaded")):
            assert get_object(*where, DEV, ObjectKey(key))[1].read() == body
    with open_lake(kv, ENVIRONMENT) as lake, pytest.raises(Refused, match="allow its folder"):
        get_object(lake, where[1], DEV, ObjectKey(b"year/a.csv"))
