# SPDX-License-Identifier: Apache-2.0
"""A real server that cannot be had: its tests are skipped, and the summary says so loudly.

A fixture calls `skip_without(name, why)`. The section at the end of the run counts what was skipped
for each server; it reads the reports, so it also works when tests run in several processes.
"""

from collections import Counter
from typing import NoReturn

import pytest

_MARK = "real server missing: "


def skip_without(name: str, why: str) -> NoReturn:
    """Skip the test that needs a server or tool, and have it listed at the end."""
    pytest.skip(f"{_MARK}{name}: {why}")


def missing(reports: list[pytest.TestReport]) -> Counter[str]:
    """Count the skipped tests of each missing server."""
    found: Counter[str] = Counter()
    for report in reports:
        # A skip's longrepr is (file, line, "Skipped: reason").
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        if _MARK in reason:
            found[reason.split(_MARK, 1)[1]] += 1
    return found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which real servers were not there, and how many tests did not run for it."""
    found = missing(terminalreporter.stats.get("skipped", []))
    if not found:
        return
    terminalreporter.section("REAL SERVERS THAT COULD NOT BE HAD", sep="!", red=True, bold=True)
    for reason, count in sorted(found.items()):
        terminalreporter.write_line(f"{count:4d} tests skipped without {reason}", red=True)
