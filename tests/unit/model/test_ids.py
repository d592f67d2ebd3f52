# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable

import pytest

from lochan.errors import InvalidInput
from lochan.model import ids

HASH = "0123456789abcdef" * 4

ACCEPTED = [
    (ids.valid_repository_id, "abc"),
    (ids.valid_repository_id, "0-a" + "x" * 60),
    (ids.valid_repository_id, "a--"),
    (ids.valid_branch_name, "main"),
    (ids.valid_branch_name, "_feature-1"),
    (ids.valid_branch_name, "9"),
    (ids.valid_tag_name, "v1.0"),
    (ids.valid_tag_name, "v1~2"),
    (ids.valid_tag_name, "a@b"),
    (ids.valid_tag_name, ".hidden"),
    (ids.valid_tag_name, "lock"),
    (ids.valid_tag_name, "été"),
    (ids.valid_ref, "main~2^1@"),
    (ids.valid_commit_id, HASH),
    (ids.valid_range_id, HASH),
    (ids.valid_meta_range_id, HASH),
    (ids.valid_meta_range_id, ""),
    (ids.valid_unique_identifier, "cf4a7n6k5g3q2b1a0zzz"),
    (ids.valid_storage_namespace, "s3://bucket/prefix"),
]

REFUSED = [
    (ids.valid_repository_id, "ab", "3 to 63"),
    (ids.valid_repository_id, "a" * 64, "3 to 63"),
    (ids.valid_repository_id, "-abc", "hyphen"),
    (ids.valid_repository_id, "Abc", "lower-case"),
    (ids.valid_repository_id, "a_bc", "lower-case"),
    (ids.valid_repository_id, "abc\n", "lower-case"),
    (ids.valid_branch_name, "", "letters"),
    (ids.valid_branch_name, "-main", "not starting with a hyphen"),
    (ids.valid_branch_name, "a/b", "letters"),
    (ids.valid_branch_name, "main\n", "letters"),
    (ids.valid_branch_name, "été", "letters"),
    (ids.valid_tag_name, "", "at least one"),
    (ids.valid_tag_name, "@", "not @ alone"),
    (ids.valid_tag_name, "a..b", "'..'"),
    (ids.valid_tag_name, "a@{b", "'@{'"),
    (ids.valid_tag_name, "a/b", "'/'"),
    (ids.valid_tag_name, "v1.", "end in '.'"),
    (ids.valid_tag_name, "v1.lock", "end in '.lock'"),
    *((ids.valid_tag_name, f"a{bad}b", "forbidden") for bad in "^:?*[\\ \t\n\x00\x7f"),
    (ids.valid_ref, "", "at least one"),
    (ids.valid_ref, "my branch", "no white space"),
    (ids.valid_commit_id, HASH[:-1], "64"),
    (ids.valid_commit_id, HASH.upper(), "lower-case"),
    (ids.valid_commit_id, HASH + "\n", "64"),
    (ids.valid_range_id, "", "64"),
    (ids.valid_meta_range_id, "abc", "64"),
    (ids.valid_unique_identifier, "a/b/c/d/e", "letters and digits"),
    (ids.valid_storage_namespace, "bucket/prefix", "s3://bucket/prefix"),
    (ids.valid_storage_namespace, "s3://", "s3://bucket/prefix"),
    (ids.valid_object_key, "", "1 to 1024 bytes"),
    (ids.valid_object_key, "x" * 1025, "this one has 1025"),
    (ids.valid_object_key, "é" * 513, "this one has 1026"),
]


@pytest.mark.parametrize(("check", "name"), ACCEPTED)
def test_a_good_name_is_given_back_unchanged(check: Callable[[str], str], name: str) -> None:
    assert check(name) == name


@pytest.mark.parametrize(("check", "name", "rule"), REFUSED)
def test_a_bad_name_is_refused_with_the_rule_it_breaks(
    check: Callable[[str], str], name: str, rule: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        check(name)

    assert rule in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.code.startswith("invalid-")
    assert caught.value.facts == {"value": name}


def test_a_very_long_bad_name_is_shown_shortened() -> None:
    with pytest.raises(InvalidInput) as caught:
        ids.valid_branch_name("/" * 10_000)

    assert len(str(caught.value)) < 250


def test_an_object_key_is_bytes_and_any_bytes_will_do() -> None:
    assert ids.valid_object_key("tables/é") == b"tables/\xc3\xa9"
    assert ids.valid_object_key(b"\x00\xff/../ \n") == b"\x00\xff/../ \n"
    assert len(ids.valid_object_key("x" * 1024)) == 1024


def test_half_a_surrogate_pair_is_not_an_object_key() -> None:
    with pytest.raises(InvalidInput, match="surrogate pair at character 2"):
        ids.valid_object_key("a/\ud800")


def test_a_staging_token_names_repository_branch_and_unique_id() -> None:
    token = ids.new_staging_token(ids.RepositoryId("repo"), ids.BranchName("main"), "0f" * 16)

    assert token == "repo-main:" + "0f" * 16
