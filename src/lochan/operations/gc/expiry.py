# SPDX-License-Identifier: Apache-2.0
"""Which commits the rules of retention keep.

    a branch        its head, and first parents up to and including the first commit that is older
                    than the branch's days: that one was the head then
    a tag           its commit
    no child        the end of a branch that was deleted, reset or never made: as a branch with the
                    default days, unless it is older than those itself
    young           every commit within the grace, published or not (H19 e)
    no rules        every commit

Days count from now, and are never fewer than the grace: what a branch showed a moment ago may still
be on its way somewhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lochan.errors import Corruption
from lochan.model.ids import BranchName, CommitId, MetaRangeId, is_commit_id
from lochan.model.instant import NANOSECONDS, Instant
from lochan.model.records import Branch, Commit
from lochan.model.settings import GarbageCollectionRules
from lochan.refs.commits import main_parent

# The metadata by which a commit names a second tree: files that its own does not show, and that a
# later commit may show again. Anybody can write it, so a tree that is not there keeps nothing.
HIDDEN = "lochan.hidden"
_DAY = 24 * 3600 * NANOSECONDS


@dataclass(slots=True)
class Commits:
    """Of every commit what retention asks for."""

    parents: dict[CommitId, CommitId | None] = field(default_factory=dict)
    dates: dict[CommitId, Instant] = field(default_factory=dict)
    trees: dict[CommitId, MetaRangeId] = field(default_factory=dict)
    hidden: dict[CommitId, MetaRangeId] = field(default_factory=dict)

    def add(self, commit: Commit) -> None:
        """Take a commit in."""
        self.parents[commit.id] = main_parent(commit)
        self.dates[commit.id] = commit.creation_date
        self.trees[commit.id] = commit.meta_range_id
        if is_commit_id(tree := commit.metadata.get(HIDDEN, "")):  # the same form: a hash
            self.hidden[commit.id] = MetaRangeId(tree)


@dataclass(frozen=True, slots=True)
class Horizon:
    """From when on things count as young."""

    now: Instant
    grace: int  # nanoseconds

    @property
    def young(self) -> Instant:
        """The instant from which on everything is kept."""
        return Instant(self.now - self.grace)

    def of_days(self, days: int) -> Instant:
        """The instant that lies so many days back, and not less than the grace."""
        return Instant(self.now - max(days * _DAY, self.grace))


def kept_commits(
    commits: Commits,
    branches: Iterable[Branch],
    named: Iterable[CommitId],
    rules: GarbageCollectionRules | None,
    horizon: Horizon,
) -> set[CommitId]:
    """Name the commits that are kept; `named` are those that tags and others name.

    Raises Corruption when a commit is missing that something leads to.
    """
    kept = {commit for commit, date in commits.dates.items() if date >= horizon.young}
    kept.update(_known(commits, commit) for commit in named)
    if rules is None:
        kept.update(commits.dates)
    default = horizon.of_days(rules.default_retention_days if rules else 0)
    own: Mapping[BranchName, int] = rules.branch_retention_days if rules else {}
    for branch in branches:
        days = own.get(branch.branch_id)
        since = default if days is None else horizon.of_days(days)
        _walk(commits, branch.commit_id, since, kept)
    for leaf in _leaves(commits):
        if commits.dates[leaf] >= default:
            _walk(commits, leaf, default, kept)
    return kept


def _walk(commits: Commits, head: CommitId, since: Instant, kept: set[CommitId]) -> None:
    """Keep a commit and its first parents, up to the first that is older."""
    following: CommitId | None = _known(commits, head)
    while following is not None:
        kept.add(following)
        if commits.dates[following] < since:
            return
        parent = commits.parents[following]
        following = None if parent is None else _known(commits, parent)


def _leaves(commits: Commits) -> list[CommitId]:
    parents = set(commits.parents.values())
    return [commit for commit in commits.dates if commit not in parents]


def _known(commits: Commits, commit: CommitId) -> CommitId:
    if commit not in commits.dates:
        reason = f"commit {commit} is missing; nothing is collected before fsck finds no damage"
        raise Corruption(reason, file="commits")
    return commit
