# SPDX-License-Identifier: Apache-2.0
"""One of each kind of damage to a grown lake, and the finding that fsck must have for it.

Each function damages one thing, and gives words that the finding must have in `where` or `what`.
"""

from collections.abc import Callable

import msgspec

from lochan.kv.read import scan_prefix
from lochan.model.codec import decode_entry, encode_commit, encode_staged_entry
from lochan.model.commit_id import commit_id
from lochan.model.ids import (
    BranchName,
    CommitId,
    LineageId,
    MetaRangeId,
    ObjectKey,
    RepositoryId,
    StagingToken,
    TagName,
)
from lochan.model.keys import (
    CLEANUP,
    DELETED,
    GRAVELER,
    MERGED,
    REACH,
    STAGED,
    clock_key,
    deleted_key,
    partition_of,
    reach_key,
    token_partition,
)
from lochan.model.records import Branch, Clock, Commit, RepositoryState, StagedEntry, Tag
from lochan.objects.address import metadata_address
from lochan.operations.findings import Kind
from lochan.operations.read_object import stat_object
from lochan.refs.notes import note_deleted
from lochan.refs.tables import repositories
from support.grown_lake import DEV, MAIN, head, put, record
from support.lakes import Stage

ABSENT = CommitId("0" * 64)
Damage = Callable[[Stage], str]


def put_commit(stage: Stage, made: Commit, *, under: CommitId | None = None) -> None:
    key = b"commits/" + (under or made.id).encode()
    stage.lake.store.set(partition_of(stage.repository), key, encode_commit(made))


def branch(stage: Stage, name: BranchName = DEV) -> Branch:
    return stage.lake.tables(stage.repository).branches.get(name.encode()).record


def put_branch(stage: Stage, made: Branch, name: str = "") -> None:
    tables = stage.lake.tables(stage.repository)
    tables.branches.set((name or made.branch_id).encode(), made)


def ranges(stage: Stage, tree: MetaRangeId) -> list[str]:
    return [str(row.id) for row in stage.storage.snapshots.files.metarange(tree)]


def flip(stage: Stage, file: str) -> None:
    address = metadata_address(file)
    with stage.storage.objects.get(address) as reading:
        body = bytearray(reading.read())
    body[10] ^= 1
    stage.storage.objects.put(address, bytes(body))


def row(stage: Stage, prefix: bytes) -> tuple[bytes, bytes]:
    return next(scan_prefix(stage.lake.store, partition_of(stage.repository), prefix))


def missing_commit(stage: Stage) -> str:
    lost = head(stage, MAIN).parents[0]
    stage.lake.tables(stage.repository).commits.delete(lost.encode())
    return lost


def dangling_tag(stage: Stage) -> str:
    tag = Tag(tag_id=TagName("broken"), commit_id=ABSENT)
    stage.lake.tables(stage.repository).tags.set(b"broken", tag)
    return "tags/broken"


def dangling_branch(stage: Stage) -> str:
    made = Branch(branch_id=DEV, commit_id=ABSENT, staging_token=StagingToken("fresh"))
    put_branch(stage, msgspec.structs.replace(made, branch_id=BranchName("broken")))
    return "branches/broken"


def changed_commit(stage: Stage) -> str:
    put_commit(stage, msgspec.structs.replace(head(stage, MAIN), message="another"))
    return head(stage, MAIN).id


def unknown_commit_version(stage: Stage) -> str:
    put_commit(stage, msgspec.structs.replace(head(stage, MAIN), version=7))
    return head(stage, MAIN).id


def wrong_generation(stage: Stage) -> str:
    below = stage.lake.tables(stage.repository).commits.get(head(stage, MAIN).parents[0].encode())
    put_commit(stage, msgspec.structs.replace(below.record, generation=77))
    return below.record.id


def wrong_clock(stage: Stage) -> str:
    """A commit from lakeFS, whose clock is not hashed."""
    bare = msgspec.structs.replace(head(stage, DEV), version=1, generation=9)
    line = LineageId("odd")
    clocks = (Clock(bare.clocks[0].branch, 99), Clock(line, 0))
    made = msgspec.structs.replace(bare, parents=(head(stage, DEV).id,), clocks=())
    named = msgspec.structs.replace(made, id=commit_id(made), clocks=clocks)
    put_commit(stage, msgspec.structs.replace(named, generation=head(stage, DEV).generation + 1))
    put_branch(
        stage, Branch(branch_id=BranchName("odd"), commit_id=named.id, staging_token=fresh("odd"))
    )
    stage.lake.store.set(partition_of(stage.repository), clock_key(line, 0), named.id.encode())
    return named.id


