# SPDX-License-Identifier: Apache-2.0
"""Let each call to the operating system fail in its turn: objects are whole, errors are true."""

import errno
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import LochanError, UnknownOutcome
from lochan.objects.drivers.local import LocalObjects, disk, folders, listing, store, target
from lochan.objects.store import IF_ABSENT, IfMatch

ENVIRONMENT = RealEnvironment()
OLD, NEW = b"the former body", b"the body that replaces it"
# Calls that change or make durable, and those that look.
CALLS = {
    *("open", "write", "fsync", "utime", "link", "rename", "unlink", "mkdir", "rmdir", "fchmod"),
    *("stat", "fstat", "scandir", "pread", "copy_file_range", "dup"),
}


class FailingOs:
    """The module `os`, whose n-th call of those above fails."""

    def __init__(self, fail_at: int) -> None:
        self.calls = 0
        self._fail_at = fail_at

    def __getattr__(self, name: str) -> object:
        real = getattr(os, name)
        return self._counted(real) if name in CALLS else real

    def _counted(self, real: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **options: object) -> object:
            self.calls += 1
            if self.calls == self._fail_at:
                raise OSError(errno.EIO, "input/output error")
            return real(*arguments, **options)

        return call


def put(objects: LocalObjects) -> object:
    return objects.put("data/1/a", [NEW[:5], NEW[5:]])


def put_if_match(objects: LocalObjects) -> object:
    return objects.put("data/1/a", NEW, when=IfMatch(objects.head("data/1/a").etag))


def copy(objects: LocalObjects) -> object:
    return objects.copy("data/2/new", "data/1/a")


def create(objects: LocalObjects) -> object:
    return objects.put("data/3/4/a", NEW, when=IF_ABSENT)


def delete(objects: LocalObjects) -> None:
    objects.delete("data/1/a")


VERBS = [
    (put, "data/1/a", OLD, NEW),
    (put_if_match, "data/1/a", OLD, NEW),
    (copy, "data/1/a", OLD, NEW),
    (create, "data/3/4/a", None, NEW),
    (delete, "data/1/a", OLD, None),
]


@pytest.mark.parametrize(("verb", "address", "before", "after"), VERBS)
def test_a_failing_call_leaves_the_former_object_or_the_new_one(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: Callable[[LocalObjects], object],
    address: str,
    before: bytes | None,
    after: bytes | None,
) -> None:
    for fail_at in count(1):
        root = tmp_path / f"{fail_at}"
        objects = prepared(root)
        with monkeypatch.context() as patched:
            failing = FailingOs(fail_at)
            for module in (disk, folders, listing, store, target):
                patched.setattr(module, "os", failing)
            error = outcome(verb, objects)
        objects.close()
        found = content(root, address)
        assert found in (before, after)
        assert error or found == after
        assert not error or isinstance(error, UnknownOutcome) or found == before
        if failing.calls < fail_at:
            break
    assert fail_at > 8


def prepared(root: Path) -> LocalObjects:
    objects = LocalObjects(root, ENVIRONMENT)
    objects.put("data/1/a", OLD)
    objects.put("data/2/new", NEW)
    return objects


def outcome(verb: Callable[[LocalObjects], object], objects: LocalObjects) -> LochanError | None:
    try:
        verb(objects)
    except LochanError as error:
        return error
    return None


def content(root: Path, address: str) -> bytes | None:
    """Read with a fresh store, which also shows that nothing incoming was left."""
    objects = LocalObjects(root, ENVIRONMENT)
    listed = {item.address for item in objects.list().entries}
    found = objects.get(address).read() if address in listed else None
    objects.close()
    assert list((root / ".lochan/incoming").iterdir()) == []
    return found


@pytest.mark.parametrize("delimiter", ["", "/"])
def test_a_listing_that_cannot_look_is_an_error_and_never_shorter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delimiter: str
) -> None:
    objects = prepared(tmp_path / "lake")
    whole = objects.list(delimiter=delimiter)
    for fail_at in count(1):
        failing = FailingOs(fail_at)
        with monkeypatch.context() as patched:
            for module in (folders, listing, target):
                patched.setattr(module, "os", failing)
            try:
                assert objects.list(delimiter=delimiter) == whole
            except LochanError:
                continue
        if failing.calls < fail_at:
            break
    objects.close()
    assert fail_at > 4
