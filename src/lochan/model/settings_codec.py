# SPDX-License-Identifier: Apache-2.0
"""Settings of a repository to bytes and back; the rules are those of `codec`."""

from lochan.model import records_pb2 as wire
from lochan.model.ids import BranchName
from lochan.model.message import decoded, encoding, message_bytes, unknown_fields
from lochan.model.settings import GarbageCollectionRules, RepositoryMetadata


def encode_gc_rules(record: GarbageCollectionRules) -> bytes:
    """Encode how long a repository keeps things."""
    with encoding("retention rule"):
        message = wire.GarbageCollectionRules(
            default_retention_days=record.default_retention_days,
            branch_retention_days=dict(record.branch_retention_days.items()),
        )
        return message_bytes(message, record.unknown)


def decode_gc_rules(data: bytes, where: str = "retention rules") -> GarbageCollectionRules:
    """Decode how long a repository keeps things."""
    message = decoded(wire.GarbageCollectionRules, data, where)
    days = message.branch_retention_days.items()
    return GarbageCollectionRules(
        default_retention_days=message.default_retention_days,
        branch_retention_days={BranchName(name): each for name, each in days},
        unknown=unknown_fields(message),
    )


def encode_repository_metadata(record: RepositoryMetadata) -> bytes:
    """Encode a repository's metadata."""
    with encoding("repository's metadata"):
        message = wire.RepositoryMetadata(metadata=record.metadata)
        return message_bytes(message, record.unknown)


def decode_repository_metadata(
    data: bytes, where: str = "a repository's metadata"
) -> RepositoryMetadata:
    """Decode a repository's metadata."""
    message = decoded(wire.RepositoryMetadata, data, where)
    return RepositoryMetadata(metadata=dict(message.metadata), unknown=unknown_fields(message))
