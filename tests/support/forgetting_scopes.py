# SPDX-License-Identifier: Apache-2.0
"""More scopes: what is staged is reset, all of it or a key, beside who commits, writes or reads."""

from collections.abc import Sequence

from support.protocol_scopes import (
    FEATURE,
    STAGED,
    TWO_KEYS,
    Scope,
    commits,
    deletes,
    lists,
    merges,
    reads,
    writes,
)
from support.simulated_client import Work
from support.simulated_mover import Mover


def resets_a(client: Mover) -> Sequence[Work]:
    return [client.reset_key("a")]


FORGETTING_SCOPES: dict[str, Scope] = {
    "reset, write": Scope(STAGED, {"resetter": lambda c: [c.reset], "writer": writes}),
    "reset, commit": Scope(STAGED, {"resetter": lambda c: [c.reset], "committer": commits}),
    "reset, compact": Scope(
        STAGED, {"resetter": lambda c: [c.reset], "compactor": lambda c: [c.compact]}
    ),
    "reset of a key, write": Scope(STAGED, {"resetter": resets_a, "writer": writes}),
    "reset of a key, two commits": Scope(
        STAGED,
        {"resetter": resets_a, "committer": lambda c: [c.commit(), c.put("b", "b2"), c.commit()]},
    ),
    "reset of a key, commit of another": Scope(
        TWO_KEYS, {"resetter": resets_a, "committer": commits}
    ),
    "reset of a key, compact": Scope(
        TWO_KEYS, {"resetter": resets_a, "compactor": lambda c: [c.compact, c.get("b")]}
    ),
    "reset of a key beside compactions": Scope(
        TWO_KEYS,
        {
            "resetter": lambda c: [c.compact, c.put("a", "a2"), c.reset_key("a"), c.get("a")],
            "compactor": lambda c: [c.compact],
        },
    ),
    "two resets of a key, commit": Scope(
        STAGED,
        {"resetter": lambda c: [c.reset_key("a"), c.put("a", "a2")] * 2, "committer": commits},
    ),
    "reset of a key, delete": Scope(
        STAGED, {"resetter": resets_a, "deleter": deletes, "reader": reads}
    ),
    "reset of a key, list": Scope(
        TWO_KEYS, {"resetter": lambda c: [c.reset_key("a"), c.put("a", "a2")], "lister": lists}
    ),
    "two resets of keys, commit": Scope(
        TWO_KEYS,
        {"one": resets_a, "two": lambda c: [c.reset_key("b")], "committer": commits},
    ),
    "reset of a key, merge": Scope(FEATURE, {"resetter": resets_a, "merger": merges}),
}
