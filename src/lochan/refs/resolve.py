# SPDX-License-Identifier: Apache-2.0
"""From what somebody wrote to a commit.

The base of an expression is looked for in this order, and the first that is there is meant:

    1. a commit, by its whole id            found even if nothing leads to it
    2. a branch                             the only base that @ and $ go with
    3. a tag
    4. a commit, by the beginning of its id: the only one with that beginning to which a branch or
       tag leads. What crashed attempts and deleted branches left behind does not count, neither as
       a result nor as a second candidate (`reachable`)
    5. a commit, by its number on a branch  main/7, main.7

Then the modifiers are applied from left to right. Where the text as a whole can have no other
meaning, a tag of exactly that name is taken: tags may hold ~ @ $ (lakeFS makes such tags, and then
cannot find them).

The number n of branch b is a place on a line of commits: the branch's `ordinals` say which line and
from which number on, so that numbers go on counting over a reset and are never given twice. Who
keeps the lines says which commit is there (`CommitAt`). Without an answer from there the branch's
own first parents are followed, which finds every number that is still in the branch's history.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from lochan.errors import InvalidInput, NotFound
from lochan.model.ids import BranchName, CommitId, LineageId, TagName
from lochan.model.records import Branch, Clock, Commit, Ordinal
from lochan.refs.commits import get_commit, list_commits
from lochan.refs.expression import Expression, Modifier, Numbered, Sign, parse_expression
from lochan.refs.reachable import reachable
from lochan.refs.tables import RepositoryTables

_HEX = frozenset("0123456789abcdef")
_WHOLE_ID = 64

# Which commit is at a place of a line; None if that is not known.
CommitAt = Callable[[LineageId, int], CommitId | None]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A commit, and the branch if the ref names a branch itself rather than a commit behind it."""

    commit_id: CommitId
    branch: Branch | None = None
    view: Sign | None = None  # @ or $, if written

    @property
    def staging(self) -> bool:
        """Say whether reading means what is staged over the commit: branch and branch$, not @."""
        return self.branch is not None and self.view is not Sign.COMMITTED


def _nothing_known(_: LineageId, __: int) -> CommitId | None:
    return None


def resolve(tables: RepositoryTables, ref: str, commit_at: CommitAt = _nothing_known) -> Resolved:
    """Find the commit that a ref names.

    Raises: InvalidInput for bad syntax, @ or $ on anything but a branch, and ^n where a commit has
    fewer parents; NotFound, code ref-not-found or ref-ambiguous; Unavailable.
    """
    try:
        expression = parse_expression(ref)
        base = _resolve_base(tables, expression, commit_at)
    except (InvalidInput, NotFound):
        tag = _tag(tables, ref) if _is_text(ref) else None
        if tag is None:
            raise
        return tag
    return _apply(tables, ref, base, expression)


def _resolve_base(
    tables: RepositoryTables, expression: Expression, commit_at: CommitAt
) -> Resolved:
    base = expression.base
    is_hex = _HEX.issuperset(base)
    if is_hex and len(base) == _WHOLE_ID and tables.commits.find(base.encode()) is not None:
        return Resolved(CommitId(base))
    if (branch := tables.branches.find(base.encode())) is not None:
        return Resolved(branch.record.commit_id, branch.record)
    if (tag := _tag(tables, base)) is not None:
        return tag
    if is_hex and len(base) < _WHOLE_ID:
        return Resolved(_by_beginning(tables, base))
    if (numbered := expression.numbered) is not None:
        return Resolved(_by_number(tables, numbered, commit_at))
    raise _not_found(base)


def _tag(tables: RepositoryTables, name: str) -> Resolved | None:
    found = tables.tags.find(TagName(name).encode())
    return Resolved(found.record.commit_id) if found else None


def _by_beginning(tables: RepositoryTables, beginning: str) -> CommitId:
    candidates: list[Commit] = []
    for commit in list_commits(tables, beginning):
        if not commit.id.startswith(beginning):
            break
        candidates.append(commit)
    found = list(islice(reachable(tables, candidates), 2))
    if not found:
        raise _not_found(beginning)
    if len(found) > 1:
        message = f"several commits begin with {beginning!r}, among them {' and '.join(found)}"
        raise NotFound(message, code="ref-ambiguous", ref=beginning, commits=tuple(found))
    return found[0]


def _by_number(tables: RepositoryTables, numbered: Numbered, commit_at: CommitAt) -> CommitId:
    name = f"{numbered.branch}/{numbered.number}"
    found = tables.branches.find(BranchName(numbered.branch).encode())
    place = _place(found.record.ordinals, numbered.number) if found else None
    if found is None or place is None:
        raise _not_found(name)
    commit_id = commit_at(*place) or _on_first_parents(tables, found.record.commit_id, place)
    if commit_id is None:
        raise _not_found(name)
    return commit_id


def _place(ordinals: tuple[Ordinal, ...], number: int) -> Clock | None:
    """Find the line that has a number: the one that begins last at or before it."""
    lines = [ordinal for ordinal in ordinals if ordinal.first <= number]
    if not lines:
        return None
    line = max(lines, key=lambda ordinal: ordinal.first)
    return Clock(line.lineage, number - line.first)


def _on_first_parents(
    tables: RepositoryTables, commit_id: CommitId, place: Clock
) -> CommitId | None:
    while True:
        commit = get_commit(tables, commit_id)
        # A clock lists, for each line on the way of first parents, the last place passed there.
        if dict(commit.clocks).get(place.branch, -1) < place.commit:
            return None
        if commit.clocks[-1] == place:
            return commit.id
        if not commit.parents:
            return None
        commit_id = commit.parents[0]


def _apply(tables: RepositoryTables, ref: str, base: Resolved, expression: Expression) -> Resolved:
    if not expression.modifiers:
        return base
    if expression.view is not None:
        if base.branch is None:
            message = f"{expression.view} asks for a branch, and {expression.base!r} is none"
            raise InvalidInput(message, code="invalid-ref", value=ref, position=len(ref) - 1)
        return Resolved(base.commit_id, base.branch, expression.view)
    commit_id = base.commit_id
    for modifier in expression.modifiers:
        commit_id = _step(tables, ref, commit_id, modifier)
    return Resolved(commit_id)


def _step(tables: RepositoryTables, ref: str, commit_id: CommitId, modifier: Modifier) -> CommitId:
    if modifier.sign is Sign.ANCESTOR:
        for _ in range(modifier.number):
            parents = get_commit(tables, commit_id).parents
            if not parents:
                message = f"{ref!r} goes back beyond the first commit, {commit_id}"
                raise NotFound(message, code="ref-not-found", ref=ref)
            commit_id = parents[0]
        return commit_id
    if modifier.number == 0:
        return commit_id
    parents = get_commit(tables, commit_id).parents
    if modifier.number > len(parents):
        message = f"{ref!r}: commit {commit_id} has {len(parents)} parents, not {modifier.number}"
        raise InvalidInput(message, code="invalid-ref", value=ref)
    return parents[modifier.number - 1]


def _is_text(ref: str) -> bool:
    return bool(ref) and not any("\ud800" <= character <= "\udfff" for character in ref)


def _not_found(name: str) -> NotFound:
    message = f"no branch, tag or commit is named {name!r}"
    return NotFound(message, code="ref-not-found", ref=name)
