# SPDX-License-Identifier: Apache-2.0
"""The rules of branch protection: which branches refuse direct writes and commits.

A rule is a pattern and what it blocks. In a pattern `*` stands for any letters, also none, and `?`
for one; everything else stands for itself. Several rules may match a branch; it refuses what any of
them blocks. What each action needs is in `allowed`.

All rules are read and set together. Their checksum is lakeFS's ETag: whoever gives the checksum of
what was read changes nothing that somebody else has changed since.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from lochan.errors import AlreadyExists, InvalidInput, NotFound, PredicateFailed
from lochan.model.ident import digest, int64, string
from lochan.model.records import BlockedAction, BranchProtectionRule, Repository
from lochan.operations.allowed import require_writable
from lochan.operations.lake import Lake
from lochan.operations.repositories import change_repository

MOST_RULES = 256  # they are read with every write
_MOST_LETTERS = 256
_PATTERN = re.compile(r"[-\w*?]+", re.ASCII)

Rules = tuple[BranchProtectionRule, ...]


@dataclass(frozen=True, slots=True)
class BranchProtection:
    """A repository's rules by pattern, and what tells them from others; "" for none."""

    rules: Rules
    checksum: str


def get_branch_protection(lake: Lake, repository: Repository) -> BranchProtection:
    """Read the rules as they are now. Raises RepositoryNotFound, RepositoryDeleting."""
    return _protection(lake.branches.fresh_repository(repository).branch_protection)


def set_branch_protection(
    lake: Lake,
    repository: Repository,
    rules: Iterable[BranchProtectionRule],
    *,
    expected: str | None = None,
) -> BranchProtection:
    """Replace all rules; those with the checksum `expected` if that is given, "" being no rules.

    Who begins to write or commit after this has answered is bound by them, whatever the server.
    Raises: InvalidInput; PredicateFailed, code protection-changed; Refused for a read-only
    repository; UnknownOutcome: read them, then repeat.
    """
    wanted = _valid(rules)

    def change(record: Repository) -> Repository:
        require_writable(record, force=lake.force)
        if expected is not None and _protection(record.branch_protection).checksum != expected:
            message = f"the protection rules of {record.repository_id!r} were changed; read them"
            raise PredicateFailed(message, code="protection-changed")
        return msgspec.structs.replace(record, branch_protection=wanted)

    return _protection(change_repository(lake, repository, change).branch_protection)


def add_branch_protection(lake: Lake, repository: Repository, pattern: str) -> None:
    """Add a rule against all that rules can block, beside those that are there.

    Raises: AlreadyExists when the pattern has a rule; InvalidInput; Refused; UnknownOutcome.
    """

    def change(record: Repository) -> Repository:
        require_writable(record, force=lake.force)
        held = record.branch_protection
        if any(rule.pattern == pattern for rule in held):
            message = f"pattern {pattern!r} of {record.repository_id!r} has a rule; change that one"
            raise AlreadyExists(message, code="protection-already-exists")
        wanted = _valid((*held, BranchProtectionRule(pattern)))
        return msgspec.structs.replace(record, branch_protection=wanted)

    change_repository(lake, repository, change)


def remove_branch_protection(lake: Lake, repository: Repository, pattern: str) -> None:
    """Take the rule of a pattern away, and no other. Raises NotFound; Refused; UnknownOutcome."""

    def change(record: Repository) -> Repository:
        require_writable(record, force=lake.force)
        left = tuple(rule for rule in record.branch_protection if rule.pattern != pattern)
        if left == record.branch_protection:
            message = f"no protection rule of {record.repository_id!r} has pattern {pattern!r}"
            raise NotFound(message, code="protection-not-found")
        return msgspec.structs.replace(record, branch_protection=left)

    change_repository(lake, repository, change)


def _protection(rules: Rules) -> BranchProtection:
    if not rules:
        return BranchProtection((), "")
    parts = (string(rule.pattern) + b"".join(map(int64, rule.blocked_actions)) for rule in rules)
    return BranchProtection(rules, digest(parts).hex())


def _valid(rules: Iterable[BranchProtectionRule]) -> Rules:
    """Sort rules by pattern, so that equal ones are equal bytes. Raises InvalidInput."""
    found: dict[str, BranchProtectionRule] = {}
    for rule in rules:
        _check_pattern(rule.pattern)
        if rule.pattern in found:
            raise _invalid(f"pattern {rule.pattern!r} has two rules; make one of them")
        if not rule.blocked_actions:
            raise _invalid(f"the rule for {rule.pattern!r} blocks nothing; leave it out")
        actions = tuple(sorted({BlockedAction(action) for action in rule.blocked_actions}))
        found[rule.pattern] = BranchProtectionRule(rule.pattern, actions)
    if len(found) > MOST_RULES:
        raise _invalid(f"{len(found)} rules are too many; {MOST_RULES} is the most")
    return tuple(found[pattern] for pattern in sorted(found))


def _check_pattern(pattern: str) -> None:
    if len(pattern) > _MOST_LETTERS or not _PATTERN.fullmatch(pattern):
        raise _invalid(
            f"{pattern[:80]!r} is no pattern of branch names: 1 to {_MOST_LETTERS} letters, digits,"
            " underscores and hyphens, * for any letters and ? for one"
        )


def _invalid(message: str) -> InvalidInput:
    return InvalidInput(message, code="invalid-protection-rule")
