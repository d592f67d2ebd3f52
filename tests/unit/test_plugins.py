# SPDX-License-Identifier: Apache-2.0
import sys
from importlib import invalidate_caches
from pathlib import Path

import pytest

from lochan import plugins
from lochan.errors import InvalidInput, Unavailable


@pytest.fixture
def foreign_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install somebody else's package, as pip would: metadata with entry points, and a module."""
    (tmp_path / "foreign_store.py").write_text("class Store: ...\n")
    (tmp_path / "broken_store.py").write_text("import a_package_that_is_not_installed\n")
    info = tmp_path / "foreign-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: foreign\nVersion: 1.0\nProvides-Extra: broken\n"
    )
    (info / "entry_points.txt").write_text(
        "[lochan.kv]\nforeign = foreign_store:Store\nbroken = broken_store:Store\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


def test_our_own_drivers_are_found_by_entry_point() -> None:
    assert {"memory", "sqlite", "postgres"} <= set(plugins.installed(plugins.KV))
    assert {"memory", "local", "s3", "gs", "az"} <= set(plugins.installed(plugins.OBJECTS))


@pytest.mark.usefixtures("foreign_drivers")
def test_somebody_elses_driver_is_found_like_ours() -> None:
    driver = plugins.load(plugins.KV, "foreign")

    assert driver is sys.modules["foreign_store"].Store
    assert "foreign" in plugins.installed(plugins.KV)


def test_a_driver_that_is_installed_while_we_run_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InvalidInput):
        plugins.load(plugins.KV, "late")
    (tmp_path / "late_store.py").write_text("class Store: ...\n")
    info = tmp_path / "late-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lochan.kv]\nlate = late_store:Store\n")
    invalidate_caches()

    assert plugins.load(plugins.KV, "late") is sys.modules["late_store"].Store


def test_an_unknown_driver_is_refused_with_the_names_that_exist() -> None:
    with pytest.raises(InvalidInput, match=r"no driver 'nosuch'.*memory.*sqlite") as caught:
        plugins.load(plugins.KV, "nosuch")

    assert caught.value.code == "unknown-driver"


@pytest.mark.usefixtures("foreign_drivers")
def test_a_driver_whose_package_is_missing_says_what_to_install() -> None:
    with pytest.raises(Unavailable, match=r"is_not_installed.*install foreign\[broken\]") as caught:
        plugins.load(plugins.KV, "broken")

    assert caught.value.code == "driver-not-installed"
    assert isinstance(caught.value.__cause__, ImportError)
