# SPDX-License-Identifier: Apache-2.0
"""The real stories in a simulated world: a lake, what its clients did, and what must hold then.

Each process has a lake of its own over one simulated store, as servers do, unless a scene says that
two share one. `support.simulated_client` writes every call down. In the end the history is held
against G1 to G7. Beside that

    every acknowledged commit is in the first-parent history of its branch (G15)
    no request is in it twice (H15)
    after some sweeps nothing is staged that no branch names (H10, H18)
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace

import msgspec

from lochan.committed import Files, Snapshots
from lochan.environment import Environment
from lochan.model.ids import BranchName, CommitId
from lochan.model.keys import token_partition
from lochan.model.records import Branch, Commit, RepositoryState
from lochan.objects.address import AddressSource
from lochan.operations.branch_reads import BranchReads
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.findings import Severity
from lochan.operations.fsck import fsck
from lochan.operations.lake import Lake, Storage
from lochan.operations.view import tokens_of
from lochan.refs.cleaner import Cleaner
from lochan.refs.repositories import is_same
from lochan.refs.tables import RepositoryTables, repositories
from lochan.testing.simulation import Kind, Operation, Result, World, check_history
from lochan.testing.simulation.solo import SoloEnvironment
from support.lakes import NAME
from support.simulated_ground import (
    OBJECTS,
    PLAIN,
    SNAPSHOTS,
    STORAGE,
    Ground,
    Tree,
    plain_lake,
    shown,
)
from support.simulated_heads import Heads

PAGE_ROWS = 2  # a scan of three rows can see two states of a token
SWEEPS = 3  # to date a note, to remove it, and to show that nothing is left

Reads = Callable[[Lake, Ground], BranchReads]


class Broken(AssertionError):
    """A promise that the history's checker does not know was not kept."""


