# SPDX-License-Identifier: Apache-2.0
"""Users: who asks, and list, make, look at, delete; what they are in and what they have."""

from lochan.access import attachments, effective, memberships, users
from lochan.access.arn import ANY
from lochan.model.instant import to_seconds
from lochan.shapes.access import (
    CurrentUser,
    GroupList,
    ListUserPoliciesQuery,
    PolicyList,
    User,
    UserCreation,
    UserList,
)
from lochan.shapes.pages import PageQuery
from lochan.web.api.pages import amount_of, pagination
from lochan.web.api.shown_access import USER, addressable, shown_group, shown_policy, shown_user
from lochan.web.call import Call
from lochan.web.needs import SIGNED_IN, Need
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("auth")


@ROUTES.get("/user", needs=SIGNED_IN, answers={200: CurrentUser})
def get_current_user(call: Call) -> CurrentUser:
    """Say who asks."""
    asking = call.user
    return CurrentUser(
        user=User(
            id=asking.user,
            creation_date=to_seconds(asking.creation_date),
            friendly_name=asking.friendly_name or None,
            email=asking.email or None,
        )
    )


@ROUTES.get(
    "/auth/users", needs=Need("auth:ListUsers", ANY), query=PageQuery, answers={200: UserList}
)
def list_users(call: Call) -> UserList:
    """Give the users by name."""
    asked = call.asked(PageQuery)
    page = users.list_users(call.services.access, asked.prefix, asked.after, amount_of(asked))
    return UserList(
        pagination=pagination(len(page.results), page.next_offset),
        results=[shown_user(user) for user in page.results],
    )


@ROUTES.post(
    "/auth/users",
    needs=Need("auth:CreateUser", "arn:lakefs:auth:::user/{body.id}"),
    body=UserCreation,
    answers={201: User},
)
def create_user(call: Call) -> User:
    """Make a user without credentials, groups or policies."""
    name = addressable("user", call.told(UserCreation).id)
    return shown_user(users.create_user(call.services.access, name))


@ROUTES.get("/auth/users/{userId}", needs=Need("auth:ReadUser", USER), answers={200: User})
def get_user(call: Call) -> User:
    """Give a user."""
    return shown_user(users.get_user(call.services.access, call.path["userId"]))


@ROUTES.delete("/auth/users/{userId}", needs=Need("auth:DeleteUser", USER), answers={204: NOTHING})
def delete_user(call: Call) -> None:
    """Delete a user; access keys and logins end at once."""
    users.delete_user(call.services.access, call.path["userId"])


@ROUTES.get(
    "/auth/users/{userId}/groups",
    needs=Need("auth:ReadUser", USER),
    query=PageQuery,
    answers={200: GroupList},
)
def list_user_groups(call: Call) -> GroupList:
    """Give the groups that a user is in, by name."""
    asked = call.asked(PageQuery)
    page = memberships.list_user_groups(
        call.services.access, call.path["userId"], asked.prefix, asked.after, amount_of(asked)
    )
    return GroupList(
        pagination=pagination(len(page.results), page.next_offset),
        results=[shown_group(group) for group in page.results],
    )


@ROUTES.get(
    "/auth/users/{userId}/policies",
    needs=Need("auth:ReadUser", USER),
    query=ListUserPoliciesQuery,
    answers={200: PolicyList},
)
def list_user_policies(call: Call) -> PolicyList:
    """Give a user's policies by name: its own, or all that hold for it."""
    asked = call.asked(ListUserPoliciesQuery)
    listed = (
        effective.list_effective_policies if asked.effective else attachments.list_user_policies
    )
    page = listed(
        call.services.access, call.path["userId"], asked.prefix, asked.after, amount_of(asked)
    )
    return PolicyList(
        pagination=pagination(len(page.results), page.next_offset),
        results=[shown_policy(policy) for policy in page.results],
    )


@ROUTES.put(
    "/auth/users/{userId}/policies/{policyId}",
    needs=Need("auth:AttachPolicy", USER),
    answers={201: NOTHING},
)
def attach_policy_to_user(call: Call) -> None:
    """Give a policy to a user."""
    attachments.attach_policy_to_user(
        call.services.access, call.path["userId"], call.path["policyId"]
    )


@ROUTES.delete(
    "/auth/users/{userId}/policies/{policyId}",
    needs=Need("auth:DetachPolicy", USER),
    answers={204: NOTHING},
)
def detach_policy_from_user(call: Call) -> None:
    """Take a policy from a user."""
    attachments.detach_policy_from_user(
        call.services.access, call.path["userId"], call.path["policyId"]
    )
