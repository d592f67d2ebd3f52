# SPDX-License-Identifier: Apache-2.0
"""How long a repository keeps what its branches no longer show: the rules a collector goes by.

An object that only old commits hold may be collected when, on every branch, it has been out of
sight for longer than that branch's days. A branch without a rule has the default. Without rules
nothing that was ever committed is collected.
"""

from collections.abc import Mapping
from typing import Final

from lochan.errors import InvalidInput, NotFound
from lochan.kv.table import Table
from lochan.model.ids import BranchName, valid_branch_name
from lochan.model.keys import SETTINGS, partition_of
from lochan.model.records import Repository
from lochan.model.settings import GarbageCollectionRules
from lochan.model.settings_codec import decode_gc_rules, encode_gc_rules
from lochan.operations.allowed import require_writable
from lochan.operations.lake import Lake

NAME: Final = b"gc_rules"
MOST_RULES: Final = 10_000
MOST_DAYS: Final = 2**31 - 1


def get_gc_rules(lake: Lake, repository: Repository) -> GarbageCollectionRules:
    """Read the rules. Raises NotFound, code no-gc-rules, where none were set."""
    lake.branches.fresh_repository(repository)
    found = find_gc_rules(lake, repository)
    if found is None:
        message = f"repository {repository.repository_id!r} has no retention rules; set some first"
        raise NotFound(message, code="no-gc-rules", repository=repository.repository_id)
    return found


def find_gc_rules(lake: Lake, repository: Repository) -> GarbageCollectionRules | None:
    """Read the rules; None where there are none."""
    found = _table(lake, repository).find(NAME)
    return found.record if found else None


def set_gc_rules(
    lake: Lake, repository: Repository, default_days: int, branch_days: Mapping[str, int]
) -> GarbageCollectionRules:
    """Replace all rules. Raises InvalidInput, code invalid-gc-rules; Refused; UnknownOutcome."""
    rules = GarbageCollectionRules(
        default_retention_days=_valid_days(default_days, "the default"),
        branch_retention_days=_valid(branch_days),
    )
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)
    _table(lake, repository).set(NAME, rules)
    return rules


def delete_gc_rules(lake: Lake, repository: Repository) -> None:
    """Take all rules away: nothing that was committed is collected. Raises Refused."""
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)
    _table(lake, repository).delete(NAME)


def _table(lake: Lake, repository: Repository) -> Table[GarbageCollectionRules]:
    partition = partition_of(repository)
    return Table(lake.store, partition, SETTINGS, encode_gc_rules, decode_gc_rules)


def _valid(branch_days: Mapping[str, int]) -> dict[BranchName, int]:
    if len(branch_days) > MOST_RULES:
        raise _invalid(f"{len(branch_days)} rules are too many; {MOST_RULES} is the most")
    return {
        valid_branch_name(name): _valid_days(days, f"branch {name!r}")
        for name, days in branch_days.items()
    }


def _valid_days(days: int, what: str) -> int:
    if not 0 <= days <= MOST_DAYS:
        raise _invalid(f"{days} days for {what} is no whole number from 0 to {MOST_DAYS}")
    return days


def _invalid(message: str) -> InvalidInput:
    return InvalidInput(message, code="invalid-gc-rules")
