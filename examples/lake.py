# SPDX-License-Identifier: Apache-2.0
"""The demo's lake: the stores joined by hand, and the few verbs that the demo needs.

Real stores, real records, one writer. What the package's own operations will add (staging, hooks,
commits by many writers at once) is not attempted here.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lochan.committed import Applied, Cuts, Files, Snapshots
from lochan.environment import RealEnvironment
from lochan.kernel.records import Records
from lochan.kv.open import open_store
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
    valid_branch_name,
    valid_repository_id,
    valid_storage_namespace,
    valid_unique_identifier,
)
from lochan.model.instant import from_seconds
from lochan.model.records import Branch, Clock, Commit, Repository
from lochan.objects.address import AddressSource
from lochan.objects.open import open_objects
from lochan.objects.store import IF_ABSENT, ObjectStore

FOLDER = Path(".cache/demo")
NAME = "weather"
environment = RealEnvironment()


@dataclass(frozen=True, slots=True)
class Lake:
    """One repository with its stores."""

    objects: ObjectStore
    addresses: AddressSource
    snapshots: Snapshots
    branches: Table[Branch]
    commits: Table[Commit]

    def head(self, branch: str) -> Commit:
        """Read the commit that a branch names, and check that it is what its id says."""
        named = self.branches.get(branch.encode()).record
        commit = self.commits.get(named.commit_id.encode()).record
        check_commit_id(commit)
        return commit

    def put(self, key: str, body: bytes) -> tuple[bytes, bytes, bytes]:
        """Store an object under a fresh address, and describe it as a record of the tree."""
        address = self.addresses.new(key)
        info = self.objects.put(address, body, size=len(body), when=IF_ABSENT)
        entry = Entry(
            address=address,
            last_modified=from_seconds(info.modified),
            size=info.size,
            e_tag=hashlib.sha256(body).hexdigest(),
            content_type="text/csv",
        )
        return key.encode(), identity(entry), codec.encode_entry(entry)

    def read(self, branch: str, key: str) -> tuple[Entry, bytes] | None:
        """Read an object as a branch shows it: commit, metarange, range, entry, bytes."""
        record = self.snapshots.get(self.head(branch).meta_range_id, key.encode())
        if record is None:
            return None
        entry = codec.decode_entry(record.value)
        with self.objects.get(entry.address) as reading:
            return entry, reading.read()

    def commit(self, branch: str, message: str, rows: list[tuple[bytes, bytes, bytes]]) -> Applied:
        """Apply rows to a branch's tree and move the branch to a commit of the result."""
        applied = self.snapshots.apply(self.head(branch).meta_range_id, [Records.of(sorted(rows))])
        self.advance(branch, message, applied.id)
        return applied

    def advance(self, branch: str, message: str, tree: MetaRangeId, *merged: CommitId) -> None:
        """Move a branch to a new commit of a tree; raises PredicateFailed if somebody else did."""
        seen = self.branches.get(branch.encode())
        parent = self.commits.get(seen.record.commit_id.encode()).record
        line = seen.record.lineage
        if line:
            clocks = (*parent.clocks[:-1], Clock(line, parent.clocks[-1].commit + 1))
        else:  # the branch's first commit of its own starts a line
            line = LineageId(environment.new_id())
            clocks = (*parent.clocks, Clock(line, 0))
        commit = new_commit(
            committer="demo",
            message=message,
            creation_date=from_seconds(environment.now()),
            meta_range_id=tree,
            clocks=clocks,
            parents=(parent.id, *merged),
            generation=parent.generation + 1,
        )
        self.commits.set_if(commit.id.encode(), commit, None)
        moved = msgspec.structs.replace(seen.record, commit_id=commit.id, lineage=line)
        self.branches.set_if(branch.encode(), moved, seen.predicate)

    def create_branch(self, name: str, commit: CommitId, line: LineageId) -> None:
        """Name a commit, if the name is free."""
        token = new_staging_token(
            valid_repository_id(NAME), valid_branch_name(name), environment.new_id()
        )
        branch = Branch(
            branch_id=BranchName(name), commit_id=commit, staging_token=token, lineage=line
        )
        self.branches.set_if(name.encode(), branch, None)


@contextmanager
def open_lake() -> Iterator[Lake]:
    """Open the lake in FOLDER, with repository and branch main created where they are absent."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    namespace = f"local://{FOLDER.resolve()}/objects"
    store = open_store(f"sqlite://{FOLDER}/kv.db", environment)
    objects = open_objects(namespace, environment)
    repositories = Table(
        store, b"graveler", b"repos/", codec.encode_repository, codec.decode_repository
    )
    found = repositories.find(NAME.encode())
    repository = found.record if found else _new_repository(namespace)
    partition = f"{NAME}-{repository.unique_identifier}".encode()
    # A real lake cuts ranges far longer; short ones show in a small lake what is reused.
    with Snapshots(Files(objects, environment), environment, cuts=Cuts(raggedness=50)) as snapshots:
        lake = Lake(
            objects,
            AddressSource(environment),
            snapshots,
            Table(store, partition, b"branches/", codec.encode_branch, codec.decode_branch),
            Table(store, partition, b"commits/", codec.encode_commit, codec.decode_commit),
        )
        if not found:
            _begin(lake, repository)
            repositories.set_if(NAME.encode(), repository, None)
        yield lake
    objects.close()
    store.close()


def _new_repository(namespace: str) -> Repository:
    return Repository(
        repository_id=valid_repository_id(NAME),
        storage_namespace=valid_storage_namespace(namespace),
        default_branch=valid_branch_name("main"),
        creation_date=from_seconds(environment.now()),
        unique_identifier=valid_unique_identifier(environment.new_id()),
    )


def _begin(lake: Lake, repository: Repository) -> None:
    line = LineageId(environment.new_id())
    first = new_commit(
        committer="demo",
        message="Repository created",
        creation_date=repository.creation_date,
        meta_range_id=MetaRangeId(""),
        clocks=(Clock(line, 0),),
    )
    lake.commits.set_if(first.id.encode(), first, None)
    lake.create_branch("main", first.id, line)
