# SPDX-License-Identifier: Apache-2.0
"""What lakeFS's clients send about themselves: taken, and kept nowhere.

Nothing is sent on to anybody. Clients that tell, and forms that ask for an address to write to, get
the answer that they wait for.
"""

from lochan.shapes.setup import CommPrefsInput
from lochan.shapes.statistics import StatsEventsList
from lochan.web.call import Call
from lochan.web.needs import ANYBODY, SIGNED_IN
from lochan.web.route import NOTHING, Routes

ROUTES = Routes("internal")


@ROUTES.post("/statistics", needs=SIGNED_IN, body=StatsEventsList, answers={204: NOTHING})
def post_stats_events(_: Call) -> None:
    """Hear what a client did."""


@ROUTES.post("/setup_comm_prefs", needs=ANYBODY, body=CommPrefsInput, answers={200: NOTHING})
def setup_comm_prefs(_: Call) -> None:
    """Hear how somebody wants to be written to; nobody will."""
