# SPDX-License-Identifier: Apache-2.0
"""lakeFS's generated client: repositories and their settings, branches, tags, commits, refs."""

import time
from pathlib import Path
from typing import Any

import pytest
from lakefs_sdk import (
    BranchCreation,
    BranchProtectionRule,
    CherryPickCreation,
    CommitCreation,
    CommitRecordCreation,
    GarbageCollectionRule,
    GarbageCollectionRules,
    ImportCreation,
    ImportLocation,
    InternalDeleteBranchProtectionRuleRequest,
    Merge,
    RefsRestore,
    RepositoryCreation,
    RepositoryMetadataKeys,
    RepositoryMetadataSet,
    ResetCreation,
    RevertCreation,
    TagCreation,
)
from lakefs_sdk.client import LakeFSClient
from lakefs_sdk.exceptions import ApiException, NotFoundException

from support.server import Server

DEPRECATED = pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning")  # by lakeFS


def put(sdk: LakeFSClient, repository: str, branch: str, path: str, data: bytes) -> str:
    """Upload an object and commit it."""
    sdk.objects_api.upload_object(repository, branch, path, content=data)
    return str(sdk.commits_api.commit(repository, branch, CommitCreation(message=path)).id)


def refused(status: int, call: Any, *args: Any, **options: Any) -> None:  # noqa: ANN401 - any call
    with pytest.raises(ApiException) as told:
        call(*args, **options)
    assert told.value.status == status


@DEPRECATED
def test_what_the_server_says_of_itself(sdk: LakeFSClient) -> None:
    sdk.health_check_api.health_check()
    config = sdk.config_api.get_config()
    assert config.storage_config.blockstore_type == "local"
    assert config.version_config.version
    assert sdk.internal_api.get_storage_config().pre_sign_support
    assert sdk.internal_api.get_lake_fs_version().version == config.version_config.version
    assert sdk.internal_api.get_garbage_collection_config().grace_period > 0


def test_repositories(sdk: LakeFSClient, server: Server) -> None:
    api = sdk.repositories_api
    for name in ("page-a", "page-b", "page-c"):
        namespace = f"local://{server.lake}/objects/{name}"
        api.create_repository(RepositoryCreation(name=name, storage_namespace=namespace))
    first = api.list_repositories(prefix="page-", amount=2)
    assert [one.id for one in first.results] == ["page-a", "page-b"]
    rest = api.list_repositories(prefix="page-", after=first.pagination.next_offset)
    assert [one.id for one in rest.results] == ["page-c"]
    assert [one.id for one in api.list_repositories(search="ge-b").results] == ["page-b"]
    assert api.get_repository("page-a").default_branch == "main"
    for name in ("page-a", "page-b", "page-c"):
        api.delete_repository(name)
    with pytest.raises(NotFoundException):
        api.get_repository("page-a")


def test_a_read_only_repository_takes_nothing(sdk: LakeFSClient, server: Server) -> None:
    namespace = f"local://{server.lake}/objects/read-only"
    told = RepositoryCreation(name="read-only", storage_namespace=namespace, read_only=True)
    assert sdk.repositories_api.create_repository(told).read_only
    refused(403, sdk.objects_api.upload_object, "read-only", "main", "a", content=b"a")
    sdk.repositories_api.delete_repository("read-only", force=True)


def test_metadata_of_a_repository(sdk: LakeFSClient, repository: str) -> None:
    sdk.internal_api.set_repository_metadata(
        repository, RepositoryMetadataSet(metadata={"team": "loch", "stage": "test"})
    )
    sdk.internal_api.delete_repository_metadata(repository, RepositoryMetadataKeys(keys=["stage"]))
    assert sdk.repositories_api.get_repository_metadata(repository) == {"team": "loch"}


def test_protection_rules_are_set_by_etag(sdk: LakeFSClient, repository: str) -> None:
    api = sdk.repositories_api
    rules = [BranchProtectionRule(pattern="main"), BranchProtectionRule(pattern="v*")]
    api.set_branch_protection_rules(repository, rules[:1])
    read = api.get_branch_protection_rules_with_http_info(repository)
    tag = read.headers["ETag"]
    assert [one.pattern for one in read.data] == ["main"]
    api.set_branch_protection_rules(repository, rules, if_match=tag)
    refused(412, api.set_branch_protection_rules, repository, [], if_match=tag)
    assert sorted(one.pattern for one in api.get_branch_protection_rules(repository)) == [
        "main",
        "v*",
    ]


@DEPRECATED
def test_protection_rules_one_by_one_as_lakefs_once_did(sdk: LakeFSClient, repository: str) -> None:
    api = sdk.internal_api
    api.create_branch_protection_rule_preflight(repository)
    rule = BranchProtectionRule(pattern="stable-*")
    api.internal_create_branch_protection_rule(repository, rule)
    found = api.internal_get_branch_protection_rules(repository)
    assert [one.pattern for one in found] == ["stable-*"]
    api.internal_delete_branch_protection_rule(
        repository, InternalDeleteBranchProtectionRuleRequest(pattern="stable-*")
    )
    assert api.internal_get_branch_protection_rules(repository) == []


