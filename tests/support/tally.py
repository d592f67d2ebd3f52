# SPDX-License-Identifier: Apache-2.0
"""What simulations did, summed up in a line at the end of a run.

A test says `tally(executions=12, violations=0)`; counts of the same name are added up. They travel
with the reports, so it also works when tests run in several processes.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

import pytest

NAMES = {
    "executions": "executions",
    "seeds": "seeds",
    "calls": "failed calls",
    "violations": "violations",
    "mutants": "mutants caught",
    "missed": "mutants missed",
}

EARLIER = pytest.StashKey[Counter[str]]()  # what earlier parts of a campaign have counted


class Tally(Protocol):
    """Counts what a test did."""

    def __call__(self, **counts: int) -> None:
        """Add counts; their names are the keys of NAMES."""


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Tally:
    total: dict[str, int] = {}  # one for each test: some count very often
    request.node.user_properties.append(("tally", total))

    def count(**counts: int) -> None:
        assert counts.keys() <= NAMES.keys()
        for name, number in counts.items():
            total[name] = total.get(name, 0) + number

    return count


def tallied(reports: Iterable[pytest.TestReport]) -> Counter[str]:
    """Add up what tests have counted."""
    total = Counter[str]()
    for report in reports:
        for name, counts in getattr(report, "user_properties", []):
            if name == "tally":
                total.update(counts)
    return total


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many executions, seeds and mutants there were, and what came of them."""
    total = Counter(config.stash.get(EARLIER, {}))
    for outcome in ("passed", "failed"):
        total.update(tallied(terminalreporter.stats.get(outcome, [])))
    if total:
        said = ", ".join(f"{total[name]:,} {words}" for name, words in NAMES.items())
        terminalreporter.section("simulations of the protocol", sep="-")
        terminalreporter.write_line(said)
