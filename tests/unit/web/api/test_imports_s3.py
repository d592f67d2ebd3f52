# SPDX-License-Identifier: Apache-2.0
"""Imports from a real S3: many pages, folders of any shape, read where the objects lie."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import lochan
from lochan.client import Lake
from lochan.errors import LochanError
from servers.seaweedfs import S3Server


@pytest.fixture
def around(seaweedfs: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """Say where the store is as its cloud's own programs are told."""
    told = {
        "AWS_ENDPOINT_URL": seaweedfs.endpoint,
        "AWS_ACCESS_KEY_ID": seaweedfs.credentials["access_key_id"],
        "AWS_SECRET_ACCESS_KEY": seaweedfs.credentials["secret_access_key"],
    }
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    return f"s3://{seaweedfs.bucket}"


@pytest.fixture
def lake(around: str, tmp_path: Path) -> Iterator[Lake]:
    with lochan.open(tmp_path / "lake", namespace_prefixes=[f"{around}/imported"]) as opened:
        yield opened


def fill(server: S3Server, names: list[str]) -> None:
    client = server.client()

    def put(name: str) -> None:
        client.put_object(Bucket=server.bucket, Key=name, Body=name.encode())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, names))


def test_a_prefix_of_s3_is_imported_whole_and_read_where_it_lies(
    seaweedfs: S3Server, around: str, lake: Lake
) -> None:
    deep = [f"imported/raw/{n % 90}/{n % 3}/{n}.csv" for n in range(270)]
    flat = [f"imported/raw/flat/{n}.csv" for n in range(1050)]
    fill(seaweedfs, [*deep, *flat, "imported/raw2/other.csv", "imported/raw/top.csv"])
    branch = lake.repository("shop").create().branch("main")
    branch.import_data("all").prefix(f"{around}/imported/raw/", "in/").run()

    found = {one.path for one in branch.objects("in/")}
    wanted = {f"in/{name.removeprefix('imported/raw/')}" for name in (*deep, *flat)}
    assert found == {*wanted, "in/top.csv"}
    assert branch.object("in/7/1/7.csv").read() == b"imported/raw/7/1/7.csv"


def test_rel_S22_a_repository_on_s3_is_no_source_and_neither_is_another_bucket(
    around: str, lake: Lake
) -> None:
    lake.repository("own").create(f"{around}/imported/own")
    branch = lake.repository("shop").create().branch("main")
    sources = {
        f"{around}/imported/": "import-source-overlaps",
        f"{around}/imported/own/data/": "import-source-overlaps",
        "s3://elsewhere/x/": "import-source-refused",
    }
    for source, code in sources.items():
        with pytest.raises(LochanError) as refused:
            branch.import_data("no").prefix(source, "in/").run()
        assert refused.value.code == code
    assert list(branch.objects()) == []
