# SPDX-License-Identifier: Apache-2.0
"""Which kind of file system holds a path, and whether it is one of another machine.

SQLite's write-ahead log needs shared memory and locks that all users of a file agree on. Over a
network they do not, and the file is damaged without a sign. So such file systems are refused.

The kind is read from the kernel's list of mounts: the last mount whose point is the longest prefix
of the real path. Its name says more than the number that statfs gives, which is the same for every
FUSE file system. Where the kernel offers no such list (not Linux), the kind is unknown and
accepted.
"""

import os
import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")

# Names as the kernel lists them. FUSE file systems name themselves after "fuse."; only those known
# to reach over a network are here, since others (ntfs-3g, encfs, mergerfs) lie on a local disk.
NETWORKED = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "9p", "afs", "coda", "ceph", "lustre"),
        *("glusterfs", "gpfs", "beegfs", "orangefs", "pvfs2", "ocfs2", "gfs2"),
        *("fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse", "fuse.cephfs"),
        *("fuse.s3fs", "fuse.mount-s3", "fuse.mountpoint-s3", "fuse.goofys", "fuse.gcsfuse"),
        *("fuse.blobfuse", "fuse.blobfuse2", "fuse.juicefs", "fuse.rclone", "fuse.davfs2"),
        *("fuse.curlftpfs", "fuse.seaweedfs", "fuse.moosefs", "fuse.mfs", "fuse.lakefs"),
        *("fuse.hdfs", "fuse.alluxio-fuse", "fuse.smbnetfs", "fuse.beegfs", "fuse.wekafs"),
        "wekafs",
    }
)


def kind_of(folder: Path) -> str:
    """Name the kind of file system that holds a folder, or "" if this machine does not say."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    return kind_listed(mounts, os.path.realpath(folder))


def kind_listed(mounts: str, path: str) -> str:
    """Find the kind of the mount that holds an absolute path, in the text of a mountinfo file.

    A line is `36 35 98:0 /root /point options [optional...] - kind source options`; blanks and the
    like within a point are written as octal escapes.
    """
    longest, kind = -1, ""
    for line in mounts.splitlines():
        before, dash, after = line.partition(" - ")
        if not dash:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), before.split(" ")[4])
        holds = path == point or path.startswith(point.rstrip("/") + "/")
        if holds and len(point) >= longest:  # a later mount at the same point covers the earlier
            longest, kind = len(point), after.split(" ")[0]
    return kind


def is_networked(kind: str) -> bool:
    """Say whether files on this kind of file system belong to another machine."""
    return kind in NETWORKED
