# SPDX-License-Identifier: Apache-2.0
"""Join the parts: the only place where stores, stories, server and client meet.

lake        a lake from the url of its key-value store
server      the web application over a lake, and the processes that serve it
"""

from lochan.bootstrap.lake import open_lake, prepare_process

__all__ = ["open_lake", "prepare_process"]
