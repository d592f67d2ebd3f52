# SPDX-License-Identifier: Apache-2.0
"""Processes as the kernel lists them: who is a child of whom, and who belongs to which session."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path


def _status() -> Iterator[tuple[int, int, int]]:
    """Give pid, parent and session of every process that is no zombie."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if words[0] != "Z":
            yield int(folder.name), int(words[1]), int(words[3])


def children_of(parent: int, program: str) -> list[int]:
    """Give the children of a process whose command line names a program."""
    found = [pid for pid, above, _ in _status() if above == parent]
    return [pid for pid in found if program in _command(pid)]


def members_of(session: int) -> list[int]:
    """Give the processes of a session: Spark's workers too, whose group is another."""
    return [pid for pid, _, its in _status() if its == session]


def eventually(is_so: Callable[[], object], seconds: float = 300) -> None:
    """Wait until something is so. Raises TimeoutError."""
    give_up = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > give_up:
            raise TimeoutError
        time.sleep(0.05)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
