# SPDX-License-Identifier: Apache-2.0
import time
from pathlib import Path

import pytest

from lochan.errors import JobFailed
from lochan.pipelines.model.datum import Datum, DatumState
from lochan.pipelines.model.spec import DatumRules, FilesTransform
from lochan.pipelines.model.work import Manifest
from support.attempts import Ground, code_folder


def shell(script: str, **said: object) -> FilesTransform:
    return FilesTransform(command=("sh", "-c", script), **said)  # type: ignore[arg-type]  # fields


def run(ground: Ground, *datums: Datum) -> Manifest:
    return ground.run(None, *(datums or ground.datums({"x/a": b"one\n", "b": b""})))


def test_a_command_finds_its_files_by_input_and_leaves_its_output_in_out() -> None:
    ground = Ground(transform=shell("cd src && find . -type f > ../out/list; cp -r . ../out/all"))

    written = ground.written(run(ground))

    assert written == {"all/b": b"", "all/x/a": b"one\n", "list": b"./b\n"}
    assert ground.rows(run(ground))[0].outputs[1].key == b"list"


def test_folders_groups_and_missing_inputs_are_laid_out() -> None:
    ground = Ground(transform=shell("find src many -type f | sort; test -d src"))
    members = [ground.member(key, b"x") for key in ("d/1", "d/e/2")]
    files = [ground.file("d/", *members, name="many"), ground.file("b", *members[:0], name="many")]

    assert run(ground, ground.datum(*files)).processed == 1

    assert [text for _, text in ground.lines()] == ["many/d/1", "many/d/e/2"]


def test_variables_tell_of_the_datum_and_none_of_the_lakes_own_is_handed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOCHAN_SECRET_KEY", "hidden")
    monkeypatch.setenv("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY", "hidden")
    monkeypatch.setenv("USUAL", "there")
    said = {"params": {"size-px": 3, "name": "n"}, "environment": {"MINE": "yes"}}
    ground = Ground(transform=shell("env; pwd", **said))
    (datum,) = ground.datums({"x/a": b""})

    run(ground, datum)

    lines = [text for _, text in ground.lines()]
    told = dict(line.split("=", 1) for line in lines if "=" in line)
    assert {"USUAL": "there", "MINE": "yes"}.items() <= told.items()
    assert (told["LOCHAN_PARAM_SIZE_PX"], told["LOCHAN_PARAM_NAME"]) == ("3", "n")
    assert told["LOCHAN_DATUM"] == datum.id.hex()
    assert told["LOCHAN_IDEMPOTENCY_KEY"] == datum.hash.hex()
    assert (told["LOCHAN_JOB"], told["LOCHAN_PIPELINE"]) == ("job1", "texts")
    assert told["LOCHAN_INPUT_SRC"] == f"{lines[-1]}/src/x/a"
    assert told["LOCHAN_OUT"] == f"{lines[-1]}/out"
    assert "hidden" not in told.values()


def test_stdin_and_the_code_folder_are_given(tmp_path: Path) -> None:
    code = code_folder(tmp_path / "code", "print('from code')", "said.py")
    lines = ("echo first", 'python3 "$LOCHAN_CODE/said.py"', "python3 -m said")
    ground = Ground(code=code, transform=FilesTransform(command=("sh",), stdin=lines))

    run(ground, *ground.datums({"a": b""}))

    assert [text for _, text in ground.lines()] == ["first", "from code", "from code"]


def test_what_is_said_on_both_streams_is_logged_with_characters_whole() -> None:
    ground = Ground(transform=shell("printf 'a\\303'; sleep 0.1; printf '\\244\\nb'; echo no >&2"))

    run(ground, *ground.datums({"a": b""}))

    assert sorted(ground.lines()) == [("stderr", "no"), ("stdout", "aä"), ("stdout", "b")]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 3", "command 'sh' ended with exit code 3"),
        ("kill -9 $$", "command 'sh' was ended by signal 9"),
        ("mkfifo out/pipe", "out/pipe is neither a file nor a folder"),
        ("ln -s / out/root", "out/root is neither a file nor a folder"),
        ("ln -s nowhere out/a", "out/a is neither a file nor a folder"),
    ],
)
def test_how_a_command_failed_is_said(script: str, reason: str) -> None:
    ground = Ground(transform=shell(script))

    with pytest.raises(JobFailed) as caught:
        run(ground)

    assert reason in str(caught.value)


def test_a_command_that_is_not_there_fails_the_job_and_no_datum() -> None:
    rules = DatumRules(on_error="quarantine")
    ground = Ground(rules=rules, transform=FilesTransform(command=("no-such-command",)))

    with pytest.raises(JobFailed, match="'no-such-command' cannot be started"):
        run(ground)


def test_other_exit_codes_may_be_fine_and_a_link_to_a_file_stands_for_it() -> None:
    script = "ln -s ../src/x/a out/linked; mkdir out/empty; exit 3"
    ground = Ground(transform=shell(script, ok_codes=(0, 3)))
    datum = ground.datums({"x/a": b"one"})[0]

    assert ground.written(run(ground, datum)) == {"linked": b"one"}


def has_ended(process: int) -> bool:
    """Say whether a process ends soon: it was killed, and the kernel takes its time."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            if ") Z " in Path(f"/proc/{process}/stat").read_text():
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.001)
    return False


def test_when_time_is_over_the_whole_process_group_is_killed() -> None:
    rules = DatumRules(tries=1, timeout_s=0.3, on_error="quarantine")
    ground = Ground(rules=rules, transform=shell("sleep 60 & echo $!; echo x > out/x; wait"))

    rows = ground.rows(run(ground, *ground.datums({"a": b""})))

    assert (rows[0].state, rows[0].outputs) == (DatumState.FAILED, ())
    assert rows[0].reason == "it took longer than 0.3 s"
    assert has_ended(int(ground.lines()[0][1]))


def test_what_a_command_leaves_in_the_background_ends_with_it() -> None:
    ground = Ground(transform=shell("sleep 60 & echo $!; echo done > out/x"))

    made = run(ground, *ground.datums({"a": b""}))

    assert ground.written(made) == {"x": b"done\n"}
    assert has_ended(int(ground.lines()[0][1]))


def test_a_command_that_closes_its_streams_is_waited_for() -> None:
    ground = Ground(transform=shell("exec >&- 2>&-; sleep 0.1; echo late > out/x"))

    assert ground.written(run(ground, *ground.datums({"a": b""}))) == {"x": b"late\n"}


def test_of_a_try_that_failed_no_file_is_left_for_the_next(tmp_path: Path) -> None:
    script = f"echo x >> {tmp_path}/tries; touch out/$(wc -l < {tmp_path}/tries); test -s out/1"
    ground = Ground(rules=DatumRules(tries=2), transform=shell(script, ok_codes=(0, 2)))

    with pytest.raises(JobFailed):
        run(ground, *ground.datums({"a": b""}))
    made = Ground(rules=DatumRules(tries=1), transform=shell(script, ok_codes=(1, 2)))

    assert list(made.written(run(made, *made.datums({"a": b""})))) == ["3"]
