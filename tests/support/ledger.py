# SPDX-License-Identifier: Apache-2.0
"""A campaign of hours that goes on where it was stopped.

With `--ledger=FILE` each test that passes is written down there, with its tally and a digest of
what it ran on (`sources`): code, tests, pinned packages, Python. What was written down for the same
digest is not run again, and its tally is counted again. A changed file changes the digest of all
that stands on it, so that that runs; a test that failed, was skipped or was under way when the run
was killed runs, too.
What has failed once is told to the end, also where it passed later: nobody repeats a campaign until
it is green and does not know. Why it failed is written down, too: pytest says that in the end only,
and a campaign may be killed before.

Several machines can share a campaign. `--kept=FILE` names what was written down elsewhere: it is
read and never written, but by `python -m support.ledger LEDGER KEPT`, which adds what a ledger says
of the present sources and drops what is said of others. The compiled kernel is therefore no part of
the digest: each machine makes other bytes of the same sources, and make sees to it that they are
made of these.

One line of JSON a test, flushed at once. When tests run in several processes, the one that
distributes them reads and writes the file, and tells the others what to leave out: they must agree
on it, also those that are started later in the place of one that died.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import msgspec
import pytest

from support.sources import Sources
from support.tally import EARLIER, tallied

WHY = 20_000  # characters of what pytest says of a failure, the last ones
_DONE = "ledger_done"
_NONE: Mapping[str, int] = MappingProxyType({})


class Ended(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line: which test ended, on what, how, what it counted, and why it failed."""

    digest: str
    test: str
    passed: bool
    tally: dict[str, int] = {}
    why: str = ""


def read(file: Path, sources: Sources) -> Iterator[Ended]:
    """Give what ended on the same sources; a line that was torn by a kill is none."""
    for line in file.read_bytes().splitlines() if file.exists() else []:
        try:
            ended = msgspec.json.decode(line, type=Ended)
        except msgspec.DecodeError:
            continue
        if ended.digest == sources.digest(ended.test):
            yield ended


def keep(ledger: Path, kept: Path, root: Path) -> int:
    """Add what a ledger says of the present sources to what is kept of them; gives the tests."""
    sources = Sources(root)
    ended = {
        (each.test, each.passed): each for file in (kept, ledger) for each in read(file, sources)
    }
    lines = [msgspec.json.encode(ended[key]) + b"\n" for key in sorted(ended)]
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(b"".join(lines))
    return sum(passed for _, passed in ended)


class Ledger:
    """The file of one campaign, in the process that distributes its tests."""

    def __init__(self, file: Path, root: Path, kept: Path | None = None) -> None:
        self.file = file
        self._sources = Sources(root)
        files = [each for each in (kept, file) if each is not None]
        ended = [each for named in files for each in read(named, self._sources)]
        self.earlier = {each.test: each for each in ended if each.passed}
        self.failed = {each.test for each in ended if not each.passed}  # now or earlier
        self._changed: set[str] = set()  # digests of what was changed since this run began
        self.now = 0
        self._torn = file.exists() and not file.read_bytes().endswith(b"\n")
        self._called: dict[str, dict[str, int]] = {}

    @property
    def changed(self) -> bool:
        """Say whether a source was changed since this run began, on which something stands."""
        return bool(self._changed)

    @property
    def tally(self) -> Counter[str]:
        """What all that is left out has counted."""
        return sum((Counter(each.tally) for each in self.earlier.values()), Counter())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a report; a test has passed when it was called and cleared away without an error."""
        if report.outcome == "failed":
            self.failed.add(report.nodeid)
            why = report.longreprtext[-WHY:]
            self._write(report.nodeid, passed=False, why=why)
        elif report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
            self._called[report.nodeid] = dict(tallied([report]))
        counted = self._called.pop(report.nodeid, None) if report.when == "teardown" else None
        if counted is not None and report.passed:
            self._write(report.nodeid, passed=True, tally=counted)
            self.now += 1

    def _write(
        self, test: str, *, passed: bool, tally: Mapping[str, int] = _NONE, why: str = ""
    ) -> None:
        # Tests start processes, which read the sources as they are then.
        digest = self._sources.digest(test)
        if digest in self._changed or self._sources.is_changed(test):
            self._changed.add(digest)
            return
        ended = Ended(digest, test, passed=passed, tally=dict(tally), why=why)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("ab") as file:
            file.write(b"\n" * self._torn + msgspec.json.encode(ended) + b"\n")
        self._torn = False


_LEDGER = pytest.StashKey[Ledger]()


class _Node(Protocol):
    """What pytest-xdist has of a process that runs tests."""

    config: pytest.Config
    workerinput: dict[str, object]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Know the option."""
    said = "leave out what this file says has passed on the same sources, and add what passes"
    parser.addoption("--ledger", metavar="FILE", type=Path, default=None, help=said)
    said = "with --ledger: leave out what this file says has passed on the same sources, too"
    parser.addoption("--kept", metavar="FILE", type=Path, default=None, help=said)


def pytest_configure(config: pytest.Config) -> None:
    """Open the ledger, if one is named, in the process that distributes the tests."""
    file: Path | None = config.getoption("ledger")
    if file is not None and not hasattr(config, "workerinput"):
        root, kept = config.rootpath, config.getoption("kept")
        ledger = Ledger(root / file, root, root / kept if kept is not None else None)
        config.stash[_LEDGER] = ledger
        config.stash[EARLIER] = ledger.tally
        config.pluginmanager.register(ledger)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: _Node) -> None:
    """Tell a process what to leave out."""
    ledger = node.config.stash.get(_LEDGER, None)
    node.workerinput[_DONE] = list(ledger.earlier) if ledger is not None else []


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say in the beginning how much is not run again."""
    ledger = config.stash.get(_LEDGER, None)
    if ledger is None:
        return None
    count = len(ledger.earlier)
    return f"ledger: {count:,} tests passed in an earlier part of this campaign; see {ledger.file}"


@pytest.hookimpl(trylast=True)  # when marks and names have chosen
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what has passed."""
    given: Mapping[str, list[str]] = getattr(config, "workerinput", {})
    ledger = config.stash.get(_LEDGER, None)
    done = set(ledger.earlier if ledger is not None else given.get(_DONE, ()))
    left_out = [item for item in items if item.nodeid in done]
    if left_out:
        items[:] = [item for item in items if item.nodeid not in done]
        config.hook.pytest_deselected(items=left_out)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """End well where nothing was left to run; where nothing was chosen, that is an error still."""
    ledger = session.config.stash.get(_LEDGER, None)
    if ledger is not None and ledger.earlier and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say in the end how far the campaign is."""
    ledger = config.stash.get(_LEDGER, None)
    if ledger is None:
        return
    terminalreporter.section("this campaign", sep="-")
    before = len(ledger.earlier)
    terminalreporter.write_line(
        f"{before + ledger.now:,} tests have passed, {before:,} of them in an earlier part"
    )
    if ledger.failed:
        names = ", ".join(sorted(ledger.failed))
        terminalreporter.write_line(f"failed once or more on these sources: {names}", red=True)
    if ledger.changed:
        terminalreporter.write_line(
            "sources changed meanwhile: what passed after that is not in the ledger", red=True
        )


if __name__ == "__main__":
    came, went = map(Path, sys.argv[1:])
    print(f"{keep(came, went, Path.cwd()):,} tests have passed on these sources; see {went}")
