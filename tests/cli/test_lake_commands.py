# SPDX-License-Identifier: Apache-2.0
"""Commands that work on a lake's stores: settings, first user, checks, snapshots, copies."""

import json
import stat
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lochan.bootstrap.lake import open_lake
from lochan.bootstrap.secret_key import draw_secret_key
from lochan.cli.app import run
from lochan.environment import RealEnvironment
from lochan.kv.open import open_store
from lochan.model.ids import BranchName, RepositoryId, StorageNamespace
from lochan.model.keys import BRANCHES, COMMITS, partition_of
from lochan.operations.create_repository import create_repository
from lochan.operations.sample_data import add_sample_data
from lochan.refs.repositories import get_repository, list_repositories

WORLD = RealEnvironment()
Ask = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run a command with --json; gives its exit code and what it showed, or its error line."""

    def asked(*args: str) -> Any:  # noqa: ANN401 - it is JSON
        code = run([*args, "--json"])
        said = capsys.readouterr()
        return code, json.loads(said.out) if said.out else said.err

    return asked


@pytest.fixture
def lake(folder: Path) -> Path:
    """Make a lake with sample data in the folder `lake`."""
    (folder / "lake").mkdir()
    with open_lake(f"sqlite://{folder}/lake/kv.db", WORLD) as opened:
        place = StorageNamespace(f"local://{folder}/lake/objects/sample")
        made = create_repository(opened, RepositoryId("sample"), place, BranchName("main"))
        add_sample_data(opened, made, "ann")
    return folder / "lake"


def test_setup_draws_a_secret_and_shows_credentials_once(folder: Path, ask: Ask) -> None:
    code, shown = ask("setup", "--user", "ann")
    assert code == 0
    assert shown["user"] == "ann"
    assert len(shown["secret_access_key"]) == 40
    mode = (folder / "lake/secret.key").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600

    code, said = ask("setup")
    assert code == 4
    assert "set up already" in said


def test_setup_without_a_secret_of_a_shared_store_is_refused(folder: Path, ask: Ask) -> None:
    code, said = ask("setup", "--kv", f"sqlite://{folder}/elsewhere.db")

    assert code == 2
    assert "auth.encrypt.secret_key: it is missing" in said
    assert not (folder / "lake").exists()


def test_a_secret_is_drawn_once_whoever_comes(tmp_path: Path) -> None:
    first = draw_secret_key(tmp_path / "lake", WORLD).read_text()

    assert len(bytes.fromhex(first)) == 32
    assert draw_secret_key(tmp_path / "lake", WORLD).read_text() == first
    assert [file.name for file in (tmp_path / "lake").iterdir()] == ["secret.key"]


def test_config_check_finds_all_that_is_wrong(folder: Path, ask: Ask) -> None:
    (folder / "lochan.yaml").write_text("listen: nowhere\nworkerz: 2\n")
    code, findings = ask("config", "check")

    assert code == 2
    assert {one["key"] for one in findings} == {"listen", "workerz", "auth.encrypt.secret_key"}


def test_config_show_masks_what_is_secret(
    folder: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCHAN_AUTH_ENCRYPT_SECRET_KEY", "tell nobody " * 4)
    monkeypatch.setenv("LOCHAN_DEBUG", "")
    code, shown = ask("config", "show", "--kv", "postgres://ann:hush@host/db")

    assert code == 0
    assert shown["kv"] == "postgres://ann:********@host/db"
    assert "tell nobody" not in str(shown)
    assert ask("config", "check") == (0, [])


def test_fsck_finds_nothing_in_a_whole_lake(lake: Path, ask: Ask) -> None:
    assert ask("fsck") == (0, [])
    assert ask("fsck", "-r", "sample", "--no-objects") == (0, [])
    assert ask("fsck", "-r", "nobody")[0] == 3


def test_fsck_ends_with_1_where_a_lake_is_damaged(lake: Path, ask: Ask) -> None:
    with closing(open_store(f"sqlite://{lake}/kv.db", WORLD)) as store:
        partition = partition_of(get_repository(store, WORLD, RepositoryId("sample")))
        store.delete(partition, next(store.scan(partition, COMMITS))[0])
    code, findings = ask("fsck")

    assert code == 1
    assert "missing-commit" in {one["kind"] for one in findings}
    assert all(one["advice"] for one in findings)


def test_fsck_repairs_rows_that_follow_from_others(lake: Path, ask: Ask) -> None:
    with closing(open_store(f"sqlite://{lake}/kv.db", WORLD)) as store:
        partition = partition_of(get_repository(store, WORLD, RepositoryId("sample")))
        key = next(store.scan(partition, b"clock/"))[0]
        assert key.startswith(b"clock/")
        store.set(partition, key, b"f" * 64)

    assert ask("fsck")[0] == 1
    assert ask("fsck", "--repair") == (0, [])


def test_diagnose_writes_a_bundle_over_nothing(lake: Path, folder: Path, ask: Ask) -> None:
    assert ask("diagnose", "-o", "bundle.zip") == (0, {"file": "bundle.zip"})
    with zipfile.ZipFile(folder / "bundle.zip") as bundle:
        assert b"sample" in bundle.read("repositories.jsonl")

    code, said = ask("diagnose", "-o", "bundle.zip")
    assert code == 1
    assert "bundle.zip: File exists" in said


def test_a_snapshot_is_restored_into_an_empty_store(lake: Path, folder: Path, ask: Ask) -> None:
    code, made = ask("kv", "snapshot")
    assert code == 0
    assert [one["id"] for one in ask("kv", "snapshots")[1]] == [made["id"]]
    other = f"sqlite://{folder}/other.db"

    assert ask("kv", "restore", made["id"])[0] == 5, "the store is not empty"
    assert ask("kv", "restore", made["id"], "--kv", other)[0] == 0
    assert ask("fsck", "--kv", other) == (0, [])
    with closing(open_store(other, WORLD)) as store:
        assert [found.repository_id for found in list_repositories(store)] == ["sample"]
    assert ask("kv", "restore", "nothing", "--kv", other)[0] == 3


def test_a_damaged_snapshot_is_told_and_not_restored(lake: Path, folder: Path, ask: Ask) -> None:
    place = f"local://{folder}/saved"
    _, made = ask("kv", "snapshot", "--place", place)
    part = next(file for file in (folder / "saved").rglob("part-00000*"))
    part.write_bytes(part.read_bytes()[:-1] + b"\0")
    other = f"sqlite://{folder}/other.db"
    code, said = ask("kv", "restore", made["id"], "--place", place, "--kv", other)

    assert code == 1
    assert "is damaged" in said


def test_a_lake_is_copied_to_another_store(lake: Path, folder: Path, ask: Ask) -> None:
    source, target = f"sqlite://{lake}/kv.db", f"sqlite://{folder}/copy.db"
    code, shown = ask("kv", "copy", source, target, "--settle", "0")

    assert code == 0
    assert shown["rows"] > 40
    with closing(open_store(target, WORLD)) as store:
        repository = get_repository(store, WORLD, RepositoryId("sample"))
        assert next(store.scan(partition_of(repository), BRANCHES))
    assert ask("kv", "copy", source, target, "--give-up")[0] == 5, "the copy may be in use"
