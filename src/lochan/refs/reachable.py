# SPDX-License-Identifier: Apache-2.0
"""Which of some commits are part of history: a branch or a tag leads to them.

A walk from all heads and tags at once, the greatest generation first. A commit's generation is
greater than that of all its ancestors, so nothing is looked for behind a commit that is not above
the lowest one wanted: the cost is the part of history that is younger than what is looked for.
Generation 0 is not known (a commit that came from elsewhere), and stops nothing.
"""

import heapq
from collections.abc import Iterable, Iterator

from lochan.model.ids import CommitId
from lochan.model.records import Commit
from lochan.refs.branches import list_branches
from lochan.refs.commits import get_commit
from lochan.refs.tables import RepositoryTables
from lochan.refs.tags import list_tags


def reachable(tables: RepositoryTables, wanted: Iterable[Commit]) -> Iterator[CommitId]:
    """Give those of the wanted commits to which a branch or tag leads, each once, as it is met.

    Raises: NotFound when a commit on the way is missing; Unavailable.
    """
    missing = {commit.id: commit.generation for commit in wanted}
    if not missing:
        return
    met = {branch.commit_id for branch in list_branches(tables, hidden=True)}
    met.update(tag.commit_id for tag in list_tags(tables))
    waiting = sorted(met)  # in an order of its own, so that runs can be repeated
    queue: list[tuple[int, CommitId, Commit]] = []
    lowest = min(missing.values())
    while waiting or queue:
        for commit_id in waiting:
            if missing.pop(commit_id, None) is not None:
                yield commit_id
            if not missing:
                return
            commit = get_commit(tables, commit_id)
            if not 0 < commit.generation <= lowest:
                heapq.heappush(queue, (-commit.generation, commit_id, commit))
        waiting = []
        if queue:
            parents = heapq.heappop(queue)[2].parents
            waiting = [parent for parent in dict.fromkeys(parents) if parent not in met]
            met.update(waiting)
