# SPDX-License-Identifier: Apache-2.0
"""A pipeline's files: packed alike everywhere, unpacked within bounds, hashed by what counts."""

import io
import stat
import sys
import zipfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput
from lochan.pipelines.model.spec import (
    DeclarativeTransform,
    FilesTransform,
    FrameTransform,
    Output,
    RepoInput,
    Spec,
    SqlTransform,
    Transform,
)
from lochan.pipelines.specs import code as module
from lochan.pipelines.specs.code import (
    closure_digest,
    closure_of,
    pack,
    pack_code,
    read_code,
    stated,
    transform_digest,
    unpack_code,
)
from lochan.pipelines.specs.registry import version_of
from lochan.pipelines.specs.syntax import syntax_digest

FILES = {
    "thumbs/__init__.py": b"",
    "thumbs/steps.py": b"from .shrink import small\n\ndef make(img, out):\n    return small(img)\n",
    "thumbs/shrink.py": b"import numbers\nimport thumbs.sizes\n\ndef small(img):\n    return 1\n",
    "thumbs/sizes.py": b"SIZE = 1\n",
    "thumbs/other.py": b"x = 1\n",
    "unused.py": b"y = 2\n",
    "notes.txt": b"hello",
    "requirements.txt": b"pillow==11  # pictures\n",
}
MAKE = "thumbs.steps:make"
NAMES = st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8}){0,2}\.(py|txt)", fullmatch=True)


def digest(**changes: bytes) -> str:
    """Hash the files with some changed; dots are underscores, slashes are two."""
    named = {path.replace("/", "__").replace(".", "_"): path for path in FILES}
    files = FILES | {named[name]: data for name, data in changes.items()}
    return closure_digest(files, MAKE)[0]


def spec_of(transform: Transform, **fields: object) -> Spec:
    return Spec(
        pipeline="p",
        input=RepoInput(name="img", repo="photos", **fields),  # type: ignore[arg-type] # of a test
        transform=transform,
        output=Output(repo="out"),
    )


