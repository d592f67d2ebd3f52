# SPDX-License-Identifier: Apache-2.0
"""Squash: what a job's datums wrote, as one tree upon that of the commit below.

Every output key that the job *touches* is decided anew, from all datums that write it: those of the
job, and of those that it did not run the ones that the datum index knows as the key's writers. A
key that is left without a writer goes. Keys that the job does not touch are not looked at, and
their ranges are passed on unopened.

    collision   a key that several datums write
    error       the job fails, and says which path and which datums
    append      one file of all their blocks, in the order of the datums (`datum.order_of`); it
                begins with the commit that is to be made, so its epoch is that commit's clock
    last        the file of the last datum in that order

What `last` hides may come up again when the datum that hides it goes. So hidden files are kept in a
tree of their own, which the commit names and the collector walks: <output key> 0 <datum id> -> the
entry. Other policies have none.

A path cannot be a file and a folder. Trees can hold both; a job that would make one fails.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from lochan.committed import Snapshots
from lochan.errors import JobFailed
from lochan.model.codec import decode_entry, encode_entry
from lochan.model.entry import Block, Entry, entry_of_blocks, identity
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.model.instant import Instant
from lochan.model.records import Clock, Repository, StagedEntry
from lochan.operations.lake import Lake
from lochan.operations.open_commits.blocks import as_block
from lochan.pipelines.datums.datum_index import DatumIndex
from lochan.pipelines.datums.keys_under import keys_under
from lochan.pipelines.model.datum import DatumRow, order_of
from lochan.pipelines.model.spec import Collision
from lochan.staging.fold import changes

_SHA256_DIGITS: Final = 64
_ID: Final = 32
_SHOWN: Final = 3  # colliding paths that a message names


@dataclass(frozen=True, slots=True)
class Below:
    """What a job's commit goes upon: the tree, and the index and hidden files that go with it."""

    tree: MetaRangeId = EMPTY_TREE
    index: MetaRangeId = EMPTY_TREE
    hidden: MetaRangeId = EMPTY_TREE


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a job did: datums that are gone, rows that are new or other than before."""

    gone: tuple[bytes, ...] = ()
    rows: tuple[DatumRow, ...] = ()
    values: Mapping[bytes, bool] = field(default_factory=dict)  # keys of k/ in the index

    @property
    def is_nothing(self) -> bool:
        """Say whether the output stays as it is; values alone wait for the next change."""
        return not (self.gone or self.rows)


@dataclass(frozen=True, slots=True)
class Squashed:
    """What came of it; `has_appended`: the tree holds files that begin with its commit."""

    tree: MetaRangeId
    hidden: MetaRangeId
    has_appended: bool


class _Written(NamedTuple):
    """What one datum wrote under a key."""

    row: DatumRow
    entry: bytes


class Squash:
    """The squash of one job's outcome upon one commit; `onto` makes the tree."""

    def __init__(
        self,
        lake: Lake,
        output: Repository,
        below: Below,
        outcome: Outcome,
        collision: Collision,
    ) -> None:
        """Find out what each touched key is made of. Raises JobFailed for a collision."""
        self._lake = lake
        self._output = output
        self._below = below
        self._collision = collision
        self._index = DatumIndex(self._snapshots, below.index)
        self._outcome = outcome
        self._written = self._gather()
        if collision == "error":
            self._refuse_collisions()

    def index(self) -> MetaRangeId:
        """Store the datum index of the new commit, and name it."""
        outcome = self._outcome
        return self._index.changed(outcome.gone, outcome.rows, outcome.values).id

    def onto(self, epoch: Clock, now: Instant) -> Squashed:
        """Make the tree of a commit with this clock.

        Raises: JobFailed where a path would be a file and a folder; Unavailable.
        """
        tree = self._snapshots.apply(self._below.tree, changes(self._rows(epoch, now))).id
        self._require_kinds(tree)
        hidden = EMPTY_TREE
        if self._collision == "last":
            hidden = self._snapshots.apply(self._below.hidden, changes(self._hidden())).id
        appended = self._collision == "append" and any(
            len(several) > 1 for several in self._written.values()
        )
        return Squashed(tree, hidden, appended)

    @property
    def _snapshots(self) -> Snapshots:
        return self._lake.storage(self._output.storage_namespace).snapshots

    def _gather(self) -> dict[bytes, list[_Written]]:
        """Give what is written under every touched key, in the order of the datums."""
        outcome = self._outcome
        replaced = {*outcome.gone, *(row.id for row in outcome.rows)}
        written: dict[bytes, list[_Written]] = {}
        if self._below.index:
            for row in self._index.find(sorted(replaced)).values():
                for output in row.outputs:
                    written.setdefault(output.key, [])
        for row in outcome.rows:
            for output in row.outputs:
                written.setdefault(output.key, []).append(_Written(row, output.entry))
        if self._below.index:
            self._add_others(written, replaced)
        for several in written.values():
            if len(several) > 1:
                several.sort(key=lambda each: (order_of(each.row.sources), each.row.id))
        return written

    def _add_others(self, written: dict[bytes, list[_Written]], replaced: set[bytes]) -> None:
        """Add what datums wrote under touched keys that this job did not run."""
        writers = self._index.writers(written)
        others = sorted({id for ids in writers.values() for id in ids} - replaced)  # noqa: A001
        for row in self._index.find(others).values():
            for output in row.outputs:
                if output.key in written:
                    written[output.key].append(_Written(row, output.entry))

    def _refuse_collisions(self) -> None:
        found = [(key, each) for key, each in self._written.items() if len(each) > 1]
        if not found:
            return
        shown = "; ".join(_told(key, each) for key, each in sorted(found)[:_SHOWN])
        more = f"; and {len(found) - _SHOWN} more paths" if len(found) > _SHOWN else ""
        raise JobFailed(
            f"several datums write one path: {shown}{more}; let each write paths of its own, or"
            " choose collision append or last",
            code="output-collision",
            paths=tuple(key for key, _ in found[:_SHOWN]),
        )

    def _require_kinds(self, tree: MetaRangeId) -> None:
        """Refuse a tree in which a path is a file and a folder; only new files can make one."""
        files = sorted(key for key, several in self._written.items() if several)
        found = self._snapshots.get_many(tree, _folders(files))
        both = next((row.key for row in found if row.identity), None)
        if both is None and self._below.tree:
            before = self._snapshots.get_many(self._below.tree, files)
            new = [key + b"/" for key, row in zip(files, before, strict=True) if not row.identity]
            # With the slash they sort otherwise: "a-b/" comes before "a/".
            inside = next(keys_under(self._snapshots, tree, sorted(new)), None)
            both = inside[0].removesuffix(b"/") if inside else None
        if both is not None:
            path = both.decode(errors="replace")
            message = f"{path!r} would be a file and a folder; let datums write other paths"
            raise JobFailed(message, code="file-and-directory", path=both)

    def _rows(self, epoch: Clock, now: Instant) -> Iterator[StagedEntry]:
        """Give each touched key with its new entry, or as gone, in key order."""
        for key in sorted(self._written):
            several = self._written[key]
            if not several:
                yield StagedEntry(key)
            elif len(several) > 1 and self._collision == "append":
                entry = self._appended(several, epoch, now)
                yield StagedEntry(key, identity(entry), encode_entry(entry))
            else:
                last = several[-1].entry
                yield StagedEntry(key, identity(decode_entry(last)), last)

    def _appended(self, several: Sequence[_Written], epoch: Clock, now: Instant) -> Entry:
        entries = [decode_entry(each.entry) for each in several]
        blocks = [block for entry in entries for block in self._blocks(entry)]
        return entry_of_blocks(
            blocks, epoch, last_modified=now, content_type=entries[0].content_type
        )

    def _blocks(self, entry: Entry) -> tuple[Block, ...]:
        if entry.blocks:
            return entry.blocks
        if len(entry.e_tag) == _SHA256_DIGITS:  # as attempts write them
            return (Block(entry.address, 0, entry.size, bytes.fromhex(entry.e_tag)),)
        return (as_block(self._lake, self._output, entry),)

    def _hidden(self) -> Iterator[StagedEntry]:
        """Give the changes of the tree of hidden files, in key order."""
        rows: dict[bytes, StagedEntry] = {}
        prefixes = sorted(key + b"\0" for key in self._written)
        for prefix, id in keys_under(self._snapshots, self._below.hidden, prefixes):  # noqa: A001
            if len(id) == _ID:  # else of a longer key, with a zero in it
                rows[prefix + id] = StagedEntry(prefix + id)
        for key, several in self._written.items():
            for each in several[:-1]:
                name = key + b"\0" + each.row.id
                rows[name] = StagedEntry(name, identity(decode_entry(each.entry)), each.entry)
        return (rows[name] for name in sorted(rows))


def _folders(files: Iterable[bytes]) -> list[bytes]:
    """Name every folder that files lie in, with those above it."""
    found: set[bytes] = set()
    waiting = {key[: key.rfind(b"/")] for key in files if b"/" in key}
    while waiting:
        found |= waiting
        waiting = {key[: key.rfind(b"/")] for key in waiting if b"/" in key} - found
    return sorted(found)


def _told(key: bytes, several: Sequence[_Written]) -> str:
    read = [
        ", ".join(source.key.decode(errors="replace") for source in each.row.sources)
        for each in several[:2]
    ]
    ids = [each.row.id.hex()[:12] for each in several[:2]]
    path = key.decode(errors="replace")
    return f"{path!r} by datum {ids[0]} ({read[0]}) and datum {ids[1]} ({read[1]})"
