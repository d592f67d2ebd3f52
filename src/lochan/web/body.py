# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with a request's body while it is read."""

from lochan.errors import InvalidInput


class BodyBroken(InvalidInput):
    """The client went away, or broke the protocol, before its body was complete."""

    default_code = "body-incomplete"
