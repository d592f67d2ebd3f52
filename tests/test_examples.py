# SPDX-License-Identifier: Apache-2.0
"""The examples run as a newcomer runs them: by their own process, in an empty folder."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("newcomer")


@pytest.fixture(scope="module")
def shown(folder: Path) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / "demo.py")]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def url(shown: str, folder: Path) -> Iterator[str]:
    command = [sys.executable, "-W", "error", "-u", str(EXAMPLES / "serve.py"), "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        lines = iter(server.stdout.readline, "")
        yield next(line for line in lines if line.startswith("http")).split()[0]
        server.terminate()


def test_the_demo_says_what_it_did(shown: str) -> None:
    assert "1008" in shown
    assert "24 hours, the first is 00:00," in shown
    assert "the same tree: True" in shown
    assert "PredicateFailed" in shown


def test_the_demo_can_be_run_again(shown: str, folder: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "demo.py")]

    subprocess.run(command, cwd=folder, capture_output=True, check=True)


def test_the_view_shows_folders_and_objects(url: str) -> None:
    with urlopen(f"{url}readings/2024-07-14/") as page:
        assert "garden.csv" in page.read().decode()
    with urlopen(f"{url}readings/2024-07-14/garden.csv") as body:
        assert body.headers["Content-Type"] == "text/csv"
        assert body.read().startswith(b"hour,celsius\n00:00,")


@pytest.mark.parametrize("path", ["nowhere/", "readings/2024-07-14/cave.csv"])
def test_the_view_says_what_is_not_there(url: str, path: str) -> None:
    with pytest.raises(HTTPError, match="404") as caught:
        urlopen(url + path)

    assert b"on main" in caught.value.read()
    caught.value.close()
