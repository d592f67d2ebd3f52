# SPDX-License-Identifier: Apache-2.0
"""Check a repository's refs and commits, and the rows that follow from them.

Rows are read once as bytes, so that one that cannot be decoded is a finding and no end. What is
published (named by a branch, a tag or a clock row that fits, or behind one that is) must be whole;
of attempts that lost, only the record itself is checked. Everything is compared with what the
parents alone ask for (`History`), so that a wrong generation is found once, and not again in every
commit above it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from lochan.errors import Corruption, InvalidInput
from lochan.kv.read import scan_prefix
from lochan.model.codec import decode_branch, decode_commit, decode_tag
from lochan.model.commit_id import check_commit_id
from lochan.model.ids import CommitId, LineageId
from lochan.model.keys import (
    BRANCHES,
    CLOCKS,
    COMMITS,
    MERGED,
    REACH,
    TAGS,
    clock_key,
    partition_of,
    place_and_merge,
)
from lochan.model.records import Branch, Clock, Commit, Repository, Tag
from lochan.operations.findings import Finding, Kind
from lochan.operations.lake import Lake
from lochan.refs.derived import derived_rows
from lochan.refs.history import NOBODY, History

R = TypeVar("R")


@dataclass(slots=True)
class Past:
    """What a check of a repository's history has learnt, for the checks that follow."""

    history: History = field(default_factory=History)
    branches: list[Branch] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)
    rows: set[Clock] = field(default_factory=set)  # places that have a row, right or wrong
    placed: list[CommitId] = field(default_factory=list)  # commits whose clock row fits
    lost: set[CommitId] = field(default_factory=set)  # named by a ref or a child, and not here
    published: bytearray = field(default_factory=bytearray)

    def is_published(self, commit_id: CommitId) -> bool:
        """Say whether a commit is part of history."""
        number = self.history.number(commit_id)
        return number != NOBODY and bool(self.published[number])

    def is_whole(self) -> bool:
        """Say whether the rows that follow from the commits can be computed."""
        holes = any(self.is_published(child) for child, _ in self.history.missing)
        return not holes and not self.history.places(self.published)[1]


def check_history(lake: Lake, repository: Repository, past: Past) -> Iterator[Finding]:
    """Check refs, commits and derived rows; fills in `past`."""
    yield from _read_commits(lake, repository, past)
    yield from _read_refs(lake, repository, past)
    yield from _read_clock_rows(lake, repository, past)
    heads = [branch.commit_id for branch in past.branches]
    tagged = [tag.commit_id for tag in past.tags]
    past.published = past.history.behind((*past.placed, *heads, *tagged))
    yield from _check_places(past)
    yield from _check_commits(lake, repository, past)
    yield from _check_reach(lake, repository, past)


def _rows(
    lake: Lake, repository: Repository, prefix: bytes, decode: Callable[[bytes, str], R]
) -> Iterator[tuple[str, str, R | Corruption]]:
    """Give where each record is, its name, and the record, or why it cannot be read."""
    for key, value in scan_prefix(lake.store, partition_of(repository), prefix):
        where = f"{repository.repository_id}: {key.decode(errors='replace')}"
        try:
            found: R | Corruption = decode(value, where)
        except Corruption as error:
            found = error
        yield where, key.removeprefix(prefix).decode(errors="replace"), found


def _read_commits(lake: Lake, repository: Repository, past: Past) -> Iterator[Finding]:
    for where, name, commit in _rows(lake, repository, COMMITS, decode_commit):
        if isinstance(commit, Corruption):
            yield Finding(Kind.UNREADABLE_RECORD, where, commit.reason)
            continue
        if commit.id != name:
            yield Finding(Kind.MISNAMED_RECORD, where, f"it says that its id is {commit.id}")
            continue
        try:
            check_commit_id(commit)
        except Corruption as error:
            yield Finding(Kind.DAMAGED_COMMIT, where, error.reason)
        except InvalidInput as error:
            yield Finding(Kind.DAMAGED_COMMIT, where, error.message)
        past.history.add(commit)
    commits = lake.tables(repository).commits
    past.history.complete(lambda child: commits.get(child.encode()).record)
    past.lost.update(parent for _, parent in past.history.missing)


def _read_refs(lake: Lake, repository: Repository, past: Past) -> Iterator[Finding]:
    for where, name, branch in _rows(lake, repository, BRANCHES, decode_branch):
        if isinstance(branch, Corruption):
            yield Finding(Kind.UNREADABLE_RECORD, where, branch.reason)
            continue
        past.branches.append(branch)
        yield from _check_ref(past, where, name, branch.branch_id, branch.commit_id)
        yield from _check_line(past, where, branch)
    for where, name, tag in _rows(lake, repository, TAGS, decode_tag):
        if isinstance(tag, Corruption):
            yield Finding(Kind.UNREADABLE_RECORD, where, tag.reason)
            continue
        past.tags.append(tag)
        yield from _check_ref(past, where, name, tag.tag_id, tag.commit_id)
    names = {branch.branch_id for branch in past.branches}
    if names and repository.default_branch not in names:
        where = f"{repository.repository_id}: branches/{repository.default_branch}"
        yield Finding(Kind.MISSING_DEFAULT_BRANCH, where, "the repository has no such branch")


