# SPDX-License-Identifier: Apache-2.0
"""A campaign that is stopped and goes on, in runs of pytest of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CONFTEST = """
import os
from pathlib import Path

pytest_plugins = ["support.tally", "support.ledger"]

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        Path("pid").write_text(str(os.getpid()))
"""
CAMPAIGN = """
import os, signal
from pathlib import Path
import pytest

@pytest.mark.parametrize("part", range(4))
def test_seeds(part, tally):
    tally(seeds=10)

def test_may_fail(tally):
    tally(seeds=100)
    assert not Path("broken").exists()

def test_may_be_skipped(tally):
    if Path("missing").exists():
        pytest.skip("something is missing")

@pytest.fixture
def untidy():
    yield
    assert not Path("untidy").exists()

def test_may_leave_something_behind(untidy):
    pass

def test_may_be_killed(tally):
    if Path("deadly").exists():
        os.kill(int(Path("pid").read_text()), signal.SIGKILL)
"""
ALL = 8


class Campaign:
    """A project with a few tests, and runs of them with one ledger."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ledger = root / ".cache" / "some.jsonl"
        self.write("pyproject.toml", "[tool.pytest.ini_options]\n")
        self.write("tests/conftest.py", CONFTEST)
        self.write("tests/test_campaign.py", CAMPAIGN)
        self.write("src/code.py", "")

    def write(self, name: str, text: str = "") -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    code = 0  # of the last run

    def run(self, *options: str, ledger: str = "--ledger=.cache/some.jsonl") -> str:
        return self._python("pytest", "-p", "xdist", *filter(None, [ledger]), *options)

    def keep(self, ledger: str = ".cache/some.jsonl") -> str:
        return self._python("support.ledger", ledger, "docs/kept.jsonl")

    def _python(self, module: str, *options: str) -> str:
        command = [sys.executable, "-m", module, *options]
        # Of the run that this one is a part of nothing is to be known.
        around = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
        around |= {"PYTHONPATH": str(TESTS), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        ended = subprocess.run(
            command, cwd=self.root, env=around, capture_output=True, text=True, check=False
        )
        self.code = ended.returncode
        return ended.stdout

    def passed(self) -> list[str]:
        lines = map(json.loads, self.ledger.read_text().splitlines())
        return [line["test"].split("::")[1] for line in lines if line["passed"]]


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign(tmp_path)


@pytest.fixture(params=[(), ("-n", "2")], ids=["alone", "shared"])
def options(request: pytest.FixtureRequest) -> tuple[str, ...]:
    chosen: tuple[str, ...] = request.param
    return chosen


def test_what_has_passed_is_not_run_again_and_is_counted_again(
    campaign: Campaign, options: tuple[str, ...]
) -> None:
    first = campaign.run(*options)
    again = campaign.run(*options)

    assert "8 passed" in first
    assert "8 tests have passed, 0 of them in an earlier part" in first
    assert "140 seeds" in first
    assert "ledger: 8 tests passed in an earlier part of this campaign" in again
    assert "8 tests have passed, 8 of them in an earlier part" in again
    assert "140 seeds" in again
    assert "no tests ran" in again or "8 deselected" in again
    assert len(campaign.passed()) == ALL
    assert campaign.code == pytest.ExitCode.OK


def test_a_campaign_of_no_test_is_none(campaign: Campaign, options: tuple[str, ...]) -> None:
    campaign.run("-k", "nothing_of_that_name", *options)
    assert campaign.code == pytest.ExitCode.NO_TESTS_COLLECTED


def test_what_failed_was_skipped_or_left_something_behind_is_run_again(
    campaign: Campaign, options: tuple[str, ...]
) -> None:
    left = [campaign.write(name) for name in ("broken", "missing", "untidy")]
    first = campaign.run(*options)
    for file in left:
        file.unlink()
    again = campaign.run(*options)

    assert "1 failed" in first
    assert "3 passed" in again
    for said in (first, again):
        assert "test_may_fail, tests" in said.split("failed once or more on these sources:")[1]
    assert "8 tests have passed, 5 of them in an earlier part" in again
    assert "140 seeds" in again


def test_a_campaign_that_is_killed_goes_on_where_it_was(
    campaign: Campaign, options: tuple[str, ...]
) -> None:
    deadly = campaign.write("deadly")
    campaign.run(*options)
    before = campaign.passed()
    deadly.unlink()
    again = campaign.run(*options)

    assert before
    assert "test_may_be_killed" not in before
    assert f"{ALL - len(before)} passed" in again
    assert sorted(campaign.passed()) == sorted(set(campaign.passed()))
    assert "140 seeds" in again


def test_why_a_test_failed_is_known_also_of_a_campaign_that_was_killed_later(
    campaign: Campaign,
) -> None:
    campaign.write("broken")
    campaign.write("deadly")
    campaign.run()

    lines = map(json.loads, campaign.ledger.read_text().splitlines())
    (why,) = [line["why"] for line in lines if not line["passed"]]
    assert "assert not Path" in why


def test_parts_of_a_campaign_add_up_whoever_ran_them(campaign: Campaign) -> None:
    campaign.run("-k", "test_seeds", "-n", "2")
    rest = campaign.run("-k", "not test_seeds")

    assert "4 passed" in rest
    assert "8 tests have passed, 4 of them in an earlier part" in rest
    assert "140 seeds" in rest


def test_machines_share_a_campaign_by_what_each_has_kept(
    campaign: Campaign, options: tuple[str, ...]
) -> None:
    here = campaign.run("-k", "test_seeds", ledger="--ledger=.cache/here.jsonl")
    campaign.write("broken")
    there = campaign.run("-k", "may_fail or skipped", ledger="--ledger=.cache/there.jsonl")
    (campaign.root / "broken").unlink()
    said = [campaign.keep(f".cache/{name}.jsonl") for name in ("here", "there", "here")]
    rest = campaign.run("--kept=docs/kept.jsonl", *options)

    assert "4 passed" in here
    assert "1 failed, 1 passed" in there
    assert [line.split()[0] for line in said] == ["4", "5", "5"]
    assert "ledger: 5 tests passed in an earlier part of this campaign" in rest
    assert "3 passed" in rest
    assert "8 tests have passed, 5 of them in an earlier part" in rest
    assert "140 seeds" in rest
    assert "test_may_fail" in rest.split("failed once or more on these sources:")[1]
    assert len(campaign.passed()) == ALL - 5


def test_what_is_kept_of_other_sources_leaves_nothing_out_and_is_dropped(
    campaign: Campaign,
) -> None:
    campaign.run()
    campaign.keep()
    campaign.write("src/code.py", "x = 1")
    again = campaign.run("--kept=docs/kept.jsonl", "-k", "test_seeds")
    said = campaign.keep()

    assert "4 passed" in again
    assert said.startswith("4 tests have passed on these sources")
    assert len((campaign.root / "docs/kept.jsonl").read_text().splitlines()) == 4


def test_what_was_made_of_the_sources_is_no_source(campaign: Campaign) -> None:
    campaign.run()
    campaign.write("src/code.cpython-311-x86_64-linux-gnu.so", "compiled elsewhere")
    again = campaign.run()

    assert "8 tests have passed, 8 of them in an earlier part" in again


@pytest.mark.parametrize("changed", ["src/code.py", "tests/test_other.py", "requirements.lock"])
def test_a_changed_source_makes_everything_run_again(campaign: Campaign, changed: str) -> None:
    campaign.run()
    file = campaign.write(changed, "# another line\n")
    again = campaign.run()
    file.write_text("") if changed == "src/code.py" else file.unlink()
    as_before = campaign.run()

    assert "8 passed" in again
    assert "8 tests have passed, 8 of them in an earlier part" in as_before


ALONE = """
import pytest
from lochan.needed import x
from support_of_mine.scene import y

pytestmark = [pytest.mark.by_imports]

def test_alone():
    assert x == y
"""


@pytest.fixture
def alone(campaign: Campaign) -> Campaign:
    """A campaign with a module that stands on its imports."""
    options = ['markers = ["by_imports: alone"]', 'pythonpath = ["src", "tests"]']
    campaign.write("pyproject.toml", "\n".join(["[tool.pytest.ini_options]", *options, ""]))
    campaign.write("tests/test_alone.py", ALONE)
    campaign.write("tests/support_of_mine/scene.py", "y = 1\n")
    campaign.write("src/lochan/__init__.py")
    campaign.write("src/lochan/needed.py", "from lochan.deeper import x\n")
    campaign.write("src/lochan/deeper.py", "x = 1\n")
    campaign.write("src/lochan/other.py", "z = 1\n")
    campaign.run()
    return campaign


@pytest.mark.parametrize(
    "changed",
    [
        "tests/test_alone.py",
        "tests/support_of_mine/scene.py",
        "src/lochan/__init__.py",
        "src/lochan/needed.py",
        "src/lochan/deeper.py",
        "src/lochan/kernel/native/new.pyx",
        "requirements.lock",
    ],
)
def test_what_stands_on_its_imports_runs_again_when_one_of_them_is_changed(
    alone: Campaign, changed: str
) -> None:
    file = alone.root / changed
    before = file.read_text() if file.exists() else ""
    alone.write(changed, before + "\n# another line\n")
    again = alone.run()

    assert "9 passed" in again


def test_what_stands_on_its_imports_is_left_out_whatever_else_is_changed(alone: Campaign) -> None:
    alone.write("src/lochan/other.py", "z = 2\n")
    again = alone.run()

    assert "8 passed" in again
    assert "9 tests have passed, 1 of them in an earlier part" in again


def test_what_stands_on_its_imports_is_written_down_while_other_sources_change(
    alone: Campaign,
) -> None:
    alone.ledger.unlink()
    alone.write(
        "tests/test_a_change.py",
        "from pathlib import Path\n\n"
        "def test_changes_a_source():\n    Path('src/code.py').write_text('x = 2')\n",
    )
    said = alone.run()

    assert "10 passed" in said
    assert "sources changed meanwhile" in said
    assert alone.passed() == ["test_alone"]


def test_what_passes_while_sources_change_is_not_written_down(campaign: Campaign) -> None:
    campaign.write(
        "tests/test_a_change.py",
        "from pathlib import Path\n\n"
        "def test_changes_a_source():\n    Path('src/code.py').write_text('x = 1')\n",
    )
    said = campaign.run()

    assert "9 passed" in said
    assert "sources changed meanwhile" in said
    assert not campaign.ledger.exists()


def test_a_line_that_was_torn_is_run_again_and_tears_no_other(campaign: Campaign) -> None:
    campaign.run()
    lines = campaign.ledger.read_bytes()
    campaign.ledger.write_bytes(lines[:-20])
    again = campaign.run()
    last = campaign.run()

    assert "1 passed" in again
    assert "8 tests have passed, 8 of them in an earlier part" in last


def test_without_the_option_nothing_is_left_out_or_written(campaign: Campaign) -> None:
    campaign.run()
    before = campaign.ledger.read_bytes()
    said = campaign.run(ledger="")

    assert "8 passed" in said
    assert campaign.ledger.read_bytes() == before