class Scene:
    """One run: a copy of the ground, its clients, and who was told what."""

    def __init__(
        self,
        world: World,
        ground: Ground,
        *,
        faulty: bool = False,
        objects: bool = False,
        reads: Reads | None = None,
    ) -> None:
        self.world = world
        self.ground = ground
        self.repository = ground.repository
        self.inner = ground.copy()
        self.history = world.history()
        self._heads = Heads(self.inner, ground.branches, lambda: self.history.stamps)
        self.store = world.store(self._heads, page_rows=PAGE_ROWS)
        self.faulty = faulty  # whether clients must expect that stores fail
        self.acknowledged: list[tuple[BranchName, CommitId]] = []
        self.reset: set[BranchName] = set()  # branches that somebody may have deleted
        self.errors: dict[str, list[Exception]] = {}  # what each client was told
        self.sealed = False  # whether somebody sealed, and left it at that
        self.won: list[str] = []  # keys that a put on condition of absence was told to have
        self.refused: list[tuple[str, str]] = []
        self.replaced: list[tuple[str, str]] = []  # what puts were told to be the first over
        self.overtaken: list[tuple[str, str]] = []  # what may be committed though others came
        self.brought: list[tuple[str, str]] = []  # what merges and such were told to have brought
        self.rules: list[Operation] = []  # when writing and committing were forbidden
        self._forgotten: list[tuple[Operation, BranchName, Sequence[str]]] = []
        self._objects = objects
        self._reads = reads

    def lake(self, *, shared: bool = False) -> Lake:
        """Open a lake for one process, or for several that share its memory."""
        environment: Environment = self.world.environment
        if not shared:
            environment = SoloEnvironment(self.world.environment)
        storage = self._own_storage(environment) if self._objects else STORAGE
        lake = Lake.of(self.store, environment, lambda _: storage)
        if self._reads is None:
            return lake
        return replace(lake, branches=self._reads(lake, self.ground))

    def _own_storage(self, environment: Environment) -> Storage:
        objects = self.world.objects(OBJECTS)
        snapshots = Snapshots(Files(objects, PLAIN), PLAIN)
        return Storage(objects, AddressSource(environment), snapshots)

    def forget(self, reset: Operation, branch: BranchName, keys: Sequence[str]) -> None:
        """Note that a reset makes a branch show what its head holds for some keys."""
        begun = self.history.operations.pop()  # what it writes is known when all has ended
        assert begun is reset
        self._forgotten.append((reset, branch, keys))

    def check(self) -> Hashable:
        """Hold what happened against every promise; gives what clients can tell apart."""
        final = self.state()
        self.history.final(final)
        check_history([*self.history.operations, *self._resets()], self.ground.state)
        self._check_commits()
        self._check_conditions(final)
        self._check_rules()
        return self._outcome(), tuple(sorted(final.items()))

    def check_leaks(self) -> None:
        """Sweep, and see that every token with rows is one that a branch names."""
        for _ in range(SWEEPS):
            cleaned = Cleaner(self.inner, PLAIN, grace_s=0).run()
            if cleaned.skipped:
                raise Broken(f"the cleaner skipped {cleaned.skipped}")
        named = {token_partition(t) for b in self.branches().values() for t in tokens_of(b)}
        staged = {name for name in self.inner._partitions if b":" in name}
        if leaked := staged - named:
            raise Broken(f"H10: {leaked} are staged, and no branch names them")

    def check_soundness(self) -> None:
        """See that fsck finds nothing that was promised and is missing or wrong."""
        found = fsck(plain_lake(self.inner), objects=False)
        if errors := [each for each in found if each.kind.severity is Severity.ERROR]:
            raise Broken(f"fsck: {errors}")

    def check_recovery(self) -> None:
        """See that whoever comes next can commit all that is shown, without an operator's help."""
        self.check_soundness()
        if self.rules:  # then nobody may
            return
        lake = plain_lake(self.inner)
        for name in self.branches():
            before = self.state()
            made = commit(lake, self.repository, name, CommitRequest("", "", allow_empty=True))
            if self.tree(name, made) != {
                k: v for k, v in before.items() if k.startswith(f"{name}:")
            }:
                raise Broken(f"a commit after the failure does not hold what {name} showed")

    def branches(self) -> dict[BranchName, Branch]:
        """Give the branches as they are now."""
        found = repositories(self.inner).find(NAME.encode())
        if found is None or not is_same(found.record, self.repository):
            return {}
        if found.record.repository_state is not RepositoryState.ACTIVE:
            return {}
        tables = RepositoryTables.of(self.inner, self.repository)
        return {branch.branch_id: branch for _, branch in tables.branches.scan()}

    def state(self) -> Tree:
        """Give all that all branches show now."""
        lake = plain_lake(self.inner)
        return shown(lake, self.repository, self.branches())

    def tree(self, branch: str, commit: Commit) -> Tree:
        """Give what a commit holds, under the names of its branch."""
        return {f"{branch}:{k}": v for k, v in SNAPSHOTS.tree(commit.meta_range_id).items()}

    def chain(self, head: CommitId) -> Iterator[Commit]:
        """Walk the first parents of a commit."""
        commits = RepositoryTables.of(self.inner, self.repository).commits
        found = commits.get(head.encode()).record
        yield found
        while found.parents:
            found = commits.get(found.parents[0].encode()).record
            yield found

    def _resets(self) -> Iterator[Operation]:
        """Give resets as writes of what the heads of their time held."""
        commits = RepositoryTables.of(self.inner, self.repository).commits
        for reset, branch, keys in self._forgotten:
            heads = set(self._heads.during(branch, reset))
            trees = [self.tree(branch, commits.get(head.encode()).record) for head in heads]
            for key in keys:
                for identity in {tree.get(key) for tree in trees}:
                    yield msgspec.structs.replace(reset, key=key, identity=identity)

    def _check_conditions(self, final: Tree) -> None:
        there = [key for key in self.won if key in self.ground.state]
        if twice := [key for key, times in Counter(self.won + there).items() if times > 1]:
            raise Broken(f"H5: {twice} had two puts that were both told to be the first")
        again = [one for one, times in Counter(self.replaced).items() if times > 1]
        if again and not self.faulty:  # a crowd's merges and resets bring values back
            raise Broken(f"H5: {again} had two puts that were both told to have replaced it")
        if shown := [tag for key, tag in self.refused if final.get(key) == tag]:
            raise Broken(f"H5: {shown} are shown, though their puts were refused")
        if kept := {tag for _, tag in self.refused} & self._committed():
            raise Broken(f"H5: {kept} are in commits, though their puts were refused")
        alone = [tag for key, tag in self.overtaken if self._is_alone(key, tag)]
        if alone and not self.faulty:
            raise Broken(f"H5: {alone} were told to be overtaken, and nobody else came")
        read = {
            (done.key, done.identity) for done in self.history.operations if done.kind is Kind.READ
        }
        covered = [tag for key, tag in self.brought if key in self.won and (key, tag) in read]
        if covered:
            raise Broken(f"H5: {covered} were read, and covered by puts told to be the first")

    def _is_alone(self, key: str, tag: str) -> bool:
        """Say whether nobody else came to a key, and no commit went by, while a put went on."""
        history = self.history.operations
        (put,) = (done for done in history if done.kind is Kind.WRITE and done.identity == tag)
        written = {done.identity for done in history if done.kind is Kind.WRITE and done.key == key}
        heads = set(self._heads.during(BranchName(key.partition(":")[0]), put))
        forgotten = any(key in keys for _, _, keys in self._forgotten)
        return written == {tag} and len(heads) == 1 and not forgotten

    def _committed(self) -> set[str]:
        """Give all that is in any commit, if there is anything to be looked for."""
        if not self.refused:
            return set()
        commits = RepositoryTables.of(self.inner, self.repository).commits
        trees = {commit.meta_range_id for _, commit in commits.scan()}
        return {tag for tree in trees for tag in SNAPSHOTS.tree(tree).values()}

    def _check_rules(self) -> None:
        for rule in self.rules:
            for done in self.history.operations:
                changes = done.kind in {Kind.WRITE, Kind.COMMIT} and done.result is Result.OK
                if changes and 0 < rule.response < done.invocation:
                    raise Broken(f"H14: {done} began after a rule against it was acknowledged")

    def _check_commits(self) -> None:
        for name, branch in self.branches().items():
            if branch.sealed_tokens and not self.sealed and not self.faulty:
                raise Broken(f"H11: {name} keeps sealed tokens that nobody will commit")
            chain = list(self.chain(branch.commit_id))
            ids = {commit.id for commit in chain}
            lost = [c for b, c in self.acknowledged if b == name and c not in ids]
            if lost and name not in self.reset:
                raise Broken(f"G15: commits {lost} of {name} are not in its history")
            said = Counter(c.message for c in chain if c.message and c.committer)
            if twice := [message for message, times in said.items() if times > 1]:
                raise Broken(f"H15: requests {twice} were committed twice")

    def _outcome(self) -> Hashable:
        """Sum up what each call gave, without ids that differ from seed to seed."""
        said = Counter(
            (str(o.kind), o.key, o.result, _said(o)) for o in self.history.operations[:-1]
        )
        return frozenset(said.items())


def _said(operation: Operation) -> str:
    if operation.tree is not None:
        return str(sorted(operation.tree.items()))
    return str(operation.listing or operation.identity)
