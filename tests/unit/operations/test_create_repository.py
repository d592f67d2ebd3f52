# SPDX-License-Identifier: Apache-2.0
"""A repository and its storage namespace: nobody shares one."""

from pathlib import Path

import pytest

from lochan.bootstrap.lake import open_lake
from lochan.environment import RealEnvironment
from lochan.errors import AlreadyExists, NotUnique
from lochan.kernel.records import Record
from lochan.model.ids import BranchName, ObjectKey, RepositoryId, StorageNamespace, TagName
from lochan.model.records import BranchProtectionRule, Repository
from lochan.model.tasks import Task
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.create_repository import create_repository
from lochan.operations.lake import Lake
from lochan.operations.list_objects import list_objects
from lochan.operations.open_commits.put_file import put_file
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.protection import get_branch_protection, set_branch_protection
from lochan.operations.put_object import put_object
from lochan.operations.read_object import stat_object
from lochan.operations.repository_metadata import get_repository_metadata, set_repository_metadata
from lochan.operations.retention import find_gc_rules, set_gc_rules
from lochan.operations.tags import create_tag
from lochan.operations.task_rows import TaskKind, TaskRows
from lochan.operations.tasks import Tasks
from lochan.refs.branches import list_branches
from lochan.refs.commits import list_commits
from lochan.refs.deletion import delete_repository
from lochan.refs.open_commits import list_open_commits
from lochan.refs.tags import list_tags

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


def unforeseen(error: Exception) -> None:
    pytest.fail(f"a task ended by {error!r}")


def grow(lake: Lake, repository: Repository) -> None:
    """Have something of every kind in a repository, committed, staged and begun."""
    where = (lake, repository)
    put_object(*where, MAIN, ObjectKey(b"a"), b"one")
    made = commit(*where, MAIN, CommitRequest("ada", "first"))
    put_object(*where, MAIN, ObjectKey(b"b"), b"two")
    create_branch(*where, BranchName("dev"), made.id)
    create_tag(*where, TagName("v1"), made)
    put_file(*where, start_commit(*where, None, "dev").id, "f", b"begun")
    set_branch_protection(*where, [BranchProtectionRule("dev")])
    set_gc_rules(*where, 7, {})
    set_repository_metadata(*where, {"owner": "ada"})
    tasks = Tasks(lake.store, ENVIRONMENT, unforeseen)
    for kind in TaskKind:
        tasks.begin(repository, kind, lambda _: "{}")
    tasks.close()


def keys(lake: Lake, repository: Repository, ref: str) -> list[bytes]:
    items = list_objects(lake, repository, ref).items
    return [item.key for item in items if isinstance(item, Record)]


def shown(lake: Lake, repository: Repository) -> dict[str, object]:
    """Give all that a repository shows, without ids and times."""
    tables = lake.tables(repository)
    return {
        "branches": [branch.branch_id for branch in list_branches(tables, hidden=True)],
        "tags": [tag.tag_id for tag in list_tags(tables)],
        "commits": sorted(commit.message for commit in list_commits(tables)),
        "open commits": [opened.branch for opened in list_open_commits(lake.store, repository)],
        "objects": keys(lake, repository, MAIN),
        "committed": keys(lake, repository, f"{MAIN}@"),
        "protection": get_branch_protection(lake, repository).rules,
        "retention": find_gc_rules(lake, repository),
        "metadata": get_repository_metadata(lake, repository),
        "tasks": [task.operation for kind in TaskKind for task in known(lake, repository, kind)],
    }


def known(lake: Lake, repository: Repository, kind: TaskKind) -> list[Task]:
    rows = TaskRows(lake.store, ENVIRONMENT, repository, kind).table
    return [task for _, task in rows.scan() if task.operation == kind.operation]


def test_rel_R8_a_repository_made_again_shows_nothing_of_the_former(tmp_path: Path) -> None:
    with open_lake("memory://", ENVIRONMENT) as lake:
        first = create(lake, "one", tmp_path / "first")
        fresh = shown(lake, first)
        other = Lake.of(lake.store, ENVIRONMENT, lake.storage)
        grow(lake, first)
        grown = shown(other, first)
        assert shown(lake, first) == grown
        assert not [kind for kind in fresh if grown[kind] == fresh[kind]]
        assert grown["tasks"] == [kind.operation for kind in TaskKind]

        delete_repository(lake.store, ENVIRONMENT, first.repository_id)
        second = create(lake, "one", tmp_path / "second")
        assert [shown(each, second) for each in (lake, other)] == [fresh, fresh]
