# SPDX-License-Identifier: Apache-2.0
"""Files go when the last one lets go of them, and a process does not end before."""

import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from lochan.fs.filesystem import LochanFileSystem
from lochan.fs.lent import lent

HOLD = """
import ctypes, sys, threading, time
from lochan.fs.filesystem import LochanFileSystem

fs = LochanFileSystem(lake=sys.argv[1])
fs.lake.repository("fs-lake").create()
fs.pipe("fs-lake/main/a", b"12")
file = fs.open("fs-lake/main/a")
if sys.argv[2] == "closed":
    file.close()
# As C++ holds it, which no collector of Python's sees.
ctypes.pythonapi.Py_IncRef(ctypes.py_object(file))
address = id(file)
del file

def let_go():
    time.sleep(0.3)
    held = ctypes.cast(address, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(held))
    del held
    print("let go", flush=True)

threading.Thread(target=let_go, daemon=True).start()
"""


@pytest.mark.parametrize(("how", "shown"), [("held", "let go\n"), ("closed", "")])
def test_a_process_ends_after_the_last_thread_let_go_of_its_files(
    tmp_path: Path, how: str, shown: str
) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path / "lake"), how]

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert (done.returncode, done.stdout) == (0, shown), done.stderr


def test_a_file_that_nobody_holds_is_gone_at_once(fs: LochanFileSystem) -> None:
    fs.pipe("fs-lake/main/a", b"12345")
    before = lent()
    file = fs.open("fs-lake/main/a")
    gone = weakref.ref(file)

    assert file.read(2) == b"12"
    assert lent() == before + 1
    del file

    assert gone() is None
    assert lent() == before


def test_a_file_that_was_closed_is_awaited_by_nobody(fs: LochanFileSystem) -> None:
    fs.pipe("fs-lake/main/a", b"12345")
    before = lent()

    with fs.open("fs-lake/main/a") as file:
        assert lent() == before + 1

    assert file.closed
    assert lent() == before
