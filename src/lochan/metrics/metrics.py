# SPDX-License-Identifier: Apache-2.0
"""The families of a server.

| metric | labels | lakeFS has it |
|---|---|---|
| api_requests_total | code, method | yes |
| api_request_duration_seconds | operation, method, code | yes, without the method |
| lakefs_concurrent_requests | service | yes, so its dashboards work |
| kv_request_duration_seconds | operation, type | yes |
| kv_request_failures_total | operation, type | yes |
| lochan_refused_requests_total | reason | no: over a limit, with 429 or 503 |
| lochan_background_runs_total | work, outcome | no: clean and compact; done, partly or failed |
| lochan_sealed_tokens_longest |  | no: of the branch that has most, when the compactor came by |

A request costs one series: how many there were follows from how long they took.
"""

from collections import Counter
from typing import Final

from lochan.environment import Environment
from lochan.metrics.family import OTHER, Family, counter, gauge, histogram, largest
from lochan.metrics.series import Series

_REQUEST: Final = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
_KV: Final = (
    *(0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01),
    *(0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0),
)
# Clients may write any method; only these are told apart.
_METHODS: Final = {m: m for m in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")}

Numbers = dict[str, list[tuple[tuple[str, ...], list[float]]]]


class Metrics:
    """What one process counts and times."""

    def __init__(self, environment: Environment) -> None:
        """Begin with nothing counted."""
        self.requests = counter(
            environment, "api_requests_total", "Requests that have ended.", "code", "method"
        )
        self.request_seconds = histogram(
            environment,
            "api_request_duration_seconds",
            "How long requests took.",
            _REQUEST,
            "operation",
            "method",
            "code",
        )
        self.concurrent_requests = gauge(
            environment, "lakefs_concurrent_requests", "Requests under way.", "service"
        )
        self.refused_requests = counter(
            environment,
            "lochan_refused_requests_total",
            "Requests over a limit, answered with 429 or 503.",
            "reason",
        )
        self.background_runs = counter(
            environment,
            "lochan_background_runs_total",
            "Runs of the cleaner and of the compactor.",
            "work",
            "outcome",
        )
        self.longest_sealed = largest(
            environment,
            "lochan_sealed_tokens_longest",
            "Sealed tokens of the branch that has most of them, when the compactor came by.",
        )
        self.kv_seconds = histogram(
            environment,
            "kv_request_duration_seconds",
            "How long calls of the key-value store took; a scan: to its first row.",
            _KV,
            "operation",
            "type",
        )
        self.kv_failures = counter(
            environment,
            "kv_request_failures_total",
            "Calls that the key-value store did not answer.",
            "operation",
            "type",
        )

    @property
    def families(self) -> "list[Family[Series]]":
        """Give every family, in the order in which they are declared."""
        return [value for value in vars(self).values() if isinstance(value, Family)]

    def request(self, operation: str, method: str, code: int, seconds: float) -> None:
        """Count a request that has ended; `operation` is the declared one, never a path."""
        method = _METHODS.get(method, OTHER)
        self.request_seconds.of(operation, method, code).observe(seconds)

    def numbers(self) -> Numbers:
        """Give all numbers as they are now."""
        numbers = {family.name: family.numbers() for family in self.families}
        ended: Counter[tuple[str, ...]] = Counter()
        for (_, method, code), (*counts, _) in numbers[self.request_seconds.name]:
            ended[code, method] += int(sum(counts))
        numbers[self.requests.name] = [(labels, [float(n)]) for labels, n in ended.items()]
        return numbers