def fresh(name: str) -> StagingToken:
    return StagingToken(f"grown-{name}:fresh")


def place_given_twice(stage: Stage) -> str:
    twin = msgspec.structs.replace(head(stage, DEV), message="a twin")
    twin = msgspec.structs.replace(twin, id=commit_id(twin))
    put_commit(stage, twin)
    put_branch(
        stage, Branch(branch_id=BranchName("twin"), commit_id=twin.id, staging_token=fresh("twin"))
    )
    return twin.id


def wrong_line(stage: Stage) -> str:
    put_branch(stage, msgspec.structs.replace(branch(stage), commit_id=head(stage, MAIN).id))
    return "branches/dev"


def wrong_clock_row(stage: Stage) -> str:
    key = clock_key(*head(stage, MAIN).clocks[-1])
    stage.lake.store.set(partition_of(stage.repository), key, head(stage, DEV).id.encode())
    return key.decode()


def clock_row_of_nobody(stage: Stage) -> str:
    key = clock_key(head(stage, MAIN).clocks[-1].branch, 99)
    stage.lake.store.set(partition_of(stage.repository), key, ABSENT.encode())
    return key.decode()


def missing_clock_row(stage: Stage) -> str:
    key = clock_key(*head(stage, MAIN).clocks[-1])
    stage.lake.store.delete(partition_of(stage.repository), key)
    return key.decode()


def wrong_reach_row(stage: Stage) -> str:
    key, _ = row(stage, REACH)
    stage.lake.store.set(partition_of(stage.repository), key, b"99")
    return key.decode()


def missing_merged_row(stage: Stage) -> str:
    key, _ = row(stage, MERGED)
    stage.lake.store.delete(partition_of(stage.repository), key)
    return key.decode()


def left_reach_row(stage: Stage) -> str:
    line, place = head(stage, MAIN).clocks[-1]
    key = reach_key(line, head(stage, DEV).clocks[-1].branch, place, ABSENT)
    stage.lake.store.set(partition_of(stage.repository), key, b"1")
    return key.decode()


def missing_metarange(stage: Stage) -> str:
    tree = head(stage, MAIN).meta_range_id
    stage.storage.objects.delete(metadata_address(tree))
    return tree


def damaged_metarange(stage: Stage) -> str:
    flip(stage, head(stage, MAIN).meta_range_id)
    return head(stage, MAIN).meta_range_id


def missing_range(stage: Stage) -> str:
    name = ranges(stage, head(stage, MAIN).meta_range_id)[0]
    stage.storage.objects.delete(metadata_address(name))
    return name


def damaged_range(stage: Stage) -> str:
    name = ranges(stage, head(stage, MAIN).meta_range_id)[0]
    flip(stage, name)
    return name


def missing_object(stage: Stage) -> str:
    record(stage, MAIN, "lonely")
    entry = stat_object(stage.lake, stage.repository, MAIN, ObjectKey(b"lonely"))
    stage.storage.objects.delete(entry.address)
    return "'lonely'"


def cut_object(stage: Stage) -> str:
    record(stage, MAIN, "lonely")
    entry = stat_object(stage.lake, stage.repository, MAIN, ObjectKey(b"lonely"))
    stage.storage.objects.put(entry.address, b"lo")
    return "has 2 bytes, and should have 6"


def missing_staged_object(stage: Stage) -> str:
    put(stage, DEV, "lonely")
    entry = stat_object(stage.lake, stage.repository, DEV, ObjectKey(b"lonely"))
    stage.storage.objects.delete(entry.address)
    return f"token {branch(stage).staging_token!r}"


def put_staged(stage: Stage, key: bytes, value: bytes) -> None:
    stage.lake.store.set(token_partition(branch(stage).staging_token), STAGED + key, value)


def unreadable_staged_row(stage: Stage) -> str:
    put_staged(stage, b"broken", b"\xff\xff")
    return "'key/broken'"


def misplaced_staged_row(stage: Stage) -> str:
    put_staged(stage, b"here", encode_staged_entry(StagedEntry(b"there")))
    return "'key/here'"


def wrong_identity(stage: Stage) -> str:
    staged = stage.lake.staging.find(branch(stage).staging_token, b"staged")
    assert staged is not None
    wrong = StagedEntry(b"staged", b"i" * 32, staged[0].data)
    assert decode_entry(wrong.data).size == 6
    stage.lake.staging.set(branch(stage).staging_token, wrong)
    return "'staged'"


def unreadable_entry(stage: Stage) -> str:
    put_staged(stage, b"broken", encode_staged_entry(StagedEntry(b"broken", b"i" * 32, b"\xff")))
    return "'broken'"


