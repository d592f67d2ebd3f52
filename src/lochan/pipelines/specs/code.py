# SPDX-License-Identifier: Apache-2.0
"""A pipeline's files: packed to travel, and hashed so that what was computed is known again.

*Packed* they are a zip whose bytes depend on paths and contents alone: entries by path, stored and
not compressed, all of one time. Nothing is believed of a zip that comes in (S26): names stay inside
the folder, no links, so many files and bytes at most.

The *digest* says when datums must run again. Nothing is imported for it: files are parsed.

    function            its module, the packages around it, and what these import of the pipeline's
                        own files, transitively, wherever in the file the import stands
    command             all files: nobody knows which of them a command opens
    query               none: the text of the query is all there is
    project             all files of its folder
    requirements.txt    counts, except for a query: other libraries are other code

Of Python files the syntax tree counts, so that comments, blank lines and quotes do not: *a change
of comments alone runs nothing again*. Nor does what `@pipeline(...)` is told, as far as it does not
count in the spec (`syntax`). Docstrings count, since code can read them. Whoever loads
code in ways that no parser sees says `code: <version>` instead of auto, and changes it by hand;
then no file counts at all.
"""

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from lochan.errors import InvalidInput
from lochan.pipelines.model.datum import hashed
from lochan.pipelines.model.records import encode
from lochan.pipelines.model.spec import (
    DeclarativeTransform,
    FrameTransform,
    RepoInput,
    Spec,
    SqlTransform,
    leaves,
)
from lochan.pipelines.specs.imports import Modules
from lochan.pipelines.specs.syntax import syntax_digest

Files = Mapping[str, bytes]  # by path below the code's folder, with slashes
Closure = tuple[str, tuple[str, ...]]  # digest, and the files that went into it

REQUIREMENTS: Final = "requirements.txt"
AUTO: Final = "auto"
MOST_FILES: Final = 10_000
MOST_BYTES: Final = 64 << 20
_MOST_LETTERS: Final = 512
_LEFT_OUT: Final = frozenset({"__pycache__", "node_modules"})
_NO_CODE: Final = ("pyvenv.cfg", "kv.db")  # who has one is a virtual environment, or a lake
_THEN: Final = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can say
_UNIX: Final = 3
_READ: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
# What zipfile raises for broken archives: it checks some fields, and trips over others.
_NO_ZIP: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)


def read_code(folder: Path, *, without: Iterable[Path] = ()) -> dict[str, bytes]:
    """Read all files of a folder but hidden ones, caches, virtual environments, lakes, links.

    `without` are files that are no code, as the spec's own. Raises InvalidInput when it is more
    than code can be.
    """
    left_out = {path.resolve() for path in without}
    found: dict[str, bytes] = {}
    size = 0
    for path in _walk(folder):
        if path.resolve() in left_out:
            continue
        size += path.stat().st_size
        if size > MOST_BYTES or len(found) >= MOST_FILES:
            message = f"{folder} has more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB"
            raise _invalid(f"{message}; keep the code in a folder of its own")
        found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def pack_code(folder: Path, *, without: Iterable[Path] = ()) -> bytes:
    """Pack a folder of code; the same files give the same bytes on every machine."""
    return pack(read_code(folder, without=without))


def pack(files: Files) -> bytes:
    """Pack files. Raises InvalidInput for a path that leads out."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(_inside(path), _THEN)
            entry.create_system = _UNIX
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[path])
    return written.getvalue()


def unpack_code(data: bytes) -> dict[str, bytes]:
    """Read a zip of code that anybody may have made. Raises InvalidInput."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_FILES or sum(one.file_size for one in entries) > MOST_BYTES:
                raise _invalid(f"code has at most {MOST_FILES} files, {MOST_BYTES >> 20} MiB")
            return dict(_unpacked(archive, entries))
    except InvalidInput:
        raise
    except _NO_ZIP as error:
        said = " ".join(str(error).split())
        raise _invalid(f"the code is no zip that can be read: {said}") from error


def closure_digest(code: Files, function: str) -> Closure:
    """Hash what a function is made of: its module, and what that imports of the files.

    Raises InvalidInput when the files have no such function, or cannot be parsed.
    """
    return _digest(code, Modules.of(code).closure(function))


