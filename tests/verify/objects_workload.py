# SPDX-License-Identifier: Apache-2.0
"""A writer of local objects that tells what it does, for campaigns that cut it off.

It puts objects into new and old folders, over others, in parts, copies and deletes them, for ever:

    B address digest    about to begin; "-" is a delete
    A address digest    acknowledged

A body proves itself: it begins with the 64 hex digits of the hash of its rest. Asked to, the writer
leaves out a sync, to show what that costs.
"""

import hashlib
import os
import random
import sys
from contextlib import suppress
from pathlib import Path

from lochan.environment import RealEnvironment
from lochan.objects.drivers.local import LocalObjects, disk, folders
from lochan.objects.store import IF_ABSENT, ObjectInfo

SYNCS = ("files", "names", "folders", "anything")


def leave_out(sync: str) -> None:
    """Take a sync out of the driver."""
    if sync == "files":
        disk.Disk.finish = _finish_without_sync  # type: ignore[method-assign]  # on purpose
    elif sync == "names":
        LocalObjects._sync_name = _no_sync_of_name  # type: ignore[method-assign]  # on purpose
    elif sync == "folders":
        folders.Folders._open_durable = _make_without_sync  # type: ignore[method-assign]  # on purpose
    elif sync == "anything":
        disk._sync = _no_sync


def _finish_without_sync(self: disk.Disk, incoming: disk.Incoming) -> ObjectInfo:
    return disk.info_of(os.fstat(incoming.fileno()))


def _no_sync_of_name(self: LocalObjects, folder: int, address: str) -> None:
    del folder, address


def _no_sync(file: int) -> None:
    del file


def _make_without_sync(self: folders.Folders, above: int, name: str) -> int:
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=above)
    return folders.open_folder(above, name)


def said(mark: str, address: str, value: str) -> None:
    print(mark, address, value, flush=True)


class Work:
    """The writer's steps, chosen by dice."""

    def __init__(self, root: Path, seed: str) -> None:
        self._store = LocalObjects(root, RealEnvironment())
        self._dice = random.Random(seed)

    def step(self) -> None:
        rest = self._dice.randbytes(self._dice.choice([10, 1000, 70_000]))
        body = hashlib.sha256(rest).hexdigest().encode() + rest
        steps = [self.create] * 4 + [self.replace_and_copy] * 2 + [self.upload, self.delete]
        self._dice.choice(steps)(body)

    def create(self, body: bytes) -> None:
        address, digest = self._fresh(body)
        said("B", address, digest)
        pieces = [body[:5000], body[5000:]]
        self._store.put(address, pieces, size=len(body), when=IF_ABSENT)
        said("A", address, digest)

    def replace_and_copy(self, body: bytes) -> None:
        address, digest = f"over/{self._dice.randrange(3)}/and/over", body[:64].decode()
        said("B", address, digest)
        self._store.put(address, body)
        said("A", address, digest)
        copied = f"data/copy/{self._dice.randrange(4)}"
        said("B", copied, digest)
        self._store.copy(address, copied)
        said("A", copied, digest)

    def upload(self, body: bytes) -> None:
        address, digest = self._fresh(body)
        said("B", address, digest)
        uploads = self._store.uploads
        upload = uploads.create(address)
        halves = enumerate((body[:40], body[40:]), 1)
        parts = [uploads.put_part(address, upload, number, half) for number, half in halves]
        uploads.complete(address, upload, parts)
        said("A", address, digest)

    def delete(self, _: bytes) -> None:
        listed = self._store.list("data/").entries
        for entry in self._dice.sample(listed, len(listed) // 3):
            said("B", entry.address, "-")
            self._store.delete(entry.address)
            said("A", entry.address, "-")

    def _fresh(self, body: bytes) -> tuple[str, str]:
        digest = body[:64].decode()
        return f"data/{self._dice.randrange(30)}/{digest}", digest


def main(root: str, seed: str, without: str) -> None:
    leave_out(without)
    work = Work(Path(root), seed)
    while True:
        work.step()


if __name__ == "__main__":
    main(*sys.argv[1:])
