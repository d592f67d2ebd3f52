# SPDX-License-Identifier: Apache-2.0
"""Random histories with random names: resolving agrees with a model that knows everything."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput, NotFound
from lochan.model.ids import CommitId
from lochan.model.records import Commit
from lochan.refs.resolve import resolve
from support.histories import (
    Shape,
    new_tables,
    put_branch,
    put_tag,
    shapes,
    store_history,
)
from support.tree_strategies import examples

# Names that are hex too, so that they clash with the beginnings of ids.
names = st.sampled_from(["main", "a", "b", "1", "2f", "v1"])
steps = st.sampled_from(["", "", "@", "$", "~", "~2", "^", "^2", "^0~1", "~1^2", "^3"])

Answer = tuple[CommitId, bool] | type[Exception]


@dataclass
class Model:
    """The whole repository in dictionaries."""

    commits: dict[CommitId, Commit]
    branches: dict[str, CommitId] = field(default_factory=dict)
    tags: dict[str, CommitId] = field(default_factory=dict)

    def history(self) -> set[CommitId]:
        found: set[CommitId] = set()
        waiting = [*self.branches.values(), *self.tags.values()]
        while waiting:
            found.add(name := waiting.pop())
            waiting += [parent for parent in self.commits[name].parents if parent not in found]
        return found

    def base(self, name: str) -> CommitId | None:
        if name in self.commits:
            return CommitId(name)
        if name in self.branches or name in self.tags:
            return self.branches.get(name) or self.tags[name]
        matching = [found for found in self.history() if found.startswith(name)]
        return matching[0] if len(matching) == 1 else None

    def answer(self, name: str, step: str) -> Answer:
        found = self.base(name)
        is_branch = name in self.branches and name not in self.commits
        if found is None:
            return NotFound
        if step in {"", "@"} and is_branch:
            return found, step == ""
        if step == "$" and is_branch:
            return found, True
        if step in {"@", "$"}:
            return InvalidInput
        # Written out by hand, so that the model does not share the parser.
        moves = {
            "~": "1",
            "~2": "11",
            "^": "p1",
            "^2": "p2",
            "^0~1": "p01",
            "~1^2": "1p2",
            "^3": "p3",
        }
        return self._move(found, moves.get(step, ""))

    def _move(self, at: CommitId, moves: str) -> Answer:
        while moves:
            parents = self.commits[at].parents
            if moves.startswith("p"):
                number, moves = int(moves[1]), moves[2:]
                if number > len(parents):
                    return InvalidInput
                at = parents[number - 1] if number else at
            elif not parents:
                return NotFound
            else:
                at, moves = parents[0], moves[1:]
        return at, False


@given(shapes(20), st.data())
@examples(250)
def test_resolving_agrees_with_a_model(shape: Shape, data: st.DataObject) -> None:
    tables = new_tables()
    commits = store_history(tables, shape)
    model = Model({commit.id: commit for commit in commits})
    any_commit = st.sampled_from(commits)
    for name, commit in data.draw(st.dictionaries(names, any_commit, max_size=3)).items():
        model.branches[name] = put_branch(tables, name, commit).commit_id
    for name, commit in data.draw(st.dictionaries(names, any_commit, max_size=3)).items():
        model.tags[name] = put_tag(tables, name, commit).commit_id
    beginnings = st.builds(lambda one, length: one.id[:length], any_commit, st.integers(1, 64))
    for name in data.draw(st.lists(names | beginnings, min_size=1, max_size=6)):
        step = data.draw(steps)
        got: Answer
        try:
            resolved = resolve(tables, name + step)
            got = resolved.commit_id, resolved.staging
        except (NotFound, InvalidInput) as error:
            got = type(error)
        assert got == model.answer(name, step), (name, step)