def _check_ref(
    past: Past, where: str, name: str, said: str, commit_id: CommitId
) -> Iterator[Finding]:
    if said != name:
        yield Finding(Kind.MISNAMED_RECORD, where, f"it says that its name is {said!r}")
    if past.history.number(commit_id) == NOBODY:
        past.lost.add(commit_id)
        yield Finding(Kind.MISSING_COMMIT, where, f"it names commit {commit_id}, which is not here")


def _check_line(past: Past, where: str, branch: Branch) -> Iterator[Finding]:
    number = past.history.number(branch.commit_id)
    if branch.lineage and number != NOBODY:
        line = past.history.clocks(number)[-1].branch
        if line != branch.lineage:
            what = f"it owns line {branch.lineage}, and its head is on line {line}"
            yield Finding(Kind.WRONG_LINE, where, what)


def _read_clock_rows(lake: Lake, repository: Repository, past: Past) -> Iterator[Finding]:
    for key, value in scan_prefix(lake.store, partition_of(repository), CLOCKS):
        where = f"{repository.repository_id}: {key.decode(errors='replace')}"
        lineage, _, place = key.removeprefix(CLOCKS).decode(errors="replace").rpartition("/")
        named = CommitId(value.decode(errors="replace"))
        if not place.isdigit():
            yield Finding(Kind.WRONG_CLOCK_ROW, where, "its key names no place")
            continue
        clock = Clock(LineageId(lineage), int(place))
        past.rows.add(clock)
        number = past.history.number(named)
        if number == NOBODY:
            if named in past.lost:  # told by the record that needs it
                continue
            yield Finding(
                Kind.WRONG_CLOCK_ROW, where, f"it names commit {named}, which is not here"
            )
        elif past.history.clocks(number)[-1] != clock:
            real = past.history.clocks(number)[-1]
            what = f"it names commit {named}, whose place is {real.branch}/{real.commit}"
            yield Finding(Kind.WRONG_CLOCK_ROW, where, what)
        else:
            past.placed.append(named)


def _check_places(past: Past) -> Iterator[Finding]:
    history = past.history
    for child, parent in history.missing:
        if past.is_published(child):
            what = f"its parent {parent} is not here"
            yield Finding(Kind.MISSING_COMMIT, f"commit {child}", what)
    places, twice = history.places(past.published)
    for first, second in twice:
        what = f"commit {history.commit_id(first)} has the same place"
        yield Finding(Kind.PLACE_GIVEN_TWICE, f"commit {history.commit_id(second)}", what)
    for clock, number in places.items():
        if clock not in past.rows:
            where = clock_key(*clock).decode()
            what = f"commit {history.commit_id(number)} has no row"
            yield Finding(Kind.MISSING_CLOCK_ROW, where, what)


def _check_commits(lake: Lake, repository: Repository, past: Past) -> Iterator[Finding]:
    for where, _, commit in _rows(lake, repository, COMMITS, decode_commit):
        if isinstance(commit, Commit) and past.is_published(commit.id):
            number = past.history.number(commit.id)
            generation, clocks = past.history.generation(number), past.history.clocks(number)
            if commit.generation != generation:
                what = f"it says {commit.generation}, its parents ask for {generation}"
                yield Finding(Kind.WRONG_GENERATION, where, what)
            if commit.clocks != clocks:
                what = f"it says {_shown(commit.clocks)}, its parents ask for {_shown(clocks)}"
                yield Finding(Kind.WRONG_CLOCK, where, what)


def _shown(clocks: tuple[Clock, ...]) -> str:
    return " ".join(f"({branch},{place})" for branch, place in clocks) or "nothing"


def _check_reach(lake: Lake, repository: Repository, past: Past) -> Iterator[Finding]:
    if not past.is_whole():
        where = f"{repository.repository_id}: reach/, merged/"
        yield Finding(Kind.UNCHECKED_ROWS, where, "history has holes, so they cannot be computed")
        return
    rows = derived_rows(past.history, past.published, repository, lake.environment)
    expected = {key: value for key, value in rows if not key.startswith(CLOCKS)}
    for prefix in (MERGED, REACH):
        for key, value in scan_prefix(lake.store, partition_of(repository), prefix):
            where = f"{repository.repository_id}: {key.decode(errors='replace')}"
            wanted = expected.pop(key, None)
            if wanted is None and not past.is_published(_merge_of(key)):
                yield Finding(Kind.LEFT_REACH_ROW, where, "its merge was never published")
            elif wanted != value:
                yield Finding(Kind.WRONG_REACH_ROW, where, "it is not what its merge brought")
    for key in sorted(expected):
        where = f"{repository.repository_id}: {key.decode()}"
        yield Finding(Kind.MISSING_REACH_ROW, where, "a published merge has written it")


def _merge_of(key: bytes) -> CommitId:
    try:
        return place_and_merge(key)[1]
    except ValueError:
        return CommitId("")
