# SPDX-License-Identifier: Apache-2.0
"""The author's Python files, importable while an attempt runs, and only then.

    nothing said       whatever this process can import
    a folder           its files, as they are; read again when one that was imported has changed
    a zip              fetched once a process, checked, unpacked (`unpacked_code`)

While code is in use its folder is the first that Python imports from, and modules of the same names
that were there are put aside. When the last user leaves, the code's own modules are put aside for
the next time, and everything is as before: a warm worker can run two versions of one module one
after the other. Attempts of other code wait meanwhile, for a process has one table of modules.
Names of Python's own library and of Lochan are never put aside.
"""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
from types import ModuleType
from typing import Any, Final

from lochan.errors import InvalidInput, JobFailed
from lochan.pipelines.attempts.places import Storages
from lochan.pipelines.attempts.unpacked_code import unpacked
from lochan.pipelines.model.work import Code

_OURS: Final = frozenset({"lochan"})


@contextmanager
def using(code: Code, storages: Storages) -> Iterator[Path | None]:
    """Make code importable; gives its folder, None if nothing was said of it."""
    folder = _bundles.folder(code, storages)
    if folder is None:
        yield None
        return
    _bundles.enter(folder)
    try:
        yield folder
    finally:
        _bundles.leave()


def find_function(said: str) -> Callable[..., Any]:
    """Find `module:name` in the code in use. Raises InvalidInput, JobFailed when it breaks."""
    module, colon, name = said.partition(":")
    if not (module and colon and name):
        raise InvalidInput(f"{said!r} is no function; write module:name", code="invalid-function")
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        message = f"{said!r} cannot be imported: there is no module {error.name!r} here"
        raise InvalidInput(message, code="invalid-function") from error
    except Exception as error:
        message = f"{said!r} cannot be imported: {type(error).__name__}: {error}"
        raise JobFailed(message, code="import-failed") from error
    for part in name.split("."):
        if not hasattr(found, part):
            message = f"module {module!r} has no {name!r}; say which function to run"
            raise InvalidInput(message, code="invalid-function")
        found = getattr(found, part)
    if not callable(found):
        raise InvalidInput(f"{said!r} is no function", code="invalid-function")
    return found  # type: ignore[no-any-return]  # it is callable, and nobody knows more


class _Bundles:
    """Which code this process has unpacked, which is in use, and modules that were put aside."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._unpacked: dict[str, Path] = {}
        self._active: Path | None = None
        self._users = 0
        self._kept: dict[Path, dict[str, ModuleType]] = {}
        self._stamps: dict[Path, dict[str, tuple[int, int]]] = {}
        self._aside: dict[str, ModuleType] = {}
        self._wrote_bytecode = True

    def folder(self, code: Code, storages: Storages) -> Path | None:
        """Give the folder of code, fetched and unpacked if it is a zip."""
        if code.folder:
            return Path(code.folder).resolve()
        if not code.address:
            return None
        with self._changed:
            if code.sha256 not in self._unpacked:
                self._unpacked[code.sha256] = unpacked(code, storages).resolve()
            return self._unpacked[code.sha256]

    def enter(self, folder: Path) -> None:
        """Make a folder's modules the ones that are imported."""
        with self._changed:
            self._changed.wait_for(lambda: self._active in {None, folder})
            self._users += 1
            if self._active is None:
                self._active = folder
                self._activate(folder)

    def leave(self) -> None:
        """Put everything back when the last user leaves."""
        with self._changed:
            self._users -= 1
            if not self._users and self._active is not None:
                self._put_back(self._active)
                self._active = None
                self._changed.notify_all()

    def _activate(self, folder: Path) -> None:
        kept = self._kept.pop(folder, {})
        if self._stamps.pop(folder, {}) != _stamps(kept):
            kept = {}
        names = _names(folder)
        taken = [name for name in sys.modules if name.partition(".")[0] in names]
        self._aside = {name: sys.modules.pop(name) for name in taken}
        sys.modules.update(kept)
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()
        # Nothing is written into the author's folder, and what was compiled is told apart by whole
        # seconds only: a file that is edited and run at once would be run as it was.
        self._wrote_bytecode = not sys.dont_write_bytecode
        sys.dont_write_bytecode = True

    def _put_back(self, folder: Path) -> None:
        sys.dont_write_bytecode = not self._wrote_bytecode
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
        names = _names(folder)
        own = [name for name in sys.modules if name.partition(".")[0] in names]
        self._kept[folder] = {name: sys.modules.pop(name) for name in own}
        self._stamps[folder] = _stamps(self._kept[folder])
        sys.modules.update(self._aside)
        self._aside = {}


# One for a process, as the table of modules is.
_bundles: Final = _Bundles()


def _names(folder: Path) -> frozenset[str]:
    """Name what can be imported from a folder, without what must not be put aside."""
    found = {item.name.partition(".")[0] for item in folder.iterdir() if _is_importable(item)}
    return frozenset(found - _OURS - sys.stdlib_module_names)


def _is_importable(item: Path) -> bool:
    if item.is_dir():
        return (item / "__init__.py").exists() or any(item.glob("*.py"))
    return item.suffix in {".py", ".so"}


def _stamps(modules: dict[str, ModuleType]) -> dict[str, tuple[int, int]]:
    """Tell by times and sizes whether files of modules have changed."""
    files = {str(module.__file__) for module in modules.values() if module.__dict__.get("__file__")}
    return {file: _stamp(Path(file)) for file in files}


def _stamp(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)
