# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput
from lochan.objects.open import open_objects

ENVIRONMENT = RealEnvironment()


def test_a_name_in_memory_is_shared_while_somebody_holds_it() -> None:
    first, second = (open_objects("mem://shared", ENVIRONMENT) for _ in range(2))
    other = open_objects("mem://other", ENVIRONMENT)
    first.put("a", b"1")
    first.close()

    assert second.get("a").read() == b"1"
    assert other.list().entries == ()
    second.close()
    assert open_objects("mem://shared", ENVIRONMENT).list().entries == ()


def test_a_local_root_is_made_where_it_is_missing(tmp_path: Path) -> None:
    store = open_objects(f"local://{tmp_path}/a/b", ENVIRONMENT)
    store.put("data/1/x.csv", b"1")
    store.close()

    assert (tmp_path / "a/b/data/1/x.csv").read_bytes() == b"1"


@pytest.mark.parametrize(
    "location",
    [
        *("ftp://host/a", "mem://x?size=1", "local:///tmp/x?sync=no", "s3://b/p?password=x"),
        *("s3://b?part_bytes=1", "s3://b?part_bytes=many", "s3://b?timeout_s=0", "gs://b?region=x"),
        "az://c?anonymous=perhaps",
    ],
)
def test_an_unknown_scheme_or_option_is_refused(location: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        open_objects(location, ENVIRONMENT)
    assert "perhaps" not in str(caught.value)


def test_a_cloud_store_is_opened_without_asking_anybody() -> None:
    for location in (
        "s3://b/p?anonymous=true",
        "gs://b",
        "az://c/p?account_name=a&account_key=YQ==",
    ):
        open_objects(location, ENVIRONMENT).close()
