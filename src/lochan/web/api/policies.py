# SPDX-License-Identifier: Apache-2.0
"""Policies: list, make, look at, change, delete."""

from lochan.access import policies
from lochan.access.arn import ANY
from lochan.errors import InvalidInput
from lochan.model import access as records
from lochan.shapes.access import Policy, PolicyList
from lochan.shapes.pages import PageQuery
from lochan.web.api.pages import amount_of, pagination
from lochan.web.api.shown_access import POLICY, addressable, shown_policy
from lochan.web.call import Call
from lochan.web.needs import Need
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("auth")


@ROUTES.get(
    "/auth/policies",
    needs=Need("auth:ListPolicies", ANY),
    query=PageQuery,
    answers={200: PolicyList},
)
def list_policies(call: Call) -> PolicyList:
    """Give the policies by name."""
    asked = call.asked(PageQuery)
    page = policies.list_policies(call.services.access, asked.prefix, asked.after, amount_of(asked))
    return PolicyList(
        pagination=pagination(len(page.results), page.next_offset),
        results=[shown_policy(policy) for policy in page.results],
    )


@ROUTES.post(
    "/auth/policies",
    needs=Need("auth:CreatePolicy", "arn:lakefs:auth:::policy/{body.id}"),
    body=Policy,
    answers={201: Policy},
)
def create_policy(call: Call) -> Policy:
    """Make a policy; it holds for nobody until it is attached."""
    told = call.told(Policy)
    name = addressable("policy", told.id)
    return shown_policy(policies.create_policy(call.services.access, name, _statements(told)))


@ROUTES.get(
    "/auth/policies/{policyId}", needs=Need("auth:ReadPolicy", POLICY), answers={200: Policy}
)
def get_policy(call: Call) -> Policy:
    """Give a policy."""
    return shown_policy(policies.get_policy(call.services.access, call.path["policyId"]))


@ROUTES.put(
    "/auth/policies/{policyId}",
    needs=Need("auth:UpdatePolicy", POLICY),
    body=Policy,
    answers={200: Policy},
)
def update_policy(call: Call) -> Policy:
    """Replace what a policy says, wherever it is attached."""
    told, name = call.told(Policy), call.path["policyId"]
    if told.id != name:
        message = f"the body is policy {told.id[:80]!r}; a policy keeps its name, {name[:80]!r}"
        raise InvalidInput(message, code="policy-renamed")
    return shown_policy(policies.update_policy(call.services.access, name, _statements(told)))


@ROUTES.delete(
    "/auth/policies/{policyId}", needs=Need("auth:DeletePolicy", POLICY), answers={204: NOTHING}
)
def delete_policy(call: Call) -> None:
    """Delete a policy, wherever it is attached."""
    policies.delete_policy(call.services.access, call.path["policyId"])


def _statements(told: Policy) -> list[records.Statement]:
    # Who leaves a condition out makes an allowance larger than it was meant to be.
    if any(said.condition for said in told.statement):
        message = "conditions in policies are not understood here; say it by actions and resources"
        raise InvalidInput(message, code="not-implemented")
    return [
        records.Statement(said.effect, tuple(said.action), said.resource) for said in told.statement
    ]
