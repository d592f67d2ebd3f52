# SPDX-License-Identifier: Apache-2.0
"""Retention rules: how long what branches no longer show is kept."""

from lochan.errors import InvalidInput
from lochan.operations import retention as stories
from lochan.shapes.retention import GarbageCollectionRule, GarbageCollectionRules
from lochan.web.call import Call
from lochan.web.needs import Need
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("retention")

_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"
_GET = Need("retention:GetGarbageCollectionRules", _REPOSITORY)
_SET = Need("retention:SetGarbageCollectionRules", _REPOSITORY)
_SETTING = "/repositories/{repository}/settings/gc_rules"
_INTERNAL = "/repositories/{repository}/gc/rules"


@ROUTES.get(_SETTING, needs=_GET, answers={200: GarbageCollectionRules})
def get_gc_rules(call: Call) -> GarbageCollectionRules:
    """Give the rules; 404 where there are none."""
    return _read(call)


@ROUTES.put(_SETTING, needs=_SET, body=GarbageCollectionRules, answers={204: NOTHING})
def set_gc_rules(call: Call) -> None:
    """Replace all rules."""
    told = call.told(GarbageCollectionRules)
    days = {rule.branch_id: rule.retention_days for rule in told.branches}
    if len(days) != len(told.branches):
        raise InvalidInput("a branch has two retention rules; give one", code="invalid-gc-rules")
    stories.set_gc_rules(call.lake, call.repository, told.default_retention_days, days)


@ROUTES.delete(_SETTING, needs=_SET, answers={204: NOTHING})
def delete_gc_rules(call: Call) -> None:
    """Take all rules away: nothing that was committed is collected."""
    stories.delete_gc_rules(call.lake, call.repository)


@ROUTES.get(_INTERNAL, needs=_GET, answers={200: GarbageCollectionRules})
def internal_get_garbage_collection_rules(call: Call) -> GarbageCollectionRules:
    """Give the rules, to older clients."""
    return _read(call)


@ROUTES.post(_INTERNAL, needs=_SET, body=GarbageCollectionRules, answers={204: NOTHING})
def internal_set_garbage_collection_rules(call: Call) -> None:
    """Replace all rules, as older clients do."""
    set_gc_rules(call)


@ROUTES.delete(_INTERNAL, needs=_SET, answers={204: NOTHING})
def internal_delete_garbage_collection_rules(call: Call) -> None:
    """Take all rules away, as older clients do."""
    delete_gc_rules(call)


@ROUTES.get(_INTERNAL + "/set_allowed", needs=_SET, answers={204: NOTHING})
def set_garbage_collection_rules_preflight(call: Call) -> None:
    """Say whether the caller may set rules."""
    _ = call.repository


def _read(call: Call) -> GarbageCollectionRules:
    found = stories.get_gc_rules(call.lake, call.repository)
    return GarbageCollectionRules(
        default_retention_days=found.default_retention_days,
        branches=[
            GarbageCollectionRule(branch_id=branch, retention_days=days)
            for branch, days in sorted(found.branch_retention_days.items())
        ],
    )
