# SPDX-License-Identifier: Apache-2.0
"""The disk that campaigns lose power on forgets what POSIX lets it forget, and nothing else."""

import random
from pathlib import Path

import pytest

from servers.forgetful_disk import SECTOR, File, Folder, Resize, Way, Write, write_image

DICE = random.Random("disk")


def test_only_what_was_synced_survives() -> None:
    file = File()
    file.change(Write(0, b"synced"))
    file.sync()
    file.change(Write(3, b"forgotten"))
    assert file.current == b"synforgotten"
    assert file.after_crash(Way.FORGET, DICE) == b"synced"
    assert file.after_crash(Way.KEEP, DICE) == b"synforgotten"


def test_a_failed_sync_is_never_made_good() -> None:
    file = File()
    file.change(Write(0, b"lost"))
    file.fail_sync()
    file.change(Write(4, b"+kept"))
    file.sync()
    assert file.current == b"lost+kept"
    assert file.after_crash(Way.KEEP, DICE) == b"\0\0\0\0+kept"


@pytest.mark.parametrize("way", [Way.PREFIX, Way.SUBSET])
def test_what_was_not_synced_may_survive_in_parts_cut_at_sectors(way: Way) -> None:
    file = File()
    file.change(Write(100, b"a" * 2000))
    file.change(Resize(1500))
    states = {file.after_crash(way, DICE) for _ in range(200)}
    assert len(states) > 3
    for state in states:
        body = state[100:1500]
        cuts = [at + 101 for at in range(len(body) - 1) if body[at] != body[at + 1]]
        assert all(cut % SECTOR == 0 for cut in cuts)


def test_names_survive_once_their_folder_was_synced(tmp_path: Path) -> None:
    folder, file = Folder(), File()
    file.change(Write(0, b"content"))
    file.sync()
    folder.change([], {"old": file})
    folder.sync()
    folder.change(["old"], {"new": file})
    folder.fail_sync()
    write_image(folder, tmp_path / "forget", Way.FORGET, DICE)
    write_image(folder, tmp_path / "keep", Way.KEEP, DICE)
    assert [path.name for path in (tmp_path / "forget").iterdir()] == ["old"]
    assert [path.name for path in (tmp_path / "keep").iterdir()] == ["new"]
    folder.sync()
    write_image(folder, tmp_path / "later", Way.FORGET, DICE)
    assert (tmp_path / "later" / "new").read_bytes() == b"content"
