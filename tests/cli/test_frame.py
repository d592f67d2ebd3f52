# SPDX-License-Identifier: Apache-2.0
"""The frame of the command line: words, help, JSON, errors in one line, exit codes."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import msgspec
import pytest
import typer

from lochan import errors
from lochan.cli import failing
from lochan.cli.app import root, run
from lochan.cli.commands import WORDS
from lochan.cli.failing import exit_code, told
from lochan.cli.show import Show, size
from lochan.cli.verb import new_app, verb
from lochan.config.secret import Secret
from support.command import lochan

ERRORS = {
    errors.InvalidInput: 2,
    errors.NotFound: 3,
    errors.RepositoryNotFound: 3,
    errors.RepositoryDeleting: 3,
    errors.NotUnique: 4,
    errors.PredicateFailed: 4,
    errors.Conflict: 4,
    errors.Refused: 5,
    errors.PermissionDenied: 5,
    errors.Unauthenticated: 5,
    errors.Throttled: 6,
    errors.Unavailable: 6,
    errors.UnknownOutcome: 6,
    errors.Corruption: 1,
    errors.Internal: 1,
}


def raising(error: BaseException) -> int:
    def work() -> None:
        raise error

    return told(work)


@pytest.mark.parametrize(("kind", "code"), ERRORS.items())
def test_every_error_has_its_exit_code_and_one_line(
    kind: type[errors.LochanError], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    error = kind("what is wrong\nand what to do")

    assert exit_code(error) == raising(error) == code
    said = capsys.readouterr()
    assert said.err.startswith("lochan: ")
    assert said.err.count("\n") == 1
    assert not said.out


def test_no_traceback_is_shown_unless_it_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert raising(ZeroDivisionError("x")) == 1
    said = capsys.readouterr().err
    assert "this is a bug (ZeroDivisionError: x)" in said
    assert "Traceback" not in said

    monkeypatch.setenv("LOCHAN_DEBUG", "1")
    assert raising(ZeroDivisionError("x")) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interruption_ends_with_130_and_no_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert raising(KeyboardInterrupt()) == failing.INTERRUPTED == 130
    assert capsys.readouterr() == ("", "")


def test_a_file_that_cannot_be_opened_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert raising(FileNotFoundError(2, "No such file or directory", "a.csv")) == 1
    assert capsys.readouterr().err == "lochan: a.csv: No such file or directory\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nonsense"], "no such command 'nonsense'; see `lochan --help`"),
        (["version", "--nonsense"], "--nonsense; see `lochan version --help`"),
        (["kv", "restore"], "see `lochan kv restore --help`"),
        (["fsk"], "Did you mean"),
    ],
)
def test_wrong_usage_is_told_in_one_line_with_code_2(
    args: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(args) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("word", WORDS)
def test_every_word_of_the_table_leads_to_a_command_with_help(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert isinstance(import_module(WORDS[word].module).app, typer.Typer)
    assert run([word, "--help"]) == 0
    assert f"lochan {word}" in capsys.readouterr().out


def test_help_and_version_need_no_part_of_the_server(tmp_path: Path) -> None:
    ran = lochan(tmp_path, "--help")
    assert ran.returncode == 0
    assert all(word in ran.stdout for word in WORDS)

    assert "granian" not in loaded(["--help"])
    assert "falcon" not in loaded(["version"])


def loaded(args: list[str]) -> str:
    """Name the modules that a command line imports."""
    program = (
        "import sys\nfrom lochan.cli.app import run\n"
        f"run({args!r})\nprint('loaded', *sorted(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return ran.stdout.rpartition("loaded")[2]


def test_a_word_is_completed_before_and_after_its_module_is_imported(tmp_path: Path) -> None:
    for typed, wanted in (("lochan kv", "kv"), ("lochan kv sna", "snapshot")):
        variables = {
            "_LOCHAN_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(typed.count(" ")),
        }
        ran = lochan(tmp_path, **variables)
        assert wanted in ran.stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    assert "_LOCHAN_COMPLETE" in capsys.readouterr().out


def test_version_says_what_is_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernel"] in {"native", "twin"}
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("lochan ")


class Thing(msgspec.Struct):
    id: str
    size_bytes: int
    secret: Secret = Secret("hidden")


def test_rows_are_a_table_for_people_and_an_array_for_programs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    things = [Thing("a", 1), Thing("b [bold]", 2048)]

    Show(json=False).rows(
        things, {"id": lambda one: one.id, "size": lambda one: size(one.size_bytes)}
    )
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["ID", "SIZE"], ["a", "1", "B"], ["b", "[bold]", "2.0", "KiB"]]

    Show(json=True).rows(things)
    shown = json.loads(capsys.readouterr().out)
    assert [one["id"] for one in shown] == ["a", "b [bold]"]
    assert "hidden" not in str(shown)


def test_a_long_value_is_not_broken_where_no_person_reads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Show().record({"id": "x" * 500})

    assert "x" * 500 in capsys.readouterr().out


def test_a_verb_takes_its_arguments_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    app = new_app()

    @verb(app, "greet")
    def greet(show: Show, name: str, *, loud: bool = False) -> None:
        """Greet somebody."""
        show.done(f"hello {name}", name=name, loud=loud)

    command = typer.main.get_command(app)
    command.main(["ann"], standalone_mode=False)
    assert capsys.readouterr().out == "hello ann\n"
    command.main(["ann", "--loud", "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out) == {"name": "ann", "loud": True}


def test_bars_are_drawn_for_nobody_but_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    with Show().bytes_bar("moving", 10) as bar, Show(json=True).count_bar("counting") as other:
        bar.advance(5)
        bar.reach(10, 10)
        other.describe("still")

    assert capsys.readouterr() == ("", "")


def test_the_root_knows_its_words_without_importing_them() -> None:
    assert list(root().commands) == list(WORDS)
