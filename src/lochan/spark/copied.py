# SPDX-License-Identifier: Apache-2.0
"""Objects that are no one file on the disk, brought to a folder of this process.

A file that grew by appending lies in several blocks, and a few names are written on the disk with
escapes that Spark does not know. Their bytes are copied once, and are gone when the process ends.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from lochan.client.reference import Reference
from lochan.spark.places import Place
from lochan.spark.resolved import File


def copied(reference: Reference, file: File) -> Place:
    """Give a file on this machine that has an object's bytes."""
    known_by = f"{reference.uri}\0{file.key}\0{file.size}\0{file.mtime}".encode()
    name = file.key.rpartition("/")[2]
    suffix = name[name.find(".") :] if "." in name else ""
    target = Path(_folder().name) / f"{sha256(known_by).hexdigest()}{suffix}"
    if not target.exists():
        reference.object(file.key).download(target)
    return Place("file", "", str(target))


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="lochan-copied-")
