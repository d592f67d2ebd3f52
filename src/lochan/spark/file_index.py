# SPDX-License-Identifier: Apache-2.0
"""Plan a read over files that are known already: no listing, native scan, native partitions.

LakeFileIndex.java extends a class inside Spark, so that it is compiled for the Spark that runs, by
the compiler that Spark brings along, once for each JVM. Rows go over in one string: a call of the
gateway for each file took a hundred times longer.
"""

from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

import lochan.spark
from lochan.errors import InvalidInput
from lochan.spark.places import Place
from lochan.spark.resolved import File

SUPPORTED: Final = frozenset({"4.3"})  # minor versions of Spark whose inside this was tested on
_NAME: Final = "lochan.spark.LakeFileIndex"
_compiled: dict[int, Any] = {}  # by gateway; a process has one JVM after the other


def is_supported(spark: SparkSession) -> bool:
    """Say whether this Spark's inside is known."""
    return ".".join(spark.version.split(".")[:2]) in SUPPORTED


def open_files(
    spark: SparkSession,
    root: str,
    placed: Iterable[tuple[File, Place]],
    format_: str,
    schema: StructType | None,
    options: Mapping[str, str],
) -> DataFrame:
    """Give a DataFrame of files; `root` is the folder that their paths are below.

    Raises InvalidInput where no schema can be found in them.
    """
    fields: list[str] = []
    for file, place in placed:
        fields += (file.path, *place, str(file.size), str(file.mtime * 1000))
    rows = "".join([f"{field}\0" for field in fields])
    context = spark.sparkContext
    jvm: Any = context._jvm  # noqa: SLF001 - what Spark's Python gives no name to
    told = (
        spark._jsparkSession,  # noqa: SLF001 - same
        format_,
        None if schema is None else schema.json(),
        jvm.PythonUtils.toScalaMap(dict(options)),
        root,
        rows,
    )
    given = context._gateway.new_array(jvm.java.lang.Object, len(told))  # type: ignore[union-attr]  # noqa: SLF001 - same
    for number, one in enumerate(told):
        given[number] = one
    try:
        opened = _opener(jvm).invoke(None, given)
    except Py4JJavaError as error:
        reason = _reason(error.java_exception)
        message = f"Spark cannot plan to read the {format_} files of {root}: {reason}"
        raise InvalidInput(message, code="not-planned") from error
    if opened is None:
        message = f"no schema was found in the {format_} files of {root}; give schema="
        raise InvalidInput(message, code="no-schema")
    return DataFrame(opened, spark)


def _reason(error: Any) -> str:  # noqa: ANN401 - an exception of Java
    """Give what is said by the error that reflection has wrapped."""
    inner = error.getCause()
    return _reason(inner) if inner is not None else str(error.getMessage())


def _opener(jvm: Any) -> Any:  # noqa: ANN401 - Java's reflection has no types here
    """Give the static method `open` of the compiled class."""
    if id(jvm) not in _compiled:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
        compiler.setParentClassLoader(loader)
        compiler.cook(files(lochan.spark).joinpath("LakeFileIndex.java").read_text())
        methods = compiler.getClassLoader().loadClass(_NAME).getMethods()
        _compiled.clear()
        _compiled[id(jvm)] = next(one for one in methods if one.getName() == "open")
    return _compiled[id(jvm)]
