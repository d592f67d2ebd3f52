# SPDX-License-Identifier: Apache-2.0
"""The folder for what can be made again: archives, the Java wrapper, Spark's log settings."""

from pathlib import Path

from lochan.config.surroundings import home, variables


def cache_folder() -> Path:
    """Give the folder, which nobody else can write to."""
    said = variables().get("XDG_CACHE_HOME")
    folder = (Path(said) if said else home() / ".cache") / "lochan"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
