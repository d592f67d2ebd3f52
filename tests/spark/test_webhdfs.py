# SPDX-License-Identifier: Apache-2.0
"""Stock Spark on lochan://host:port/repository/ref/path: nothing installed, all through WebHDFS."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from support.ports import free_port
from support.server import Server, running_server

OAUTH2 = "dfs.webhdfs.oauth2"
PROVIDER = "org.apache.hadoop.hdfs.web.oauth2.ConfCredentialBasedAccessTokenProvider"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    lake = tmp_path_factory.mktemp("webhdfs") / "lake"
    beside = {"LOCHAN_WEBHDFS_LISTEN": f"127.0.0.1:{free_port()}"}
    with running_server(lake, workers=1, settings=beside) as running:
        yield running


@dataclass(frozen=True)
class Branch:
    """Branch main of a repository of the server, as Spark and as others see it."""

    spark: SparkSession
    server: Server
    repository: str

    def at(self, path: str, ref: str = "main") -> str:
        host = self.server.url.removeprefix("http://")
        return f"lochan://{host}/{self.repository}/{ref}/{path}"

    @property
    def api(self) -> str:
        return f"{self.server.api}/repositories/{self.repository}"

    def listed(self) -> list[str]:
        listed = httpx.get(
            f"{self.api}/refs/main/objects/ls", auth=self.server.auth, params={"amount": 1000}
        )
        return [row["path"] for row in listed.json()["results"]]

    def put(self, path: str, content: bytes) -> None:
        httpx.post(
            f"{self.api}/branches/main/objects",
            auth=self.server.auth,
            params={"path": path},
            content=content,
        ).raise_for_status()

    def commit(self) -> str:
        made = httpx.post(
            f"{self.api}/branches/main/commits", auth=self.server.auth, json={"message": "x"}
        )
        found: str = made.json()["id"]
        return found

    def files(self) -> Any:  # noqa: ANN401 - Java's
        """Give Hadoop's own FileSystem, and Path."""
        jvm: Any = self.spark._jvm
        conf: Any = self.spark._jsc.hadoopConfiguration()
        return jvm.org.apache.hadoop.fs.Path(self.at("")).getFileSystem(conf)

    def path(self, path: str) -> Any:  # noqa: ANN401 - Java's
        jvm: Any = self.spark._jvm
        return jvm.org.apache.hadoop.fs.Path(self.at(path))


@pytest.fixture
def branch(spark: SparkSession, server: Server, request: pytest.FixtureRequest) -> Branch:
    key, secret = server.auth
    told = {
        "fs.lochan.impl": "org.apache.hadoop.hdfs.web.WebHdfsFileSystem",
        f"{OAUTH2}.enabled": "true",
        f"{OAUTH2}.access.token.provider": PROVIDER,
        f"{OAUTH2}.refresh.url": f"{server.url}/oauth2/token",
        f"{OAUTH2}.client.id": key,
        f"{OAUTH2}.credential": secret,
    }
    conf: Any = spark._jsc.hadoopConfiguration()
    for name, value in told.items():
        conf.set(name, value)
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:60]
    made = httpx.post(
        f"{server.api}/repositories",
        auth=server.auth,
        json={"name": name, "storage_namespace": ""},
    )
    assert made.status_code == 201, made.text
    return Branch(spark, server, name)


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def numbers(spark: SparkSession, stop: int = 100) -> DataFrame:
    return spark.range(0, stop, 1, 2).select("id", (f.col("id") % 3).alias("part"))


def no_leftovers(branch: Branch) -> bool:
    return not [key for key in branch.listed() if "_temporary" in key or ".spark-staging" in key]


