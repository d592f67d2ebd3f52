# SPDX-License-Identifier: Apache-2.0
"""pyproject.toml, the lock file and the package agree with each other."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import lochan

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
LOCKED_EXTRAS = ["dev", "postgres", "cloud", "arrow", "testing"]


def name_of(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found
    return re.sub(r"[-_.]+", "-", found[0]).lower()


@pytest.mark.parametrize("extra", ["", *LOCKED_EXTRAS])
def test_the_lock_pins_what_the_project_asks_for(extra: str) -> None:
    wanted = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    pinned = {name_of(name) for name in re.findall(r"^([\w.-]+)==", LOCK, re.MULTILINE)}

    assert {name_of(requirement) for requirement in wanted} <= pinned


def test_rel_S32_every_pinned_package_has_hashes_and_nothing_names_an_index() -> None:
    packages = re.split(r"^(?=[\w.-]+==)", LOCK, flags=re.MULTILINE)[1:]

    assert all("--hash=sha256:" in package for package in packages)
    assert "://" not in LOCK


def test_the_package_knows_its_version() -> None:
    assert lochan.__version__ == PROJECT["version"]


def test_a_driver_that_needs_a_package_has_an_extra_of_its_name() -> None:
    needy = {"postgres", "s3", "gs", "az"}

    assert needy <= PROJECT["optional-dependencies"].keys()


def test_who_connects_to_a_server_needs_no_part_of_it() -> None:
    program = "import lochan, sys; lochan.connect; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    parts = ("kernel", "kv", "objects", "committed", "operations", "web")
    loaded = ran.stdout.decode().split()
    assert [name for name in loaded if name.startswith(tuple(f"lochan.{p}" for p in parts))] == []
