# SPDX-License-Identifier: Apache-2.0
"""Branch protection: all rules at once, guarded by an ETag, and the older routes, rule by rule.

The ETag is the plain checksum, as in lakeFS; with quotes around it, it is taken back too. None at
all is an empty one: `If-Match` with nothing sets rules only where there are none.
"""

from typing import cast

from lochan.model import records
from lochan.operations.protection import (
    BranchProtection,
    add_branch_protection,
    get_branch_protection,
    remove_branch_protection,
    set_branch_protection,
)
from lochan.shapes.protection import (
    BranchProtectionRule,
    InternalDeleteBranchProtectionRuleRequest,
)
from lochan.web.call import Call
from lochan.web.needs import Need
from lochan.web.reply import Reply
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("branch-protection")

_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"
_GET = Need("branches:GetBranchProtectionRules", _REPOSITORY)
_SET = Need("branches:SetBranchProtectionRules", _REPOSITORY)
_SETTING = "/repositories/{repository}/settings/branch_protection"
_INTERNAL = "/repositories/{repository}/branch_protection"
_ANY = "*"


@ROUTES.get(_SETTING, needs=_GET, answers={200: list[BranchProtectionRule]})
def get_branch_protection_rules(call: Call) -> Reply:
    """Give all rules, and in ETag what tells them from others."""
    return _shown(get_branch_protection(call.lake, call.repository))


@ROUTES.put(
    _SETTING,
    needs=_SET,
    body=list[BranchProtectionRule],
    answers={204: NOTHING},
    headers={"If-Match": "ETag of the rules to be replaced; empty for none."},
)
def set_branch_protection_rules(call: Call) -> None:
    """Replace all rules, if they are still those that the caller has read."""
    told = cast("list[BranchProtectionRule]", call.body)
    rules = [records.BranchProtectionRule(rule.pattern) for rule in told]
    set_branch_protection(call.lake, call.repository, rules, expected=_expected(call))


@ROUTES.get(_INTERNAL, needs=_GET, answers={200: list[BranchProtectionRule]})
def internal_get_branch_protection_rules(call: Call) -> Reply:
    """Give all rules, to older clients."""
    return _shown(get_branch_protection(call.lake, call.repository))


@ROUTES.post(_INTERNAL, needs=_SET, body=BranchProtectionRule, answers={204: NOTHING})
def internal_create_branch_protection_rule(call: Call) -> None:
    """Add a rule, as older clients do."""
    told = call.told(BranchProtectionRule)
    add_branch_protection(call.lake, call.repository, told.pattern)


@ROUTES.delete(
    _INTERNAL,
    needs=_SET,
    body=InternalDeleteBranchProtectionRuleRequest,
    answers={204: NOTHING},
)
def internal_delete_branch_protection_rule(call: Call) -> None:
    """Take a rule away, as older clients do."""
    told = call.told(InternalDeleteBranchProtectionRuleRequest)
    remove_branch_protection(call.lake, call.repository, told.pattern)


@ROUTES.get(_INTERNAL + "/set_allowed", needs=_SET, answers={204: NOTHING})
def create_branch_protection_rule_preflight(call: Call) -> None:
    """Say whether the caller may set rules."""
    _ = call.repository


def _expected(call: Call) -> str | None:
    header = call.request.get_header("If-Match")
    return None if header is None or header == _ANY else header.strip().strip('"')


def _shown(found: BranchProtection) -> Reply:
    rules = [BranchProtectionRule(pattern=rule.pattern) for rule in found.rules]
    return Reply(rules, headers={"etag": found.checksum})
