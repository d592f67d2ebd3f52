# SPDX-License-Identifier: Apache-2.0
"""A client whose conditional writes are judged whatever others do meanwhile.

`Client.put` on condition of absence counts who was the first, for scenes in which no key ends.
Where keys come and go, a conditional write that succeeded is judged as a read, too: while it went
on there was a moment at which the key was as the condition says. A refused one is in no commit.
"""

from lochan.model.ids import BranchName, ObjectKey
from lochan.operations.conditions import if_absent, if_match
from lochan.operations.reset import reset, reset_object, reset_prefix
from support.lakes import MAIN
from support.simulated_client import KEYS, Work
from support.simulated_mover import Mover


class Anyone(Mover):
    """A caller among many, who know nothing of each other."""

    def put_if_absent(self, key: str, tag: str, branch: str = MAIN) -> Work:
        """Put where nothing is."""
        return lambda: self._told(lambda: self._put_over(None, key, tag, branch))

    def put_over_what_it_reads(self, key: str, tag: str, branch: str = MAIN) -> Work:
        """Read, and put if it is still the same: by its checksum, or by its absence."""

        def work() -> None:
            read = self._read(key, branch)
            self._put_over(read, key, tag, branch)

        return lambda: self._told(work)

    def forget(self, branch: str = MAIN) -> Work:
        """Reset a branch."""
        return self._resets(branch, KEYS, lambda: reset(*self._where, BranchName(branch)))

    def forget_key(self, key: str, branch: str = MAIN) -> Work:
        """Reset an object."""
        where = (*self._where, BranchName(branch), ObjectKey(key.encode()))
        return self._resets(branch, key, lambda: reset_object(*where))

    def forget_prefix(self, prefix: str, branch: str = MAIN) -> Work:
        """Reset what begins with a prefix."""
        keys = [key for key in KEYS if key.startswith(prefix)]
        where = (*self._where, BranchName(branch), prefix.encode())
        return self._resets(branch, keys, lambda: reset_prefix(*where))

    def _put_over(self, expected: str | None, key: str, tag: str, branch: str) -> None:
        name = f"{branch}:{key}"
        condition = if_absent if expected is None else if_match(expected)

        def put() -> str | None:
            self._stage_if(key, tag, branch, condition)
            return expected

        history = self.scene.history
        history.write(name, tag, lambda: history.read(name, put))
        if expected is not None:
            self.scene.replaced.append((name, expected))
