# SPDX-License-Identifier: Apache-2.0
"""The one place where records become bytes and back.

The bytes are protobuf messages (records.proto, docs/formats/records.md). Encoding is canonical:
fields in number order, maps sorted by key, defaults left out, so equal records give equal bytes and
stores may compare values as bytes. What somebody else wrote in another order decodes to the same
record.

Fields that this program does not know stay with the record (`unknown`) and are written back behind
the known ones. That holds for the record's own fields; the small messages inside (Clock, Ordinal,
Forgotten, Provenance, Block, BranchProtectionRule, Timestamp) are never extended, and theirs are
dropped.

Decoding raises `Corruption` for what is no such message; `where` names the record in that error.
Encoding raises `InvalidInput` for values that the message cannot hold.
"""

from lochan.model import records_pb2 as wire
from lochan.model.entry import AddressType, Block, Entry
from lochan.model.ids import (
    BranchName,
    CommitId,
    LineageId,
    MetaRangeId,
    OpenCommitId,
    RepositoryId,
    StagingToken,
    StorageNamespace,
    TagName,
    UniqueIdentifier,
)
from lochan.model.message import (
    decoded,
    encoding,
    enum_of,
    instant_of,
    message_bytes,
    timestamp_of,
    unknown_fields,
    unstorable,
)
from lochan.model.plain import plain_branch, plain_entry, plain_staged_entry
from lochan.model.records import (
    BlockedAction,
    Branch,
    BranchProtectionRule,
    Clock,
    Commit,
    Forgotten,
    OpenCommit,
    Ordinal,
    Provenance,
    RangeData,
    Repository,
    RepositoryState,
    Slot,
    StagedEntry,
    Tag,
)


def encode_repository(record: Repository) -> bytes:
    """Encode a repository."""
    with encoding("repository"):
        message = wire.Repository(
            repository_id=record.repository_id,
            storage_namespace=record.storage_namespace,
            default_branch=record.default_branch,
            creation_date=timestamp_of(record.creation_date),
            repository_state=wire.RepositoryState.ValueType(record.repository_state),
            unique_identifier=record.unique_identifier,
            read_only=record.read_only,
            storage_id=record.storage_id,
            branch_protection=[
                wire.BranchProtectionRule(
                    pattern=rule.pattern,
                    blocked_actions=map(wire.BlockedAction.ValueType, rule.blocked_actions),
                )
                for rule in record.branch_protection
            ],
            branch_owners=dict(record.branch_owners.items()),
        )
        return message_bytes(message, record.unknown)


def decode_repository(data: bytes, where: str = "a repository record") -> Repository:
    """Decode a repository."""
    message = decoded(wire.Repository, data, where)
    return Repository(
        repository_id=RepositoryId(message.repository_id),
        storage_namespace=StorageNamespace(message.storage_namespace),
        default_branch=BranchName(message.default_branch),
        creation_date=instant_of(message.creation_date, where),
        repository_state=enum_of(RepositoryState, message.repository_state, where),
        unique_identifier=UniqueIdentifier(message.unique_identifier),
        read_only=message.read_only,
        storage_id=message.storage_id,
        branch_protection=tuple(
            BranchProtectionRule(
                rule.pattern,
                tuple(enum_of(BlockedAction, action, where) for action in rule.blocked_actions),
            )
            for rule in message.branch_protection
        ),
        branch_owners={BranchName(name): one for name, one in message.branch_owners.items()},
        unknown=unknown_fields(message),
    )


def encode_branch(record: Branch) -> bytes:
    """Encode a branch."""
    plain = plain_branch(record)
    if plain is not None:
        return plain
    with encoding("branch"):
        message = wire.Branch(
            branch_id=record.branch_id,
            commit_id=record.commit_id,
            staging_token=record.staging_token,
            sealed_tokens=record.sealed_tokens,
            hidden=record.hidden,
            lineage=record.lineage,
            ordinals=[wire.Ordinal(lineage=o.lineage, first=o.first) for o in record.ordinals],
            compacted_base_meta_range_id=record.compacted_base_meta_range_id,
            resets=record.resets,
            moves=record.moves,
            forgotten=[
                wire.Forgotten(start=one.start, stop=one.stop or b"", newest=one.newest)
                for one in record.forgotten
            ],
            resets_in_place=record.resets_in_place,
        )
        return message_bytes(message, record.unknown)


