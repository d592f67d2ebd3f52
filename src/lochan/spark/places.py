# SPDX-License-Identifier: Apache-2.0
"""Where Spark finds the bytes of an address, and whether it can.

    local:///folder/data/...   file:/folder/data/...
    file:///folder/x           file:/folder/x
    s3://bucket/key            s3a://bucket/key, where hadoop-aws is on the class path
    gs://bucket/key            gs://bucket/key, where Google's connector is

A name on a local disk is the address itself while it is made of common characters; see
docs/formats/object-layout.md. Other names are not guessed at: they have no place here.
"""

import re
from typing import Final, NamedTuple

from pyspark.sql import SparkSession

_CLASSES: Final = {
    "s3": ("s3a", "org.apache.hadoop.fs.s3a.S3AFileSystem"),
    "gs": ("gs", "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem"),
}
_LOCAL: Final = frozenset({"local", "file"})
# A segment that the local driver writes as it stands.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_\-,=%+ ][A-Za-z0-9_\-.,=%+ ]{0,178}\Z")


class Place(NamedTuple):
    """Where bytes lie, as Hadoop names it."""

    scheme: str
    authority: str
    path: str

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


def find_place(address: str, namespace: str, schemes: frozenset[str]) -> Place | None:
    """Say where Spark finds an address in full; None where it cannot.

    `namespace` is the repository's, below which a local name has rules; `schemes` are those that
    the session reads.
    """
    scheme, _, rest = address.partition("://")
    authority, _, path = rest.partition("/")
    if scheme in _LOCAL:
        inside = address.removeprefix(f"{namespace.rstrip('/')}/")
        is_plain = inside == address or is_plain_address(inside)
        return Place("file", "", f"/{path}") if is_plain else None
    if scheme in _CLASSES and scheme in schemes:
        return Place(_CLASSES[scheme][0], authority, f"/{path}")
    return None


def is_plain_address(address: str) -> bool:
    """Say whether the local driver keeps an address under the name that it has."""
    return all(map(_PLAIN.match, address.split("/")))


def schemes_of(spark: SparkSession) -> frozenset[str]:
    """Say which clouds the class path of a session can read."""
    jvm = spark.sparkContext._jvm  # noqa: SLF001 - the one way to the class path
    found = set()
    for scheme, (_, name) in _CLASSES.items():
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()  # type: ignore[union-attr]
        if loader.getResource(name.replace(".", "/") + ".class") is not None:
            found.add(scheme)
    return frozenset(found)
