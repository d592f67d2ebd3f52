# SPDX-License-Identifier: Apache-2.0
"""A small lake from nothing: objects, one committed tree over them, and a branch that names it.

`make demo` runs it. It uses the real parts that exist today: the local object store, SQLite, table
files, records. The lake stays in .cache/demo, to be looked at; the next run starts it afresh.
"""

import hashlib
import shutil
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import track
from rich.table import Table as Grid

from lochan.environment import RealEnvironment
from lochan.errors import NotFound, PredicateFailed
from lochan.kernel.records import Records
from lochan.kv.open import open_store
from lochan.kv.store import Store
from lochan.kv.table import Table
from lochan.model import codec
from lochan.model.commit_id import check_commit_id, new_commit
from lochan.model.entry import Entry, identity
from lochan.model.ids import (
    BranchName,
    CommitId,
    LineageId,
    MetaRangeId,
    new_staging_token,
    valid_repository_id,
    valid_storage_namespace,
    valid_unique_identifier,
)
from lochan.model.instant import from_seconds
from lochan.model.records import Branch, Clock, Commit, Repository
from lochan.objects.address import AddressSource, metadata_address
from lochan.objects.open import open_objects
from lochan.objects.store import IF_ABSENT, ObjectStore
from lochan.sstable import TableFile, read_table, write_table

