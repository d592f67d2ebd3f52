# SPDX-License-Identifier: Apache-2.0
"""What the server answers beside its API: health, metrics, the description of the API.

    /livez, /_health, /api/v1/healthcheck    the process runs
    /readyz                                  it can serve: the store answers, it is not draining
    /metrics                                 for Prometheus, for users who may see it
    /openapi.json, /docs                     the description, and a page to browse it; / leads there

What is here belongs to the process, so it lies outside the API's prefix and its description.
"""

from collections.abc import Callable

from lochan.metrics.expose import CONTENT_TYPE, exposed
from lochan.web.call import Call
from lochan.web.needs import ANYBODY, Need
from lochan.web.page_files import page_file
from lochan.web.reply import JSON, Reply, text
from lochan.web.route import NOTHING, OCTETS, TEXT, Route, Routes


def edges(described: Callable[[], bytes]) -> tuple[Route, ...]:
    """Make the routes; `described` gives the OpenAPI document."""
    routes = Routes("process")

    @routes.get("/livez", needs=ANYBODY, answers={200: TEXT})
    def livez(_: Call) -> Reply:
        """Say that the process runs."""
        return text("alive\n")

    @routes.get("/_health", needs=ANYBODY, answers={200: TEXT})
    def health(_: Call) -> Reply:
        """Say that the process runs, where lakeFS's users look for it."""
        return text("alive\n")

    @routes.get("/readyz", needs=ANYBODY, answers={200: TEXT, 503: TEXT})
    def readyz(call: Call) -> Reply:
        """Say whether requests should come here."""
        wrong = call.services.readiness.what_is_wrong()
        return text(f"{wrong}\n", 503) if wrong else text("ready\n")

    @routes.get("/metrics", needs=Need("fs:ReadConfig", "*"), answers={200: TEXT})
    def metrics(call: Call) -> Reply:
        """Give all figures in Prometheus's form."""
        services = call.services
        figures = exposed(services.metrics.families, services.workers.numbers())
        return Reply(figures, content_type=CONTENT_TYPE)

    @routes.get("/openapi.json", needs=ANYBODY, answers={200: OCTETS})
    def openapi(_: Call) -> Reply:
        """Give the description of the API."""
        return Reply(described(), content_type=JSON)

    @routes.get("/", needs=ANYBODY, answers={302: NOTHING})
    def root(_: Call) -> Reply:
        """Lead people who typed the server's address to a page."""
        return Reply(None, 302, {"location": "/docs"})

    @routes.get("/docs", needs=ANYBODY, answers={200: OCTETS})
    def docs(_: Call) -> Reply:
        """Give a page to browse the description."""
        return page_file("docs.html")

    @routes.get("/docs/{file}", needs=ANYBODY, answers={200: OCTETS})
    def docs_file(call: Call) -> Reply:
        """Give a script or a style of that page."""
        return page_file(call.path["file"])

    return tuple(routes)
