# SPDX-License-Identifier: Apache-2.0
"""Users, groups, policies and credentials by commands, and the key that this machine uses."""

import io
import json
from pathlib import Path

import pytest
import yaml

from support.lake_commands import LakeCommands

STATEMENT = {"effect": "allow", "action": ["fs:Read*"], "resource": "arn:lakefs:fs:::*"}


@pytest.fixture
def statements(tmp_path: Path) -> Path:
    file = tmp_path / "statements.json"
    file.write_text(json.dumps([STATEMENT]))
    return file


def test_users_are_made_listed_shown_and_deleted(lochan: LakeCommands) -> None:
    assert lochan.json("auth", "users", "create", "ann")["id"] == "ann"
    assert lochan("auth", "users", "create", "bob").out == "created user bob\n"
    lochan("auth", "users", "create", "bob", code=4)

    assert [one["id"] for one in lochan.json("auth", "users", "list")] == ["ann", "bob"]
    table = lochan("auth", "users", "list", "--prefix", "b").lines
    assert [line.split()[0] for line in table] == ["USER", "bob"]
    assert lochan.json("auth", "users", "show", "ann")["policies"] == []
    lochan("auth", "users", "delete", "ann", "--yes")
    lochan("auth", "users", "show", "ann", code=3)


def test_policies_are_made_shown_changed_attached_and_deleted(
    lochan: LakeCommands, statements: Path
) -> None:
    lochan("auth", "users", "create", "ann")
    made = lochan.json("auth", "policies", "create", "read", "--statements", statements)
    assert made["statement"] == [STATEMENT]
    lochan("auth", "users", "attach", "ann", "read")
    assert "read" in lochan("auth", "users", "show", "ann").out

    statements.write_text(json.dumps([{**STATEMENT, "effect": "deny"}]))
    lochan("auth", "policies", "update", "read", "--statements", statements)
    assert "deny" in lochan("auth", "policies", "show", "read").lines[2]
    assert [line.split()[0] for line in lochan("auth", "policies", "list").lines[:2]] == [
        "POLICY",
        "read",
    ]
    lochan("auth", "users", "detach", "ann", "read")
    assert lochan.json("auth", "users", "show", "ann")["policies"] == []
    lochan("auth", "policies", "delete", "read", "--yes")
    lochan("auth", "policies", "show", "read", code=3)
    statements.write_text("{}")
    lochan("auth", "policies", "create", "read", "--statements", statements, code=2)


def test_groups_have_members_and_policies(lochan: LakeCommands, statements: Path) -> None:
    lochan("auth", "users", "create", "ann")
    lochan("auth", "groups", "create", "readers", "--description", "who read")
    lochan("auth", "groups", "members", "add", "readers", "ann")
    lochan("auth", "policies", "create", "read", "--statements", statements)
    lochan("auth", "groups", "attach", "readers", "read")

    assert [one["id"] for one in lochan.json("auth", "groups", "members", "list", "readers")] == [
        "ann"
    ]
    assert lochan.json("auth", "groups", "show", "readers")["policies"] == ["read"]
    told = lochan.json("auth", "users", "show", "ann")
    assert (told["groups"], told["effective_policies"]) == (["readers"], ["read"])
    assert "who read" in lochan("auth", "groups", "list").lines[1]
    assert "read" in lochan("auth", "groups", "show", "readers").out

    lochan("auth", "groups", "members", "remove", "readers", "ann")
    lochan("auth", "groups", "detach", "readers", "read")
    assert lochan.json("auth", "groups", "members", "list", "readers") == []
    lochan("auth", "groups", "delete", "readers", "--yes")
    lochan("auth", "groups", "show", "readers", code=3)


def test_a_secret_is_shown_once(lochan: LakeCommands) -> None:
    lochan("auth", "users", "create", "ann")
    whose = ("--user", "ann")
    made = lochan.json("auth", "credentials", "create", *whose)
    assert len(made["secret_access_key"]) > 20

    listed = lochan("auth", "credentials", "list", *whose)
    assert made["access_key_id"] in listed.out
    assert made["secret_access_key"] not in listed.out
    shown = lochan.json("auth", "credentials", "show", made["access_key_id"], *whose)
    assert shown["access_key_id"] == made["access_key_id"]
    lochan("auth", "credentials", "delete", made["access_key_id"], *whose, "--yes")
    assert lochan.json("auth", "credentials", "list", *whose) == []


def test_whoami_tells_the_user_and_the_lake(lochan: LakeCommands) -> None:
    assert " at http" in lochan("auth", "whoami").out
    assert lochan.json("auth", "whoami")["user"]["id"]


@pytest.fixture
def here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> LakeCommands:
    """Give commands of a person without settings, whose stdin holds a secret."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.stdin", io.StringIO("the-secret\n"))
    return LakeCommands(tmp_path, (), tmp_path, capsys)


def test_config_init_writes_a_file_for_its_owner_alone(here: LakeCommands) -> None:
    said = here("config", "init", "--endpoint-url", "http://lake:1", "--access-key-id", "AK").out

    file = here.folder / ".lochan.yaml"
    assert said == f"wrote {file}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert yaml.safe_load(file.read_text()) == {
        "server": {"endpoint_url": "http://lake:1"},
        "credentials": {"access_key_id": "AK", "secret_access_key": "the-secret"},
    }
    assert "--force" in here("config", "init", "--access-key-id", "AK", code=4).err


def test_what_else_the_file_says_is_kept(here: LakeCommands) -> None:
    file = here.folder / ".lochan.yaml"
    file.write_text("server: {retries: 9, endpoint_url: http://old:1}\n")
    here("config", "init", "--access-key-id", "AK", "--force")

    told = yaml.safe_load(file.read_text())["server"]
    assert told == {"retries": 9, "endpoint_url": "http://127.0.0.1:8000"}


def test_nothing_is_written_where_something_is_missing(
    here: LakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--access-key-id" in here("config", "init", code=2).err
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert "no secret" in here("config", "init", "--access-key-id", "AK", code=2).err
    assert not (here.folder / ".lochan.yaml").exists()
