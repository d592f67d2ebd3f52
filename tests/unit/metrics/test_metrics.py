# SPDX-License-Identifier: Apache-2.0
import multiprocessing
import os
import threading
import time
import timeit
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from lochan.environment import RealEnvironment
from lochan.metrics import Metrics, Workers, family
from lochan.metrics.expose import exposed

ENVIRONMENT = RealEnvironment()


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(ENVIRONMENT)


def samples(text: bytes) -> dict[tuple[str, tuple[str, ...]], float]:
    """Read an exposition; label values stand in the order of their labels' names."""
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for parsed in text_string_to_metric_families(text.decode())
        for sample in parsed.samples
    }


def shown(metrics: Metrics) -> dict[tuple[str, tuple[str, ...]], float]:
    return samples(exposed(metrics.families, metrics.numbers()))


def test_requests_are_counted_and_timed_under_the_names_that_lakefs_has(metrics: Metrics) -> None:
    metrics.request("getObject", "GET", 200, 0.004)
    metrics.request("getObject", "GET", 200, 0.2)
    found = shown(metrics)

    assert found["api_requests_total", ("200", "GET")] == 2
    assert found["api_request_duration_seconds_count", ("200", "GET", "getObject")] == 2
    assert found["api_request_duration_seconds_sum", ("200", "GET", "getObject")] == pytest.approx(
        0.204
    )


def test_buckets_hold_what_is_at_most_their_bound(metrics: Metrics) -> None:
    for seconds in (0.001, 0.0011, 61.0):
        metrics.request_seconds.of("x", "GET", 200).observe(seconds)
    found = shown(metrics)
    name = "api_request_duration_seconds_bucket"

    assert [found[name, ("200", le, "GET", "x")] for le in ("0.001", "0.0025", "60.0", "+Inf")] == [
        1,
        2,
        2,
        3,
    ]


def test_what_is_under_way_rises_and_falls(metrics: Metrics) -> None:
    gauge = metrics.concurrent_requests.of("api")
    gauge.add()
    gauge.add()
    gauge.add(-1)

    assert shown(metrics)["lakefs_concurrent_requests", ("api",)] == 1


def test_a_number_that_somebody_keeps_is_looked_at_when_asked_for(metrics: Metrics) -> None:
    under_way: list[str] = []
    metrics.concurrent_requests.watch(lambda: len(under_way), "api")
    under_way.append("a request")

    assert shown(metrics)["lakefs_concurrent_requests", ("api",)] == 1


def test_methods_that_clients_invent_are_one(metrics: Metrics) -> None:
    for number in range(50):
        metrics.request("none", f"INVENTED{number}", 405, 0.001)

    assert shown(metrics)["api_requests_total", ("405", "other")] == 50


def test_the_number_of_series_is_bounded(metrics: Metrics, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family, "MAX_SERIES", 10)
    for number in range(100):
        metrics.request_seconds.of(f"operation{number}", "GET", 200).observe(0.001)

    assert len(metrics.request_seconds.numbers()) == 11
    assert shown(metrics)["api_request_duration_seconds_count", ("other", "other", "other")] == 90


def test_threads_lose_no_count(metrics: Metrics) -> None:
    def work() -> None:
        for _ in range(5000):
            metrics.request("x", "GET", 200, 0.001)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert shown(metrics)["api_requests_total", ("200", "GET")] == 20_000
    assert shown(metrics)["api_request_duration_seconds_count", ("200", "GET", "x")] == 20_000


def in_another_process(work: Callable[[], None]) -> None:
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join()
    assert process.exitcode == 0


def worker(folder: Path) -> tuple[Metrics, Workers]:
    metrics = Metrics(ENVIRONMENT)
    return metrics, Workers(folder, metrics, ENVIRONMENT)


def test_any_process_answers_for_all(tmp_path: Path) -> None:
    workers = [worker(tmp_path) for _ in range(3)]
    for metrics, each in workers:
        metrics.request("x", "GET", 200, 0.002)
        metrics.concurrent_requests.of("api").add()
        each.publish()

    for metrics, each in workers:
        found = samples(exposed(metrics.families, each.numbers()))
        assert found["api_requests_total", ("200", "GET")] == 3
        assert found["api_request_duration_seconds_bucket", ("200", "0.0025", "GET", "x")] == 3
        assert found["lakefs_concurrent_requests", ("api",)] == 3
    for _, each in workers:
        each.close()


def test_of_what_every_process_sees_whole_the_largest_counts(tmp_path: Path) -> None:
    workers = [worker(tmp_path) for _ in range(3)]
    for (metrics, each), seen in zip(workers, (4, 7, 5), strict=True):
        metrics.longest_sealed.of().add(seen)
        each.publish()
    for metrics, each in workers:
        assert samples(exposed(metrics.families, each.numbers())) == {
            ("lochan_sealed_tokens_longest", ()): 7
        }
    for _, each in workers:
        each.close()


def test_a_process_that_is_killed_leaves_its_counts_and_nothing_under_way(tmp_path: Path) -> None:
    def die() -> None:
        metrics, each = worker(tmp_path)
        metrics.request("x", "GET", 200, 0.002)
        metrics.concurrent_requests.of("api").add()
        each.publish()
        os._exit(0)

    in_another_process(die)
    metrics, survivor = worker(tmp_path)
    found = samples(exposed(metrics.families, survivor.numbers()))

    assert found["api_requests_total", ("200", "GET")] == 1
    assert ("lakefs_concurrent_requests", ("api",)) not in found
    survivor.close()


def test_what_is_counted_shows_by_itself_and_at_the_end(tmp_path: Path) -> None:
    metrics, each = worker(tmp_path)
    other, observer = worker(tmp_path)
    each.start()
    metrics.request("x", "GET", 200, 0.002)
    each.close()
    each.close()

    assert ("200", "GET") in dict(observer.numbers()["api_requests_total"])
    assert other.requests.numbers() == []
    observer.close()


def test_a_request_costs_less_than_two_microseconds(metrics: Metrics) -> None:
    def once() -> None:
        metrics.request("statObject", "GET", 200, 0.0012)

    # The time of this thread alone: others are at work on the same cores.
    times = timeit.repeat(once, number=2000, repeat=25, timer=time.thread_time)
    microseconds = min(times) / 2000 * 1e6
    print(f"metrics of a request: {microseconds:.2f} us")

    assert microseconds < 2