def shared_token(stage: Stage) -> str:
    put_branch(stage, msgspec.structs.replace(branch(stage, MAIN), staging_token=tokens(stage)))
    return tokens(stage)


def tokens(stage: Stage) -> StagingToken:
    return branch(stage).staging_token


def unreadable_commit(stage: Stage) -> str:
    key = b"commits/" + head(stage, DEV).id.encode()
    stage.lake.store.set(partition_of(stage.repository), key + b"x", b"\xff")
    return (key + b"x").decode()


def unreadable_repository(stage: Stage) -> str:
    stage.lake.store.set(GRAVELER, b"repos/broken", b"\xff")
    return "repos/broken"


def misnamed_commit(stage: Stage) -> str:
    put_commit(stage, head(stage, MAIN), under=ABSENT)
    return ABSENT


def misnamed_branch(stage: Stage) -> str:
    put_branch(stage, msgspec.structs.replace(branch(stage), staging_token=fresh("x")), "other")
    return "branches/other"


def missing_default_branch(stage: Stage) -> str:
    stage.lake.tables(stage.repository).branches.delete(MAIN.encode())
    return "branches/main"


def unreadable_notes(stage: Stage) -> str:
    stage.lake.store.set(CLEANUP, b"some-token", b"{")
    return "some-token"


def unreadable_deleted_note(stage: Stage) -> str:
    stage.lake.store.set(DELETED, b"repo/some/thing", b"{")
    return "repo/some/thing"


def note_about_the_living(stage: Stage) -> str:
    note_deleted(stage.lake.store, stage.lake.environment, stage.repository)
    return deleted_key(stage.repository).decode()


def unfinished_repository(stage: Stage) -> str:
    other = msgspec.structs.replace(
        stage.repository,
        repository_state=RepositoryState.DELETING,
        repository_id=RepositoryId("other"),
    )
    repositories(stage.lake.store).set(b"other", other)
    return "repos/other"


DAMAGES: list[tuple[Damage, Kind]] = [
    (missing_commit, Kind.MISSING_COMMIT),
    (dangling_tag, Kind.MISSING_COMMIT),
    (dangling_branch, Kind.MISSING_COMMIT),
    (changed_commit, Kind.DAMAGED_COMMIT),
    (unknown_commit_version, Kind.DAMAGED_COMMIT),
    (wrong_generation, Kind.WRONG_GENERATION),
    (wrong_clock, Kind.WRONG_CLOCK),
    (place_given_twice, Kind.PLACE_GIVEN_TWICE),
    (wrong_line, Kind.WRONG_LINE),
    (wrong_clock_row, Kind.WRONG_CLOCK_ROW),
    (clock_row_of_nobody, Kind.WRONG_CLOCK_ROW),
    (missing_clock_row, Kind.MISSING_CLOCK_ROW),
    (wrong_reach_row, Kind.WRONG_REACH_ROW),
    (missing_merged_row, Kind.MISSING_REACH_ROW),
    (left_reach_row, Kind.LEFT_REACH_ROW),
    (missing_metarange, Kind.MISSING_METARANGE),
    (damaged_metarange, Kind.DAMAGED_METARANGE),
    (missing_range, Kind.MISSING_RANGE),
    (damaged_range, Kind.DAMAGED_RANGE),
    (missing_object, Kind.MISSING_OBJECT),
    (cut_object, Kind.CHANGED_OBJECT),
    (missing_staged_object, Kind.MISSING_OBJECT),
    (unreadable_staged_row, Kind.UNREADABLE_STAGED_ROW),
    (misplaced_staged_row, Kind.UNREADABLE_STAGED_ROW),
    (wrong_identity, Kind.WRONG_IDENTITY),
    (unreadable_entry, Kind.UNREADABLE_ENTRY),
    (shared_token, Kind.SHARED_TOKEN),
    (unreadable_commit, Kind.UNREADABLE_RECORD),
    (unreadable_repository, Kind.UNREADABLE_RECORD),
    (misnamed_commit, Kind.MISNAMED_RECORD),
    (misnamed_branch, Kind.MISNAMED_RECORD),
    (missing_default_branch, Kind.MISSING_DEFAULT_BRANCH),
    (unreadable_notes, Kind.UNREADABLE_NOTE),
    (unreadable_deleted_note, Kind.UNREADABLE_NOTE),
    (note_about_the_living, Kind.NOTE_ABOUT_THE_LIVING),
    (unfinished_repository, Kind.UNFINISHED_REPOSITORY),
]
