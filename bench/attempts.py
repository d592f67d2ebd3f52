# SPDX-License-Identifier: Apache-2.0
"""An attempt of a shard beside a bare loop that reads and writes the same files.

Both go through the durable driver of a local folder, on one core. The loop has no log, no hashes,
no retries and no records of what it did.
"""

import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from lochan.environment import RealEnvironment
from lochan.model.codec import decode_entry, encode_entry
from lochan.model.entry import Entry, identity
from lochan.model.ids import StorageNamespace
from lochan.model.instant import Instant
from lochan.objects.address import AddressSource
from lochan.objects.store import IF_ABSENT
from lochan.pipelines.attempts.attempt import run_shard
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.attempts.places import Place, ProcessPlaces
from lochan.pipelines.model.datum import Datum, DatumFile, Member, datum_hash, datum_id
from lochan.pipelines.model.spec import DatumRules, FilesTransform
from lochan.pipelines.model.work import Code, JobTask, Shard
from measure import Row, best, chosen

BODY = b"x" * 1000
WORK_S = 0.005  # what the function computes for
WORLD = RealEnvironment()
COUNT = chosen(1000, small=10)


def spin(seconds: float) -> None:
    """Compute for a while."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def make(src: InputFiles, out: Out, seconds: float) -> None:
    """Read a file, compute, write it."""
    body = src.read_bytes()
    spin(seconds)
    out.write(src.path, body)


def given(place: Place) -> tuple[Datum, ...]:
    """Store small files, each a datum."""
    found = []
    for number in range(COUNT):
        key = f"{number % 50}/{number}.txt"
        address = place.addresses.new(key)
        place.objects.put(address, BODY, when=IF_ABSENT)
        entry = Entry(address=address, last_modified=Instant(0), size=len(BODY), e_tag=key)
        member = Member(key.encode(), identity(entry), encode_entry(entry))
        files = (DatumFile("src", "in", key.encode(), (), (member,)),)
        name = datum_id(files)
        found.append(Datum(name, datum_hash(name, b"", files), files, number))
    return tuple(found)


def bare(place: Place, datums: tuple[Datum, ...], seconds: float) -> None:
    """Do the same work, and no more."""
    addresses = AddressSource(WORLD)
    for datum in datums:
        with place.objects.get(decode_entry(datum.files[0].members[0].entry).address) as reading:
            body = reading.read()
        spin(seconds)
        place.objects.put(addresses.new("x.txt"), body, when=IF_ABSENT)


def main(folder: Path) -> list[Row]:
    """Measure a function that computes, and one that only reads and writes."""
    places, namespace = ProcessPlaces(WORLD), StorageNamespace(f"local://{folder}")
    place = places(namespace)
    with closing(place.objects):
        datums = given(place)
        rows = []
        for seconds in (WORK_S, 0.0):
            task = JobTask(
                job="bench",
                epoch=1,
                pipeline="bench",
                transform=FilesTransform(function="bench:make", params={"seconds": seconds}),
                rules=DatumRules(),
                code=Code(),
                output_namespace=namespace,
                input_namespaces={"in": namespace},
            )
            shard = Shard(0, datums)
            theirs = best(partial(bare, place, datums, seconds))
            ours = best(partial(run_shard, task, shard, WORLD, places, function=make))
            ratio = ours.wall_s / theirs.wall_s
            over = (ours.cpu_s - theirs.cpu_s) / COUNT * 1e6
            rows.append(
                Row(
                    f"attempt of {COUNT:,} datums, a function of {seconds * 1000:g} ms",
                    f"{ours.wall_s / COUNT * 1e6:,.0f} us/datum, {over:,.0f} us more of a core",
                    f"bare loop {theirs.wall_s / COUNT * 1e6:,.0f} us/datum",
                    ratio,
                    "<= 1.5x" if seconds else "< 300 us more",
                    ratio <= 1.5 if seconds else over < 300,
                )
            )
    return rows


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        sys.stdout.buffer.write(msgspec.json.encode(main(Path(made).resolve())))
