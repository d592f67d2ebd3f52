# SPDX-License-Identifier: Apache-2.0
"""kill -9 under load: nothing that was acknowledged is lost, and the lake is sound."""

import os
import signal
from pathlib import Path

import pytest

from support.flight import Flight
from support.kept import Kept, client_of, mixed, new_repository, require_sound_after_kill
from support.killing import run_cycles, wait_for_workers
from support.launcher import Launcher


def test_rel_V6_a_server_that_is_killed_under_load_loses_nothing(
    launcher: Launcher, tmp_path: Path
) -> None:
    count = run_cycles(launcher, tmp_path / "lake", 12)
    print(f"{count} acknowledged writes over 12 kills")


@pytest.mark.ci_campaign
def test_rel_V6_sixty_kills_lose_nothing(launcher: Launcher, tmp_path: Path) -> None:
    count = run_cycles(launcher, tmp_path / "lake", 60)
    print(f"{count} acknowledged writes over 60 kills")


@pytest.mark.campaign
@pytest.mark.parametrize("lake", range(40))
def test_rel_V6_two_thousand_kills_lose_nothing(
    launcher: Launcher, tmp_path: Path, lake: int
) -> None:
    """Fifty kills of each of forty lakes: one lake would grow until its checks took all time."""
    count = run_cycles(launcher, tmp_path / f"lake-{lake}", 50)
    print(f"{count} acknowledged writes over 50 kills")


def test_rel_V6_a_worker_that_is_killed_is_started_again_and_the_other_serves_on(
    launcher: Launcher, tmp_path: Path
) -> None:
    lake, kept = tmp_path / "lake", Kept("rep")
    with launcher.running(lake) as server:
        with client_of(server) as client:
            new_repository(client, lake, "rep")
        requests = [mixed("rep", "main", "one", number) for number in range(100)]
        flight = Flight(server.port, requests)
        flight.start()
        killed = server.workers()[0]
        os.kill(killed, signal.SIGKILL)
        assert 0 < flight.land() < 100
        for request, answer in zip(requests, flight.answers(), strict=True):
            kept.note(request, answer)
        wait_for_workers(server, 2, without=killed)
        with client_of(server) as client:
            kept.require_all(client)
        assert server.stop() == 0
    require_sound_after_kill(lake)
