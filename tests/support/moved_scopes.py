# SPDX-License-Identifier: Apache-2.0
"""More scopes: branches that move otherwise than by commits, and threads of one server.

Requests of one server for one branch are met in batches, and one swap may publish several of them;
beside that server there may be another one, which knows nothing of it.
"""

from collections.abc import Sequence

from support.protocol_scopes import (
    EMPTY,
    FEATURE,
    FEATURE_BESIDE_SEALED,
    STAGED,
    TWO_KEYS,
    UNDOABLE,
    Scope,
    cleans,
    commits,
    commits_and_cleans,
    lists,
    merges,
    reads,
    reverts,
    writes,
    writes_and_commits,
)
from support.simulated_client import Work, absent
from support.simulated_mover import Mover


def writes_twice(client: Mover) -> Sequence[Work]:
    return [client.put("a", "a2"), client.put("b", "b2")]


def picks(client: Mover) -> Sequence[Work]:
    return [client.cherry_pick("feature")]


def puts_what_is_brought(client: Mover) -> Sequence[Work]:
    """Put, if nobody has, the object that the feature brings."""
    return [client.put("b", "b-putter", condition=absent)]


def reads_what_is_brought(client: Mover) -> Sequence[Work]:
    return [client.get("b", times=2)]


def goes_back(client: Mover) -> Sequence[Work]:
    return [client.hard_reset("first")]


def together(*names: str) -> frozenset[str]:
    return frozenset(names)


MOVED_SCOPES: dict[str, Scope] = {
    "cherry-pick, write and commit": Scope(
        FEATURE, {"picker": picks, "committer": writes_and_commits}
    ),
    "first put, a merge that brings the key, read": Scope(
        FEATURE,
        {"putter": puts_what_is_brought, "merger": merges, "reader": reads_what_is_brought},
    ),
    "sealed before, first put, a merge that brings the key": Scope(
        FEATURE_BESIDE_SEALED,
        {
            "putter": puts_what_is_brought,
            "merger": lambda c: [c.merge("feature"), c.get("b"), c.commit()],
        },
    ),
    "first put, a merge that brings the key, commit": Scope(
        FEATURE,
        {
            "putter": puts_what_is_brought,
            "merger": lambda c: [c.merge("feature"), c.get("b")],
            "committer": lambda c: [c.put("c", "c1"), c.commit()],
        },
    ),
    "first put, a pick that brings the key, compact": Scope(
        FEATURE,
        {
            "putter": puts_what_is_brought,
            "picker": lambda c: [c.cherry_pick("feature"), c.get("b")],
            "compactor": lambda c: [c.put("c", "c1"), c.compact],
        },
    ),
    "cherry-pick, merge": Scope(FEATURE, {"picker": picks, "merger": merges}),
    "hard reset, write": Scope(UNDOABLE, {"resetter": goes_back, "writer": writes}),
    "hard reset, write and commit": Scope(
        UNDOABLE, {"resetter": goes_back, "committer": writes_and_commits}
    ),
    "hard reset, revert": Scope(UNDOABLE, {"resetter": goes_back, "reverter": reverts}),
    "hard reset, read": Scope(UNDOABLE, {"resetter": goes_back, "reader": reads}),
    "two hard resets": Scope(UNDOABLE, {"one": goes_back, "two": goes_back}),
    "write and commit beside a merge in one server": Scope(
        FEATURE,
        {"committer": writes_and_commits, "merger": merges},
        shared=together("committer", "merger"),
    ),
    "two writers that commit in one server": Scope(
        EMPTY,
        {"one": writes_and_commits, "two": writes_and_commits},
        shared=together("one", "two"),
    ),
    "commit, cleaner": Scope(STAGED, {"committer": commits, "cleaner": cleans}, leaks=True),
    "protect, write": Scope(STAGED, {"ruler": lambda c: [c.protect], "writer": writes_twice}),
    "protect, commit": Scope(
        STAGED, {"ruler": lambda c: [c.protect], "committer": writes_and_commits}
    ),
    "two merges in one server": Scope(
        FEATURE, {"one": merges, "two": merges}, shared=together("one", "two")
    ),
    "commit and revert in one server": Scope(
        UNDOABLE,
        {"committer": writes_and_commits, "reverter": reverts},
        shared=together("committer", "reverter"),
    ),
    "two commits in one server, a commit in another": Scope(
        STAGED,
        {"one": commits, "two": commits, "other": writes_and_commits},
        shared=together("one", "two"),
    ),
    "two commits in one server, a read": Scope(
        STAGED,
        {"one": commits_and_cleans, "two": commits, "reader": reads},
        shared=together("one", "two"),
        leaks=True,
    ),
    "commit and merge in one server, a list": Scope(
        FEATURE,
        {"committer": writes_and_commits, "merger": merges, "lister": lists},
        shared=together("committer", "merger"),
    ),
    "write, read, commit in one server": Scope(
        STAGED,
        {"writer": writes, "reader": reads, "committer": commits_and_cleans},
        shared=together("writer", "reader", "committer"),
    ),
    "compact and commit in one server": Scope(
        TWO_KEYS,
        {"compactor": lambda c: [c.compact], "committer": commits},
        shared=together("compactor", "committer"),
    ),
}
