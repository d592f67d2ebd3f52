# SPDX-License-Identifier: Apache-2.0
"""Bring our package to executors on other machines, and see that it runs there.

    1  ask the executors for their platform and Python
    2  the same as here: an archive of this environment's packages, with the compiled kernel
       another:          our Python files alone, which run on the kernel's twin; what they need
                         must be installed there
    3  ask the executors for the version that they import; another one is an error

The archive is unpacked below each executor's own folder as `lochan-env`, which has been on its
PYTHONPATH since the start. A local master runs in this environment and is sent nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from pyspark import SparkContext, cloudpickle
from pyspark.sql import SparkSession

from lochan import __version__
from lochan.errors import Refused
from lochan.spark import asked
from lochan.spark.pack import packed_environment, packed_sources

FOLDER: Final = "lochan-env"
_TASKS_EACH: Final = 2  # for each core, so that no executor is passed over by chance
_SHIPPED: Final = "spark.lochan.shipped"

cloudpickle.register_pickle_by_value(asked)  # type: ignore[no-untyped-call]  # executors have no package to import it from yet


def ship_settings() -> dict[str, object]:
    """Give the settings that must be there before executors start."""
    return {"spark.executorEnv.PYTHONPATH": FOLDER}


def ship(spark: SparkSession, cache: Path) -> None:
    """Send our package to the executors of a session, once. Raises Refused."""
    if spark.conf.get(_SHIPPED, "") == __version__:
        return
    context = spark.sparkContext
    there = ask(context, asked.machine)
    if there == set(asked.machine(())):
        context.addArchive(f"{packed_environment(cache)}#{FOLDER}")
    else:
        context.addPyFile(str(packed_sources(cache)))
    found = ask(context, asked.imported)
    if found != {__version__}:
        machines, reasons = ", ".join(sorted(there)), ", ".join(sorted(found - {__version__}))
        message = f"the executors ({machines}) do not run lochan {__version__}: {reasons}"
        raise Refused(f"{message}; install it there", code="executors-differ")
    spark.conf.set(_SHIPPED, __version__)


def ask(context: SparkContext, question: Callable[[Iterable[int]], Iterator[str]]) -> set[str]:
    """Ask a question in tasks that reach every executor."""
    count = max(context.defaultParallelism, 1) * _TASKS_EACH
    return set(context.parallelize(range(count), count).mapPartitions(question).collect())
