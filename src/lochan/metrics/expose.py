# SPDX-License-Identifier: Apache-2.0
"""The text that Prometheus reads."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from lochan.metrics.family import Family
from lochan.metrics.metrics import Numbers
from lochan.metrics.series import Series

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4


def exposed(families: Sequence[Family[Series]], numbers: Numbers) -> bytes:
    """Write numbers down, of one process or of several."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(
        _Given([_metric(family, numbers.get(family.name, [])) for family in families])
    )
    return generate_latest(registry)


class _Given(Collector):
    """Metrics that are there already."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        return iter(self._metrics)


def _metric(
    family: Family[Series], series: Sequence[tuple[tuple[str, ...], list[float]]]
) -> Metric:
    if family.kind == "histogram":
        spread = HistogramMetricFamily(family.name, family.meaning, labels=family.labels)
        names = [*map(str, family.bounds), "+Inf"]
        for values, numbers in series:
            buckets = list(zip(names, accumulate(numbers[:-1]), strict=True))
            spread.add_metric(values, buckets, numbers[-1])
        return spread
    kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    single = kind(family.name, family.meaning, labels=family.labels)
    for values, numbers in series:
        single.add_metric(values, numbers[0])
    return single
