# SPDX-License-Identifier: Apache-2.0
"""records.proto, the generated module and lakeFS's numbers agree."""

import re
from pathlib import Path

from google.protobuf.descriptor import FieldDescriptor

import lochan.model
from lochan.model import records_pb2 as wire

PROTO = (Path(lochan.model.__file__).parent / "records.proto").read_text()
FIELD = re.compile(r"^  (repeated )?([\w.<>, ]+?) (\w+) = (\d+);$", re.MULTILINE)

# By number, as lakeFS has them; the names are the seeds' where the two differ.
LAKEFS = {
    "Repository": "1 repository_id string, 2 storage_namespace string, 3 default_branch string, "
    "4 creation_date message, 5 repository_state enum, 6 unique_identifier string, "
    "7 read_only bool, 8 storage_id string",
    "Branch": "1 branch_id string, 2 commit_id string, 3 staging_token string, "
    "4 sealed_tokens string*, 5 hidden bool",
    "Tag": "1 tag_id string, 2 commit_id string",
    "Commit": "1 id string, 2 committer string, 3 message string, 4 creation_date message, "
    "5 meta_range_id string, 6 metadata message*, 7 parents string*, 8 version int32, "
    "9 generation int32",
    "StagedEntry": "1 key bytes, 2 identity bytes, 3 data bytes",
    "Entry": "1 address string, 2 last_modified message, 3 size int64, 4 e_tag string, "
    "5 metadata message*, 6 address_type enum, 7 content_type string",
    "RangeData": "1 min_key bytes, 2 max_key bytes, 3 estimated_size uint64, 4 count int64",
}
TYPES = {
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BYTES: "bytes",
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_UINT64: "uint64",
    FieldDescriptor.TYPE_ENUM: "enum",
    FieldDescriptor.TYPE_MESSAGE: "message",
}


def written_fields() -> dict[str, dict[str, int]]:
    """Read the messages of the .proto file as somebody with a pencil would."""
    messages = re.findall(r"^message (\w+) \{\n(.*?)^\}", PROTO, re.MULTILINE | re.DOTALL)
    return {
        name: {field[2]: int(field[3]) for field in FIELD.findall(body)} for name, body in messages
    }


def generated_fields() -> dict[str, dict[str, int]]:
    messages = wire.DESCRIPTOR.message_types_by_name
    return {
        name: {field.name: field.number for field in message.fields}
        for name, message in messages.items()
    }


def test_the_generated_module_has_the_fields_of_the_proto_file() -> None:
    assert generated_fields() == written_fields()


def test_fields_below_100_are_those_of_lakefs() -> None:
    for name, expected in LAKEFS.items():
        found = ", ".join(
            f"{field.number} {field.name} {TYPES[field.type]}{'*' * field.is_repeated}"
            for field in wire.DESCRIPTOR.message_types_by_name[name].fields
            if field.number < 100
        )
        assert found == expected


def test_our_own_fields_start_at_100() -> None:
    ours = {
        name: {field: number for field, number in fields.items() if number >= 100}
        for name, fields in generated_fields().items()
        if name in LAKEFS
    }

    assert {name: fields for name, fields in ours.items() if fields} == {
        "Repository": {"branch_protection": 101, "branch_owners": 102},
        "Branch": {
            "lineage": 100,
            "ordinals": 101,
            "compacted_base_meta_range_id": 102,
            "resets": 103,
            "moves": 104,
            "forgotten": 105,
            "resets_in_place": 106,
        },
        "Commit": {"clocks": 100, "started": 101, "finished": 102, "provenance": 103},
        "StagedEntry": {"mark": 100},
        "Entry": {"blocks": 100, "epoch": 101},
    }


def test_the_numbers_of_enums_are_fixed() -> None:
    assert dict(wire.RepositoryState.items()) == {"ACTIVE": 0, "DELETING": 1, "INITIAL": 2}
    assert dict(wire.Slot.items()) == {"BEGINS": 0, "CONTINUES": 1, "FOLLOWS": 2}
    assert dict(wire.BlockedAction.items()) == {"STAGING_WRITE": 0, "COMMIT": 1}
    expected = {"BY_PREFIX_DEPRECATED": 0, "RELATIVE": 1, "FULL": 2}
    assert dict(wire.AddressType.items()) == expected