LAKE = Path(".cache/demo")
DAYS = [f"2024-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
SENSORS = ["attic", "cellar", "garden"]

console = Console()
environment = RealEnvironment()


def reading(day: str, sensor: str) -> bytes:
    """Make a small table, the same on every run."""
    seed = hashlib.sha256(f"{day}/{sensor}".encode()).digest()
    rows = "".join(f"{hour:02}:00,{10 + seed[hour] / 16:.1f}\n" for hour in range(24))
    return f"hour,celsius\n{rows}".encode()


def put_object(objects: ObjectStore, addresses: AddressSource, key: str, body: bytes) -> Entry:
    """Store one object under a fresh address and describe it."""
    address = addresses.new(key)
    info = objects.put(address, body, size=len(body), when=IF_ABSENT)
    return Entry(
        address=address,
        last_modified=from_seconds(info.modified),
        size=info.size,
        e_tag=hashlib.sha256(body).hexdigest(),
        content_type="text/csv",
    )


def put_file(objects: ObjectStore, file: TableFile) -> TableFile:
    """Store a table file under its name; a file that is there already is the same file."""
    try:
        objects.head(metadata_address(file.id))
    except NotFound:
        objects.put(metadata_address(file.id), file.data, when=IF_ABSENT)
    return file


def write_tree(objects: ObjectStore, entries: dict[str, Entry]) -> tuple[TableFile, TableFile]:
    """Write one range of all entries, and the metarange over it."""
    rows = (
        (key.encode(), identity(entry), codec.encode_entry(entry)) for key, entry in entries.items()
    )
    low = put_file(objects, write_table(Records.of(sorted(rows)), "ranges", {}))
    data = codec.encode_range_data(low.min_key, low.max_key, low.estimated_size, low.count)
    row = (low.max_key, low.id.encode(), data)
    return low, put_file(objects, write_table(Records.of([row]), "metaranges", {}))


def create_repository(store: Store, tree: TableFile) -> tuple[Table[Branch], Table[Commit]]:
    """Write repository, first commit and branch, each only if it is not there."""
    now = from_seconds(environment.now())
    repository = Repository(
        repository_id=valid_repository_id("weather"),
        storage_namespace=valid_storage_namespace(f"local://{LAKE.resolve()}/objects"),
        default_branch=BranchName("main"),
        creation_date=now,
        unique_identifier=valid_unique_identifier(environment.new_id()),
    )
    repositories = Table(
        store, b"graveler", b"repos/", codec.encode_repository, codec.decode_repository
    )
    partition = f"{repository.repository_id}-{repository.unique_identifier}".encode()
    branches = Table(store, partition, b"branches/", codec.encode_branch, codec.decode_branch)
    commits = Table(store, partition, b"commits/", codec.encode_commit, codec.decode_commit)
    line = LineageId(environment.new_id())
    commit = new_commit(
        committer="demo",
        message="a year of readings",
        creation_date=now,
        meta_range_id=MetaRangeId(tree.id),
        clocks=(Clock(line, 0),),
    )
    branch = Branch(
        branch_id=BranchName("main"),
        commit_id=commit.id,
        staging_token=new_staging_token(
            repository.repository_id, BranchName("main"), environment.new_id()
        ),
        lineage=line,
    )
    commits.set_if(commit.id.encode(), commit, None)
    branches.set_if(b"main", branch, None)
    repositories.set_if(repository.repository_id.encode(), repository, None)
    return branches, commits


def look_up(
    objects: ObjectStore, branches: Table[Branch], commits: Table[Commit], key: str
) -> bytes:
    """Read one object as a client would: branch, commit, metarange, range, entry, bytes."""
    commit = commits.get(branches.get(b"main").record.commit_id.encode()).record
    check_commit_id(commit)
    address = metadata_address(commit.meta_range_id)
    metarange = read_table(objects.get(address).read(), address)
    range_id = metarange.records().identities[0].decode()
    found = read_table(objects.get(metadata_address(range_id)).read(), range_id).get(key.encode())
    if found is None:
        raise NotFound(f"{key} is not on main")
    return objects.get(codec.decode_entry(found[1]).address).read()


def race(branches: Table[Branch]) -> str:
    """Let two writers move one branch from the same state: one wins, the other is told."""
    seen = branches.get(b"main")
    first = msgspec.structs.replace(seen.record, commit_id=CommitId("aa" * 32))
    second = msgspec.structs.replace(seen.record, commit_id=CommitId("bb" * 32))
    branches.set_if(b"main", first, seen.predicate)
    try:
        branches.set_if(b"main", second, seen.predicate)
    except PredicateFailed as error:
        branches.set(b"main", seen.record)
        return f"{type(error).__name__}: {error}"
    raise AssertionError("both writers won")


def main() -> None:
    """Build the lake and show what each step left behind."""
    shutil.rmtree(LAKE, ignore_errors=True)
    LAKE.mkdir(parents=True)
    store = open_store(f"sqlite://{LAKE}/kv.db", environment)
    objects = open_objects(f"local://{LAKE.resolve()}/objects", environment)
    addresses = AddressSource(environment)

    keys = [f"readings/{day}/{sensor}.csv" for day in DAYS for sensor in SENSORS]
    entries = {
        key: put_object(objects, addresses, key, reading(*key[9:-4].split("/")))
        for key in track(keys, "putting objects", console=console)
    }
    low, tree = write_tree(objects, entries)
    branches, commits = create_repository(store, tree)

    grid = Grid("what", "name", "rows", "bytes")
    grid.add_row(
        "objects", "data/...", str(len(entries)), str(sum(e.size for e in entries.values()))
    )
    grid.add_row("range", f"_lakefs/{low.id[:12]}...", str(low.count), str(len(low.data)))
    grid.add_row("metarange", f"_lakefs/{tree.id[:12]}...", str(tree.count), str(len(tree.data)))
    console.print(grid)
    wanted = "readings/2024-07-14/garden.csv"
    text = look_up(objects, branches, commits, wanted).decode()
    console.print(
        f"main, {wanted}: {text.count(chr(10)) - 1} hours, the first is {text.split()[1]}"
    )
    again = write_tree(objects, entries)[1]
    console.print(f"the same entries once more give the same tree: {again.id == tree.id}")
    console.print(f"two writers move main at once; the second is told: {race(branches)}")
    store.close()
    objects.close()
    console.print(f"the lake is in {LAKE}")


if __name__ == "__main__":
    main()
