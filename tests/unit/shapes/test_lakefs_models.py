# SPDX-License-Identifier: Apache-2.0
"""Our shapes against the models of lakeFS's own client: fields, and values both ways."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.wire_shapes import (
    SHAPES,
    sdk_encode,
    sdk_fields,
    sdk_models,
    sdk_request_models,
    values,
)

_LATER = "hooks and their runs are not served yet"
_PULLS = "pull requests are not served yet"
_EXTERNAL = "users are known by their keys alone, not by another party's identities"
_NO_ROUTE = "no call of the client sends or gets it"
_NOT_SERVED = {
    "ActionRun": _LATER,
    "ActionRunList": _LATER,
    "HookRun": _LATER,
    "HookRunList": _LATER,
    "PullRequest": _PULLS,
    "PullRequestBasic": _PULLS,
    "PullRequestCreation": _PULLS,
    "PullRequestCreationResponse": _PULLS,
    "PullRequestsList": _PULLS,
    "ExternalLoginInformation": _EXTERNAL,
    "ExternalPrincipal": _EXTERNAL,
    "ExternalPrincipalCreation": _EXTERNAL,
    "ExternalPrincipalList": _EXTERNAL,
    "StsAuthRequest": _EXTERNAL,
    "MetaRangeCreation": _NO_ROUTE,
    "MetaRangeCreationResponse": _NO_ROUTE,
    "RangeMetadata": _NO_ROUTE,
    "UpdateToken": _NO_ROUTE,
}
_MODELS = sdk_models()
_REQUESTS = sdk_request_models()
_BOTH = sorted(_MODELS.keys() & SHAPES.keys())
# lakeFS's client knows the schemes of lakeFS's stores alone.
_NAMESPACES = st.sampled_from(["local://lake", "s3://bucket/prefix", "mem://x"])


def test_every_model_of_lakefs_has_a_shape_or_a_reason() -> None:
    assert _MODELS.keys() - SHAPES.keys() == _NOT_SERVED.keys()


def test_the_models_that_clients_send_are_found() -> None:
    sent = {"CommitCreation", "CopyPartSource", "Statement", "StagingLocation"}
    assert sent <= _REQUESTS
    assert not {"Commit", "ObjectStats", "Pagination"} & _REQUESTS


@pytest.mark.parametrize("name", _BOTH)
def test_a_shape_has_every_field_of_lakefs(name: str) -> None:
    ours = {field.encode_name for field in msgspec.structs.fields(SHAPES[name])}
    missing = sdk_fields(_MODELS[name]).keys() - ours
    assert not missing, f"{SHAPES[name]} lacks {sorted(missing)}, which lakeFS's {name} has"


@pytest.mark.parametrize("name", _BOTH)
def test_a_shape_requires_nothing_that_lakefs_does_not_know(name: str) -> None:
    ours = {field.encode_name for field in msgspec.structs.fields(SHAPES[name]) if field.required}
    beyond = ours - sdk_fields(_MODELS[name]).keys()
    assert not beyond, f"{SHAPES[name]} requires {sorted(beyond)}; give them defaults"


@pytest.mark.parametrize("name", sorted(_REQUESTS & SHAPES.keys()))
def test_a_body_requires_no_field_that_clients_may_leave_out(name: str) -> None:
    optional = {field for field, required in sdk_fields(_MODELS[name]).items() if not required}
    fields = msgspec.structs.fields(SHAPES[name])
    required = {field.encode_name for field in fields if field.required}
    assert not optional & required, f"{SHAPES[name]} requires {sorted(optional & required)}"


@pytest.mark.parametrize("name", _BOTH)
def test_what_lakefs_requires_is_always_written(name: str) -> None:
    shape = SHAPES[name]
    fields = msgspec.structs.fields(shape)
    omitting = shape.__struct_config__.omit_defaults
    written = {field.encode_name for field in fields if field.required or not omitting}
    wanted = {field for field, required in sdk_fields(_MODELS[name]).items() if required}
    assert wanted <= written, f"{shape} may leave out {sorted(wanted - written)}"


@pytest.mark.parametrize("name", _BOTH)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_lakefs_reads_what_we_write_and_writes_what_we_read(name: str, data: st.DataObject) -> None:
    made = data.draw(values(SHAPES[name]))
    if "storage_namespace" in made and name == "RepositoryCreation":
        made["storage_namespace"] = data.draw(_NAMESPACES)
    ours = msgspec.convert(made, SHAPES[name])
    theirs = _MODELS[name].from_json(msgspec.json.encode(ours).decode())
    sent = sdk_encode(theirs)
    assert msgspec.json.decode(sent, type=SHAPES[name]) == ours
