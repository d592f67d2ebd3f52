# SPDX-License-Identifier: Apache-2.0
"""A lake's users and policies, with a clock that tests turn and processes that may fail."""

from contextlib import suppress

from lochan.access.access import Access, open_access
from lochan.access.attachments import attach_policy_to_group, attach_policy_to_user
from lochan.access.authenticate import authenticate
from lochan.access.credentials import IssuedCredential, create_credentials
from lochan.access.groups import create_group
from lochan.access.memberships import add_group_membership
from lochan.access.policies import create_policy
from lochan.access.users import create_user
from lochan.errors import Unauthenticated
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, Plan
from lochan.model.access import Statement
from lochan.model.keys import AUTH
from support.repository_life import TurnedClock

SECRET = b"a secret of the server, 32 bytes"
READ = Statement("allow", ("fs:Read*",), "*")
WRITE = Statement("allow", ("fs:Write*",), "*")


class AccessGround:
    """One store, and any number of processes over it."""

    def __init__(self) -> None:
        self.clock = TurnedClock()
        self.store = MemoryStore(self.clock)
        self.access = self.process()

    def process(self, *previous: bytes, secret: bytes = SECRET) -> Access:
        """Give a process of its own: it remembers nothing."""
        return open_access(self.store, self.clock, secret, previous)

    def failing(self, plan: Plan) -> tuple[Access, Faulty]:
        faulty = Faulty(self.store, plan, self.clock)
        return open_access(faulty, self.clock, SECRET), faulty

    def rows(self) -> dict[bytes, bytes]:
        return dict(self.store.scan(AUTH))

    def stored(self) -> list[str]:
        return [key.decode() for key in self.rows()]

    def knows(self, issued: IssuedCredential, access: Access | None = None) -> bool:
        """Say whether somebody gets in with this access key, in a fresh process or this one."""
        with suppress(Unauthenticated):
            process = access or self.process()
            authenticate(process, issued.access_key_id, issued.secret_access_key)
            return True
        return False


def with_ann(ground: AccessGround, **key: str) -> IssuedCredential:
    """Make ann, who reads through group readers and writes by a policy of her own."""
    access = ground.access
    create_user(access, "ann")
    create_group(access, "readers")
    create_policy(access, "reading", [READ])
    create_policy(access, "writing", [WRITE])
    attach_policy_to_group(access, "readers", "reading")
    attach_policy_to_user(access, "ann", "writing")
    add_group_membership(access, "readers", "ann")
    return create_credentials(access, "ann", **key)
