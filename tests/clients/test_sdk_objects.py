# SPDX-License-Identifier: Apache-2.0
"""lakeFS's generated client: objects, staging, uploads in parts. And: no operation is left out."""

import hashlib
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from lakefs_sdk import (
    AbortPresignMultipartUpload,
    CommitCreation,
    CompletePresignMultipartUpload,
    CopyPartSource,
    ObjectCopyCreation,
    ObjectStageCreation,
    PathList,
    StagingMetadata,
    UpdateObjectUserMetadata,
    UploadPart,
    UploadPartCopyFrom,
    UploadPartFrom,
)
from lakefs_sdk.client import LakeFSClient
from lakefs_sdk.exceptions import ApiException

from lochan.web.api import ROUTES
from support.wire_shapes import sdk_operations

PART = 5 << 20
TESTS = Path(__file__).parent


def refused(status: int, call: Any, *args: Any, **options: Any) -> None:  # noqa: ANN401 - any call
    with pytest.raises(ApiException) as told:
        call(*args, **options)
    assert told.value.status == status


def test_objects_up_and_down(sdk: LakeFSClient, repository: str) -> None:
    api = sdk.objects_api
    up = api.upload_object(repository, "main", "a/b c.txt", content=b"hello lake")
    assert (up.path, up.size_bytes, up.checksum) == (
        "a/b c.txt",
        10,
        hashlib.md5(b"hello lake").hexdigest(),
    )
    assert up.physical_address.startswith("local://")
    assert api.get_object(repository, "main", "a/b c.txt") == b"hello lake"
    assert api.get_object(repository, "main", "a/b c.txt", range="bytes=6-") == b"lake"
    head = api.head_object_with_http_info(repository, "main", "a/b c.txt")
    assert (head.headers["Content-Length"], head.headers["ETag"]) == ("10", f'"{up.checksum}"')
    refused(304, api.get_object, repository, "main", "a/b c.txt", if_none_match=f'"{up.checksum}"')
    refused(416, api.get_object, repository, "main", "a/b c.txt", range="bytes=10-")
    stat = api.stat_object(repository, "main", "a/b c.txt", presign=True)
    assert httpx.get(stat.physical_address).content == b"hello lake"
    assert api.get_underlying_properties(repository, "main", "a/b c.txt") is not None


def test_conditions_of_an_upload(sdk: LakeFSClient, repository: str) -> None:
    sdk.internal_api.upload_object_preflight(repository, "main", "a")
    put = sdk.objects_api.upload_object
    first = put(repository, "main", "a", if_none_match="*", content=b"1")
    refused(412, put, repository, "main", "a", if_none_match="*", content=b"2")
    put(repository, "main", "a", if_match=f'"{first.checksum}"', content=b"2")
    refused(412, put, repository, "main", "a", if_match=f'"{first.checksum}"', content=b"3")
    assert sdk.objects_api.get_object(repository, "main", "a") == b"2"


def test_listings_in_pages_with_prefixes_and_presigned(sdk: LakeFSClient, repository: str) -> None:
    api = sdk.objects_api
    for path in ("a/1", "a/2", "b", "c/1", "d"):
        api.upload_object(repository, "main", path, content=path.encode())
    page = api.list_objects(repository, "main", delimiter="/", amount=2)
    assert [(one.path, one.path_type) for one in page.results] == [
        ("a/", "common_prefix"),
        ("b", "object"),
    ]
    rest = api.list_objects(repository, "main", delimiter="/", after=page.pagination.next_offset)
    assert [one.path for one in rest.results] == ["c/", "d"]
    found = api.list_objects(repository, "main", prefix="a/", presign=True).results
    assert [httpx.get(one.physical_address).content for one in found] == [b"a/1", b"a/2"]


def test_copies_deletions_and_metadata(sdk: LakeFSClient, repository: str) -> None:
    api = sdk.objects_api
    api.upload_object(repository, "main", "a", content=b"1")
    copied = api.copy_object(repository, "main", "b", ObjectCopyCreation(src_path="a"))
    assert copied.path == "b"
    sdk.experimental_api.update_object_user_metadata(
        repository, "main", "b", UpdateObjectUserMetadata(set={"my_key": "v"})
    )
    assert api.stat_object(repository, "main", "b").metadata == {"my_key": "v"}
    api.delete_object(repository, "main", "a")
    refused(404, api.stat_object, repository, "main", "a")
    errors = api.delete_objects(repository, "main", PathList(paths=["b", "never"])).errors
    assert errors == []
    assert api.list_objects(repository, "main").results == []


