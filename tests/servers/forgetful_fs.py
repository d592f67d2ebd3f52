# SPDX-License-Identifier: Apache-2.0
"""A mounted file system that forgets what was not synced, for tests of power loss.

`forgetful_fs` is a fixture: a folder, mounted through FUSE, in which any program works as on a
disk. `crash` writes what would be left of a subfolder if the power went at that instant, in several
ways; the mounted programs go on, so one run gives many crashes. `fail` lets the n-th fsync or write
from now on fail.

The file system is a process of its own (this file run as a script), told what to do by lines of
JSON. It needs FUSE 3, /dev/fuse, and the PyPI package mfusepy.
"""

import errno
import importlib.util
import itertools
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from servers.forgetful_disk import File, Folder, Resize, Way, Write, write_image
from servers.missing import skip_without


class ForgetfulFs:
    """The test's end: where the folder is, and what shall happen to it."""

    def __init__(self, mount: Path, process: subprocess.Popen[str]) -> None:
        self.path = mount
        self._process = process

    def crash(self, folder: str, into: Path, ways: list[Way], seed: int) -> list[Path]:
        """Write one image a way of what is left of a folder if the power goes now."""
        images = [into / way for way in ways]
        self._ask(crash=folder, into=str(into), ways=ways, seed=seed)
        return images

    def fail(self, operation: str, number: int, error: int) -> None:
        """Let the n-th "fsync" or "write" from now on fail with an error; 0 takes it back."""
        self._ask(fail=operation, number=number, error=error)

    def _ask(self, **order: object) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n", "the file system has died"


@contextmanager
def mounted(mount: Path, subtype: str = "forgetful") -> Iterator[ForgetfulFs]:
    """Mount a new, empty file system that calls itself fuse.<subtype>."""
    if importlib.util.find_spec("mfusepy") is None:
        skip_without("FUSE", "the package mfusepy is not installed")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK) or not shutil.which("fusermount3"):
        skip_without("FUSE", "no access to /dev/fuse, or no fusermount3; install fuse3")
    mount.mkdir()
    command = [sys.executable, __file__, str(mount), subtype]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    with process:
        while not mount.is_mount():
            assert process.poll() is None, "the file system could not be mounted"
            threading.Event().wait(0.01)  # a pause between two looks, no proof of anything
        try:
            yield ForgetfulFs(mount, process)
        finally:
            subprocess.run(["fusermount3", "-u", "-z", mount], check=True)
            process.kill()


@pytest.fixture
def forgetful_fs(tmp_path: Path) -> Iterator[ForgetfulFs]:
    """A mounted file system that forgets what was not synced."""
    with mounted(tmp_path / "forgetful") as fs:
        yield fs


def _serve(mount: str, subtype: str) -> None:
    import mfusepy  # noqa: PLC0415 - only this process needs libfuse

    class Operations(_Operations, mfusepy.Operations):  # type: ignore[misc]  # it has no types
        use_ns = True

    operations = Operations()
    threading.Thread(target=_obey, args=(operations,), daemon=True).start()
    mfusepy.FUSE(
        operations, mount, foreground=True, nothreads=True, subtype=subtype, hard_remove=True
    )


def _obey(operations: "_Operations") -> None:
    for line in sys.stdin:
        order = json.loads(line)
        with operations.one_at_a_time:
            if "crash" in order:
                folder = operations.root.current[order["crash"]]
                assert isinstance(folder, Folder)
                for number, way in enumerate(order["ways"]):
                    dice = random.Random(f"{order['seed']} {number}")
                    write_image(folder, Path(order["into"]) / way, Way(way), dice)
            else:
                operations.failures[order["fail"]] = [order["number"], order["error"]]
        print("done", flush=True)


