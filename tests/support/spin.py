# SPDX-License-Identifier: Apache-2.0
"""Run Spin, Debian's model checker, on a model of docs/formal.

`spin -a` turns a model into a C program that visits every state; we compile and run it, and read
its report. A search that was cut short, by memory or by depth, is never taken for a clean one.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from servers.missing import skip_without

MODELS = Path(__file__).resolve().parents[2] / "docs" / "formal"
_MOST_MEGABYTES = 3000
_DEEPEST = 100_000


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search found: states seen, the violated assertion if any, and whether it saw all."""

    states: int
    violated: str
    complete: bool


def search(
    model: str,
    variant: tuple[str, ...],
    directory: Path,
    *,
    compiled: tuple[str, ...] = (),
    given: tuple[str, ...] = (),
) -> Searched:
    """Search the states of one variant of a model; skips the test where Spin is not installed."""
    spin, compiler = shutil.which("spin"), shutil.which("cc")
    if spin is None or compiler is None:
        skip_without("Spin", "no spin or no cc found; install Debian's packages spin and gcc")
    macros = [f"-D{name}" for name in variant]
    _run([spin, *macros, "-a", str(MODELS / model)], directory)
    limits = ["-DSAFETY", f"-DMEMLIM={_MOST_MEGABYTES}", "-w"]
    _run([compiler, *limits, *compiled, "-o", "pan", "pan.c"], directory)
    return _read(_run([str(directory / "pan"), f"-m{_DEEPEST}", *given], directory))


def _run(command: list[str], directory: Path) -> str:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def _read(report: str) -> Searched:
    states = re.search(r"^\s*([\d.e+]+) states, stored", report, re.MULTILINE)  # 1.35e+08, too
    errors = re.search(r"errors: (\d+)", report)
    assert states is not None, report
    assert errors is not None, report
    violated = re.search(r"^pan:\s*1: (.*?)(?: \(at depth \d+\))?$", report, re.MULTILINE)
    assert (int(errors[1]) > 0) == (violated is not None), report
    cut_short = "Search not completed" in report or "max search depth too small" in report
    return Searched(int(float(states[1])), violated[1] if violated else "", not cut_short)
