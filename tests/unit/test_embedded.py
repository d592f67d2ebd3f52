# SPDX-License-Identifier: Apache-2.0
"""A lake in a folder, opened in this process."""

import gc
import stat
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

import lochan
from lochan.errors import InvalidInput, Unauthenticated, Unavailable


def test_a_folder_becomes_a_lake_and_stays_one(tmp_path: Path) -> None:
    with lochan.open(tmp_path / "deep" / "lake") as lake:
        lake.repository("kept").create().branch("main").upload("a", b"1")
    with lochan.open(str(tmp_path / "deep" / "lake")) as lake:
        assert lake.object("lochan://kept/main/a").read() == b"1"

    names = {path.name for path in (tmp_path / "deep" / "lake").iterdir()}
    assert {"kv.db", "objects", "secret.key"} <= names
    secret = tmp_path / "deep" / "lake" / "secret.key"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_two_may_open_one_lake(tmp_path: Path) -> None:
    with lochan.open(tmp_path) as one, lochan.open(tmp_path) as other:
        one.repository("shared").create().branch("main").upload("a", b"1")

        assert other.object("lochan://shared/main/a").read() == b"1"


def test_a_branch_outlives_the_variable_of_its_lake(tmp_path: Path) -> None:
    branch = lochan.open(tmp_path).repository("kept").create().branch("main")
    gc.collect()
    branch.upload("a", b"1")
    transport = weakref.ref(branch._transport)
    del branch
    gc.collect()

    assert transport() is None


def test_a_closed_lake_says_so(tmp_path: Path) -> None:
    lake = lochan.open(tmp_path)
    repository = lake.repository("kept").create()
    lake.close()
    lake.close()

    with pytest.raises(Unavailable, match="is closed; open it again"):
        repository.properties  # noqa: B018 - the question is what is tested


def test_a_file_is_no_lake(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")

    with pytest.raises(InvalidInput, match="is a file"):
        lochan.open(tmp_path / "f")


def test_credentials_that_are_shown_are_still_checked(tmp_path: Path) -> None:
    with lochan.open(tmp_path) as lake, pytest.raises(Unauthenticated):
        lake.transport.send("GET", ("user",), headers={"authorization": "Basic eDp5"})


def test_the_package_is_light_until_a_lake_is_asked_for() -> None:
    script = (
        "import sys, lochan, lochan.errors\n"
        "assert not {'falcon', 'httpx'} & set(sys.modules)\n"
        "lochan.open, lochan.connect\n"
        "assert 'falcon' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'opne'"):
        lochan.opne  # type: ignore[attr-defined]  # noqa: B018 - that is what is tested
