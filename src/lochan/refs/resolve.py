# SPDX-License-Identifier: Apache-2.0
"""From what somebody wrote to a commit.

The base of an expression is looked for in this order, and the first that is there is meant:

    1. a commit, by its whole id            found even if nothing leads to it
    2. a branch                             the only base that @ and $ go with
    3. a tag
    4. a commit, by the beginning of its id: the only one with that beginning that was published.
       What attempts that lost or crashed left behind does not count, neither as a result nor as a
       second candidate: another commit has its place, or nobody (`clock_index`). Where a commit
       has no clock it counts if a branch or tag leads to it (`reachable`)
    5. a commit, by its number on a branch  main/7, main.7

Then the modifiers are applied from left to right. Where the text as a whole can have no other
meaning, a tag of exactly that name is taken: tags may hold ~ @ $ (lakeFS makes such tags, and then
cannot find them).

A number is a place on a line of commits (`lochan.model.clock`): the branch's `ordinals` say which
line, and `clock_index` which commit is there. Numbers go on over a reset and are never given twice,
so main/7 stays what it was for as long as the branch exists.
"""

from dataclasses import dataclass
from itertools import chain, islice

from lochan.errors import InvalidInput, NotFound
from lochan.model.clock import clock_of, own
from lochan.model.ids import CommitId, TagName
from lochan.model.records import Branch, Commit
from lochan.refs.clock_index import ClockIndex
from lochan.refs.commits import get_commit, list_commits
from lochan.refs.expression import Expression, Modifier, Numbered, Sign, parse_expression
from lochan.refs.reachable import reachable
from lochan.refs.tables import RepositoryTables

_HEX = frozenset("0123456789abcdef")
_WHOLE_ID = 64


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


def resolve(tables: RepositoryTables, ref: str) -> Resolved:
    """Find the commit that a ref names.

    Raises: InvalidInput for bad syntax, @ or $ on anything but a branch, and ^n where a commit has
    fewer parents; NotFound, code ref-not-found or ref-ambiguous; Unavailable.
    """
    try:
        expression = parse_expression(ref)
        base = _resolve_base(tables, expression)
    except (InvalidInput, NotFound):
        tag = _tag(tables, ref) if _is_text(ref) else None
        if tag is None:
            raise
        return tag
    return _apply(tables, ref, base, expression)


def _resolve_base(tables: RepositoryTables, expression: Expression) -> Resolved:
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
        return Resolved(_by_number(tables, numbered))
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
    placed = (commit.id for commit in candidates if commit.clocks and _is_placed(tables, commit))
    unplaced = reachable(tables, [commit for commit in candidates if not commit.clocks])
    found = list(islice(chain(placed, unplaced), 2))
    if not found:
        raise _not_found(beginning)
    if len(found) > 1:
        message = f"several commits begin with {beginning!r}, among them {' and '.join(found)}"
        raise NotFound(message, code="ref-ambiguous", ref=beginning, commits=tuple(found))
    return found[0]


def _is_placed(tables: RepositoryTables, commit: Commit) -> bool:
    return _clock_index(tables).find(own(commit)) == commit.id


def _clock_index(tables: RepositoryTables) -> ClockIndex:
    commits, branches = tables.commits, tables.branches
    return ClockIndex(commits.store, commits.partition, commits, branches)


def _by_number(tables: RepositoryTables, numbered: Numbered) -> CommitId:
    branch = tables.branches.find(numbered.branch.encode())
    clock = clock_of(branch.record.ordinals, numbered.number) if branch else None
    found = _clock_index(tables).find(clock) if clock else None
    if found is None:
        raise _not_found(f"{numbered.branch}/{numbered.number}")
    return found


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
