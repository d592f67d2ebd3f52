# SPDX-License-Identifier: Apache-2.0
"""Put an object that is stored already into an open commit: its entry alone, no bytes.

The object lies in the repository's own namespace, and nothing else names it yet, so it is young
enough to be nobody's garbage, or held. Linking takes away what the path was: the file is the
object.
"""

from lochan.errors import InvalidInput
from lochan.kv.table import Table
from lochan.model.codec import decode_staged_entry, encode_staged_entry
from lochan.model.entry import Entry
from lochan.model.ids import OpenCommitId
from lochan.model.keys import STAGED, token_partition
from lochan.model.records import OpenCommit, Repository
from lochan.operations.lake import Lake
from lochan.operations.open_commits.file_view import FileView, valid_file_path
from lochan.operations.open_commits.put_file import require_place
from lochan.operations.open_commits.staged_change import whole_row
from lochan.operations.open_commits.writing import require_open, write_open
from lochan.refs.outcomes import surely


def link_file(
    lake: Lake, repository: Repository, open_id: OpenCommitId, path: str | bytes, entry: Entry
) -> None:
    """Make a path of an open commit an object that is there. Idempotent.

    Raises: as `put_file`; InvalidInput, code invalid-address, for what is no object of this
    repository.
    """
    key = valid_file_path(path)
    if entry.is_of_blocks or not entry.is_relative:
        message = f"{path!r} can be linked to one object of the repository itself"
        raise InvalidInput(message, code="invalid-address")
    require_place(FileView(lake, repository, require_open(lake, repository, open_id)), key)
    row = whole_row(key, entry)

    def write(opened: OpenCommit) -> None:
        partition = token_partition(opened.staging_token)
        table = Table(lake.store, partition, STAGED, encode_staged_entry, decode_staged_entry)
        surely(lambda: table.set(key, row))

    write_open(lake, repository, open_id, write)