@DEPRECATED
def test_retention_rules(sdk: LakeFSClient, repository: str) -> None:
    api = sdk.repositories_api
    rules = GarbageCollectionRules(
        default_retention_days=7,
        branches=[GarbageCollectionRule(branch_id="main", retention_days=30)],
    )
    refused(404, api.get_gc_rules, repository)
    api.set_gc_rules(repository, rules)
    assert api.get_gc_rules(repository) == rules
    api.delete_gc_rules(repository)
    refused(404, api.get_gc_rules, repository)
    internal = sdk.internal_api
    internal.set_garbage_collection_rules_preflight(repository)
    internal.internal_set_garbage_collection_rules(repository, rules)
    assert internal.internal_get_garbage_collection_rules(repository) == rules
    internal.internal_delete_garbage_collection_rules(repository)


def test_branches_and_tags_in_pages(sdk: LakeFSClient, repository: str) -> None:
    branches, tags = sdk.branches_api, sdk.tags_api
    for number in range(4):
        branches.create_branch(repository, BranchCreation(name=f"b{number}", source="main"))
        tags.create_tag(repository, TagCreation(id=f"t{number}", ref="main"))
    branches.create_branch(repository, BranchCreation(name="zz", source="main", hidden=True))
    page = branches.list_branches(repository, amount=3)
    assert [one.id for one in page.results] == ["b0", "b1", "b2"]
    rest = branches.list_branches(repository, after=page.pagination.next_offset)
    assert [one.id for one in rest.results] == ["b3", "main"]
    shown = branches.list_branches(repository, prefix="z", show_hidden=True)
    assert [one.id for one in shown.results] == ["zz"]
    found = tags.list_tags(repository, after="t1", prefix="t")
    assert [one.id for one in found.results] == ["t2", "t3"]
    head = branches.get_branch(repository, "main").commit_id
    assert tags.get_tag(repository, "t0").commit_id == head
    tags.delete_tag(repository, "t0")
    branches.delete_branch(repository, "b0")
    refused(404, tags.get_tag, repository, "t0")
    refused(404, branches.get_branch, repository, "b0")


def test_a_conflict_names_the_destination(sdk: LakeFSClient, repository: str) -> None:
    put(sdk, repository, "main", "a", b"0")
    sdk.branches_api.create_branch(repository, BranchCreation(name="fix", source="main"))
    put(sdk, repository, "fix", "a", b"1")
    put(sdk, repository, "main", "a", b"2")
    base = sdk.refs_api.find_merge_base(repository, "fix", "main")
    assert base.base_commit_id == sdk.commits_api.get_commit(repository, "main~1").id
    refused(409, sdk.refs_api.merge_into_branch, repository, "fix", "main")
    wins = Merge(message="ours", strategy="dest-wins")
    made = sdk.refs_api.merge_into_branch(repository, "fix", "main", merge=wins)
    assert sdk.commits_api.get_commit(repository, made.reference).message == "ours"
    assert sdk.objects_api.get_object(repository, "main", "a") == b"2"


def test_squashed_a_merge_has_one_parent(sdk: LakeFSClient, repository: str) -> None:
    sdk.branches_api.create_branch(repository, BranchCreation(name="fix", source="main"))
    put(sdk, repository, "fix", "a", b"1")
    made = sdk.refs_api.merge_into_branch(repository, "fix", "main", merge=Merge(squash_merge=True))
    assert len(sdk.commits_api.get_commit(repository, made.reference).parents) == 1


def test_log_and_diff_in_pages(sdk: LakeFSClient, repository: str) -> None:
    ids = [put(sdk, repository, "main", f"p/{number}", b"") for number in range(5)]
    page = sdk.refs_api.log_commits(repository, "main", amount=2)
    assert [one.id for one in page.results] == [ids[4], ids[3]]
    rest = sdk.refs_api.log_commits(
        repository, "main", after=page.pagination.next_offset, stop_at=ids[1]
    )
    assert [one.id for one in rest.results] == [ids[2], ids[1]]
    touched = sdk.refs_api.log_commits(repository, "main", prefixes=["p/3"], limit=True)
    assert [one.id for one in touched.results] == [ids[3]]
    first = sdk.refs_api.diff_refs(repository, ids[0], "main", amount=3, include_right_stats=True)
    assert [one.path for one in first.results] == ["p/1", "p/2", "p/3"]
    assert first.results[0].right.checksum
    assert first.pagination.has_more
    last = sdk.refs_api.diff_refs(repository, ids[0], "main", after="p/3")
    assert [one.path for one in last.results] == ["p/4"]


