# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from lochan.config.client import ClientSettings
from lochan.config.gather import Gathered
from lochan.config.read import client_settings, gather_client
from lochan.errors import InvalidInput

URL = "SERVER_ENDPOINT_URL"
ID = "CREDENTIALS_ACCESS_KEY_ID"
SECRET = "CREDENTIALS_SECRET_ACCESS_KEY"
FILE = """
server:
  endpoint_url: http://{0}/api/v1
credentials:
  access_key_id: {0}
  secret_access_key: secret of {0}
"""
LAKECTL_ONLY = "local: {skip_non_regular_files: true}\nmetastore: {type: glue}\n"


def told(home: Path, environment: dict[str, str], **given: str) -> Gathered[ClientSettings]:
    return gather_client(environment, home, {key.replace("__", "."): v for key, v in given.items()})


def test_each_source_gives_way_to_the_one_before_it(tmp_path: Path) -> None:
    def place(**environment: str) -> tuple[str, str, str]:
        settings = told(tmp_path, environment).accepted()
        pair = settings.credentials
        return settings.endpoint, pair.access_key_id, pair.secret_access_key.reveal()

    (tmp_path / ".lakectl.yaml").write_text(FILE.format("lakectl") + LAKECTL_ONLY)
    assert place() == ("http://lakectl", "lakectl", "secret of lakectl")

    pair = {f"LAKECTL_{ID}": "lakectl-env", f"LAKECTL_{SECRET}": "secret of lakectl-env"}
    assert place(**pair) == ("http://lakectl", "lakectl-env", "secret of lakectl-env")

    (tmp_path / ".lochan.yaml").write_text(FILE.format("lochan"))
    lakectl = {**pair, f"LAKECTL_{URL}": "http://lakectl-env"}
    assert place(**lakectl) == ("http://lochan", "lochan", "secret of lochan")

    ours = {f"LOCHAN_{ID}": "env", f"LOCHAN_{SECRET}": "secret of env"}
    assert place(**ours) == ("http://lochan", "env", "secret of env")


def test_arguments_win_over_everything(tmp_path: Path) -> None:
    gathered = told(tmp_path, {f"LOCHAN_{URL}": "http://env"}, server__endpoint_url="http://here")

    assert gathered.accepted().endpoint == "http://here"


def test_without_any_source_the_server_of_this_machine_is_meant(tmp_path: Path) -> None:
    settings = told(tmp_path, {}).accepted()

    assert settings.endpoint == "http://127.0.0.1:8000"
    assert not settings.credentials.secret_access_key


def test_lakectls_file_may_lie_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(FILE.format("elsewhere"))
    settings = told(tmp_path, {"LAKECTL_CONFIG_FILE": str(tmp_path / "elsewhere")}).accepted()

    assert settings.credentials.access_key_id == "elsewhere"


def test_a_secret_is_not_used_with_another_key_than_its_own(tmp_path: Path) -> None:
    (tmp_path / ".lochan.yaml").write_text(FILE.format("mine"))
    (finding,) = told(tmp_path, {f"LOCHAN_{ID}": "other"}).findings

    assert finding.key == "credentials.secret_access_key"
    assert "belongs to mine; give the secret of other too" in str(finding)


def test_key_and_secret_may_come_from_two_places(tmp_path: Path) -> None:
    (tmp_path / ".lochan.yaml").write_text("credentials: {access_key_id: mine}\n")
    settings = told(tmp_path, {f"LOCHAN_{SECRET}": "from the environment"}).accepted()

    assert settings.credentials.secret_access_key.reveal() == "from the environment"


def test_our_own_file_may_hold_no_unknown_key(tmp_path: Path) -> None:
    (tmp_path / ".lochan.yaml").write_text("server: {endpont_url: x}\n")
    (finding,) = told(tmp_path, {}).findings

    assert finding.remedy == "did you mean server.endpoint_url?"


def test_a_clients_settings_are_read_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(f"LOCHAN_{URL}", "http://somewhere/api/v1/")
    assert client_settings().endpoint == "http://somewhere"

    (tmp_path / ".lochan.yaml").write_text("nonsense")
    with pytest.raises(InvalidInput, match=r"holds no keys"):
        client_settings()
