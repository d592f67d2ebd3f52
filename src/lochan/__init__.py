# SPDX-License-Identifier: Apache-2.0
"""Version control for a data lake, with data pipelines built in.

lochan.open("./lake")       a lake in this process
lochan.connect("http://")   a lake behind a server
"""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Find `open` and `connect` when they are first asked for: errors need no web framework."""
    if name == "open":
        from lochan.bootstrap.embedded import open_embedded  # noqa: PLC0415 - the one late import

        return open_embedded
    if name == "connect":
        from lochan.bootstrap.connected import connect  # noqa: PLC0415 - the one late import

        return connect
    raise AttributeError(f"module 'lochan' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Name those two beside what is here, so that people find them by the tab key."""
    return sorted({*globals(), "connect", "open"})
