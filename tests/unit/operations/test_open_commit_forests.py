# SPDX-License-Identifier: Apache-2.0
"""One file in histories that fork and never join, squashed in every order, against a model.

Blocks are of two kinds only, so that most of them have equals. The model tells them apart by where
they were appended, and asks the whole history of each source what it took away.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

from hypothesis import example, given, settings
from hypothesis import strategies as st

from lochan.model.entry import Block, Entry, entry_of_blocks
from lochan.model.ids import LineageId
from lochan.model.instant import EPOCH
from lochan.model.records import Clock
from lochan.operations.open_commits.file_change import FileChange
from lochan.operations.open_commits.three_way import Brought, merged

Step = tuple[int, str, str]  # how far back it goes on from, what it does, and the block


class Version(NamedTuple):
    """A file in a commit: where it began, and where each of its blocks was appended."""

    begun: int
    blocks: tuple[int, ...]


class Forest:
    """Commits by number, with those behind each; the first one is empty."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.names = [""]
        self.versions: list[Version | None] = [None]
        self.behind = [[0]]
        for at, kind, name in steps:
            number, parent = len(self.names), max(0, len(self.names) - at)
            before = self.versions[parent]
            self.names.append(name)
            self.behind.append([*self.behind[parent], number])
            began = Version(number, ()) if kind == "anew" or before is None else before
            grown = began._replace(blocks=(*began.blocks, number) if name else began.blocks)
            self.versions.append({"delete": None, "other file": before}.get(kind, grown))

    def shared(self, one: int, other: int) -> int:
        return max(set(self.behind[one]) & set(self.behind[other]))

    def entry(self, commit: int) -> Entry | None:
        version = self.versions[commit]
        if version is None:
            return None
        names = [self.names[number] for number in version.blocks]
        blocks = [
            Block(f"data/{name}", 0, 1, hashlib.sha256(name.encode()).digest()) for name in names
        ]
        return entry_of_blocks(blocks, Clock(LineageId("line"), version.begun), last_modified=EPOCH)

    def heads(self, target: int) -> list[int]:
        """Name some commits that are behind no other one, nor behind the target."""
        behind = {each for way in self.behind for each in way[:-1]} | {*self.behind[target]}
        return [each for each in range(len(self.names)) if each not in behind][-3:]

    def squashed(self, target: int, sources: Sequence[int]) -> FileChange:
        """Compare each source with the last commits that it shares, as a squash does."""
        brought = list[Brought]()
        for number, source in enumerate(sources):
            before = [self.shared(source, other) for other in sources[:number]]
            parted = self.shared(source, target)
            earlier = max(parted, *before, 0)
            if self.versions[earlier] != self.versions[source]:
                beside = [((self.entry(at),), frozenset({n})) for n, at in enumerate(before)]
                brought.append(
                    Brought(
                        (self.entry(earlier),),
                        self.entry(source),
                        (self.entry(parted),),
                        number,
                        tuple(beside),
                    )
                )
        return merged(brought, self.entry(target))

    def blocks(self, *commits: int) -> set[int]:
        versions = [self.versions[commit] for commit in commits]
        return {block for version in versions if version for block in version.blocks}

    def files(self, *commits: int) -> set[int]:
        return {version.begun for each in commits if (version := self.versions[each])}

    def expected(self, target: int, sources: Sequence[int]) -> tuple[Counter[str], bool, set[int]]:
        """Say what comes, whether an empty file does, and which of the target's blocks go."""
        histories = [self.behind[source] for source in sources]
        had = [(self.blocks(*behind), self.files(*behind)) for behind in histories]
        now = [(self.blocks(source), self.files(source)) for source in sources]
        taken = set[int]().union(*(a[0] - b[0] for a, b in zip(had, now, strict=True)))
        left = set[int]().union(*(a[1] - b[1] for a, b in zip(had, now, strict=True)))
        known = self.blocks(*self.behind[target]), self.files(*self.behind[target])
        came = set[int]().union(*(blocks for blocks, _ in now)) - taken - known[0]
        begun = {
            version.begun
            for source in sources
            if (version := self.versions[source]) and not version.blocks
        }
        return Counter(self.names[block] for block in came), bool(begun - left - known[1]), taken


steps = st.lists(
    st.tuples(
        st.sampled_from([1, 1, 2, 2, 3, 4]),
        st.sampled_from(["put", "put", "put", "anew", "delete", "other file"]),
        st.sampled_from(["a", "a", "b", ""]),
    ),
    min_size=3,
    max_size=9,
)

# One appends, two others go on from there, and one of the three puts another file in its place.
REPLACED = [(1, "put", "a"), (1, "anew", "b"), (2, "put", "b"), (3, "put", "b")]
# Two append the same, and a third takes one of the two away.
TWICE = [
    (1, "put", "a"),
    (1, "put", "b"),
    (2, "put", "b"),
    (1, "delete", ""),
    (2, "other file", ""),
]


@settings(max_examples=200)
@example(REPLACED, 0)
@example(TWICE, 1)
@example(TWICE, 2)
@given(steps, st.integers(0, 4))
def test_pach_M4_of_sources_in_any_order_comes_what_none_of_them_took_away(
    taken: list[Step], at: int
) -> None:
    forest = Forest(taken)
    target = min(at, len(taken))
    sources = forest.heads(target)
    came, begins, gone = forest.expected(target, sources)
    there = forest.versions[target]
    deletes = any(
        forest.files(forest.shared(source, target)) - forest.files(source) for source in sources
    )
    for order in permutations(sources):
        change = forest.squashed(target, order)
        names = [piece.address.removeprefix("data/") for piece in change.pieces]
        assert Counter(names) == came
        assert change.delete == deletes
        stays = there is not None and not there.blocks and not change.delete
        assert came or stays or change.creates == begins
        if there is not None and not change.delete:
            assert {there.blocks[place] for place in change.gone} == gone & set(there.blocks)
