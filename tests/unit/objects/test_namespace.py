# SPDX-License-Identifier: Apache-2.0
import pytest

from lochan.errors import InvalidInput
from lochan.objects.namespace import Namespace, refuse_options, split_location


@pytest.mark.parametrize(
    ("text", "scheme", "authority", "path"),
    [
        ("s3://bucket/a/b", "s3", "bucket", "a/b"),
        ("s3://bucket", "s3", "bucket", ""),
        ("gs://bucket/a", "gs", "bucket", "a"),
        ("az://container/a", "az", "container", "a"),
        ("mem://name", "mem", "name", ""),
        ("local:///var/lake", "local", "", "var/lake"),
        ("local:///", "local", "", ""),
    ],
)
def test_a_namespace_has_one_spelling(text: str, scheme: str, authority: str, path: str) -> None:
    namespace = Namespace.parse(text)

    assert namespace == Namespace(scheme, authority, path)
    assert Namespace.parse(str(namespace)) == namespace
    assert str(namespace) == text
    assert Namespace.parse(text.removesuffix("/") + "/") == namespace


@pytest.mark.parametrize(
    "text",
    [
        *("", "bucket", "/var/lake", "s3:/bucket", "s3://", "s3:///a", "S3://bucket", "s 3://b"),
        *("local://", "local://folder/a", "local:///a//b", "local:///a/../b", "local:///./a"),
        *("s3://bucket//a", "s3://bucket/a/./b", "s3://bucket/a#b", "s3://bucket/a\0b"),
    ],
)
def test_anything_else_is_no_namespace(text: str) -> None:
    with pytest.raises(InvalidInput):
        Namespace.parse(text)


def test_a_physical_address_leads_back_to_its_address() -> None:
    for text in ("s3://bucket/lake", "s3://bucket", "local:///lake", "local:///", "mem://x"):
        namespace = Namespace.parse(text)

        assert namespace.physical("data/1/a") == f"{text.removesuffix('/')}/data/1/a"
        assert namespace.find_address(namespace.physical("data/1/a")) == "data/1/a"


def test_a_sibling_whose_name_begins_alike_lies_elsewhere() -> None:
    lake = Namespace.parse("s3://bucket/lake")

    assert lake.find_address("s3://bucket/lake2/data/1/a") is None
    assert lake.find_address("s3://bucket/lake") is None
    assert lake.find_address("s3://bucket/lake/") is None
    assert lake.find_address("gs://bucket/lake/data/1/a") is None


@pytest.mark.parametrize(
    ("other", "overlap"),
    [
        ("s3://bucket/lake", True),
        ("s3://bucket/lake/inner", True),
        ("s3://bucket", True),
        ("s3://bucket/lake2", False),
        ("s3://bucket2/lake", False),
        ("gs://bucket/lake", False),
    ],
)
def test_namespaces_overlap_when_one_lies_in_the_other(other: str, *, overlap: bool) -> None:
    lake, second = Namespace.parse("s3://bucket/lake"), Namespace.parse(other)

    assert lake.overlaps(second) is second.overlaps(lake) is overlap


def test_a_location_is_parted_and_no_option_is_ever_shown() -> None:
    namespace, options = split_location("s3://b/p?secret_access_key=s3cr%2Bet&region=x")

    assert str(namespace) == "s3://b/p"
    assert options == {"secret_access_key": "s3cr+et", "region": "x"}
    with pytest.raises(InvalidInput, match="secret_access_key") as caught:
        refuse_options(namespace, options, frozenset({"region"}))
    assert "s3cr" not in str(caught.value)


def test_an_option_given_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="twice"):
        split_location("s3://b/p?region=x&region=y")
