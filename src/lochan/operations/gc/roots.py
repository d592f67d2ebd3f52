# SPDX-License-Identifier: Apache-2.0
"""From where a mark begins: everything that names objects, read in the order in which they move.

    1. staged    rows under every token of every branch, sealed ones too, and of started commits
    2. refs      branches again, with what was compacted under them; tags; commits; what is held;
                 the dump of refs
    3. copies    the log of addresses that got a second entry, last of all (H19 d)

A row goes from a token into a commit, never back, so it is seen in the one place or in the other. A
scan that fails raises: what could not be read is not nothing (H9).
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from lochan.errors import NotFound
from lochan.kernel.chosen import kernel
from lochan.model.codec import decode_branch, decode_tag
from lochan.model.ids import COMPACTED_TO_NOTHING, EMPTY_TREE, CommitId, MetaRangeId, StagingToken
from lochan.model.records import Branch, Repository
from lochan.objects.namespace import Namespace
from lochan.operations.gc.expiry import Commits, Horizon, kept_commits
from lochan.operations.gc.held import holds
from lochan.operations.lake import Lake
from lochan.operations.refs_dump import MANIFEST, RefsDump, decode_dump
from lochan.operations.retention import find_gc_rules
from lochan.operations.view import tokens_of
from lochan.refs.branches import list_branches
from lochan.refs.commits import list_commits
from lochan.refs.copy_log import logged_copies
from lochan.refs.open_commits import State, open_commits, state_of
from lochan.refs.tags import list_tags

_ROWS = 5_000  # staged rows that are read at a time


@dataclass(slots=True)
class Roots:
    """What a mark begins from: trees, and objects by the hashes of their addresses."""

    trees: set[MetaRangeId] = field(default_factory=set)
    objects: set[int] = field(default_factory=set)
    kept: set[CommitId] = field(default_factory=set)
    expired: set[CommitId] = field(default_factory=set)
    commits: Commits = field(default_factory=Commits)  # all of them


def gather_roots(lake: Lake, repository: Repository, horizon: Horizon) -> Roots:
    """Read all roots of a repository. Raises Corruption where one leads to nothing; Unavailable."""
    roots = Roots()
    add_staged(lake, repository, roots)
    add_refs(lake, repository, roots, horizon)
    add_copies(lake, repository, roots)
    return roots


def add_staged(lake: Lake, repository: Repository, roots: Roots) -> None:
    """Add what is staged. Tokens that came while others were read are looked at as well."""
    inside = home_of(repository)
    read: set[StagingToken] = set()
    for _ in range(2):
        for token in list(_tokens(lake, repository)):
            if token in read:
                continue
            read.add(token)
            for chunk in lake.staging.scan_values(token, _ROWS):
                hashes, _ = kernel.entry_objects(kernel.decode_staged(chunk).values, inside)
                roots.objects.update(hashes)


def add_refs(lake: Lake, repository: Repository, roots: Roots, horizon: Horizon) -> None:
    """Add the trees of kept commits, and those that branches have under what is staged."""
    tables = lake.tables(repository)
    branches = list(list_branches(tables, hidden=True))
    named = {tag.commit_id for tag in list_tags(tables)}
    named.update(_begun(lake, repository))
    held = {commit for each in holds(lake, repository).values() for commit in each.commits}
    dump = _find_dump(lake, repository)
    commits = roots.commits
    for commit in list_commits(tables):
        commits.add(commit)
    named.update(held & commits.dates.keys())
    rules = find_gc_rules(lake, repository)
    if dump is not None:
        # A dump that others made may name commits that are not here; what it names here is kept.
        named.update(
            commit for commit in _dumped(lake, repository, dump) if commit in commits.dates
        )
    roots.kept = kept_commits(commits, branches, named, rules, horizon)
    roots.expired = commits.dates.keys() - roots.kept
    roots.trees.update(trees_of(lake, repository, commits, roots.kept))
    roots.trees.update(_bases(branches))
    roots.trees.discard(EMPTY_TREE)


def add_copies(lake: Lake, repository: Repository, roots: Roots) -> None:
    """Add what the log of copies names."""
    inside = home_of(repository)
    for note in logged_copies(lake.store, repository):
        roots.objects.update(map(address_hash, _own(note.addresses, inside.decode())))


def home_of(repository: Repository) -> bytes:
    """Give how addresses in full begin that lie in a repository's own namespace."""
    return Namespace.parse(repository.storage_namespace).physical("").encode()


def address_hash(address: str) -> int:
    """Hash an address as `kernel.entry_objects` does."""
    number = kernel.fnv1a64(address.encode())
    return number - (1 << 64) if number >> 63 else number


def _own(addresses: Iterable[str], inside: str) -> Iterator[str]:
    return (address.removeprefix(inside) for address in addresses)


def _tokens(lake: Lake, repository: Repository) -> Iterator[StagingToken]:
    for branch in list_branches(lake.tables(repository), hidden=True):
        yield from tokens_of(branch)
    for _, opened in open_commits(lake.store, repository).scan():
        if opened.staging_token:
            yield opened.staging_token


def _begun(lake: Lake, repository: Repository) -> Iterator[CommitId]:
    """Name the commits that a started one stands on, or became.

    The record of one that failed stays, to be read, and nothing is built on its parent any more.
    """
    for _, opened in open_commits(lake.store, repository).scan():
        if state_of(opened) is not State.FAILED:
            yield from (commit for commit in (opened.parent, opened.commit_id) if commit)


def trees_of(
    lake: Lake, repository: Repository, commits: Commits, chosen: set[CommitId]
) -> Iterator[MetaRangeId]:
    """Name the trees of some commits, and the second ones, where they are trees."""
    yield from (commits.trees[commit] for commit in chosen)
    files = lake.storage(repository.storage_namespace).snapshots.files
    for tree in sorted({commits.hidden[commit] for commit in chosen & commits.hidden.keys()}):
        with suppress(NotFound):
            files.metarange(tree)
            yield tree


def _bases(branches: Iterable[Branch]) -> Iterator[MetaRangeId]:
    for branch in branches:
        if branch.compacted_base_meta_range_id != COMPACTED_TO_NOTHING:
            yield branch.compacted_base_meta_range_id


def _find_dump(lake: Lake, repository: Repository) -> RefsDump | None:
    try:
        with lake.storage(repository.storage_namespace).objects.get(MANIFEST) as reading:
            return decode_dump(reading.read())
    except NotFound:
        return None


def _dumped(lake: Lake, repository: Repository, dump: RefsDump) -> Iterator[CommitId]:
    """Name the heads and tags of the latest dump of refs: it can be restored."""
    snapshots = lake.storage(repository.storage_namespace).snapshots
    for row in snapshots.cursor(dump.branches_meta_range_id):
        yield decode_branch(row.value).commit_id
    for row in snapshots.cursor(dump.tags_meta_range_id):
        yield decode_tag(row.value).commit_id