def archive(**files: str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as made:
        for path, data in files.items():
            made.writestr(path, data)
    return written.getvalue()


def test_what_a_function_imports_counts_and_nothing_else() -> None:
    counted = closure_digest(FILES, MAKE)[1]

    assert counted == (
        "requirements.txt",
        "thumbs/__init__.py",
        "thumbs/shrink.py",
        "thumbs/sizes.py",
        "thumbs/steps.py",
    )
    assert digest(thumbs__sizes_py=b"SIZE = 2\n") != digest()
    assert digest(thumbs____init___py=b"import os\n") != digest()
    assert digest(thumbs__other_py=b"x = 2", unused_py=b"", notes_txt=b"bye") == digest()


def test_comments_blank_lines_and_quotes_run_nothing_again() -> None:
    said = b"# why\nSIZE = ( 1 )   # one\n\n\n"
    assert digest(thumbs__sizes_py=said) == digest()
    assert digest(thumbs__sizes_py=b"SIZE = '1'") == digest(thumbs__sizes_py=b'SIZE = "1"')
    assert digest(requirements_txt=b"# new\npillow==11\n\n") == digest()


@pytest.mark.parametrize(
    "said",
    [
        b"SIZE = 1.0",
        b"SIZE = True",
        b"SIZE = '1'",
        b"SIZE = b'1'",
        b"SIZE = -1",
        b"SIZE += 1",
        b'"""One."""\nSIZE = 1',
        b"SIZE: int = 1",
        b"size = 1",
        b"SIZE = 0x" + b"1" * 9000,
    ],
)
def test_what_code_says_counts_docstrings_too(said: bytes) -> None:
    assert digest(thumbs__sizes_py=said) != digest()


IMPORTED = b"from lochan.pipelines import Files, pipeline\n"
DECLARED = b"@pipeline(output='o', shards=1)\ndef make(a: Files('x')):\n    return 1\n"


@pytest.mark.parametrize(
    ("imported", "decorator"),
    [
        (IMPORTED, b"@pipeline"),
        (b"from lochan.pipelines import Files, pipeline as p\n", b"@p"),
        (
            b"import lochan.pipelines\nfrom lochan.pipelines import Files\n",
            b"@lochan.pipelines.pipeline",
        ),
        (b"import lochan.pipelines as lp\nFiles = lp.Files\n", b"@lp.pipeline"),
    ],
)
def test_what_a_decorator_says_is_the_spec_and_not_the_code(
    imported: bytes, decorator: bytes
) -> None:
    one = imported + DECLARED.replace(b"@pipeline", decorator)

    def same(old: bytes, new: bytes) -> bool:
        return syntax_digest(one, "a.py") == syntax_digest(one.replace(old, new), "a.py")

    assert same(b"shards=1", b"shards=2")
    assert same(b"Files('x')", b"Files('x', '/*')")
    assert not same(b"return 1", b"return 2")
    assert not same(b"(a:", b"(b:")


@pytest.mark.parametrize(
    "imported",
    [
        b"from mine import pipeline\n",
        b"from .lochan.pipelines import pipeline\n",
        IMPORTED + b"def pipeline(output, shards): ...\n",
        IMPORTED + b"pipeline = print\n",
    ],
)
def test_a_decorator_that_may_be_another_one_is_code(imported: bytes) -> None:
    one, other = imported + DECLARED, imported + DECLARED.replace(b"shards=1", b"shards=2")
    assert syntax_digest(one, "a.py") != syntax_digest(other, "a.py")


def test_other_libraries_are_other_code() -> None:
    assert digest(requirements_txt=b"pillow==12") != digest()
    without = {path: data for path, data in FILES.items() if path != "requirements.txt"}
    assert closure_digest(without, MAKE)[0] != digest()


@pytest.mark.parametrize(
    "said",
    [
        "import helper",
        "import helper as h",
        "from helper import x",
        "def make():\n    if now:\n        import helper",
        "import importlib\nimportlib.import_module('helper')",
        "__import__('helper')",
        "try:\n    import fast as helper\nexcept ImportError:\n    import helper",
    ],
)
def test_an_import_counts_wherever_it_stands(said: str) -> None:
    files = {"steps.py": f"{said}\ndef make(): ...".encode(), "helper.py": b"x = 1"}

    assert "helper.py" in closure_digest(files, "steps:make")[1]


def test_relative_imports_and_packages_are_followed() -> None:
    files = {
        "a/b/steps.py": b"from .. import up\nfrom ..c.d import e\nfrom . import near\nmake = print",
        "a/up.py": b"",
        "a/c/__init__.py": b"",
        "a/c/d/__init__.py": b"from .e import f",
        "a/c/d/e.py": b"f = 1",
        "a/b/near.py": b"from steps import x",
        "up.py": b"",
        "c/d.py": b"",
    }
    assert closure_digest(files, "a.b.steps:make")[1] == (
        "a/b/near.py",
        "a/b/steps.py",
        "a/c/__init__.py",
        "a/c/d/__init__.py",
        "a/c/d/e.py",
        "a/up.py",
    )


def test_modules_that_import_each_other_come_to_an_end() -> None:
    files = {"a.py": b"import b\ndef make(): ...", "b.py": b"import a"}

    assert closure_digest(files, "a:make")[1] == ("a.py", "b.py")


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("thumbs.step:make", "no file is module 'thumbs.step'; did you mean 'thumbs.steps'?"),
        ("thumbs.steps:mke", "thumbs/steps.py has no function 'mke'; did you mean 'make'?"),
        ("os:getcwd", "no file is module 'os'"),
    ],
)
def test_a_function_that_is_not_there_is_told_before_anything_runs(
    function: str, told: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        closure_digest(FILES, function)
    assert told in caught.value.message


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"def make(:\n", r"steps\.py:1:10: "),
        (b"\n\nx = 'a\n", r"steps\.py:3:5: "),
        (b"\0", "steps.py"),
        (b"\xff\xfe", "steps.py"),
        (b"(" * 500, "steps.py"),
        (b"-" * 100_000 + b"1", "steps.py"),
    ],
)
def test_files_that_cannot_be_parsed_are_told_with_their_place(data: bytes, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        closure_digest({"steps.py": data}, "steps:make")


def test_rel_S25_hashing_code_runs_none_of_it(tmp_path: Path) -> None:
    said = f"open({str(tmp_path / 'ran')!r}, 'w')\nimport spy\ndef make(): ...".encode()
    closure_digest({"steps.py": said, "spy.py": said}, "steps:make")

    assert not (tmp_path / "ran").exists()
    assert "spy" not in sys.modules


def test_a_command_counts_all_files_a_project_those_of_its_folder_and_a_query_none() -> None:
    assert closure_of(spec_of(FilesTransform(command=("sh", "x"))), FILES)[1] == tuple(
        sorted(FILES)
    )
    project = closure_of(spec_of(DeclarativeTransform(project="thumbs")), FILES)[1]
    assert project == (
        "requirements.txt",
        *sorted(path for path in FILES if path.startswith("thumbs/")),
    )
    assert closure_of(spec_of(SqlTransform(query="select 1")), FILES) == ("", ())
    assert closure_of(spec_of(FrameTransform(function=MAKE)), FILES)[0] == digest()


def test_a_version_of_ones_own_counts_instead_of_files() -> None:
    said = spec_of(FilesTransform(function=MAKE, code="7"))

    assert closure_of(said, FILES) == closure_of(said, {})
    assert closure_of(said, FILES)[0] != closure_of(spec_of(FilesTransform(code="8")), FILES)[0]


def test_parameters_and_how_inputs_are_read_count_and_the_rest_does_not() -> None:
    plain = spec_of(FilesTransform(function=MAKE, params={"size": 1}))
    one = transform_digest(plain, "x")

    assert transform_digest(plain, "y") != one
    assert transform_digest(spec_of(FilesTransform(function=MAKE, params={"size": 2})), "x") != one
    assert transform_digest(spec_of(plain.transform, format="csv"), "x") != one
    assert transform_digest(spec_of(plain.transform, branch="dev", glob="/*"), "x") == one
    other = spec_of(FilesTransform(function=MAKE, params={"b": 1, "a": 2}))
    same = spec_of(FilesTransform(function=MAKE, params={"a": 2, "b": 1}))
    assert transform_digest(other, "x") == transform_digest(same, "x")


def test_names_never_change_with_a_later_program() -> None:
    transform = FilesTransform(function=MAKE, params={"size": 1, "more": {"a": [None, True]}})
    spec = spec_of(transform, format="csv", options={"header": "true"})

    assert stated(transform) == (
        b'{"function":"thumbs.steps:make","kind":"files",'
        b'"params":{"more":{"a":[null,true]},"size":1}}'
    )
    assert digest() == "baad3f4c8d4b17052eedfd943a217bd29f68c7ff607d9987a6662251fa92fd0b"
    assert (
        transform_digest(spec, "x")
        == "f47aeac2694e93ca621d22c15cdc8624cbfdc073153fdaa71def277d0ab8adbf"
    )
    assert (
        version_of(spec, FILES)
        == "aeba5193076be58723e65fb39ae90a1ebd9f3470a6caeb7c7ea4a6522dae18ec"
    )


def test_a_folder_is_read_without_what_is_no_code(tmp_path: Path) -> None:
    kept = ["steps.py", "pkg/a.py", "run.sh"]
    lost = [".git/x", "__pycache__/x.py", "a.pyc", "env/pyvenv.cfg", "env/lib.py", "spec.yaml"]
    for path in kept + lost:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("1")
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    spec = tmp_path / "spec.yaml"

    assert sorted(read_code(tmp_path, without=[spec])) == sorted(kept)
    assert unpack_code(pack_code(tmp_path, without=[spec])) == dict.fromkeys(kept, b"1")
    with pytest.raises(InvalidInput, match="no folder"):
        read_code(spec)


def test_a_folder_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 2)
    for number in range(3):
        (tmp_path / f"{number}.py").touch()
    with pytest.raises(InvalidInput, match="a folder of its own"):
        read_code(tmp_path)


