# SPDX-License-Identifier: Apache-2.0
"""Groups: list, make, look at, delete; their members and their policies."""

from lochan.access import attachments, groups, memberships
from lochan.access.arn import ANY
from lochan.shapes.access import Group, GroupCreation, GroupList, PolicyList, UserList
from lochan.shapes.pages import PageQuery
from lochan.web.api.pages import amount_of, pagination
from lochan.web.api.shown_access import GROUP, addressable, shown_group, shown_policy, shown_user
from lochan.web.call import Call
from lochan.web.needs import Need
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("auth")


@ROUTES.get(
    "/auth/groups", needs=Need("auth:ListGroups", ANY), query=PageQuery, answers={200: GroupList}
)
def list_groups(call: Call) -> GroupList:
    """Give the groups by name."""
    asked = call.asked(PageQuery)
    page = groups.list_groups(call.services.access, asked.prefix, asked.after, amount_of(asked))
    return GroupList(
        pagination=pagination(len(page.results), page.next_offset),
        results=[shown_group(group) for group in page.results],
    )


@ROUTES.post(
    "/auth/groups",
    needs=Need("auth:CreateGroup", "arn:lakefs:auth:::group/{body.id}"),
    body=GroupCreation,
    answers={201: Group},
)
def create_group(call: Call) -> Group:
    """Make a group without members or policies."""
    told = call.told(GroupCreation)
    name = addressable("group", told.id)
    made = groups.create_group(call.services.access, name, description=told.description or "")
    return shown_group(made)


@ROUTES.get("/auth/groups/{groupId}", needs=Need("auth:ReadGroup", GROUP), answers={200: Group})
def get_group(call: Call) -> Group:
    """Give a group."""
    return shown_group(groups.get_group(call.services.access, call.path["groupId"]))


@ROUTES.delete(
    "/auth/groups/{groupId}", needs=Need("auth:DeleteGroup", GROUP), answers={204: NOTHING}
)
def delete_group(call: Call) -> None:
    """Delete a group; its members lose at once what it gave them."""
    groups.delete_group(call.services.access, call.path["groupId"])


@ROUTES.get(
    "/auth/groups/{groupId}/members",
    needs=Need("auth:ReadGroup", GROUP),
    query=PageQuery,
    answers={200: UserList},
)
def list_group_members(call: Call) -> UserList:
    """Give the users in a group, by name."""
    asked = call.asked(PageQuery)
    page = memberships.list_group_members(
        call.services.access, call.path["groupId"], asked.prefix, asked.after, amount_of(asked)
    )
    return UserList(
        pagination=pagination(len(page.results), page.next_offset),
        results=[shown_user(user) for user in page.results],
    )


@ROUTES.put(
    "/auth/groups/{groupId}/members/{userId}",
    needs=Need("auth:AddGroupMember", GROUP),
    answers={201: NOTHING},
)
def add_group_membership(call: Call) -> None:
    """Put a user into a group."""
    memberships.add_group_membership(
        call.services.access, call.path["groupId"], call.path["userId"]
    )


@ROUTES.delete(
    "/auth/groups/{groupId}/members/{userId}",
    needs=Need("auth:RemoveGroupMember", GROUP),
    answers={204: NOTHING},
)
def delete_group_membership(call: Call) -> None:
    """Take a user out of a group."""
    memberships.delete_group_membership(
        call.services.access, call.path["groupId"], call.path["userId"]
    )


@ROUTES.get(
    "/auth/groups/{groupId}/policies",
    needs=Need("auth:ReadGroup", GROUP),
    query=PageQuery,
    answers={200: PolicyList},
)
def list_group_policies(call: Call) -> PolicyList:
    """Give a group's policies by name."""
    asked = call.asked(PageQuery)
    page = attachments.list_group_policies(
        call.services.access, call.path["groupId"], asked.prefix, asked.after, amount_of(asked)
    )
    return PolicyList(
        pagination=pagination(len(page.results), page.next_offset),
        results=[shown_policy(policy) for policy in page.results],
    )


@ROUTES.put(
    "/auth/groups/{groupId}/policies/{policyId}",
    needs=Need("auth:AttachPolicy", GROUP),
    answers={201: NOTHING},
)
def attach_policy_to_group(call: Call) -> None:
    """Give a policy to a group."""
    attachments.attach_policy_to_group(
        call.services.access, call.path["groupId"], call.path["policyId"]
    )


@ROUTES.delete(
    "/auth/groups/{groupId}/policies/{policyId}",
    needs=Need("auth:DetachPolicy", GROUP),
    answers={204: NOTHING},
)
def detach_policy_from_group(call: Call) -> None:
    """Take a policy from a group."""
    attachments.detach_policy_from_group(
        call.services.access, call.path["groupId"], call.path["policyId"]
    )
