# SPDX-License-Identifier: Apache-2.0
"""All that led to a commit through pipelines: its inputs, their inputs, and so on.

Commits store direct inputs alone. The whole is found by walking them, each commit once; what was
made comes after what it was made of (S7). A commit whose repository is gone has no inputs that
anybody could name.
"""

from collections.abc import Iterable

from lochan.errors import Gone, InvalidInput, NotFound
from lochan.model.records import Provenance, Repository
from lochan.operations.lake import Lake
from lochan.refs.open_commits import find_open_commit, state_of
from lochan.refs.repositories import get_repository

_Key = tuple[str, str]


def full_provenance(lake: Lake, direct: Iterable[Provenance]) -> tuple[Provenance, ...]:
    """Give direct inputs and all before them, in topological order; ties go by name."""
    found: dict[_Key, Provenance] = {}
    entered: set[_Key] = set()
    waiting = [(each, False) for each in _sorted(direct)]
    while waiting:
        each, left = waiting.pop()
        if left:
            found[_key(each)] = each
        elif _key(each) not in entered:
            entered.add(_key(each))
            waiting.append((each, True))
            waiting.extend((before, False) for before in _sorted(_inputs(lake, each)))
    return tuple(found.values())


def in_order(lake: Lake, several: Iterable[Provenance]) -> tuple[Provenance, ...]:
    """Put direct inputs, each once, into topological order."""
    kept = {_key(each): each for each in several}
    order = full_provenance(lake, kept.values())
    return tuple(kept[_key(each)] for each in order if _key(each) in kept)


def require_finished(lake: Lake, direct: Iterable[Provenance]) -> None:
    """Refuse inputs that are named by the id of a commit that was started, whatever came of it.

    What is open still changes, and that id is forgotten some day: inputs are finished commits.
    Raises: InvalidInput, code provenance-not-finished.
    """
    for each in direct:
        repository = _repository(lake, each)
        opened = repository and find_open_commit(lake.store, repository, each.commit_id)
        if opened:
            became, found = opened.record.commit_id, state_of(opened.record)
            todo = f"name {became}, which it became" if became else "it must be finished first"
            message = f"input {each.commit_id} in {each.repository_id!r} is a commit that was"
            raise InvalidInput(
                f"{message} started, and is {found}; {todo}",
                code="provenance-not-finished",
                repository=each.repository_id,
                open_commit=each.commit_id,
            )


def _inputs(lake: Lake, made: Provenance) -> tuple[Provenance, ...]:
    repository = _repository(lake, made)
    if repository is None:
        return ()
    commit = lake.tables(repository).commits.find(made.commit_id.encode())
    return commit.record.provenance if commit else ()


def _repository(lake: Lake, made: Provenance) -> Repository | None:
    try:
        return get_repository(lake.store, lake.environment, made.repository_id)
    except (NotFound, Gone):
        return None


def _sorted(several: Iterable[Provenance]) -> list[Provenance]:
    """Sort backwards: what is put on a stack last is taken first."""
    return sorted(several, key=_key, reverse=True)


def _key(each: Provenance) -> _Key:
    return each.repository_id, each.commit_id
