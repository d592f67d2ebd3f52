# SPDX-License-Identifier: Apache-2.0
"""Keys and values that people attach to a repository as a whole.

They lie in one record: what is set is added key by key, and two who set different keys at the same
time both find theirs.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Final

import msgspec

from lochan.errors import InvalidInput
from lochan.kv.table import Table
from lochan.model.keys import REPOSITORY_METADATA, partition_of
from lochan.model.records import Repository
from lochan.model.settings import RepositoryMetadata
from lochan.model.settings_codec import decode_repository_metadata, encode_repository_metadata
from lochan.operations.allowed import require_writable
from lochan.operations.lake import Lake

MOST_BYTES: Final = 64 << 10  # it is read whole, and rewritten whole
_NAMELESS: Final = b""  # the only record of its kind: the prefix is the whole key


def get_repository_metadata(lake: Lake, repository: Repository) -> Mapping[str, str]:
    """Read all keys and values. Raises RepositoryNotFound, RepositoryDeleting."""
    lake.branches.fresh_repository(repository)
    found = _table(lake, repository).find(_NAMELESS)
    return found.record.metadata if found else {}


def set_repository_metadata(
    lake: Lake, repository: Repository, metadata: Mapping[str, str]
) -> None:
    """Add keys, or replace their values. Raises InvalidInput, code metadata-too-large; Refused."""

    def with_ours(held: dict[str, str]) -> dict[str, str]:
        return {**held, **metadata}

    _change(lake, repository, with_ours)


def delete_repository_metadata(lake: Lake, repository: Repository, keys: Collection[str]) -> None:
    """Take keys away; those that are not there are no error. Raises Refused."""

    def without_them(held: dict[str, str]) -> dict[str, str]:
        return {key: value for key, value in held.items() if key not in keys}

    _change(lake, repository, without_them)


def _change(
    lake: Lake, repository: Repository, change: Callable[[dict[str, str]], dict[str, str]]
) -> None:
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)

    def changed(record: RepositoryMetadata | None) -> RepositoryMetadata:  # pure
        before = record or RepositoryMetadata()
        after = msgspec.structs.replace(before, metadata=change(dict(before.metadata)))
        if len(encode_repository_metadata(after)) > MOST_BYTES:
            message = f"a repository's metadata is at most {MOST_BYTES} bytes; shorten it"
            raise InvalidInput(message, code="metadata-too-large")
        return after

    _table(lake, repository).update(_NAMELESS, changed, lake.environment)


def _table(lake: Lake, repository: Repository) -> Table[RepositoryMetadata]:
    return Table(
        lake.store,
        partition_of(repository),
        REPOSITORY_METADATA,
        encode_repository_metadata,
        decode_repository_metadata,
    )