@given(st.dictionaries(NAMES, st.binary(max_size=50), max_size=5), st.randoms())
def test_the_same_files_are_the_same_bytes_and_come_back(
    files: dict[str, bytes], random: Random
) -> None:
    mixed = list(files.items())
    random.shuffle(mixed)

    assert pack(dict(mixed)) == pack(files)
    assert unpack_code(pack(files)) == files


def test_packed_bytes_never_change_with_a_later_program() -> None:
    expected = "fe1ca92682adad30cbd35a429835e04085712bfa318b12be4bff093e023c2108"
    assert sha256(pack({"a.py": b"x = 1\n", "b/c.py": b""})).hexdigest() == expected


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../../x", "a//x", "./x", "c:x", "a\\x"])
def test_rel_S26_no_path_of_an_archive_leads_out(path: str) -> None:
    with pytest.raises(InvalidInput):
        unpack_code(archive(**{path: "1"}))
    with pytest.raises(InvalidInput):
        pack({path: b"1"})


def test_rel_S26_links_and_doubles_in_an_archive_are_refused() -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as made:
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, "/etc/passwd")
    with pytest.raises(InvalidInput, match="a link"):
        unpack_code(written.getvalue())
    twice = archive(first="1", other="2").replace(b"other", b"first")
    with pytest.raises(InvalidInput, match="two files"):
        unpack_code(twice)


def test_rel_S26_an_archive_has_its_size_and_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 2)
    with pytest.raises(InvalidInput, match="at most 2 files"):
        unpack_code(archive(a="", b="", c=""))
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("zeros", bytes(module.MOST_BYTES + 1))
    with pytest.raises(InvalidInput, match="64 MiB"):
        unpack_code(written.getvalue())


@given(st.binary(max_size=100), st.integers(0, 400), st.integers(0, 255))
def test_rel_S26_any_bytes_are_unpacked_or_refused(data: bytes, place: int, byte: int) -> None:
    good = bytearray(archive(**{"a.py": "x = 1", "b/c.txt": "text"}))
    good[place % len(good)] = byte
    for tried in (data, bytes(good), bytes(good[: place % len(good)])):
        with suppress(InvalidInput):
            unpack_code(tried)
