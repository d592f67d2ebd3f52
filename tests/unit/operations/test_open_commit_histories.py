# SPDX-License-Identifier: Apache-2.0
"""Replay and squash over random histories: appends, deletions, reverts, merges criss and cross.

Every put is a block of its own, so that what a file is made of tells where it came from. What is
asked is asked of sets of blocks, and of ancestors found by walking parents. Nothing that took
blocks away is reverted: what comes back by that is told from new blocks in some cases only.
"""

from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lochan.errors import Conflict, InvalidInput
from lochan.model.codec import decode_entry
from lochan.model.ids import BranchName
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.open_commits.diffs import diffs
from lochan.operations.open_commits.put_file import Mode
from lochan.operations.transplant import TransplantRequest, revert
from support.open_commits import Desk

BRANCHES = ("main", "dev", "side")
PATHS = ("f", "g")
Files = dict[str, list[str]]


@dataclass
class History:
    """A repository of three branches, and all that was committed to it."""

    desk: Desk = field(default_factory=Desk)
    made: dict[str, Commit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        base = self.keep(self.desk.commit(branch="main", f=b"<base>"))
        for name in BRANCHES[1:]:
            create_branch(*self.desk.where, BranchName(name), base.id)

    def keep(self, commit: Commit) -> Commit:
        self.made[commit.id] = commit
        return commit

    def step(self, kind: str, branch: str, other: str, path: str) -> None:
        try:
            self.keep(self._step(kind, BranchName(branch), other, path))
        except (Conflict, InvalidInput):
            return  # a merge or a revert that cannot be

    def _step(self, kind: str, branch: BranchName, other: str, path: str) -> Commit:
        where, head = self.desk.where, self.desk.head(branch)
        if kind == "revert":
            if self._took(head):
                raise InvalidInput("a block that comes back counts as new")
            number = min(1, len(head.parents) - 1)
            return revert(*where, branch, head, TransplantRequest("ada", parent_number=number))
        if kind in {"", "dest-wins", "source-wins"}:
            return merge(*where, branch, self.desk.head(other), MergeRequest("ada", strategy=kind))
        opened = self.desk.start(branch=branch)
        if kind == "delete":
            self.desk.delete(opened, path)
        else:
            mode = Mode.OVERWRITE if kind == "over" else Mode.APPEND
            self.desk.put(opened, path, b"<%d>" % len(self.made), mode)
        return self.desk.finish(opened)

    def _took(self, commit: Commit) -> bool:
        before = self.made.get(next(iter(commit.parents), ""))
        now = self.files(commit)
        return before is not None and any(
            not set(there) <= blocks(now, path) for path, there in self.files(before).items()
        )

    def files(self, commit: Commit) -> Files:
        """Give the blocks of each file."""
        return {
            path: body.decode().strip("<>").split("><")
            for path, body in self.desk.files(commit).items()
        }

    def behind(self, commit: Commit) -> set[str]:
        found, waiting = set[str](), [commit.id]
        while waiting:
            each = waiting.pop()
            if each in self.made and each not in found:
                found.add(each)
                waiting.extend(self.made[each].parents)
        return found

    def last_shared(self, one: Commit, other: Commit) -> list[Commit]:
        """Give the common ancestors that are behind no other one."""
        shared = self.behind(one) & self.behind(other)
        ways = {each: self.behind(self.made[each]) - {each} for each in shared}
        return [self.made[each] for each in shared if not any(each in w for w in ways.values())]


# One file, of more or fewer blocks. Merges that decide between two versions are not among them:
# what they brought back, or put in another's place, may depend on the order (three_way.py).
GROWS = ("put", "revert", "")


steps = st.lists(
    st.tuples(
        st.sampled_from(
            [*["put"] * 4, "over", "delete", "revert", "revert", "", "dest-wins", "source-wins"]
        ),
        st.sampled_from(BRANCHES),
        st.sampled_from(BRANCHES),
        st.sampled_from(PATHS),
    ),
    max_size=14,
)


def grown(taken: list[tuple[str, str, str, str]]) -> History:
    history = History()
    for step in taken:
        history.step(*step)
    return history


def blocks(files: Files, path: str) -> set[str]:
    return set(files.get(path, ()))


@pytest.mark.parametrize("squash", [True, False])
@settings(max_examples=100, deadline=None)
@given(taken=steps)
def test_pach_M4_no_block_comes_twice_and_none_that_was_taken_away(
    taken: list[tuple[str, str, str, str]], *, squash: bool
) -> None:
    history = grown(taken)
    desk = history.desk
    source, target = desk.head("dev"), desk.head("main")
    shared = [history.files(each) for each in history.last_shared(source, target)]
    known = [history.files(history.made[each]) for each in history.behind(target)]
    theirs, ours = history.files(source), history.files(target)
    made = desk.merge(source, branch="main", squash=squash)
    result = history.files(made[-1]) if made else ours
    assert bool(made) == (source.id not in history.behind(target))
    for path in PATHS:
        there = result.get(path, [])
        mine, now = blocks(ours, path), blocks(theirs, path)
        assert len(there) == len(set(there))
        assert set(there) <= mine | now
        if not made:
            continue
        behind = set[str]().union(*(blocks(files, path) for files in shared))
        assert not set(there) & (behind - now)
        brought = now - set[str]().union(*(blocks(files, path) for files in known))
        assert brought <= set(there)


@pytest.mark.parametrize("squash", [True, False])
@settings(max_examples=60, deadline=None)
@given(taken=steps, names=st.permutations(["dev", "side"]))
def test_pach_M4_pach_M5_several_sources_bring_each_block_once(
    taken: list[tuple[str, str, str, str]], names: list[str], *, squash: bool
) -> None:
    history = grown(taken)
    desk = history.desk
    sources, ours = [desk.head(name) for name in names], history.files(desk.head())
    theirs = [history.files(source) for source in sources]
    made = desk.merge(*sources, branch="main", squash=squash)
    for path, there in (history.files(made[-1]) if made else ours).items():
        assert len(there) == len(set(there))
        assert set(there) <= blocks(ours, path).union(*(blocks(each, path) for each in theirs))


@settings(max_examples=60, deadline=None)
@given(steps)
def test_pach_S8_pach_S10_the_rows_of_a_commit_lead_from_its_parent_to_it(
    taken: list[tuple[str, str, str, str]],
) -> None:
    history = grown(taken)
    desk = history.desk
    for commit in history.made.values():
        before = history.made.get(commit.parents[0]) if commit.parents else None
        files = {} if before is None else _refs(desk, before)
        for row in diffs(*desk.where, commit.id):
            path = row.path.decode()
            for append in row.appends if path else ():
                files[path] = [] if append.delete else [*files.get(path, []), *append.blockrefs]
        assert {path: refs for path, refs in files.items() if refs} == _refs(desk, commit)


def _refs(desk: Desk, commit: Commit) -> dict[str, list[str]]:
    cursor = desk.stage.storage.snapshots.cursor(commit.meta_range_id)
    return {
        row.key.decode(): [block.hash.hex() for block in decode_entry(row.value).blocks]
        for row in cursor
    }


@settings(max_examples=60, deadline=None)
@given(steps, st.sampled_from(["put", "over", "delete", "revert"]))
def test_pach_M1_pach_M2_a_squash_of_one_commit_equals_its_replay(
    taken: list[tuple[str, str, str, str]], kind: str
) -> None:
    history = grown(taken)
    desk = history.desk

    def by(target: str, *, squash: bool) -> list[Files]:
        made = desk.merge(desk.head("dev"), branch=target, squash=squash)
        return [history.files(each) for each in made]

    for name in ("one", "two"):
        create_branch(*desk.where, BranchName(name), desk.head("dev").id)
        history.step("source-wins", name, "main", "")
        history.keep(desk.commit(branch=name, g=b"<t>"))
    history.step(kind, "dev", "side", "f")
    assert by("one", squash=True) == by("two", squash=False)


@settings(max_examples=60, deadline=None)
@given(steps.map(lambda taken: [(kind, *rest, "f") for kind, *rest, _ in taken if kind in GROWS]))
@example(
    [
        ("put", "dev", "main", "f"),
        ("revert", "main", "main", "f"),
        ("revert", "side", "main", "f"),
        ("dest-wins", "dev", "main", "f"),
    ]
)
@example(
    [
        ("put", "dev", "main", "f"),
        ("revert", "main", "main", "f"),
        ("", "side", "main", "f"),
        ("source-wins", "side", "dev", "f"),
        ("put", "dev", "main", "f"),
    ]
)
def test_pach_M4_the_order_of_sources_says_only_in_which_order_their_blocks_come(
    taken: list[tuple[str, str, str, str]],
) -> None:
    history = grown(taken)
    desk = history.desk
    dev, side = desk.head("dev"), desk.head("side")
    found = []
    for number, sources in enumerate([(dev, side), (side, dev)]):
        branch = f"to{number}"
        create_branch(*desk.where, BranchName(branch), desk.head().id)
        desk.merge(*sources, branch=branch, squash=True)
        found.append(history.files(desk.head(branch)))
    one, other = found
    assert {path: sorted(there) for path, there in one.items()} == {
        path: sorted(there) for path, there in other.items()
    }
