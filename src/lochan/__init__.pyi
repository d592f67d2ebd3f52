# SPDX-License-Identifier: Apache-2.0
# What type checkers know of the two names that `__getattr__` finds.
from lochan.bootstrap.connected import connect as connect
from lochan.bootstrap.embedded import open_embedded

__version__: str
open = open_embedded  # noqa: A001 - the name that people call it by