def closure_of(spec: Spec, code: Files) -> Closure:
    """Hash what a pipeline's transform is made of, besides what its spec says. Raises as above."""
    transform = spec.transform
    if isinstance(transform, SqlTransform):
        return "", ()
    if transform.code != AUTO:
        return hashed([b"version", transform.code.encode()]).hex(), ()
    if isinstance(transform, FrameTransform):
        return closure_digest(code, transform.function)
    if isinstance(transform, DeclarativeTransform):
        folder = PurePosixPath(transform.project)
        return _digest(code, (path for path in code if PurePosixPath(path).is_relative_to(folder)))
    return closure_digest(code, transform.function) if transform.function else _digest(code, code)


def transform_digest(spec: Spec, closure: str) -> str:
    """Name what is done with a datum: the transform as it is said, and what it is made of.

    Everything of a transform counts, its parameters too, and how inputs are read. Where the output
    goes, what checks it and how often it is tried does not.
    """
    read = [
        (leaf.name, leaf.format, leaf.options)
        for leaf in leaves(spec.input)
        if isinstance(leaf, RepoInput) and (leaf.format or leaf.options)
    ]
    return hashed([stated(spec.transform), encode(sorted(read)), closure.encode()]).hex()


def stated(said: msgspec.Struct) -> bytes:
    """Give in JSON what somebody said beyond the defaults.

    So a field that a later program adds changes no name that was made before.
    """
    return encode(_stated(said))


def _stated(value: object) -> object:
    if isinstance(value, tuple):
        return [_stated(one) for one in value]
    if not isinstance(value, msgspec.Struct):
        return value
    found: dict[str, object] = {}
    if value.__struct_config__.tag is not None:
        found["kind"] = value.__struct_config__.tag
    for field in msgspec.structs.fields(value):
        inner = getattr(value, field.name)
        has_factory = field.default_factory is not msgspec.NODEFAULT
        if inner != (field.default_factory() if has_factory else field.default):
            found[field.name] = _stated(inner)
    return found


def _digest(code: Files, paths: Iterable[str]) -> Closure:
    """Hash files by path; requirements are always among them."""
    counted = sorted({*paths, *({REQUIREMENTS} & code.keys())})
    fields: list[bytes] = []
    for path in counted:
        fields += [path.encode(), _content(path, code[path])]
    return hashed(fields).hex(), tuple(counted)


def _content(path: str, data: bytes) -> bytes:
    """Hash a file by what counts in it."""
    if path.endswith(".py"):
        return syntax_digest(data, path)
    if path == REQUIREMENTS:
        lines = (line.split(b" #")[0].strip() for line in data.splitlines())
        data = b"\n".join(line for line in lines if line and not line.startswith(b"#"))
    return sha256(data).digest()


def _walk(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise _invalid(f"{folder} is no folder; say where the code is")
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in _LEFT_OUT or path.is_symlink():
            continue
        if path.is_dir():
            if not any((path / name).exists() for name in _NO_CODE):
                yield from _walk(path)
        elif path.is_file() and path.suffix != ".pyc":
            yield path


def _unpacked(
    archive: zipfile.ZipFile, entries: Iterable[zipfile.ZipInfo]
) -> Iterator[tuple[str, bytes]]:
    seen: set[str] = set()
    for entry in entries:
        if entry.is_dir():
            continue
        path, mode = _inside(entry.filename), entry.external_attr >> 16
        if path in seen:
            raise _invalid(f"the code has two files {path!r}; leave one out")
        if mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
            raise _invalid(f"{path!r} of the code is a link or a device; put the file itself there")
        if entry.compress_type not in _READ:
            raise _invalid(f"{path!r} of the code is packed in a way that is not read; deflate it")
        seen.add(path)
        with archive.open(entry) as file:  # it ends where the entry says that it does
            yield path, file.read(entry.file_size)


def _inside(path: str) -> str:
    """Accept the path of a file that stays below its folder, in its one spelling."""
    parts = path.split("/")
    strange = any(letter in path for letter in "\\:\0") or len(path) > _MOST_LETTERS
    if strange or any(part in {"", ".", ".."} for part in parts):
        raise _invalid(f"{path[:80]!r} is no path inside a folder of code")
    return path


def _invalid(message: str) -> InvalidInput:
    return InvalidInput(message, code="invalid-code")
