# SPDX-License-Identifier: Apache-2.0
"""Manifests of shard attempts: written last, found again by whoever resumes a job."""

from collections.abc import Iterator
from typing import Final

import msgspec

from lochan.errors import NotFound
from lochan.objects.store import IF_ABSENT, ObjectStore
from lochan.objects.walk import walk
from lochan.pipelines.model.work import WORK, Manifest

FRAGMENT: Final = "fragment"
LOG: Final = "log"
MANIFEST: Final = "manifest"


def attempt_folder(folder: str, shard: int, attempt: str) -> str:
    """Say where an attempt keeps what is its own; `folder` is the task's."""
    return f"{folder}/{shard}/{attempt}"


def write_manifest(objects: ObjectStore, folder: str, manifest: Manifest) -> None:
    """Say that an attempt is whole; `folder` is the attempt's."""
    objects.put(f"{folder}/{MANIFEST}", msgspec.json.encode(manifest), when=IF_ABSENT)


def find_manifests(objects: ObjectStore, job: str) -> Iterator[Manifest]:
    """Yield the manifests of all whole attempts of a job, of any epoch.

    One that is damaged counts for none: its shard is run again, and nothing of it is linked.
    """
    for listed in walk(objects, f"{WORK}/{job}/"):
        if not listed.address.endswith(f"/{MANIFEST}"):
            continue
        try:
            with objects.get(listed.address) as reading:
                found = msgspec.json.decode(reading.read(), type=Manifest)
        except (NotFound, msgspec.DecodeError):  # or swept meanwhile, with its attempt
            continue
        yield found
