# SPDX-License-Identifier: Apache-2.0
"""What holds for all shapes: names, descriptions, and what is let in."""

import re
from collections import Counter
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from lochan.errors import InvalidInput
from lochan.model import ids
from lochan.shapes import fields
from lochan.shapes.commits import CommitCreation
from lochan.shapes.objects import ObjectStats
from lochan.shapes.pfs import StartCommit
from lochan.shapes.repositories import Repository, StorageNamespace
from support.wire_shapes import EVERY_SHAPE, OWN_MODULES

_NAMESPACES = st.builds("{}://{}".format, st.text(), st.text(min_size=1))


def _matching(pattern: re.Pattern[str]) -> st.SearchStrategy[str]:
    return st.from_regex(pattern, fullmatch=True)


def test_no_two_shapes_have_one_name() -> None:
    assert [
        name for name, count in Counter(name for name, _ in EVERY_SHAPE).items() if count > 1
    ] == []


def test_every_field_is_described() -> None:
    _, components = msgspec.json.schema_components([shape for _, shape in EVERY_SHAPE])
    bare = [
        f"{name}.{field}"
        for name, schema in components.items()
        for field, kind in schema["properties"].items()
        if "description" not in str(kind) and "$ref" not in str(kind)
    ]
    assert not bare, f"fields without Meta(description=...): {bare}"


@pytest.mark.parametrize(("name", "shape"), EVERY_SHAPE)
def test_a_shape_is_frozen_and_only_our_own_refuse_unknown_fields(
    name: str, shape: type[msgspec.Struct]
) -> None:
    config = shape.__struct_config__
    assert config.frozen
    assert config.forbid_unknown_fields == (shape.__module__ in OWN_MODULES)


def test_fields_of_other_versions_are_passed_over_but_not_in_what_is_ours() -> None:
    body = b'{"message": "m", "of_a_later_version": 1}'
    assert msgspec.json.decode(body, type=CommitCreation) == CommitCreation(message="m")
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.json.decode(b'{"branch": "b", "other": 1}', type=StartCommit)


def test_a_row_of_a_prefix_leaves_out_what_a_prefix_has_not() -> None:
    row = ObjectStats(
        path="a/", path_type="common_prefix", physical_address="", checksum="", mtime=0
    )
    assert set(msgspec.to_builtins(row)) == {
        "path",
        "path_type",
        "physical_address",
        "checksum",
        "mtime",
    }


def test_a_repository_says_that_it_is_not_read_only() -> None:
    made = Repository(id="r", creation_date=1, default_branch="main", storage_namespace="mem://r")
    assert msgspec.to_builtins(made)["read_only"] is False


@pytest.mark.parametrize(
    ("accept", "names", "kind"),
    [
        (ids.valid_repository_id, _matching(ids._REPOSITORY), fields.RepositoryName),
        (ids.valid_branch_name, _matching(ids._BRANCH), fields.BranchName),
        (ids.valid_tag_name, st.text(), fields.TagName),
        (ids.valid_ref, _matching(ids._REF), fields.RefExpression),
        (ids.valid_storage_namespace, _NAMESPACES, StorageNamespace),
        (ids.valid_object_key, st.text(), fields.ObjectPath),
    ],
)
@given(data=st.data())
def test_no_name_is_refused_that_the_lake_accepts(
    accept: Callable[[str], str], names: st.SearchStrategy[str], kind: object, data: st.DataObject
) -> None:
    text = data.draw(names)
    try:
        accept(text)
    except InvalidInput:
        reject()
    assert msgspec.convert(text, type=kind) == text
