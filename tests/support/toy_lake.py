# SPDX-License-Identifier: Apache-2.0
"""A toy of seed 004's protocol, with the holes of its literal reading as switches.

It exists to show that the simulator, explorer and checker find what they must: a branch record
{head, staging, sealed (oldest first)}, staged records under tokens, whole trees as commits. An
absent identity is a tombstone, stored as an empty value. All of a commit's work, the clean-up
included, is done by the committer.
"""

import json
from dataclasses import dataclass, replace
from typing import NamedTuple

from lochan.environment import Environment, Event
from lochan.errors import NotFound, PredicateFailed
from lochan.kv.store import Predicate, Store

BRANCH = (b"refs", b"main")
COMMITS = b"commits"


@dataclass(frozen=True)
class Rules:
    """How the toy behaves; the defaults are the repaired protocol."""

    validate: bool = True  # H1: a tree is reused only if its inputs were stable during the scan
    recheck: str = "record"  # H2: "nothing", H3: "staging"
    blind_delete: bool = True  # H4: never skip a tombstone because of what a token holds
    join_in_flight: bool = False  # H8: share a branch read that has already begun


class Branch(NamedTuple):
    head: str
    staging: str
    sealed: tuple[str, ...]

    def encoded(self) -> bytes:
        return json.dumps([self.head, self.staging, self.sealed]).encode()


class Read(NamedTuple):
    branch: Branch
    predicate: Predicate


Tree = dict[str, str]


class JoinedReads:
    """Branch reads of one process, shared the wrong way: whoever finds one in flight takes it."""

    def __init__(self, lake: "ToyLake", environment: Environment) -> None:
        self._lake = lake
        self._environment = environment
        self._lock = environment.lock()
        self._done: Event | None = None
        self._value: Read | None = None

    def read(self) -> Read:
        with self._lock:
            leads = self._done is None
            if leads:
                self._done = self._environment.event()
            done = self._done
        assert done is not None
        if leads:
            value = self._lake.branch()
            with self._lock:
                self._value, self._done = value, None
            done.set()
            return value
        done.wait()
        assert self._value is not None
        return self._value


class ToyLake:
    """One server's view of the lake."""

    def __init__(self, store: Store, environment: Environment, rules: Rules) -> None:
        self._store = store
        self._environment = environment
        self._rules = rules
        self._joined = JoinedReads(self, environment)

    def create(self, tree: Tree | None = None) -> None:
        self._store.set(COMMITS, b"C0", json.dumps(tree or {}).encode())
        self._store.set(*BRANCH, Branch("C0", "t0", ()).encoded())

    def branch(self) -> Read:
        found = self._store.get(*BRANCH)
        head, staging, sealed = json.loads(found.value)
        return Read(Branch(head, staging, tuple(sealed)), found.predicate)

    def put(self, key: str, identity: str | None) -> None:
        branch = self.branch().branch
        while True:
            self._store.set(branch.staging.encode(), key.encode(), (identity or "").encode())
            after = self._joined.read() if self._rules.join_in_flight else self.branch()
            if after.branch.staging == branch.staging:
                return
            branch = after.branch

    def delete(self, key: str) -> None:
        if self._rules.blind_delete:
            self.put(key, None)
            return
        while True:
            branch = self.branch().branch
            if self._find(branch, key) is not None:
                self._store.set(branch.staging.encode(), key.encode(), b"")
            if self.branch().branch == branch:
                return

    def get(self, key: str) -> str | None:
        branch = self.branch().branch
        while True:
            found = self._find(branch, key)
            if self._rules.recheck == "nothing":
                return found
            after = self.branch().branch
            same = after.staging == branch.staging
            if self._rules.recheck == "record":
                same = after == branch
            if same:
                return found
            branch = after

    def commit(self) -> tuple[str, Tree]:
        read = self._seal()
        mine = read.branch.sealed
        base, tree, valid = self._tree(read.branch.head, mine)
        while True:
            read = self.branch()
            left = tuple(token for token in mine if token in read.branch.sealed)
            if not left:
                return read.branch.head, self._commit_tree(read.branch.head)
            if read.branch.head != base and self._rules.validate and not valid:
                base, tree, valid = self._tree(read.branch.head, left)
                mine = left
                continue
            commit = self._environment.new_id()
            self._store.set(COMMITS, commit.encode(), json.dumps(tree).encode())
            sealed = read.branch.sealed[len(left) :]
            target = read.branch._replace(head=commit, sealed=sealed)
            try:
                self._store.set_if(*BRANCH, target.encoded(), read.predicate)
            except PredicateFailed:
                continue
            self._clean(left)
            return commit, tree

    def _seal(self) -> Read:
        token = self._environment.new_id()
        while True:
            read = self.branch()
            sealed = (*read.branch.sealed, read.branch.staging)
            target = Branch(read.branch.head, token, sealed)
            try:
                self._store.set_if(*BRANCH, target.encoded(), read.predicate)
            except PredicateFailed:
                continue
            return replace_branch(read, target)

    def _tree(self, base: str, tokens: tuple[str, ...]) -> tuple[str, Tree, bool]:
        """Fold tokens onto a commit: the base, the tree, and whether it is validated."""
        tree = self._commit_tree(base)
        for token in tokens:
            for key, value in self._store.scan(token.encode()):
                tree[key.decode()] = value.decode()
        tree = {key: identity for key, identity in tree.items() if identity}
        if not self._rules.validate:
            return base, tree, True
        after = self.branch().branch
        stable = after.head == base and set(tokens) <= set(after.sealed)
        # A head that moved while we scanned may have taken our tokens with it: the tree is void.
        return (base if stable else "void"), tree, stable

    def _clean(self, tokens: tuple[str, ...]) -> None:
        for token in tokens:
            for key, _ in self._store.scan(token.encode()):
                self._store.delete(token.encode(), key)

    def _find(self, branch: Branch, key: str) -> str | None:
        for token in (branch.staging, *reversed(branch.sealed)):
            try:
                return self._store.get(token.encode(), key.encode()).value.decode() or None
            except NotFound:
                continue
        return self._commit_tree(branch.head).get(key)

    def _commit_tree(self, commit: str) -> Tree:
        tree: Tree = json.loads(self._store.get(COMMITS, commit.encode()).value)
        return tree

    def state(self, keys: set[str]) -> Tree:
        """What is there when all is quiet."""
        found = {key: self._find(self.branch().branch, key) for key in keys}
        return {key: identity for key, identity in found.items() if identity}


def replace_branch(read: Read, branch: Branch) -> Read:
    return read._replace(branch=branch)


LITERAL_TRIM = replace(Rules(), validate=False)
NO_RECHECK = replace(Rules(), recheck="nothing")
STAGING_RECHECK = replace(Rules(), recheck="staging")
SKIPPED_DELETE = replace(Rules(), blind_delete=False)
JOINED_READ = replace(Rules(), join_in_flight=True)
