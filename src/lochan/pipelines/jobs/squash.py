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

A file that is written again as it was is no change to a tree, which goes on naming the object that
it has; the new one is in no tree, and goes with the next collection. So the index names what the
trees name: a writer whose file has the content of the one below is said to have written that one.
It may be another datum's: when the file that hid an equal one goes, the tree keeps its object.

A path cannot be a file and a folder. Trees can hold both; a job that would make one fails.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from lochan.committed import Snapshots
from lochan.errors import JobFailed
from lochan.kernel.records import Record
from lochan.model.codec import decode_entry, encode_entry
from lochan.model.entry import Block, Entry, entry_of_blocks, identity
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.model.instant import Instant
from lochan.model.records import Clock, Repository, StagedEntry
from lochan.operations.lake import Lake
from lochan.operations.open_commits.blocks import as_block
from lochan.pipelines.datums.datum_index import DatumIndex
from lochan.pipelines.datums.keys_under import keys_under
from lochan.pipelines.model.datum import DatumRow, OutputFile, order_of
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
    identity: bytes


class Squash:
    """The squash of one job's outcome upon one commit; `onto` makes the tree.

    `settled` are the rows, by id, that name other objects than they did when they came here.
    """

    settled: dict[bytes, DatumRow]

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
        self._files = sorted(key for key, several in self._written.items() if several)
        if collision == "error":
            self._refuse_collisions()
        shown = self._rows_of(below.tree, self._files)
        self._were_shown = frozenset(shown)
        self.settled = self._settle(shown)

    def index(self) -> MetaRangeId:
        """Store the datum index of the new commit, and name it."""
        outcome = self._outcome
        rows = {row.id: row for row in outcome.rows} | self.settled
        return self._index.changed(outcome.gone, rows.values(), outcome.values).id

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
                written.setdefault(output.key, []).append(_wrote(row, output))
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
                    written[output.key].append(_wrote(row, output))

    def _settle(self, shown: Mapping[bytes, Record]) -> dict[bytes, DatumRow]:
        """Have each writer name the object that a tree below has, where it has the same content.

        Where both trees have one, it is the one that its own tree keeps. Gives rows that changed.
        """
        hidden: Mapping[bytes, Record] = {}
        if self._below.hidden:
            names = [_hidden_key(key, each) for key in self._files for each in self._written[key]]
            hidden = self._rows_of(self._below.hidden, names)
        named: dict[bytes, dict[bytes, bytes]] = {}
        rows: dict[bytes, DatumRow] = {}
        for key in self._files if shown or hidden else ():
            several = self._written[key]
            for at, each in enumerate(several):
                first, second = shown.get(key), hidden.get(_hidden_key(key, each))
                if at < len(several) - 1:
                    first, second = second, first
                same = _same(each, first) or _same(each, second)
                if same is not None and same.value != each.entry:
                    several[at] = each._replace(entry=same.value)
                    rows[each.row.id] = each.row
                    named.setdefault(each.row.id, {})[key] = same.value
        return {id: _naming(row, named[id]) for id, row in rows.items()}  # noqa: A001

    def _rows_of(self, tree: MetaRangeId, keys: Sequence[bytes]) -> dict[bytes, Record]:
        """Find the rows of a tree that are there, by key."""
        if not tree or not keys:
            return {}
        return {row.key: row for row in self._snapshots.get_many(tree, keys) if row.identity}

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
        found = self._snapshots.get_many(tree, _folders(self._files))
        both = next((row.key for row in found if row.identity), None)
        if both is None and self._below.tree:
            new = [key + b"/" for key in self._files if key not in self._were_shown]
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
                yield StagedEntry(key, several[-1].identity, several[-1].entry)

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
                name = _hidden_key(key, each)
                rows[name] = StagedEntry(name, each.identity, each.entry)
        return (rows[name] for name in sorted(rows))


def _wrote(row: DatumRow, output: OutputFile) -> _Written:
    return _Written(row, output.entry, identity(decode_entry(output.entry)))


def _same(written: _Written, row: Record | None) -> Record | None:
    """Give a tree's row if it has the content that a datum wrote."""
    return row if row is not None and row.identity == written.identity else None


def _hidden_key(key: bytes, written: _Written) -> bytes:
    return key + b"\0" + written.row.id


def _naming(row: DatumRow, entries: Mapping[bytes, bytes]) -> DatumRow:
    """Give a row that names other objects under some keys."""
    outputs = tuple(
        OutputFile(output.key, entries.get(output.key, output.entry)) for output in row.outputs
    )
    return msgspec.structs.replace(row, outputs=outputs)


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
