# SPDX-License-Identifier: Apache-2.0
"""Sets of query parameters against the calls of lakeFS's own client."""

import inspect
import re
from datetime import UTC, datetime

import msgspec
import pytest

from lochan.shapes.commits import LogCommitsQuery
from lochan.shapes.objects import UploadObjectQuery
from lochan.shapes.pages import PageQuery
from support.wire_shapes import OWN_MODULES, SHAPES, sdk_operations

_QUERIES = {
    "list_repositories": "ListRepositoriesQuery",
    "create_repository": "CreateRepositoryQuery",
    "delete_repository": "DeleteRepositoryQuery",
    "dump_status": "TaskQuery",
    "restore_status": "TaskQuery",
    "list_branches": "ListBranchesQuery",
    "delete_branch": "DeleteBranchQuery",
    "diff_branch": "DiffBranchQuery",
    "hard_reset_branch": "HardResetQuery",
    "list_tags": "PageQuery",
    "delete_tag": "DeleteTagQuery",
    "commit": "CommitQuery",
    "log_commits": "LogCommitsQuery",
    "diff_refs": "DiffRefsQuery",
    "list_objects": "ListObjectsQuery",
    "stat_object": "StatObjectQuery",
    "get_object": "GetObjectQuery",
    "head_object": "ObjectQuery",
    "get_underlying_properties": "ObjectQuery",
    "update_object_user_metadata": "ObjectQuery",
    "upload_object": "UploadObjectQuery",
    "upload_object_preflight": "ObjectQuery",
    "stage_object": "ObjectQuery",
    "delete_object": "DeleteObjectQuery",
    "delete_objects": "DeleteObjectsQuery",
    "copy_object": "CopyObjectQuery",
    "get_physical_address": "GetPhysicalAddressQuery",
    "link_physical_address": "ObjectQuery",
    "create_presign_multipart_upload": "CreatePresignMultipartUploadQuery",
    "upload_part": "ObjectQuery",
    "upload_part_copy": "ObjectQuery",
    "complete_presign_multipart_upload": "ObjectQuery",
    "abort_presign_multipart_upload": "ObjectQuery",
    "import_status": "ImportQuery",
    "import_cancel": "ImportQuery",
    "prepare_garbage_collection_commits_status": "PrepareCommitsStatusQuery",
    "get_metadata_object": "GetMetadataObjectQuery",
    "create_symlink_file": "CreateSymlinkFileQuery",
    "list_users": "PageQuery",
    "list_groups": "PageQuery",
    "list_policies": "PageQuery",
    "list_group_members": "PageQuery",
    "list_group_policies": "PageQuery",
    "list_user_groups": "PageQuery",
    "list_user_credentials": "PageQuery",
    "list_user_policies": "ListUserPoliciesQuery",
}
_NOT_SERVED = re.compile("external_principal|pull_request|runs?_|_runs?$|run_hooks")
_SENT = re.compile(r"_query_params\.append\(\('(\w+)'")


def _sent_by(operation: str) -> set[str]:
    return set(_SENT.findall(inspect.getsource(sdk_operations()[f"{operation}_with_http_info"])))


@pytest.mark.parametrize(("operation", "query"), _QUERIES.items())
def test_a_query_takes_the_parameters_that_lakefs_sends(operation: str, query: str) -> None:
    ours = {field.encode_name for field in msgspec.structs.fields(SHAPES[query])}
    assert ours == _sent_by(operation)


def test_every_call_with_parameters_has_a_query() -> None:
    names = {name.removesuffix("_with_http_info") for name in sdk_operations() if "_http_" in name}
    asking = {name for name in names if not _NOT_SERVED.search(name) and _sent_by(name)}
    assert asking == _QUERIES.keys()


def test_every_query_of_lakefs_is_of_some_call() -> None:
    queries = {
        name
        for name, shape in SHAPES.items()
        if name.endswith("Query") and shape.__module__ not in OWN_MODULES
    }
    assert queries == set(_QUERIES.values())


def test_parameters_are_read_from_text() -> None:
    sent = {"amount": "7", "limit": "true", "objects": ["a", "b"], "since": "2024-05-06T07:08:09Z"}
    read = msgspec.convert(sent, LogCommitsQuery, strict=False)
    since = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
    assert read == LogCommitsQuery(amount=7, limit=True, objects=("a", "b"), since=since)


@pytest.mark.parametrize("amount", ["1001", "-2", "many", "1.5"])
def test_an_amount_that_no_page_has_is_refused(amount: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$.amount"):
        msgspec.convert({"amount": amount}, PageQuery, strict=False)


def test_a_text_that_looks_like_a_number_stays_text() -> None:
    assert msgspec.convert(
        {"path": "1", "storageClass": "null"}, UploadObjectQuery, strict=False
    ) == (UploadObjectQuery(path="1", storage_class="null"))
