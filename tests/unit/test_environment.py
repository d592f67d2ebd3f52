# SPDX-License-Identifier: Apache-2.0
"""What the machine gives is never given twice."""

import os
import re
from concurrent.futures import ThreadPoolExecutor

from lochan.environment import RealEnvironment

THREADS = 8
EACH = 2_000


def _some(_: int) -> list[str]:
    environment = RealEnvironment()
    return [environment.new_id() for _ in range(EACH)]


def test_threads_and_environments_of_a_process_get_ids_of_their_own() -> None:
    with ThreadPoolExecutor(THREADS) as threads:
        given = [name for names in threads.map(_some, range(THREADS)) for name in names]

    assert len(set(given)) == THREADS * EACH
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in given)


def test_a_forked_child_gives_no_id_that_its_parent_gives() -> None:
    environment = RealEnvironment()
    environment.new_id()  # draws for later calls, too
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, "".join(_some(0)[:100]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        text = told.read().decode()
    assert os.waitpid(child, 0)[1] == 0

    theirs = {text[at : at + 32] for at in range(0, len(text), 32)}
    assert len(theirs) == 100
    assert theirs.isdisjoint(environment.new_id() for _ in range(100))