@pytest.mark.parametrize(
    ("format_", "options"),
    [
        pytest.param("parquet", {}, id="parquet"),
        pytest.param("orc", {}, id="orc"),
        pytest.param("csv", {"header": "true"}, id="csv"),
        pytest.param("csv", {"header": "true", "compression": "gzip"}, id="csv-gz"),
        pytest.param("json", {}, id="json"),
    ],
)
def test_what_is_written_in_a_format_is_read_again(
    branch: Branch, format_: str, options: dict[str, str]
) -> None:
    frame = numbers(branch.spark)
    frame.write.format(format_).options(**options).save(branch.at("t"))
    read = branch.spark.read.format(format_).schema(frame.schema).options(header="true")
    assert rows(read.load(branch.at("t"))) == rows(frame)
    assert no_leftovers(branch)
    assert "t/_SUCCESS" in branch.listed()
    suffix = ".csv.gz" if "compression" in options else f".{format_}"
    assert all(key.endswith(suffix) for key in branch.listed() if "part-" in key)


def test_text_and_binary_files_are_read_as_they_are(branch: Branch) -> None:
    branch.put("in/a.txt", b"one\ntwo\n")
    branch.put("in/b.txt", b"three")
    read = branch.spark.read
    assert rows(read.text(branch.at("in"))) == [("one",), ("three",), ("two",)]
    found = read.format("binaryFile").load(branch.at("in")).select("length", "content")
    assert rows(found) == [(5, b"three"), (8, b"one\ntwo\n")]
    assert branch.spark.sparkContext.textFile(branch.at("in/a.txt")).collect() == ["one", "two"]
    branch.spark.createDataFrame([("x",)], "value string").write.text(branch.at("out"))
    assert rows(read.text(branch.at("out"))) == [("x",)]


def test_partitions_are_found_and_pruned(branch: Branch) -> None:
    numbers(branch.spark).write.partitionBy("part").parquet(branch.at("t"))
    assert {key.split("/")[1] for key in branch.listed()} == {
        "_SUCCESS",
        "part=0",
        "part=1",
        "part=2",
    }
    one = branch.spark.read.parquet(branch.at("t")).where("part = 1")
    assert rows(one.select("id")) == [(number,) for number in range(1, 100, 3)]
    assert len(one.select(f.input_file_name()).distinct().collect()) == 2


def test_append_and_overwrite(branch: Branch) -> None:
    frame, at = numbers(branch.spark, 10), branch.at("t")
    frame.write.parquet(at)
    with pytest.raises(PySparkException, match="PATH_ALREADY_EXISTS"):
        frame.write.parquet(at)
    frame.write.mode("append").parquet(at)
    assert branch.spark.read.parquet(at).count() == 20
    frame.limit(3).write.mode("overwrite").parquet(at)
    assert branch.spark.read.parquet(at).count() == 3
    frame.write.mode("ignore").parquet(at)
    assert branch.spark.read.parquet(at).count() == 3
    assert no_leftovers(branch)


def test_a_dynamic_overwrite_replaces_the_partitions_that_it_writes(branch: Branch) -> None:
    frame, at = numbers(branch.spark, 9), branch.at("t")
    frame.write.partitionBy("part").parquet(at)
    new = frame.where("part = 1").select((f.col("id") + 100).alias("id"), "part")
    write = new.write.mode("overwrite").option("partitionOverwriteMode", "dynamic")
    write.partitionBy("part").parquet(at)
    found = rows(branch.spark.read.parquet(at).select("id", "part"))
    assert found == sorted([*rows(frame.where("part <> 1")), *rows(new)])
    assert no_leftovers(branch)


def test_tables_are_created_from_queries_and_inserted_into(branch: Branch) -> None:
    spark, name = branch.spark, f"t{abs(hash(branch.repository))}"
    numbers(spark, 6).createOrReplaceTempView("source")
    spark.sql(
        f"CREATE TABLE {name} USING parquet PARTITIONED BY (part)"
        f" LOCATION '{branch.at('t')}' AS SELECT * FROM source"
    )
    spark.sql(f"INSERT INTO {name} VALUES (6, 0), (7, 1)")
    spark.sql(f"INSERT OVERWRITE {name} PARTITION (part = 2) SELECT 99")
    found = rows(spark.table(name).select("id", "part"))
    spark.sql(f"DROP TABLE {name}")
    assert found == [(0, 0), (1, 1), (3, 0), (4, 1), (6, 0), (7, 1), (99, 2)]
    assert no_leftovers(branch)


