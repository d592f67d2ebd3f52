# SPDX-License-Identifier: Apache-2.0
import hashlib
import io
import json
import os
import sys
import tempfile
import threading
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from lochan.errors import Corruption, InvalidInput, JobFailed
from lochan.pipelines.attempts import unpacked_code
from lochan.pipelines.attempts.loaded_code import find_function, using
from lochan.pipelines.attempts.unpacked_code import unpacked
from lochan.pipelines.model.work import Code
from support.attempts import OUT, Ground, code_folder

STEPS = "import part\ndef make(src, out):\n    out.write(src.path, part.WORD)\n"


@pytest.fixture(autouse=True)
def apart(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is unpacked out of the machine's temporary folder."""
    folder = tmp_path_factory.mktemp("unpacked")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def zipped(ground: Ground, files: Mapping[str, str]) -> Code:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as bundle:
        for name, text in files.items():
            bundle.writestr(name, text)
    digest = hashlib.sha256(held.getvalue()).hexdigest()
    ground.outputs.put(f"data/{digest}.zip", held.getvalue())
    return Code(namespace=OUT, address=f"data/{digest}.zip", sha256=digest)


def made(ground: Ground, code: Code) -> bytes:
    ground.code = code
    return ground.written(ground.run(None, *ground.datums({"a": b""})))["a"]


def test_two_versions_of_a_module_run_one_after_the_other_in_one_process() -> None:
    ground = Ground()
    codes = [
        zipped(ground, {"steps.py": STEPS, "part.py": f"WORD = {word!r}"}) for word in ("x", "y")
    ]

    assert [made(ground, codes[n]) for n in (0, 1, 0, 1)] == [b"x", b"y", b"x", b"y"]
    assert not {"steps", "part"} & set(sys.modules)


def test_modules_stay_warm_between_attempts_of_the_same_code() -> None:
    ground = Ground()
    counting = "n = 0\ndef make(src, out):\n    global n\n    n += 1\n    out.write('a', str(n))\n"
    code = zipped(ground, {"steps.py": counting})

    assert [made(ground, code), made(ground, code)] == [b"1", b"2"]


def test_a_folder_is_read_again_when_a_file_was_edited_and_nothing_is_written_there(
    tmp_path: Path,
) -> None:
    ground = Ground()
    code = code_folder(tmp_path, STEPS)
    found = []
    for word in ("a", "b"):
        code_folder(tmp_path, f"WORD = {word!r}", "part.py")
        found.append(made(ground, code))

    assert found == [b"a", b"b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["part.py", "steps.py"]


def test_modules_of_the_same_name_are_put_aside_and_come_back(tmp_path: Path) -> None:
    folder = code_folder(tmp_path, "WORD = 1")
    own = sys.modules["steps"] = type(sys)("steps")
    path = list(sys.path)

    with using(folder, Ground().storages):
        assert find_function("steps:WORD.bit_length")() == 1
    assert sys.modules.pop("steps") is own
    assert sys.path == path


def test_pythons_own_modules_are_never_put_aside(tmp_path: Path) -> None:
    folder = code_folder(tmp_path, "", "json.py")
    code_folder(tmp_path, "", "lochan.py")

    with using(folder, Ground().storages):
        assert sys.modules["json"] is json
        assert sys.modules["lochan"].__file__


def test_other_code_waits_until_a_process_is_free(tmp_path: Path) -> None:
    ground = Ground()
    first, second = (
        code_folder(tmp_path / name, f"def name(): return {name!r}") for name in ("a", "b")
    )
    seen = []

    def other() -> None:
        with using(second, ground.storages):
            seen.append(find_function("steps:name")())

    with using(first, ground.storages):
        thread = threading.Thread(target=other)
        thread.start()
        seen.append(find_function("steps:name")())
    thread.join()

    assert seen == ["a", "b"]


def test_packages_and_late_imports_are_found() -> None:
    late = "def make(src, out):\n    from . import words\n    out.write('a', words.WORD)\n"
    files = {"p/__init__.py": "", "p/steps.py": late, "p/words.py": "WORD = 'w'"}
    ground = Ground()
    ground.transform = type(ground.transform)(function="p.steps:make")

    assert made(ground, zipped(ground, files)) == b"w"


@pytest.mark.parametrize("name", ["../out.py", "/out.py", "a/../../out.py"])
def test_rel_S26_no_zip_reaches_out_of_its_folder(name: str, apart: Path) -> None:
    ground = Ground()

    with pytest.raises(InvalidInput, match="no path inside a folder of code"):
        made(ground, zipped(ground, {name: ""}))
    assert list(apart.iterdir()) == []


def test_rel_S26_code_that_is_too_large_is_not_even_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ground = Ground()
    monkeypatch.setattr(unpacked_code, "_MOST", 1 << 20)

    with pytest.raises(InvalidInput, match="more than 1 MiB"):
        made(ground, zipped(ground, {"a.txt": "x" * (1 << 20)}))


def test_code_that_is_not_what_was_registered_is_not_run() -> None:
    ground = Ground()
    code = zipped(ground, {"steps.py": STEPS, "part.py": "WORD = ''"})
    ground.outputs.put(code.address, b"other")

    with pytest.raises(Corruption, match="not what was registered"):
        made(ground, code)


def test_a_zip_is_fetched_once_a_process() -> None:
    ground = Ground()
    code = zipped(ground, {"steps.py": STEPS, "part.py": "WORD = 'once'"})
    made(ground, code)
    ground.outputs.delete(code.address)

    assert made(ground, code) == b"once"


def test_processes_share_what_is_unpacked_if_it_is_whole(apart: Path) -> None:
    ground = Ground()
    code = zipped(ground, {"steps.py": STEPS, "part.py": "WORD = 'shared'"})
    first = unpacked(code, ground.storages)
    assert first == apart / f"lochan-code-{os.getuid()}" / code.sha256
    assert unpacked(code, ground.storages) == first

    for damage in (Path.unlink, lambda path: path.write_text("other")):
        damage(first / "part.py")
        second = unpacked(code, ground.storages)

        assert second != first
        assert (second / "part.py").read_text() == "WORD = 'shared'"
        assert (second / "steps.py").read_text() == STEPS


def test_a_folder_that_others_can_write_is_not_trusted(apart: Path) -> None:
    ground = Ground()
    shared = apart / f"lochan-code-{os.getuid()}"
    shared.mkdir()
    shared.chmod(0o777)

    found = unpacked(zipped(ground, {"steps.py": ""}), ground.storages)

    assert not found.is_relative_to(shared)
    assert found.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("steps", "write module:name"),
        ("nowhere:make", "there is no module 'nowhere'"),
        ("steps:other", "has no 'other'"),
        ("steps:number", "is no function"),
    ],
)
def test_what_is_no_function_is_refused(tmp_path: Path, said: str, message: str) -> None:
    with (
        using(code_folder(tmp_path, "number = 1"), Ground().storages),
        pytest.raises(InvalidInput, match=message) as caught,
    ):
        find_function(said)
    assert caught.value.code == "invalid-function"


def test_a_module_that_breaks_when_it_is_imported_fails_the_job(tmp_path: Path) -> None:
    with (
        using(code_folder(tmp_path, "1 / 0"), Ground().storages),
        pytest.raises(JobFailed, match="'steps:make' cannot be imported: ZeroDivisionError"),
    ):
        find_function("steps:make")
