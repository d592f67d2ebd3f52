# SPDX-License-Identifier: Apache-2.0
"""An open commit that is cancelled while others finish it, in a simulated world.

In the end it is published once, and its record says so, or it has failed and nothing of it is
published; whatever the one who cancelled it was told.
"""

from contextlib import suppress

import pytest

from lochan.errors import LochanError
from lochan.operations.open_commits.cancel_commit import cancel_commit
from lochan.refs.open_commits import State, find_open_commit, state_of
from support.open_commit_scene import Scene, Wrong


class Cancelled(Scene):
    """A scene with one more process, which cancels the commit."""

    def __init__(self, seed: int, faults: int, resets: int) -> None:
        super().__init__(seed, faults, resets=resets)
        self.ended = State.OPEN
        store = self.world.store(self._ground.inner)
        self._other = self._ground.at(store, self.world.environment)
        self.world.spawn(self._cancel)

    def _cancel(self) -> None:
        with suppress(LochanError):
            cancel_commit(*self._other.where, self._opened.id)

    def _check(self) -> None:
        made = {commit.id for commit in self._ground.published(self._opened)}
        found = find_open_commit(self._ground.inner, self._ground.repository, self._opened.id)
        self.ended = State.PUBLISHED if found is None else state_of(found.record)
        named = {found.record.commit_id} if found and found.record.commit_id else made
        if len(made) > 1 or not self.finished <= made or named != made:
            raise Wrong(f"seed {self.world.seed}: told {self.finished}, named {named}, {made}")
        if self.ended is not (State.PUBLISHED if made else State.FAILED):
            raise Wrong(f"seed {self.world.seed}: {self.ended}, published {made}")


@pytest.mark.parametrize("resets", [0, 1])
def test_rel_P2_a_commit_that_is_cancelled_beside_its_finish_is_published_once_or_has_failed(
    resets: int,
) -> None:
    scenes = [Cancelled(seed, seed % 5, resets) for seed in range(150)]
    for scene in scenes:
        scene.run()
    assert {scene.ended for scene in scenes} == {State.PUBLISHED, State.FAILED}
