# SPDX-License-Identifier: Apache-2.0
"""Cleaning and compacting beside a server: it happens, fails without harm, and ends."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from lochan.bootstrap.background import Background
from lochan.environment import RealEnvironment
from lochan.logs.log import Log, open_log
from lochan.metrics import Metrics
from lochan.model.ids import BranchName, RepositoryId
from lochan.model.keys import CLEANUP
from lochan.operations.seal import seal
from lochan.refs.cleaner import Cleaner
from lochan.refs.repositories import get_repository
from support.grown_lake import grown
from support.web import open_api
from support.web_lakes import NAME, WebLake

WORLD = RealEnvironment()
SOON_S = 0.01


class Written:
    """Keeps what is logged."""

    is_terminal = False

    def __init__(self) -> None:
        self.text = b""
        self.told = threading.Event()

    def write(self, line: bytes) -> None:
        self.text += line
        self.told.set()


def a_log(written: Written) -> Log:
    return open_log(written, WORLD, format="json")  # type: ignore[arg-type]


def runs(metrics: Metrics) -> dict[tuple[str, ...], float]:
    return {labels: numbers[0] for labels, numbers in metrics.numbers()[COUNTED]}


COUNTED = "lochan_background_runs_total"


def wait_for(happened: Callable[[], bool]) -> None:
    late = threading.Event()
    for _ in range(1_000):
        if happened():
            return
        late.wait(SOON_S)
    pytest.fail("it did not happen")


def test_dead_rows_go_and_all_kinds_of_work_are_counted() -> None:
    stage, metrics, written = grown(), Metrics(WORLD), Written()
    dead = [key for key, _ in stage.lake.store.scan(CLEANUP)]
    assert any(True for token in dead for _ in stage.lake.store.scan(token))
    background = Background(stage.lake, a_log(written), metrics, pause_s=SOON_S)
    background.start()
    kinds = {(kind, "done") for kind in ("clean", "compact", "clear")}
    wait_for(lambda: kinds <= set(runs(metrics)))
    background.close()

    named = [token for token in dead if any(True for _ in stage.lake.store.scan(token))]
    assert len(named) < len(dead)


def test_the_cleaner_begins_at_once() -> None:
    stage, metrics = grown(), Metrics(WORLD)
    background = Background(stage.lake, a_log(Written()), metrics, pause_s=3600)
    background.start()
    wait_for(lambda: ("clean", "done") in runs(metrics))
    background.close()
    assert runs(metrics) == {("clean", "done"): 1}


def test_a_run_that_fails_is_logged_and_the_next_one_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_: Cleaner) -> NoReturn:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(Cleaner, "run", fail)
    metrics, written = Metrics(WORLD), Written()
    background = Background(grown().lake, a_log(written), metrics, pause_s=SOON_S)
    background.start()
    wait_for(lambda: runs(metrics).get(("clean", "failed"), 0) >= 2)
    background.close()

    assert b"background work failed" in written.text
    assert b"a bug" in written.text


def test_nothing_runs_after_the_end() -> None:
    of_others = set(threading.enumerate())
    metrics = Metrics(WORLD)
    background = Background(grown().lake, a_log(Written()), metrics, pause_s=SOON_S)
    background.start()
    background.close()
    background.close()

    assert not [
        one for one in set(threading.enumerate()) - of_others if one.name.startswith("lochan c")
    ]


def test_rel_H11_a_server_shows_the_longest_run_of_sealed_tokens(tmp_path: Path) -> None:
    with open_api(tmp_path / "lake") as api:
        web, services = WebLake.made(api), api.services
        web.branch("dev")
        repository = get_repository(services.lake.store, WORLD, RepositoryId(NAME))
        for branch in ("dev", "main", "main", "main"):
            web.put(branch, WORLD.new_id())
            seal(services.lake, repository, BranchName(branch))
        background = Background(services.lake, services.log, services.metrics, pause_s=SOON_S)
        background.start()
        wait_for(
            lambda: "\nlochan_sealed_tokens_longest 3.0\n" in api.get("/metrics", prefix="").text
        )
        web.commit("main")
        wait_for(
            lambda: "\nlochan_sealed_tokens_longest 1.0\n" in api.get("/metrics", prefix="").text
        )
        background.close()
