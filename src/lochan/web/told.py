# SPDX-License-Identifier: Apache-2.0
"""What is written down of every request: a line in the log, its metrics, and its id in the answer.

A client's own request id is kept where it may be logged; else one is drawn.
"""

import falcon

from lochan.logs.request import RequestScope, accepted_id
from lochan.web.services import Services


class Told:
    """A Falcon middleware around every request."""

    def __init__(self, services: Services) -> None:
        """Write to these services' log."""
        self._services = services
        self._environment = services.lake.environment

    def process_request(self, request: falcon.Request, response: falcon.Response) -> None:
        """Name the request and begin to take its time."""
        name = accepted_id(request.get_header("x-request-id")) or self._environment.new_id()
        context = request.context
        context.began = self._environment.monotonic()
        context.principal = None
        context.route = None
        context.scope = RequestScope(name)
        context.scope.__enter__()
        context.request_id = name
        response.set_header("x-request-id", name)

    def process_response(
        self,
        request: falcon.Request,
        response: falcon.Response,
        _resource: object,
        _succeeded: bool,  # noqa: FBT001 - Falcon's signature
    ) -> None:
        """Write down how it ended."""
        context = request.context
        route = context.route
        seconds = self._environment.monotonic() - context.began
        status = response.status_code
        who = context.principal
        self._services.requests.request(
            method=request.method,
            route=route.path if route else "",
            status=status,
            seconds=seconds,
            sent=len(response.data or b"") if response.stream is None else 0,
            principal=who.user if who else "",
            request_id=context.request_id,
        )
        operation = route.operation_id if route else ""
        self._services.metrics.request(operation, request.method, status, seconds)
        context.scope.__exit__()
