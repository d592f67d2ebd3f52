# SPDX-License-Identifier: Apache-2.0
"""Commands against a server that runs: logins, signed URLs, imports, and what it refuses."""

import io
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from support.lake_commands import LakeCommands
from support.server import Server, running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "outside").mkdir()
    for name in ("1.csv", "2.csv"):
        (folder / "outside" / name).write_text(name)
    readable = {"LOCHAN_BLOCKSTORE_READABLE_FOLDERS": str(folder / "outside")}
    with running_server(folder / "lake", workers=1, settings=readable) as found:
        yield found


@pytest.fixture
def lochan(
    server: Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> LakeCommands:
    """Give commands of a person who has logged in."""
    monkeypatch.setenv("HOME", str(tmp_path))
    commands = LakeCommands(server.lake, (), tmp_path, capsys)
    key, secret = server.auth
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{secret}\n"))
    commands("auth", "login", "--endpoint-url", server.url, "--access-key-id", key)
    return commands


def test_a_login_is_tried_before_it_is_kept(
    server: Server, lochan: LakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lochan("auth", "whoami").out == f"admin at {server.url}\n"
    before = (lochan.folder / ".lochan.yaml").read_text()
    monkeypatch.setattr("sys.stdin", io.StringIO("wrong\n"))
    login = ("auth", "login", "--endpoint-url", server.url, "--access-key-id", server.auth[0])

    assert "wrong" not in lochan(*login, code=5).err
    assert (lochan.folder / ".lochan.yaml").read_text() == before


def test_a_day_of_work(lochan: LakeCommands, tmp_path: Path) -> None:
    lochan("repo", "create", "day")
    lochan("branch", "create", "day/fix")
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(20):
        (folder / str(number)).write_text(str(number))
    lochan("fs", "upload", folder, "day/fix/in/", "-r", "--presign")
    lochan("commit", "day/fix", "-m", "twenty")
    assert lochan("diff", "day/main", "fix").lines[-1] == "20 added (30 B)"
    lochan("merge", "day/fix", "main")

    lochan("local", "clone", "day/main/in/", tmp_path / "out")
    (tmp_path / "out" / "7").write_text("seven")
    lochan("local", "commit", tmp_path / "out", "-m", "mine")
    assert lochan("fs", "cat", "day/main/in/7").out == "seven"
    annotated = lochan.json("annotate", "day/main/in/7")
    assert [one["commit"]["message"] for one in annotated] == ["mine"]


def test_a_signed_url_needs_no_key(lochan: LakeCommands) -> None:
    lochan("repo", "create", "signed")
    lochan.put("signed/main/a", "content")
    url = lochan("fs", "presign", "signed/main/a").out.strip()

    with urlopen(url) as answer:
        assert answer.read() == b"content"
    assert lochan.json("fs", "presign", "signed/main/a")["expires"] > 0


def test_objects_are_imported_and_waited_for(lochan: LakeCommands, server: Server) -> None:
    lochan("repo", "create", "imported")
    outside = f"file://{server.lake.parent / 'outside'}"
    told = ("--to", "imported/main/raw/", "-m", "load", "--meta", "k=v")
    made = lochan.json("import", "--from", f"{outside}/", *told)

    assert (made["message"], made["metadata"]["k"]) == ("load", "v")
    assert lochan("fs", "ls", "imported/main/raw/").lines == ["raw/1.csv", "raw/2.csv"]
    one = ("--from", f"{outside}/1.csv", "--to", "imported/main/one", "--object")
    assert lochan("import", *one).out.startswith("imported as ")
    begun = lochan("import", "--from", f"{outside}/", "--to", "imported/main/b/", "--no-wait")
    assert "has begun" in begun.out
    lochan("import", "--from", "file:///etc/", "--to", "imported/main/raw/", code=5)


def test_errors_of_a_server_have_their_codes(
    lochan: LakeCommands, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    lochan("log", "none/main", code=3)
    lochan("repo", "show", f"lochan://{server.url[7:]}/none", code=3)
    monkeypatch.setenv("LOCHAN_CREDENTIALS_SECRET_ACCESS_KEY", "wrong")
    lochan("repo", "list", code=5)
    monkeypatch.setenv("LOCHAN_SERVER_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("LOCHAN_SERVER_RETRIES", "0")
    lochan("repo", "list", code=6)


def test_a_server_plans_collects_and_adds_up(lochan: LakeCommands) -> None:
    lochan("repo", "create", "upkeep")
    lochan.put("upkeep/main/k.txt", "shown")
    lochan("commit", "upkeep/main", "-m", "one")
    planned = lochan.json("gc", "plan", "upkeep")
    assert (planned["is_plan"], planned["listed"]["count"]) == (True, 1)
    assert lochan.json("gc", "run", "upkeep")["moved"] == 0
    assert (
        "a server collects after 48 hours"
        in lochan("gc", "run", "upkeep", "--grace-hours", "1", code=2).err
    )
    assert "nothing" in lochan("gc", "undo", "upkeep", code=4).err
    assert lochan.json("report", "upkeep")["refs"][0]["size"] == 5


def test_an_inventory_is_imported(server: Server, lochan: LakeCommands) -> None:
    outside = server.lake.parent / "outside"
    rows = [f"{name},file://{outside}/{name},5,e,7\n" for name in ("1.csv", "2.csv")]
    listed = outside / "list.csv"
    listed.write_text("key,address,size,e_tag,last_modified\n" + "".join(rows))
    lochan("repo", "create", "listed")
    words = ("import", "--from", f"file://{outside}/", "--to", "listed/main/in/")
    lochan(*words, "--inventory", listed)
    assert lochan("fs", "cat", "listed/main/in/2.csv").out == "2.csv"
    assert "--object is one object" in lochan(*words, "--inventory", listed, "--object", code=2).err
