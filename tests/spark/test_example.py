# SPDX-License-Identifier: Apache-2.0
"""The example runs as a newcomer runs it, twice; so do the words of the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples" / "spark.py"


def test_the_example_says_what_it_did(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lochan", "spark", "run", str(EXAMPLE)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr
    assert "main is at 'a year': 24 files" in ran.stdout
    assert "march has 834 sales" in ran.stdout
    assert "main is at 'nightly', which changed sales and totals" in ran.stdout
    assert "0 files of it are on main" in ran.stdout
    assert "10000 sales at the first commit" in ran.stdout
    assert "left now: True" in ran.stdout


def test_a_shell_has_spark_and_the_lake(tmp_path: Path) -> None:
    lochan = [sys.executable, "-m", "lochan"]
    lake = ["--lake", str(tmp_path / "lake")]
    subprocess.run([*lochan, "repo", "create", *lake, "shop"], check=True, capture_output=True)
    typed = "print(spark.range(7).count(), [one.id for one in lake.repositories()])\n"
    ran = subprocess.run(
        [*lochan, "spark", "shell", *lake, "--master", "local[1]"],
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert "7 ['shop']" in ran.stdout


@pytest.mark.parametrize("word", ["run", "submit"])
def test_a_script_s_status_is_ours(tmp_path: Path, word: str) -> None:
    script = tmp_path / "ends.py"
    script.write_text("import sys; sys.exit(0 if sys.argv[1:] == ['a b'] else 7)\n")
    command = [sys.executable, "-m", "lochan", "spark", word, str(script)]

    assert subprocess.run([*command, "a b"], check=False).returncode == 0
    if word == "run":
        assert subprocess.run([*command, "b"], check=False).returncode == 7