def decode_branch(data: bytes, where: str = "a branch record") -> Branch:
    """Decode a branch."""
    message = decoded(wire.Branch, data, where)
    return Branch(
        branch_id=BranchName(message.branch_id),
        commit_id=CommitId(message.commit_id),
        staging_token=StagingToken(message.staging_token),
        sealed_tokens=tuple(map(StagingToken, message.sealed_tokens)),
        hidden=message.hidden,
        lineage=LineageId(message.lineage),
        ordinals=tuple(Ordinal(LineageId(o.lineage), o.first) for o in message.ordinals),
        compacted_base_meta_range_id=MetaRangeId(message.compacted_base_meta_range_id),
        resets=message.resets,
        moves=message.moves,
        forgotten=tuple(
            Forgotten(one.start, one.stop or None, StagingToken(one.newest))
            for one in message.forgotten
        ),
        resets_in_place=message.resets_in_place,
        unknown=unknown_fields(message),
    )


def encode_tag(record: Tag) -> bytes:
    """Encode a tag."""
    with encoding("tag"):
        message = wire.Tag(tag_id=record.tag_id, commit_id=record.commit_id)
        return message_bytes(message, record.unknown)


def decode_tag(data: bytes, where: str = "a tag record") -> Tag:
    """Decode a tag."""
    message = decoded(wire.Tag, data, where)
    return Tag(
        tag_id=TagName(message.tag_id),
        commit_id=CommitId(message.commit_id),
        unknown=unknown_fields(message),
    )


def encode_commit(record: Commit) -> bytes:
    """Encode a commit."""
    with encoding("commit"):
        message = wire.Commit(
            id=record.id,
            committer=record.committer,
            message=record.message,
            creation_date=timestamp_of(record.creation_date),
            meta_range_id=record.meta_range_id,
            metadata=record.metadata,
            parents=record.parents,
            version=record.version,
            generation=record.generation,
            clocks=[wire.Clock(branch=c.branch, commit=c.commit) for c in record.clocks],
            started=timestamp_of(record.started),
            finished=timestamp_of(record.finished),
            provenance=[_provenance_message(p) for p in record.provenance],
        )
        return message_bytes(message, record.unknown)


def decode_commit(data: bytes, where: str = "a commit record") -> Commit:
    """Decode a commit; `check_commit_id` says whether it is what its id promises."""
    message = decoded(wire.Commit, data, where)
    return Commit(
        id=CommitId(message.id),
        committer=message.committer,
        message=message.message,
        creation_date=instant_of(message.creation_date, where),
        meta_range_id=MetaRangeId(message.meta_range_id),
        metadata=dict(message.metadata),
        parents=tuple(map(CommitId, message.parents)),
        version=message.version,
        generation=message.generation,
        clocks=tuple(Clock(LineageId(c.branch), c.commit) for c in message.clocks),
        started=instant_of(message.started, where),
        finished=instant_of(message.finished, where),
        provenance=tuple(map(_provenance, message.provenance)),
        unknown=unknown_fields(message),
    )


def encode_open_commit(record: OpenCommit) -> bytes:
    """Encode a commit that was started."""
    with encoding("open commit"):
        message = wire.OpenCommit(
            id=record.id,
            branch=record.branch,
            parent=record.parent,
            slot=wire.Slot.ValueType(record.slot),
            staging_token=record.staging_token,
            committer=record.committer,
            message=record.message,
            metadata=record.metadata,
            started=timestamp_of(record.started),
            finished=timestamp_of(record.finished),
            provenance=[_provenance_message(p) for p in record.provenance],
            commit_id=record.commit_id,
            error=record.error,
            attempts=record.attempts,
        )
        return message_bytes(message, record.unknown)


def decode_open_commit(data: bytes, where: str = "an open commit's record") -> OpenCommit:
    """Decode a commit that was started."""
    message = decoded(wire.OpenCommit, data, where)
    return OpenCommit(
        id=OpenCommitId(message.id),
        branch=BranchName(message.branch),
        parent=CommitId(message.parent),
        slot=enum_of(Slot, message.slot, where),
        staging_token=StagingToken(message.staging_token),
        committer=message.committer,
        message=message.message,
        metadata=dict(message.metadata),
        started=instant_of(message.started, where),
        finished=instant_of(message.finished, where),
        provenance=tuple(map(_provenance, message.provenance)),
        commit_id=CommitId(message.commit_id),
        error=message.error,
        attempts=tuple(map(CommitId, message.attempts)),
        unknown=unknown_fields(message),
    )


