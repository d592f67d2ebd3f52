# SPDX-License-Identifier: Apache-2.0
"""What a server counts and times, in Prometheus's form; lakeFS's names where the meaning is equal.

    series     one number, or one spread of times, that threads add to
    family     series that differ in their labels, of which there is a bounded number
    metrics    the families of a server
    workers    the processes of one server are seen as one
    expose     the text that Prometheus reads

prometheus_client renders the text. Its own counters are not used: they find each other's processes
by an environment variable that must be set before the import, and cost several microseconds a
request.
"""

from lochan.metrics.metrics import Metrics
from lochan.metrics.workers import Workers

__all__ = ["Metrics", "Workers"]