class _Operations:
    """What the kernel asks of the file system; one call at a time."""

    def __init__(self) -> None:
        self.root = Folder()
        self.one_at_a_time = threading.Lock()
        self.failures: dict[str, list[int]] = {}
        self._open: dict[int, File] = {}
        self._handles = itertools.count(1)
        self._modes: dict[File | Folder, int] = {}
        self._times: dict[File | Folder, int] = {}

    def _node(self, path: str) -> File | Folder:
        node: File | Folder = self.root
        for name in filter(None, path.split("/")):
            if not isinstance(node, Folder) or name not in node.current:
                raise OSError(errno.ENOENT, "")
            node = node.current[name]
        return node

    def _place(self, path: str) -> tuple[Folder, str]:
        folder, _, name = path.rpartition("/")
        node = self._node(folder)
        assert isinstance(node, Folder)
        return node, name

    def _file(self, path: str | None, handle: int | None) -> File:
        if handle:
            return self._open[handle]
        node = self._node(path or "")
        assert isinstance(node, File)
        return node

    def _fails(self, operation: str) -> int:
        """Count down to the operation that shall fail, and give its error when it is reached."""
        planned = self.failures.get(operation)
        if not planned:
            return 0
        planned[0] -= 1
        return planned[1] if planned[0] == 0 else 0

    def getattr(self, path: str, fh: int | None = None) -> dict[str, int]:
        with self.one_at_a_time:
            node = self._open[fh] if fh else self._node(path)
            if isinstance(node, Folder):
                mode = self._modes.get(node, 0o755)
                return {"st_mode": stat.S_IFDIR | mode, "st_nlink": 2}
            size, time = len(node.current), self._times.get(node, 0)
            mode = stat.S_IFREG | 0o600
            return {"st_mode": mode, "st_nlink": 1, "st_size": size, "st_mtime": time}

    def readdir(self, path: str, _fh: int) -> list[str]:
        with self.one_at_a_time:
            node = self._node(path)
            assert isinstance(node, Folder)
            return [".", "..", *node.current]

    def _handle(self, file: File) -> int:
        handle = next(self._handles)
        self._open[handle] = file
        return handle

    def create(self, path: str, _mode: int) -> int:
        with self.one_at_a_time:
            folder, name = self._place(path)
            file = File()
            folder.change([], {name: file})
            return self._handle(file)

    def open(self, path: str, _flags: int) -> int:
        with self.one_at_a_time:
            return self._handle(self._file(path, None))

    def release(self, _path: str, fh: int) -> int:
        with self.one_at_a_time:
            del self._open[fh]
        return 0

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        with self.one_at_a_time:
            return bytes(self._file(path, fh).current[offset : offset + size])

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        with self.one_at_a_time:
            if error := self._fails("write"):
                raise OSError(error, "")
            self._file(path, fh).change(Write(offset, bytes(data)))
            return len(data)

    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        with self.one_at_a_time:
            self._file(path, fh).change(Resize(length))
        return 0

    def fsync(self, path: str, _datasync: int, fh: int) -> int:
        with self.one_at_a_time:
            file = self._file(path, fh)
            if error := self._fails("fsync"):
                file.fail_sync()
                raise OSError(error, "")
            file.sync()
        return 0

    def fsyncdir(self, path: str, _datasync: int, _fh: int) -> int:
        with self.one_at_a_time:
            folder = self._node(path)
            if error := self._fails("fsync"):
                folder.fail_sync()
                raise OSError(error, "")
            folder.sync()
        return 0

    def mkdir(self, path: str, _mode: int) -> int:
        with self.one_at_a_time:
            folder, name = self._place(path)
            folder.change([], {name: Folder()})
        return 0

    def unlink(self, path: str) -> int:
        with self.one_at_a_time:
            folder, name = self._place(path)
            folder.change([name], {})
        return 0

    def rmdir(self, path: str) -> int:
        with self.one_at_a_time:
            folder, name = self._place(path)
            if folder.current[name].current:
                raise OSError(errno.ENOTEMPTY, "")
            folder.change([name], {})
        return 0

    def link(self, target: str, source: str) -> int:
        with self.one_at_a_time:
            folder, name = self._place(target)
            if name in folder.current:
                raise OSError(errno.EEXIST, "")
            folder.change([], {name: self._node(source)})
        return 0

    def rename(self, old: str, new: str) -> int:
        with self.one_at_a_time:
            source, gone = self._place(old)
            target, come = self._place(new)
            node = self._node(old)
            if source is target:
                source.change([gone], {come: node})
            else:
                target.change([], {come: node})
                source.change([gone], {})
        return 0

    def chmod(self, path: str, mode: int) -> int:
        with self.one_at_a_time:
            self._modes[self._node(path)] = stat.S_IMODE(mode)
        return 0

    def utimens(self, path: str, times: tuple[int, int] | None = None) -> int:
        with self.one_at_a_time:
            self._times[self._node(path)] = times[1] if times else 0
        return 0


if __name__ == "__main__":
    _serve(*sys.argv[1:])
