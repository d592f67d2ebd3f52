# SPDX-License-Identifier: Apache-2.0
"""Settings from the environment: the only reader of `os.environ`.

The server's settings file joins here with the server; what is read today is what the stores and the
committed tree need.
"""

import os

from lochan.errors import InvalidInput


def kernel_choice() -> str:
    """Say which kernel LOCHAN_KERNEL asks for: "native", "twin", or "" for the best there is."""
    wanted = os.environ.get("LOCHAN_KERNEL", "")
    if wanted not in {"", "native", "twin"}:
        raise InvalidInput(f"LOCHAN_KERNEL is {wanted!r}; it takes native or twin")
    return wanted