def test_a_job_that_fails_leaves_nothing_behind(branch: Branch) -> None:
    broken = f.when(f.col("id") == 60, f.raise_error(f.lit("this task fails")))
    frame = numbers(branch.spark).withColumn("id", f.coalesce(broken, f.col("id")))
    with pytest.raises(PySparkException, match="this task fails"):
        frame.write.partitionBy("part").parquet(branch.at("t"))
    assert branch.listed() == []


def test_a_commit_is_read_as_it_is_while_the_branch_moves_on(branch: Branch) -> None:
    frame = numbers(branch.spark, 10)
    frame.write.parquet(branch.at("t"))
    commit = branch.commit()
    frame.limit(1).write.mode("overwrite").parquet(branch.at("t"))
    assert branch.spark.read.parquet(branch.at("t", commit)).count() == 10
    assert branch.spark.read.parquet(branch.at("t")).count() == 1
    with pytest.raises((PySparkException, Py4JJavaError)):
        frame.write.parquet(branch.at("new", commit))


def test_hadoops_own_file_system_does_what_it_promises(branch: Branch) -> None:
    files = branch.files()
    assert files.mkdirs(branch.path("a/b"))
    files.create(branch.path("a/b/c")).close()
    assert [str(status.getPath().getName()) for status in files.listStatus(branch.path("a"))] == [
        "b"
    ]
    found = files.listStatusIterator(branch.path("a/b"))
    assert found.hasNext()
    assert found.next().isFile()
    assert files.getContentSummary(branch.path("a")).getFileCount() == 1
    assert files.rename(branch.path("a/b"), branch.path("d"))
    assert branch.listed() == ["d/", "d/c"]
    assert not files.exists(branch.path("a"))
    recursive = True
    assert files.delete(branch.path("d"), recursive)
    assert branch.listed() == []


@pytest.mark.parametrize(
    ("call", "exception"),
    [
        pytest.param("append", "UnsupportedOperationException", id="append"),
        pytest.param("getFileStatus", "FileNotFoundException", id="missing"),
        pytest.param("open", "FileNotFoundException", id="open"),
    ],
)
def test_an_error_arrives_as_the_exception_that_hadoop_knows(
    branch: Branch, call: str, exception: str
) -> None:
    with pytest.raises((Py4JJavaError, PySparkException)) as raised:
        getattr(branch.files(), call)(branch.path("none"))
    assert exception in f"{raised.type.__name__} {raised.value}"  # Spark has some of its own


def test_the_hadoop_shell_works(branch: Branch, tmp_path: Path) -> None:
    jvm: Any = branch.spark._jvm
    conf: Any = branch.spark._jsc.hadoopConfiguration()
    shell = jvm.org.apache.hadoop.fs.FsShell(conf)
    local = tmp_path / "local.txt"
    local.write_bytes(b"from the shell" * 10_000)

    def run(*words: str) -> int:
        gateway: Any = branch.spark.sparkContext._gateway
        given = gateway.new_array(jvm.java.lang.String, len(words))
        for number, word in enumerate(words):
            given[number] = word
        status: int = shell.run(given)
        return status

    assert run("-mkdir", "-p", branch.at("x/y")) == 0
    assert run("-put", str(local), branch.at("x/y/z.txt")) == 0
    assert run("-mv", branch.at("x/y"), branch.at("x/w")) == 0
    assert run("-get", branch.at("x/w/z.txt"), str(tmp_path / "back.txt")) == 0
    assert (tmp_path / "back.txt").read_bytes() == local.read_bytes()
    assert run("-ls", "-R", branch.at("")) == 0
    assert run("-rm", "-r", "-skipTrash", branch.at("x")) == 0
    assert branch.listed() == []
