# SPDX-License-Identifier: Apache-2.0
"""Where new repositories may lie."""

import pytest

from lochan.errors import InvalidInput
from lochan.model.ids import RepositoryId
from lochan.operations.storage_namespaces import allowed_namespace

NAME = RepositoryId("lake-1")
PLACES = ("local:///srv/lake/objects", "s3://bucket/shared")


@pytest.mark.parametrize(
    ("text", "namespace"),
    [
        ("", "local:///srv/lake/objects/lake-1"),
        ("local://other/deep", "local:///srv/lake/objects/other/deep"),
        ("local:///srv/lake/objects/x/", "local:///srv/lake/objects/x"),
        ("s3://bucket/shared/x", "s3://bucket/shared/x"),
    ],
)
def test_a_namespace_has_one_spelling_below_a_place(text: str, namespace: str) -> None:
    assert allowed_namespace(text, NAME, PLACES) == namespace


@pytest.mark.parametrize(
    "text",
    [
        "local:///srv/lake/objects",  # the place itself
        "local:///srv/lake/objects2/x",
        "local:///etc",
        "local:///srv/lake/objects/../../../etc",
        "local://../x",
        "local://x/../../y",
        "local://",
        "s3://bucket/shared2/x",
        "s3://bucket/x",
        "s3://other/shared/x",
        "S3://bucket/shared/x",
        "gs://bucket/shared/x",
        "s3://bucket/shared/x?endpoint=http://169.254.169.254",
    ],
)
def test_rel_S22_a_namespace_outside_the_allowed_places_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        allowed_namespace(text, NAME, PLACES)
