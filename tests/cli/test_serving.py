# SPDX-License-Identifier: Apache-2.0
"""The server as a person starts and ends it: serve and quickstart in processes of their own."""

import json
import signal
import socket
import subprocess
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from lochan.cli.quickstart import ACCESS_KEY_ID, SECRET_ACCESS_KEY
from support.command import lochan, running
from support.ports import free_port


def asked(port: int, path: str, key: str, secret: str) -> Any:  # noqa: ANN401 - it is JSON
    request = Request(f"http://127.0.0.1:{port}/api/v1{path}")
    request.add_header("authorization", "Basic " + b64encode(f"{key}:{secret}".encode()).decode())
    with urlopen(request) as answer:
        return json.load(answer)


def ended(server: subprocess.Popen[str], by: signal.Signals) -> tuple[int, str, str]:
    server.send_signal(by)
    out, err = server.communicate(timeout=60)
    return server.returncode, out, err


def test_quickstart_serves_a_sample_by_the_published_credentials(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, "quickstart", "--port", str(port), "--json", port=port) as server:
        found = asked(port, "/repositories", ACCESS_KEY_ID, SECRET_ACCESS_KEY)
        branch = asked(
            port, "/repositories/quickstart/branches/main", ACCESS_KEY_ID, SECRET_ACCESS_KEY
        )
        code, out, err = ended(server, signal.SIGTERM)

    assert [one["id"] for one in found["results"]] == ["quickstart"]
    assert len(branch["commit_id"]) == 64
    assert code == 0, err
    assert json.loads(out)["url"] == f"http://127.0.0.1:{port}"
    assert "Traceback" not in err

    with running(tmp_path, "quickstart", "--port", str(port), port=port) as server:
        again = asked(port, "/repositories", ACCESS_KEY_ID, SECRET_ACCESS_KEY)
        code, out, _ = ended(server, signal.SIGTERM)
    assert again == found, "what was made stays"
    assert code == 0
    assert ACCESS_KEY_ID in out
    assert "Ctrl-C ends the server" in out


def test_serve_takes_settings_from_file_environment_and_flags(tmp_path: Path) -> None:
    port = free_port()
    made = json.loads(lochan(tmp_path, "setup", "--lake", "mine", "--json").stdout)
    (tmp_path / "lochan.yaml").write_text(f"listen: 127.0.0.1:{port}\nlake: elsewhere\n")
    args = ("serve", "--lake", "mine")
    with running(tmp_path, *args, port=port, LOCHAN_WORKERS="2") as server:
        users = asked(port, "/user", made["access_key_id"], made["secret_access_key"])
        code, _, err = ended(server, signal.SIGTERM)

    assert users["user"]["id"] == "admin"
    assert code == 0, err
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--listen", "nowhere"], "listen"),
        (["--workers", "0"], "workers"),
        (["--lake", "new"], "auth.encrypt.secret_key: it is missing"),
        (["--config", "missing.yaml"], "missing.yaml"),
        (["--log-level", "loud"], "logging.level"),
    ],
)
def test_wrong_settings_end_with_2_before_the_port_is_open(
    tmp_path: Path, args: list[str], said: str
) -> None:
    ran = lochan(tmp_path, "serve", *args)

    assert ran.returncode == 2
    assert said in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not (tmp_path / "lake").exists()


def test_a_port_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = lochan(tmp_path, "quickstart", "--port", str(port))

    assert ran.returncode == 4
    expected = (
        f"lochan: 127.0.0.1:{port} is in use; stop what listens there, or choose another port"
    )
    assert ran.stderr == f"{expected}\n"


def test_a_store_that_does_not_answer_is_told_in_one_line(tmp_path: Path) -> None:
    secret = {"LOCHAN_AUTH_ENCRYPT_SECRET_KEY": "0123456789abcdef" * 2}
    ran = lochan(tmp_path, "serve", "--kv", "postgres://127.0.0.1:1/x", **secret)

    assert ran.returncode == 6
    assert ran.stderr.count("\n") == 1


def test_S28_quickstart_opens_no_lake_that_has_users(tmp_path: Path) -> None:
    assert lochan(tmp_path, "setup").returncode == 0
    ran = lochan(tmp_path, "quickstart", "--port", str(free_port()))

    assert ran.returncode == 5
    assert "users of its own" in ran.stderr


def test_quickstart_is_for_this_machine_alone(tmp_path: Path) -> None:
    variables = {"LOCHAN_LISTEN": "0.0.0.0:9", "LOCHAN_QUICKSTART": "true"}
    ran = lochan(tmp_path, "serve", **variables)

    assert ran.returncode == 2


def test_an_interruption_by_ctrl_c_ends_a_server_as_asked(tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, "quickstart", "--port", str(port), port=port) as server:
        code, _, err = ended(server, signal.SIGINT)

    assert code in {0, 130}
    assert "Traceback" not in err
