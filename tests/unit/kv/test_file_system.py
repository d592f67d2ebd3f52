# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from lochan.kv.drivers.file_system import is_networked, kind_listed, kind_of

MOUNTS = r"""
22 28 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw
28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 28 0:45 / /data rw shared:20 master:3 - nfs4 server:/export rw,vers=4.2
41 40 8:1 / /data/local rw - xfs /dev/sdb1 rw
42 28 0:46 / /with\040blank rw - fuse.sshfs me@host: rw
43 28 0:47 / /twice rw - cifs //server/share rw
44 43 8:2 / /twice rw - btrfs /dev/sdc rw
"""


@pytest.mark.parametrize(
    ("path", "kind", "networked"),
    [
        ("/", "ext4", False),
        ("/lake", "ext4", False),
        ("/database", "ext4", False),
        ("/data", "nfs4", True),
        ("/data/lake", "nfs4", True),
        ("/data/local/lake", "xfs", False),
        ("/with blank/lake", "fuse.sshfs", True),
        ("/twice/lake", "btrfs", False),
    ],
)
def test_the_innermost_last_mount_says_the_kind(path: str, kind: str, *, networked: bool) -> None:
    assert kind_listed(MOUNTS, path) == kind
    assert is_networked(kind) is networked


def test_this_machines_folders_have_a_kind_and_may_be_used(tmp_path: Path) -> None:
    assert not is_networked(kind_of(tmp_path))
    if Path("/proc/self/mountinfo").exists():
        assert kind_of(Path("/proc")) == "proc"
        assert kind_of(tmp_path)


def test_lines_of_another_form_are_passed_over() -> None:
    assert kind_listed("nonsense\n\n1 2 3 4\n", "/lake") == ""
