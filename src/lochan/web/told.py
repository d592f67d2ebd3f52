# SPDX-License-Identifier: Apache-2.0
"""What is written down of every request: a line in the log, its metrics, and its id in the answer.

It stands around the whole application, so that nothing is answered unseen. A client's own request
id is kept where it may be logged; else one is drawn. Who serves the request says under SEEN which
route it took and who asked.
"""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Final

from lochan.access.principal import Principal
from lochan.logs.access import Ended
from lochan.logs.request import RequestScope, accepted_id
from lochan.web.at_once import Answer, AtOnce, Fetch
from lochan.web.environ import Environ, Headers, Wsgi
from lochan.web.route import Route
from lochan.web.services import Services

SEEN: Final = "lochan.seen"


class Seen:
    """What became known of a request while it was served."""

    __slots__ = ("principal", "route", "status")

    def __init__(self) -> None:
        """Know nothing yet."""
        self.route: Route | None = None
        self.principal: Principal | None = None
        self.status = 500


class Told:
    """A WSGI application that writes down what another one does."""

    def __init__(self, application: Wsgi, services: Services, at_once: AtOnce) -> None:
        """Write to these services' log."""
        self._application = application
        self._at_once = at_once
        self._services = services
        self._environment = services.lake.environment
        # Drawing an id gives the interpreter away, and a busy process waits to get it back: so a
        # process draws once, and counts.
        self._drawn = self._environment.new_id()[:16]
        self._numbers = count(1)

    def __call__(self, environ: Environ, start: Callable[..., object]) -> Iterable[bytes]:
        """Serve a request."""
        began = self._environment.monotonic()
        name = self._name(environ.get("HTTP_X_REQUEST_ID"))
        environ[SEEN] = seen = Seen()

        def started(status: str, headers: list[tuple[str, str]], *rest: object) -> object:
            seen.status = int(status[:3])
            headers.append(("x-request-id", name))
            return start(status, headers, *rest)

        with RequestScope(name):
            chunks = self._application(environ, started)
            sent = len(chunks[0]) if isinstance(chunks, list) and chunks else 0
            user = seen.principal.user if seen.principal else ""
            self._write(environ["REQUEST_METHOD"], name, seen.route, user, seen.status, began, sent)
        return chunks

    def at_once(self, path: str, query: str, headers: Headers) -> Answer | Fetch | None:
        """Serve a GET without a body, if that needs no waiting (see `at_once`)."""
        began = self._environment.monotonic()
        given = dict(headers)
        if len(given) < len(headers):
            return None  # a header that is there twice
        found = self._at_once.look(path, query, given)
        if found is None:
            return None
        route, user, answer = found
        name = self._name(given.get("x-request-id"))
        if isinstance(answer, Answer):
            answer.headers.append(("x-request-id", name))
            self._write("GET", name, route, user, answer.status, began, len(answer.body))
            return answer
        fetch = answer

        def fetched() -> Answer | None:
            with RequestScope(name):
                answer = fetch()
                if answer is not None:
                    answer.headers.append(("x-request-id", name))
                    self._write("GET", name, route, user, answer.status, began, len(answer.body))
                return answer

        return fetched

    def _name(self, given: str | None) -> str:
        """Name a request: by its own id where that may be logged."""
        return accepted_id(given) or f"{self._drawn}{next(self._numbers):016x}"

    def _write(
        self,
        method: str,
        name: str,
        route: Route | None,
        user: str,
        status: int,
        began: float,
        sent: int,
    ) -> None:
        """Write down how it ended; of an answer still to be sent, when it began."""
        environment = self._environment
        seconds = environment.monotonic() - began
        path, operation = (route.path, route.operation_id) if route else ("", "")
        self._services.requests.request(
            Ended(environment.now(), method, path, status, seconds, sent, user, name)
        )
        self._services.metrics.request(operation, method, status, seconds)
