# SPDX-License-Identifier: Apache-2.0
"""What the cloud driver does on a real S3 beyond what every driver does."""

from collections.abc import Iterator

import msgspec
import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, PermissionDenied, PredicateFailed
from lochan.objects.drivers.cloud import store as driver
from lochan.objects.drivers.cloud.settings import CloudSettings, read_settings
from lochan.objects.drivers.cloud.store import CloudObjects
from lochan.objects.drivers.cloud.stream import part_sizes
from lochan.objects.namespace import Namespace
from lochan.objects.open import open_objects
from lochan.objects.store import IF_ABSENT, SupportsPresignedParts
from lochan.testing.objects_given import failing, in_pieces, pattern
from lochan.testing.objects_http import request
from servers.seaweedfs import S3Server

ENVIRONMENT = RealEnvironment()
MIB = 1 << 20


@pytest.fixture
def prefix() -> str:
    return ENVIRONMENT.new_id()


@pytest.fixture
def store(seaweedfs: S3Server, prefix: str) -> CloudObjects:
    return CloudObjects.open(seaweedfs.location(prefix, part_bytes=5 * MIB), ENVIRONMENT)


def open_uploads(server: S3Server, prefix: str) -> list[str]:
    found = server.client().list_multipart_uploads(Bucket=server.bucket).get("Uploads", [])
    return [upload["Key"] for upload in found if upload["Key"].startswith(prefix)]


def test_a_put_that_fails_leaves_no_upload_behind(
    store: CloudObjects, seaweedfs: S3Server, prefix: str
) -> None:
    pieces = list(in_pieces(pattern(11 * MIB), MIB))
    with pytest.raises(ConnectionResetError):
        store.put("data/1/a", failing(pieces, ConnectionResetError()))
    with pytest.raises(InvalidInput):
        store.put("data/1/a", iter(pieces), size=12 * MIB)

    def taken_meanwhile() -> Iterator[bytes]:
        yield from pieces
        store.put("data/1/a", b"another's")

    with pytest.raises(PredicateFailed):
        store.put("data/1/a", taken_meanwhile(), when=IF_ABSENT)
    assert open_uploads(seaweedfs, prefix) == []
    assert store.get("data/1/a").read() == b"another's"


def test_namespaces_of_one_bucket_do_not_see_each_other(
    store: CloudObjects, seaweedfs: S3Server, prefix: str
) -> None:
    sibling = open_objects(seaweedfs.location(f"{prefix}2"), ENVIRONMENT)
    inner = open_objects(seaweedfs.location(f"{prefix}/data"), ENVIRONMENT)
    sibling.put("data/1/a", b"sibling")
    store.put("data/1/b", b"own")

    assert [listed.address for listed in store.list().entries] == ["data/1/b"]
    assert [listed.address for listed in inner.list().entries] == ["1/b"]
    assert [listed.address for listed in sibling.list("data").entries] == ["data/1/a"]


def test_keys_that_we_cannot_address_do_not_break_a_listing(
    store: CloudObjects, seaweedfs: S3Server, prefix: str
) -> None:
    for key in ("data/1/a", "data/2/tab\tbed", "data/3/new\nline"):
        seaweedfs.client().put_object(Bucket=seaweedfs.bucket, Key=f"{prefix}/{key}", Body=b"1")

    listed = [item.address for item in store.list("data/").entries]
    assert listed == ["data/1/a", "data/2/tab\tbed", "data/3/new\nline"]


def test_a_copy_too_large_for_one_request_is_made_in_parts(
    store: CloudObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = pattern(9 * MIB)
    store.put("data/1/a", body)
    monkeypatch.setattr(driver, "_COPY_LIMIT", 8 * MIB)

    assert store.copy("data/1/a", "data/1/b").size == 9 * MIB
    assert store.get("data/1/b").read() == body


def test_a_wrong_secret_is_refused_and_not_shown(seaweedfs: S3Server) -> None:
    location = seaweedfs.location("x", secret_access_key="wrong-secret")
    store = open_objects(location, ENVIRONMENT)
    for call in (store.head, store.list, lambda address: store.put(address, b"")):
        with pytest.raises(PermissionDenied) as caught:
            call("data/1/a")
        assert "wrong-secret" not in f"{caught.value}{caught.value.__cause__}"


def test_settings_do_not_show_their_secrets() -> None:
    options = {"access_key_id": "AKIA", "secret_access_key": "s3cr3t", "session_token": "t0ken"}
    settings = read_settings(Namespace.parse("s3://b"), {**options, "retries": "2"})
    expected = CloudSettings(
        access_key_id="AKIA", secret_access_key="s3cr3t", session_token="t0ken", retries=0
    )

    assert settings.retries == 2
    assert settings.secret_access_key == "s3cr3t"
    assert not {"s3cr3t", "t0ken", "AKIA"} & set(repr(settings).replace("=", " ").split())
    assert "s3cr3t" not in str(settings)
    assert msgspec.structs.replace(settings, retries=0) == expected


@pytest.mark.parametrize("size", [0, 1, 5 * MIB, 80_000 * MIB, 5 << 40])
def test_ten_thousand_parts_hold_a_body_of_any_declared_size(size: int) -> None:
    sizes = list(part_sizes(8 * MIB, size))

    assert len(sizes) == 10_000
    assert sum(sizes) >= size
    assert sizes[0] == max(8 * MIB, -(-size // 10_000))


def test_parts_grow_where_the_size_is_not_known() -> None:
    sizes = list(part_sizes(8 * MIB, None))

    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[999], sizes[1000], sizes[-1]) == (8 * MIB, 8 * MIB, 16 * MIB, 512 * MIB)
    assert sum(sizes) > 2 << 40


def test_a_signed_url_puts_one_part_of_one_upload(store: CloudObjects) -> None:
    uploads = store.uploads
    assert isinstance(uploads, SupportsPresignedParts)
    upload = uploads.create("data/1/a")
    first = uploads.presign_part("data/1/a", upload, 1, expires_s=60)
    assert request("PUT", first, pattern(5 * MIB))[0] == 200
    assert request("PUT", first.replace("partNumber=1", "partNumber=2"), b"2")[0] == 403
    assert request("PUT", uploads.presign_part("data/1/a", upload, 2, expires_s=60), b"2")[0] == 200
    with pytest.raises(InvalidInput):
        uploads.presign_part("data/1/a", upload, 10_001, expires_s=60)
    uploads.complete("data/1/a", upload, uploads.parts("data/1/a", upload))
    assert store.get("data/1/a").read() == pattern(5 * MIB) + b"2"
