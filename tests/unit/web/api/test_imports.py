# SPDX-License-Identifier: Apache-2.0
"""Imports over REST: begun, asked about, cancelled; from allowed places and by right."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from msgspec.structs import replace

from lochan.config.server import Blockstore
from lochan.model.access import Statement
from lochan.model.tasks import TaskResult
from lochan.operations.task_rows import TaskKind
from support.web import Api, open_api
from support.web_tasks import make_repository, put, read, settled

LAKE = "arn:lakefs:fs:::repository/lake-1"


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    (folder / "more").mkdir(parents=True)
    (folder / "a.csv").write_bytes(b"a,1")
    (folder / "more" / "b.csv").write_bytes(b"b,22")
    return folder


@pytest.fixture
def api(tmp_path: Path, raw: Path) -> Iterator[Api]:
    blockstore = Blockstore(
        readable_folders=(raw, tmp_path / "lake", tmp_path / "shared"),
        allowed_namespace_prefixes=("s3://allowed/in", f"local://{tmp_path}/shared"),
    )
    with open_api(tmp_path / "lake", blockstore=blockstore) as opened:
        make_repository(opened)
        yield opened


IMPORT = "/repositories/lake-1/branches/main/import"


def told(*paths: tuple[str, str, str], **commit: object) -> dict[str, Any]:
    named = ("type", "path", "destination")
    said = {"message": "bring it", **commit}
    return {"paths": [dict(zip(named, path, strict=True)) for path in paths], "commit": said}


def folder(raw: Path, destination: str = "lake/") -> tuple[str, str, str]:
    return ("common_prefix", f"file://{raw}", destination)


def test_an_import_answers_202_and_is_asked_about_until_its_commit_is_there(
    api: Api, raw: Path
) -> None:
    begun = api.post(IMPORT, json=told(folder(raw), metadata={"by": "test"}))
    assert begun.status_code == 202
    status = settled(api, IMPORT, id=begun.json["id"])
    assert (status["completed"], status["ingested_objects"]) == (True, 2)
    assert "error" not in status
    made = status["commit"]
    assert (made["message"], made["committer"], made["metadata"]["by"]) == (
        "bring it",
        "admin",
        "test",
    )
    assert status["metarange_id"] == made["meta_range_id"]
    head = api.get("/repositories/lake-1/branches/main").json["commit_id"]
    assert head == made["id"]
    assert read(api, "/repositories/lake-1", "lake/more/b.csv") == b"b,22"


def test_a_single_object_comes_under_its_destination(api: Api, raw: Path) -> None:
    begun = api.post(IMPORT, json=told(("object", f"local://{raw}/a.csv", "x/y.csv")))
    settled(api, IMPORT, id=begun.json["id"])
    assert read(api, "/repositories/lake-1", "x/y.csv") == b"a,1"


def test_a_failed_import_is_not_completed_and_says_why(api: Api, raw: Path) -> None:
    begun = api.post(IMPORT, json=told(("common_prefix", f"file://{raw}/nothing", "x/")))
    status = settled(api, IMPORT, id=begun.json["id"])
    assert (status["completed"], status["error"]["code"]) == (False, "folder-not-found")
    assert "commit" not in status


def test_a_dirty_branch_takes_no_import(api: Api, raw: Path) -> None:
    put(api, "/repositories/lake-1", "k", b"v")
    begun = api.post(IMPORT, json=told(folder(raw)))
    assert settled(api, IMPORT, id=begun.json["id"])["error"]["code"] == "dirty-branch"


@pytest.mark.parametrize(
    "path", ["s3://other/in/", "s3://allowed/in2/", "file:///etc/", "local:///etc", "mem://x/y"]
)
def test_rel_S22_nothing_is_imported_from_places_that_were_not_allowed(api: Api, path: str) -> None:
    answer = api.post(IMPORT, json=told(("common_prefix", path, "x/")))
    assert (answer.status_code, answer.json["code"]) == (403, "import-source-refused")


def test_rel_S22_a_repository_and_the_lakes_own_folder_are_no_sources(api: Api) -> None:
    lake = api.services.settings.lake.absolute()
    make_repository(api, "other")
    for path in (f"local://{lake}/objects/other", f"file://{lake}", f"file://{lake}/kv.db"):
        kind = "object" if path.endswith(".db") else "common_prefix"
        answer = api.post(IMPORT, json=told((kind, path, "x")))
        assert (answer.status_code, answer.json["code"]) == (400, "import-source-overlaps")


def test_rel_S22_other_repositories_are_no_sources_wherever_they_lie(
    api: Api, tmp_path: Path
) -> None:
    told_where = {"name": "other", "storage_namespace": f"local://{tmp_path}/shared/other"}
    assert api.post("/repositories", json=told_where).status_code == 201
    for place in ("shared", "shared/other", "shared/other/data"):
        answer = api.post(IMPORT, json=told(("common_prefix", f"file://{tmp_path}/{place}", "x")))
        assert (answer.status_code, answer.json["code"]) == (400, "import-source-overlaps")
    beside = api.post(IMPORT, json=told(("common_prefix", f"file://{tmp_path}/shared/more", "x")))
    assert beside.status_code == 202


def test_rel_S22_a_path_that_leaves_its_folder_is_refused(api: Api, raw: Path) -> None:
    for path in (f"file://{raw}/../lake/kv.db", f"file://{raw}//a.csv", f"file://{raw}/./a.csv"):
        answer = api.post(IMPORT, json=told(("object", path, "x")))
        assert (answer.status_code, answer.json["code"]) == (400, "invalid-address")


def allow(action: str, resource: str) -> Statement:
    return Statement(effect="allow", action=(action,), resource=resource)


def test_rel_S16_an_import_needs_its_source_its_destination_and_the_branch(
    api: Api, raw: Path
) -> None:
    rights = [
        allow("fs:CreateCommit", f"{LAKE}/branch/main"),
        allow("fs:ImportFromStorage", f"arn:lakefs:fs:::namespace/file://{raw}/*"),
        allow("fs:WriteObject", f"{LAKE}/object/lake/*"),
    ]
    for number, missing in enumerate(rights):
        rest = [right for right in rights if right is not missing]
        assert api.user(f"u{number}", *rest).post(IMPORT, json=told(folder(raw))).status_code == 403
    enough = api.user("enough", *rights)
    assert enough.post(IMPORT, json=told(folder(raw))).status_code == 202
    for destination in ("", "lake2/", "la"):
        answer = enough.post(IMPORT, json=told(folder(raw, destination)))
        assert answer.status_code == 403
    other = ("common_prefix", f"local://{raw.parent}", "lake/")
    assert enough.post(IMPORT, json=told(other)).status_code == 403


def deny(action: str, resource: str) -> Statement:
    return Statement(effect="deny", action=(action,), resource=resource)


def test_rel_S16_who_may_not_read_or_write_something_below_imports_no_folder_around_it(
    api: Api, raw: Path
) -> None:
    everything = allow("fs:*", "*")
    unread = deny("fs:ImportFromStorage", f"arn:lakefs:fs:::namespace/file://{raw}/more/*")
    unwritten = deny("fs:WriteObject", f"{LAKE}/object/lake/more/b*")
    for number, refusal in enumerate((unread, unwritten)):
        user = api.user(f"d{number}", everything, refusal)
        for source in (f"file://{raw}", f"local://{raw}", f"local://{raw}/more/"):
            told_so = told(("common_prefix", source, "lake/"))
            assert user.post(IMPORT, json=told_so).status_code == 403, source
        alone = told(("object", f"local://{raw}/a.csv", "lake/a.csv"))
        assert user.post(IMPORT, json=alone).status_code == 202


def test_a_cancelled_import_says_so_and_one_that_is_over_is_a_conflict(api: Api, raw: Path) -> None:
    tasks, repository = api.services.tasks, api.services.repositories.fresh("lake-1")
    done = api.post(IMPORT, json=told(folder(raw))).json["id"]
    settled(api, IMPORT, id=done)
    assert api.delete(IMPORT, params={"id": done}).status_code == 409
    rows = tasks.rows(repository, TaskKind.IMPORT)
    # A row as another server's, whose work is not over.
    held = replace(rows.get(done), id="0" * 32, done=False, committing=False, result=TaskResult())
    rows.table.set(held.id.encode(), held)
    assert api.delete(IMPORT, params={"id": held.id}).status_code == 204
    status = api.get(IMPORT, params={"id": held.id}).json
    assert (status["completed"], status["error"]["code"]) == (False, "cancelled")


def test_an_import_is_known_on_its_own_branch_alone(api: Api, raw: Path) -> None:
    begun = api.post(IMPORT, json=told(folder(raw))).json["id"]
    settled(api, IMPORT, id=begun)
    made = {"name": "dev", "source": "main"}
    assert api.post("/repositories/lake-1/branches", json=made).status_code == 201
    elsewhere = IMPORT.replace("main", "dev")
    assert api.get(elsewhere, params={"id": begun}).status_code == 404
    assert api.delete(elsewhere, params={"id": begun}).status_code == 404
    assert api.get(IMPORT, params={"id": "nothing"}).status_code == 404


def test_mistakes_are_answered_at_once(api: Api, raw: Path) -> None:
    assert api.post(IMPORT, json=told()).status_code == 400
    assert api.post(IMPORT.replace("main", "no"), json=told(folder(raw))).status_code == 404
    assert api.post(IMPORT, json=told(("common_prefix", "nonsense", "x"))).status_code == 400


def test_rel_S22_nothing_is_imported_from_the_lake_behind_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(tmp_path / "lake")
    with open_api(tmp_path / "lake", blockstore=Blockstore(readable_folders=(tmp_path,))) as api:
        make_repository(api)
        for place in ("way", "way/objects", "way/objects/lake-1/data"):
            answer = api.post(
                IMPORT, json=told(("common_prefix", f"file://{tmp_path}/{place}", "x"))
            )
            assert (answer.status_code, answer.json["code"]) == (400, "import-source-overlaps")


def inventory(raw: Path, kind: str, *names: str) -> str:
    """Write a list of files beside them, as stores do."""
    rows = [
        {"Key": name, "address": f"file://{raw}/{name}", "Size": 3, "ETag": "e", "LastModified": 7}
        for name in names
    ]
    table = pa.Table.from_pylist(rows)
    place = raw / f"list.{kind}"
    if kind == "csv":
        pyarrow.csv.write_csv(table, place)
    else:
        pyarrow.parquet.write_table(table, place)
    return f"file://{place}"


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_an_inventory_says_what_lies_in_a_folder(api: Api, raw: Path, kind: str) -> None:
    listed = inventory(raw, kind, "a.csv", "more/b.csv")
    body = told(("common_prefix", f"file://{raw}", "in"))
    body["paths"][0]["inventory"] = listed
    status = settled(api, IMPORT, id=api.post(IMPORT, json=body).json["id"])
    assert (status["completed"], status["ingested_objects"]) == (True, 2)
    assert read(api, "/repositories/lake-1", "in/a.csv") == b"a,1"


def test_rel_S22_an_inventory_brings_nothing_from_elsewhere(api: Api, raw: Path) -> None:
    lake = api.services.settings.lake
    listed = inventory(raw, "csv", "../lake/kv.db")
    body = told(("common_prefix", f"file://{lake}", "in"))
    body["paths"][0]["inventory"] = listed
    assert api.post(IMPORT, json=body).json["code"] == "import-source-overlaps"
    body["paths"][0] |= {"path": f"file://{raw}/more", "inventory": listed}
    status = settled(api, IMPORT, id=api.post(IMPORT, json=body).json["id"])
    assert status["error"]["code"] == "nothing-to-import"
    body["paths"][0] |= {"path": f"file://{raw}"}
    status = settled(api, IMPORT, id=api.post(IMPORT, json=body).json["id"])
    assert status["error"]["code"] == "invalid-address"
    body["paths"][0] |= {"path": f"file://{raw}", "inventory": "file:///etc/passwd"}
    assert api.post(IMPORT, json=body).json["code"] == "import-source-refused"
