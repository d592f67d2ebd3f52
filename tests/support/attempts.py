# SPDX-License-Identifier: Apache-2.0
"""Shards to run by hand: objects in memory, datums made of them, and what an attempt left."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lochan.environment import Environment, RealEnvironment
from lochan.model.codec import decode_entry, encode_entry
from lochan.model.entry import Entry, identity
from lochan.model.ids import StorageNamespace
from lochan.model.instant import Instant
from lochan.objects.address import AddressSource
from lochan.objects.drivers.memory import MemoryObjects
from lochan.objects.store import ObjectStore
from lochan.pipelines.attempts.attempt import run_shard
from lochan.pipelines.attempts.fragment import read_fragment
from lochan.pipelines.attempts.manifests import LOG
from lochan.pipelines.attempts.places import OpenedPlace, Place, ProcessPlaces
from lochan.pipelines.model.datum import Datum, DatumFile, DatumRow, Member, datum_hash, datum_id
from lochan.pipelines.model.spec import DatumRules, FilesTransform
from lochan.pipelines.model.work import WORK, Code, JobTask, Manifest, Shard

IN = "mem://attempts-in"
OUT = "mem://attempts-out"


@dataclass
class Ground:
    """A repository to read from, one to write to."""

    environment: Environment = field(default_factory=RealEnvironment)
    rules: DatumRules = field(default_factory=lambda: DatumRules(tries=1))
    transform: FilesTransform = field(default_factory=lambda: FilesTransform(function="steps:make"))
    code: Code = field(default_factory=Code)

    def __post_init__(self) -> None:
        self.inputs: ObjectStore = MemoryObjects(self.environment)
        self.outputs: ObjectStore = MemoryObjects(self.environment)
        self.others = ProcessPlaces(self.environment)

    def storages(self, namespace: StorageNamespace) -> Place:
        """Open a namespace."""
        known = {IN: self.inputs, OUT: self.outputs}
        if namespace in known:
            return OpenedPlace(known[namespace], AddressSource(self.environment))
        return self.others(namespace)

    def entry(self, body: bytes, **said: Any) -> Entry:  # noqa: ANN401 - fields of any type
        """Store bytes, and describe them."""
        address = AddressSource(self.environment).new()
        self.inputs.put(address, body)
        known = {"address": address, "size": len(body), "e_tag": "x", "last_modified": Instant(0)}
        return Entry(**{**known, **said})

    def member(self, key: str, body: bytes | Entry) -> Member:
        """Make an object of an input."""
        entry = self.entry(body) if isinstance(body, bytes) else body
        return Member(key.encode(), identity(entry), encode_entry(entry))

    def file(
        self, key: str, *members: Member, name: str = "src", captures: tuple[str, ...] = ()
    ) -> DatumFile:
        """Make what an input gives to a datum."""
        return DatumFile(name, "in", key.encode(), captures, members)

    def datum(self, *files: DatumFile, number: int = 0) -> Datum:
        """Make a datum of files."""
        name = datum_id(files)
        return Datum(name, datum_hash(name, b"code", files), files, number)

    def datums(self, bodies: Mapping[str, bytes]) -> tuple[Datum, ...]:
        """Make a datum for each file."""
        made = ((key, self.member(key, body)) for key, body in bodies.items())
        return tuple(
            self.datum(self.file(key, member), number=n) for n, (key, member) in enumerate(made)
        )

    def task(self) -> JobTask:
        """Say what all attempts are told."""
        return JobTask(
            job="job1",
            epoch=1,
            pipeline="texts",
            transform=self.transform,
            rules=self.rules,
            code=self.code,
            output_namespace=OUT,
            input_namespaces={"in": IN},
            commits={"src": "c1"},
        )

    def run(self, function: Callable[..., Any] | None, *datums: Datum, shard: int = 0) -> Manifest:
        """Run an attempt of a shard."""
        given = Shard(shard, datums)
        return run_shard(self.task(), given, self.environment, self.storages, function=function)

    def rows(self, manifest: Manifest) -> list[DatumRow]:
        """Read the fragment that a manifest names."""
        return list(read_fragment(self.outputs, manifest.fragment))

    def written(self, manifest: Manifest) -> dict[str, bytes]:
        """Give the content of what an attempt wrote."""
        files = [file for row in self.rows(manifest) for file in row.outputs]
        entries = {file.key.decode(): decode_entry(file.entry) for file in files}
        return {key: self.outputs.get(entry.address).read() for key, entry in entries.items()}

    def lines(self) -> list[tuple[str, str]]:
        """Give stream and text of all lines of all logs."""
        found = [one.address for one in self.outputs.list(f"{WORK}/job1/").entries]
        logs = [self.outputs.get(one).read() for one in found if one.endswith(f"/{LOG}")]
        said = [json.loads(line) for log in logs for line in log.splitlines()]
        return [(one["stream"], one["text"]) for one in said]


def code_folder(folder: Path, text: str, name: str = "steps.py") -> Code:
    """Write a module, and say where it is."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return Code(folder=str(folder))