_ADDRESS_TYPES = {member.value: member for member in AddressType}


def encode_staged_entry(record: StagedEntry) -> bytes:
    """Encode a row of a staging token."""
    plain = plain_staged_entry(record.key, record.identity, record.data)
    if plain is not None and not record.mark:
        return plain + record.unknown
    try:
        message = wire.StagedEntry(
            key=record.key, identity=record.identity, data=record.data, mark=record.mark
        )
        return message_bytes(message, record.unknown)
    except (ValueError, TypeError) as error:
        raise unstorable("staged entry", error) from error


def decode_staged_entry(data: bytes, where: str = "a staged entry") -> StagedEntry:
    """Decode a row of a staging token."""
    message = decoded(wire.StagedEntry, data, where)
    return StagedEntry(
        message.key, message.identity, message.data, message.mark, unknown_fields(message)
    )


def encode_entry(entry: Entry) -> bytes:
    """Encode an entry: the data of a value record in a range or a staged entry."""
    plain = plain_entry(entry)
    if plain is not None:
        return plain
    try:
        message = wire.Entry(
            address=entry.address,
            last_modified=timestamp_of(entry.last_modified),
            size=entry.size,
            e_tag=entry.e_tag,
            metadata=entry.metadata,
            address_type=wire.AddressType.ValueType(entry.address_type),
            content_type=entry.content_type,
        )
        for block in entry.blocks:
            message.blocks.add(**block._asdict())
        if entry.epoch:
            message.epoch.CopyFrom(wire.Clock(branch=entry.epoch.branch, commit=entry.epoch.commit))
        return message_bytes(message, entry.unknown)
    except (ValueError, TypeError) as error:
        raise unstorable("entry", error) from error


def decode_entry(data: bytes, where: str = "an entry") -> Entry:
    """Decode an entry."""
    # Entries are decoded by the thousand, and few have metadata, blocks or an epoch.
    message = decoded(wire.Entry, data, where)
    epoch = message.epoch if message.HasField("epoch") else None
    number = message.address_type
    return Entry(
        address=message.address,
        last_modified=instant_of(message.last_modified, where),
        size=message.size,
        e_tag=message.e_tag,
        metadata=dict(message.metadata) if message.metadata else {},
        address_type=_ADDRESS_TYPES.get(number) or enum_of(AddressType, number, where),
        content_type=message.content_type,
        blocks=_blocks(message) if message.blocks else (),
        epoch=Clock(LineageId(epoch.branch), epoch.commit) if epoch else None,
        unknown=unknown_fields(message),
    )


def _blocks(message: wire.Entry) -> tuple[Block, ...]:
    return tuple(Block(b.address, b.offset, b.size, b.hash) for b in message.blocks)


def encode_range_data(min_key: bytes, max_key: bytes, estimated_size: int, count: int) -> bytes:
    """Encode the data of one metarange row."""
    return wire.RangeData(
        min_key=min_key, max_key=max_key, estimated_size=estimated_size, count=count
    ).SerializeToString(deterministic=True)


def decode_range_data(data: bytes, where: str = "a metarange row") -> RangeData:
    """Decode the data of one metarange row; its unknown fields are dropped, no row is rewritten."""
    found = decoded(wire.RangeData, data, where)
    return RangeData(found.min_key, found.max_key, found.estimated_size, found.count)


def _provenance_message(record: Provenance) -> wire.Provenance:
    return wire.Provenance(
        repository_id=record.repository_id,
        commit_id=record.commit_id,
        input=record.input,
        glob=record.glob,
        meta_range_id=record.meta_range_id,
    )


def _provenance(message: wire.Provenance) -> Provenance:
    return Provenance(
        repository_id=RepositoryId(message.repository_id),
        commit_id=CommitId(message.commit_id),
        input=message.input,
        glob=message.glob,
        meta_range_id=MetaRangeId(message.meta_range_id),
    )