def test_a_physical_address_is_filled_and_linked(sdk: LakeFSClient, repository: str) -> None:
    staging = sdk.staging_api.get_physical_address(repository, "main", "a", presign=True)
    put = httpx.put(staging.presigned_url, content=b"bytes")
    assert put.status_code in {200, 201}
    told = StagingMetadata(
        staging=staging,
        checksum=put.headers["etag"].strip('"'),
        size_bytes=5,
        content_type="text/x-own",
        user_metadata={"k": "v"},
    )
    made = sdk.staging_api.link_physical_address(repository, "main", "a", told)
    assert (made.size_bytes, made.content_type, made.metadata) == (5, "text/x-own", {"k": "v"})
    assert sdk.objects_api.get_object(repository, "main", "a") == b"bytes"
    refused(400, sdk.staging_api.link_physical_address, repository, "main", "other", told)


@pytest.mark.filterwarnings("ignore:.* is deprecated:DeprecationWarning")  # by lakeFS
def test_an_object_that_lies_elsewhere_is_staged(
    sdk: LakeFSClient, repository: str, outside: Path
) -> None:
    file = outside / "a.csv"
    told = ObjectStageCreation(
        physical_address=f"file://{file}", checksum="c" * 32, size_bytes=file.stat().st_size
    )
    sdk.internal_api.stage_object(repository, "main", "a.csv", told)
    assert sdk.objects_api.get_object(repository, "main", "a.csv") == file.read_bytes()


def test_uploads_in_parts(sdk: LakeFSClient, repository: str) -> None:
    api = sdk.experimental_api
    sdk.objects_api.upload_object(repository, "main", "source", content=b"0123456789")
    begun = api.create_presign_multipart_upload(repository, "main", "big", parts=1)
    place = {"physical_address": begun.physical_address}
    tags = [httpx.put(begun.presigned_urls[0], content=bytes(PART)).headers["etag"]]
    more = api.upload_part(repository, "main", begun.upload_id, "big", 2, UploadPartFrom(**place))
    tags.append(httpx.put(more.presigned_url, content=b"\1" * PART).headers["etag"])
    source = CopyPartSource(repository=repository, ref="main", path="source", range="bytes=2-5")
    copied = api.upload_part_copy_with_http_info(
        repository,
        "main",
        begun.upload_id,
        "big",
        3,
        UploadPartCopyFrom(copy_source=source, **place),
    )
    tags.append(copied.headers["ETag"])
    parts = [UploadPart(part_number=n, etag=tag) for n, tag in enumerate(tags, 1)]
    made = api.complete_presign_multipart_upload(
        repository,
        "main",
        begun.upload_id,
        "big",
        CompletePresignMultipartUpload(parts=parts, **place),
    )
    assert made.size_bytes == 2 * PART + 4
    end = sdk.objects_api.get_object(repository, "main", "big", range="bytes=-6")
    assert end == bytes([1, 1, *b"2345"])


def test_an_upload_in_parts_is_given_up(sdk: LakeFSClient, repository: str) -> None:
    api = sdk.experimental_api
    begun = api.create_presign_multipart_upload(repository, "main", "big", parts=1)
    httpx.put(begun.presigned_urls[0], content=b"1").raise_for_status()
    told = AbortPresignMultipartUpload(physical_address=begun.physical_address)
    api.abort_presign_multipart_upload(
        repository, "main", begun.upload_id, "big", abort_presign_multipart_upload=told
    )
    assert httpx.put(begun.presigned_urls[0], content=b"1").status_code == 404
    refused(404, sdk.objects_api.stat_object, repository, "main", "big")


def test_a_ref_keeps_what_a_branch_forgot(sdk: LakeFSClient, repository: str) -> None:
    sdk.objects_api.upload_object(repository, "main", "a", content=b"1")
    made = sdk.commits_api.commit(repository, "main", CommitCreation(message="a"))
    sdk.objects_api.delete_object(repository, "main", "a")
    assert sdk.objects_api.get_object(repository, made.id, "a") == b"1"
    refused(404, sdk.objects_api.get_object, repository, "main", "a")


def test_these_tests_call_every_operation_of_the_client_that_is_served() -> None:
    text = "\n".join(path.read_text() for path in TESTS.glob("test_sdk_*.py"))
    called = set(re.findall(r"\.([a-z_]+?)(?:_with_http_info)?\b", text))
    served = {snake(route.operation_id) for route in ROUTES if 501 not in route.answers}
    assert (served & sdk_operations().keys()) - called == set()


def snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)
