# SPDX-License-Identifier: Apache-2.0
"""What people see of a spec holds no secret of it."""

import msgspec
import pytest

from lochan.pipelines.model.spec import Egress, FilesTransform, SparkRules
from lochan.pipelines.specs.masked_spec import masked_spec, masked_text
from support.pipeline_world import thumbs


def test_secrets_of_egress_settings_and_variables_are_hidden() -> None:
    spec = thumbs(
        egress=(
            Egress(
                jdbc="jdbc:postgresql://ann:word@db/lake?password=word&ssl=true",
                table="t",
                options={"user": "ann", "password": "word", "batchsize": "100"},
            ),
        ),
        spark=SparkRules(conf={"spark.hadoop.fs.s3a.secret.key": "word", "spark.cores": "2"}),
        transform=FilesTransform(command=("run",), environment={"API_TOKEN": "word", "LANG": "C"}),
    )
    shown = masked_spec(spec)
    assert b"word" not in msgspec.json.encode(shown).replace(b'"password"', b"").replace(
        b"password=", b""
    )
    assert shown["egress"][0]["options"]["batchsize"] == "100"
    assert shown["transform"]["environment"]["LANG"] == "C"
    assert shown["egress"][0]["jdbc"].startswith("jdbc:postgresql://ann:***@db/lake?")


def test_a_spec_without_secrets_is_shown_as_it_is() -> None:
    assert masked_spec(thumbs()) == msgspec.to_builtins(thumbs())


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("cannot reach jdbc:x://ann:word@db/lake", "cannot reach jdbc:x://ann:***@db/lake"),
        (
            "jdbc:sqlserver://db;user=ann;password=word;a=b",
            "jdbc:sqlserver://db;user=ann;password=***;a=b",
        ),
        ("s3://bucket/a:b@c", "s3://bucket/a:b@c"),
        ("no secret here", "no secret here"),
    ],
)
def test_messages_about_addresses_hold_no_password(said: str, shown: str) -> None:
    assert masked_text(said) == shown
