# SPDX-License-Identifier: Apache-2.0
"""The bundle for people who help: what is in it, and what must not be."""

import io
import json
import zipfile

import msgspec
import pytest

from lochan.errors import Unavailable
from lochan.faults import Fault
from lochan.kv.faulty import Call, Faulty
from lochan.model.ids import ObjectKey, StorageNamespace
from lochan.model.keys import AUTH, partition_of
from lochan.model.records import BlockedAction, BranchProtectionRule
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.diagnose import diagnose, masked
from lochan.operations.put_object import put_object
from lochan.refs.tables import repositories
from support.grown_lake import DEV, MAIN, NAME, grown, head, open_lake
from support.lakes import Stage

SECRET = "hunter2-planted"


def bundle(stage: Stage) -> dict[str, bytes]:
    out = io.BytesIO()
    diagnose(stage.lake, out)
    with zipfile.ZipFile(out) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rows(files: dict[str, bytes], name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in files[name].splitlines()]


def plant(stage: Stage) -> None:
    """Put a secret wherever one could be."""
    lake, repository = stage.lake, stage.repository
    key = ObjectKey(f"keys/{SECRET}".encode())
    put_object(lake, repository, MAIN, key, SECRET.encode(), metadata={SECRET: SECRET})
    said = CommitRequest(f"ann:{SECRET}", f"password is {SECRET}", {SECRET: SECRET})
    commit(lake, repository, MAIN, said)
    put_object(lake, repository, DEV, key, SECRET.encode(), metadata={SECRET: SECRET})
    for name in (b"iam/users/ann", b"iam/user_credentials/ann/" + SECRET.encode()):
        lake.store.set(AUTH, name, SECRET.encode())
    lake.store.set(AUTH, SECRET.encode(), SECRET.encode())
    for partition in (b"jobs", b"pipelines"):
        lake.store.set(partition, b"specs/" + SECRET.encode(), SECRET.encode())
    lake.store.set(partition_of(repository), b"settings/hooks", SECRET.encode())
    broken = b"\xff" + SECRET.encode()
    lake.store.set(partition_of(repository), b"branches/broken", broken)
    rule = BranchProtectionRule(pattern=SECRET, blocked_actions=(BlockedAction.COMMIT,))
    record = msgspec.structs.replace(
        repository,
        storage_namespace=StorageNamespace(f"s3://AKIA:{SECRET}@bucket/lake?token={SECRET}"),
        branch_protection=(rule,),
        storage_id=SECRET,
    )
    repositories(lake.store).set(NAME.encode(), record)


def test_a_planted_secret_is_not_in_the_bundle() -> None:
    stage = grown()
    plant(stage)
    files = bundle(stage)

    assert [name for name, data in files.items() if SECRET.encode() in data] == []
    assert rows(files, "users.jsonl") == [{"user": "ann"}]
    assert rows(files, "repositories.jsonl")[0]["storage_namespace"] == "s3://***@bucket/lake?***"
    assert [row["key"] for row in rows(files, "unreadable.jsonl")] == ["branches/broken"]


def test_the_bundle_tells_of_all_refs_and_counts_what_is_staged() -> None:
    stage = grown()
    files = bundle(stage)
    tables = stage.lake.tables(stage.repository)
    assert {row["id"] for row in rows(files, "commits.jsonl")} == {
        commit.id for _, commit in tables.commits.scan()
    }
    assert [row["branch_id"] for row in rows(files, "branches.jsonl")] == ["dev", "main", "secret"]
    assert rows(files, "tags.jsonl")[0]["tag_id"] == "v1"
    staged = {
        (row["branch_id"], row["sealed"]): (row["rows"], row["tombstones"])
        for row in rows(files, "staging.jsonl")
    }
    assert staged["dev", False] == (2, 1)
    assert staged["main", False] == (0, 0)
    assert [row["state"] for row in rows(files, "started.jsonl")] == ["open"]
    counts = {(row["partition"], row["kind"]): row["rows"] for row in rows(files, "rows.jsonl")}
    assert counts["graveler", "repos"] == 1
    about = rows(files, "about.json")[0]
    assert about["kv_driver"] == "MemoryStore"


def test_commits_are_limited() -> None:
    stage = grown()
    out = io.BytesIO()
    diagnose(stage.lake, out, commits=2)
    with zipfile.ZipFile(out) as archive:
        assert len(archive.read("commits.jsonl").splitlines()) == 2
    assert head(stage, MAIN).id


def test_nothing_is_written_and_a_store_that_fails_is_heard_of() -> None:
    stage = grown()
    operations: list[str] = []

    def watch(call: Call) -> Fault:
        operations.append(call.operation)
        return Fault.ERROR if call.number == 40 else Fault.OK

    store = Faulty(stage.lake.store, watch, stage.lake.environment)
    with pytest.raises(Unavailable):
        diagnose(open_lake(store, stage.lake.environment, stage.storage), io.BytesIO())
    diagnose(open_lake(store, stage.lake.environment, stage.storage), io.BytesIO())
    assert set(operations) <= {"get", "scan", "scan_next"}


@pytest.mark.parametrize(
    ("namespace", "shown"),
    [
        ("s3://bucket/prefix", "s3://bucket/prefix"),
        ("s3://key:word@bucket/prefix", "s3://***@bucket/prefix"),
        ("s3://key:w@rd@bucket/prefix", "s3://***@bucket/prefix"),
        ("s3://key:w/rd@bucket/prefix", "s3://***@bucket/prefix"),
        ("local:///folder/a@b", "local:///folder/a@b"),
        ("azure://account/x?sig=word", "azure://account/x?***"),
    ],
)
def test_credentials_in_a_namespace_are_masked(namespace: str, shown: str) -> None:
    assert masked(namespace) == shown