def test_ways_back(sdk: LakeFSClient, repository: str) -> None:
    first = put(sdk, repository, "main", "a", b"1")
    second = put(sdk, repository, "main", "a", b"2")
    branches = sdk.branches_api
    branches.revert_branch(repository, "main", RevertCreation(ref=second, parent_number=0))
    assert sdk.objects_api.get_object(repository, "main", "a") == b"1"
    branches.create_branch(repository, BranchCreation(name="old", source=first))
    picked = branches.cherry_pick(repository, "old", CherryPickCreation(ref=second))
    assert picked.message == "a"
    assert sdk.objects_api.get_object(repository, "old", "a") == b"2"
    sdk.objects_api.upload_object(repository, "old", "a", content=b"3")
    assert [one.type for one in branches.diff_branch(repository, "old").results] == ["changed"]
    branches.reset_branch(repository, "old", ResetCreation(type="object", path="a"))
    assert branches.diff_branch(repository, "old").results == []
    sdk.experimental_api.hard_reset_branch(repository, "old", first)
    assert branches.get_branch(repository, "old").commit_id == first


def test_a_commit_takes_a_date_and_a_tree(sdk: LakeFSClient, repository: str) -> None:
    made = put(sdk, repository, "main", "a", b"1")
    tree = sdk.commits_api.get_commit(repository, made).meta_range_id
    sdk.objects_api.upload_object(repository, "main", "a", content=b"2")
    sdk.commits_api.commit(repository, "main", CommitCreation(message="second", date=1_700_000_000))
    assert sdk.commits_api.get_commit(repository, "main").creation_date == 1_700_000_000
    third = sdk.commits_api.commit(
        repository, "main", CommitCreation(message="as first"), source_metarange=tree
    )
    assert third.meta_range_id == tree
    assert sdk.objects_api.get_object(repository, "main", "a") == b"1"


def test_metadata_files_can_be_had(sdk: LakeFSClient, repository: str) -> None:
    made = put(sdk, repository, "main", "a", b"1")
    tree = sdk.commits_api.get_commit(repository, made).meta_range_id
    assert sdk.metadata_api.get_meta_range(repository, tree).location.endswith(tree)
    body = sdk.internal_api.get_metadata_object(repository, tree, "meta_range")
    assert len(body) > 100
    refused(404, sdk.metadata_api.get_range, repository, "0" * 64)


def bare(sdk: LakeFSClient, repository: str) -> str:
    """Delete a repository, give its namespace free, and make a bare one over what stays there."""
    known = sdk.repositories_api.get_repository(repository)
    sdk.repositories_api.delete_repository(repository)
    Path(known.storage_namespace.removeprefix("local://"), "_lakefs/dummy").unlink()
    told = RepositoryCreation(name=f"{repository}-again", storage_namespace=known.storage_namespace)
    return str(sdk.repositories_api.create_repository(told, bare=True).id)


def test_refs_are_dumped_and_restored_as_tasks(sdk: LakeFSClient, repository: str) -> None:
    head = put(sdk, repository, "main", "a", b"1")
    api = sdk.repositories_api
    task = api.dump_submit(repository)
    while not (dump := api.dump_status(repository, task.id)).done:
        time.sleep(0.02)
    again = bare(sdk, repository)
    task = api.restore_submit(again, RefsRestore(**dump.refs.dict()))
    while not (status := api.restore_status(again, task.id)).done:
        time.sleep(0.02)
    assert status.error is None
    assert sdk.branches_api.get_branch(again, "main").commit_id == head
    assert sdk.objects_api.get_object(again, "main", "a") == b"1"


@DEPRECATED
def test_refs_are_dumped_and_restored_at_once(sdk: LakeFSClient, repository: str) -> None:
    head = put(sdk, repository, "main", "a", b"1")
    dump = sdk.internal_api.dump_refs(repository)
    again = bare(sdk, repository)
    sdk.internal_api.restore_refs(again, RefsRestore(**dump.dict()))
    assert sdk.branches_api.get_branch(again, "main").commit_id == head


@DEPRECATED
def test_a_commit_record_comes_with_its_history_only(sdk: LakeFSClient, repository: str) -> None:
    made = put(sdk, repository, "main", "a", b"1")
    known = sdk.commits_api.get_commit(repository, made)
    record = CommitRecordCreation(
        commit_id=known.id,
        version=known.version,
        committer=known.committer,
        message=known.message,
        metarange_id=known.meta_range_id,
        creation_date=known.creation_date,
        parents=known.parents,
        metadata=known.metadata,
        generation=known.generation,
    )
    refused(501, sdk.internal_api.create_commit_record, repository, record)


def test_imports_start_tell_and_are_cancelled(
    sdk: LakeFSClient, repository: str, outside: Path
) -> None:
    where = ImportLocation(type="common_prefix", path=f"file://{outside}/", destination="in/")
    told = ImportCreation(paths=[where], commit=CommitCreation(message="in"))
    started = sdk.import_api.import_start(repository, "main", told)
    while not (status := sdk.import_api.import_status(repository, "main", started.id)).completed:
        assert status.error is None
        time.sleep(0.02)
    assert (status.ingested_objects, status.commit.message) == (3, "in")
    refused(409, sdk.import_api.import_cancel, repository, "main", started.id)


def test_what_comes_later_says_so(sdk: LakeFSClient, repository: str) -> None:
    refused(501, sdk.actions_api.list_repository_runs, repository)
    refused(501, sdk.pulls_api.list_pull_requests, repository)
