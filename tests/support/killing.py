# SPDX-License-Identifier: Apache-2.0
"""Cycles of a server that works, is killed, and is started again (V6)."""

import os
import signal
from pathlib import Path
from time import monotonic, sleep

from support.flight import Flight
from support.kept import Kept, client_of, mixed, new_repository, require_sound_after_kill
from support.launcher import Launched, Launcher, set_up

IN_FLIGHT = 60
BRANCH = "main"


def run_cycles(launcher: Launcher, lake: Path, cycles: int) -> int:
    """Kill a server so many times under load; give how many writes were acknowledged.

    What a cycle acknowledged must be there when the next one begins, and all of it at the end. The
    moment of the kill moves from the first answers of a cycle to its last.
    """
    all_of_it = Kept("rep")
    last = Kept("rep")
    broken = 0
    for cycle in range(cycles):
        server = launcher.start(lake)
        set_up(server)
        with client_of(server) as client:
            if cycle == 0:
                new_repository(client, lake, "rep")
            last.require_all(client)
        last = Kept("rep")
        broken += IN_FLIGHT - _load(server, f"c{cycle}", cycle, (last, all_of_it))
    assert broken > cycles * IN_FLIGHT // 4, "the kills came too late to matter"
    with launcher.running(lake) as server, client_of(server) as client:
        all_of_it.require_all(client)
    require_sound_after_kill(lake)
    return len(all_of_it)


def _load(server: Launched, tail: str, cycle: int, kept: tuple[Kept, ...]) -> int:
    requests = [mixed("rep", BRANCH, tail, number) for number in range(IN_FLIGHT)]
    flight = Flight(server.port, requests)
    flight.start()
    if cycle % 5 == 4:
        os.kill(server.workers()[cycle % 2], signal.SIGKILL)
    flight.land(most=(cycle % 7) * 8 + 1)
    server.kill()
    answered = flight.land()
    for request, answer in zip(requests, flight.answers(), strict=True):
        for one in kept:
            one.note(request, answer)
    return answered


def wait_for_workers(server: Launched, count: int, *, without: int, seconds: float = 20) -> None:
    """Wait until so many workers live, of which a killed one is none."""
    give_up = monotonic() + seconds
    while len(alive := server.workers()) < count or without in alive:
        assert monotonic() < give_up, "the worker was not started again"
        sleep(0.02)
