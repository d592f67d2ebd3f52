# SPDX-License-Identifier: Apache-2.0
import threading

import pytest

from lochan.errors import InvalidInput, JobFailed
from lochan.pipelines.attempts.function_call import Function
from lochan.pipelines.attempts.in_process import InProcess
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.manifests import find_manifests
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.model.spec import SqlTransform
from lochan.pipelines.model.work import Manifest, Progress, Shard, Tell
from support.attempts import Ground

THREADS = pytest.mark.parametrize("threads", [1, 3])


def copy(src: InputFiles, out: Out) -> None:
    out.write(src.path, src.read_bytes())


def nobody(progress: Progress) -> None:
    assert progress.shards


def shards(ground: Ground, count: int) -> list[Shard]:
    datums = ground.datums({str(number): b"x" * number for number in range(2 * count)})
    return [Shard(number, datums[2 * number : 2 * number + 2]) for number in range(count)]


def run(
    ground: Ground, threads: int, given: list[Shard], function: Function, tell: Tell = nobody
) -> list[Manifest]:
    engine = InProcess(ground.environment, ground.storages, threads=threads, function=function)
    assert engine.cores == threads
    return list(engine.run(ground.task(), given, tell))


@THREADS
def test_every_shard_has_one_manifest(threads: int) -> None:
    ground = Ground()
    told: list[Progress] = []

    found = run(ground, threads, shards(ground, 7), copy, told.append)

    assert sorted(one.shard for one in found) == list(range(7))
    assert sum(one.bytes for one in found) == sum(range(14))
    written = {key for one in found for key in ground.written(one)}
    assert written == {str(number) for number in range(14)}
    assert (told[-1].shards, told[-1].shards_done, told[-1].datums_done) == (7, 7, 14)


@THREADS
def test_a_datum_that_fails_ends_the_run(threads: int) -> None:
    ground = Ground()

    def failing(src: InputFiles) -> None:
        if src.path == "3":
            raise ValueError("three")

    with pytest.raises(JobFailed, match="three"):
        run(ground, threads, shards(ground, 20), failing)

    assert len(list(find_manifests(ground.outputs, "job1"))) < 20


def test_when_a_shard_fails_the_others_end_with_their_datum() -> None:
    ground = Ground()
    datums = ground.datums({str(number): b"" for number in range(3001)})
    given = [Shard(0, datums[:1]), Shard(1, datums[1:])]
    failed, pause = threading.Event(), threading.Event()
    done: list[str] = []

    def work(src: InputFiles) -> None:
        if src.path == "0":
            failed.set()
            raise ValueError("first")
        assert failed.wait(30)
        pause.wait(0.001)  # so that all of them take seconds, and the failure is seen long before
        done.append(src.path)

    with pytest.raises(JobFailed, match="first"):
        run(ground, 2, given, work)

    assert len(done) < 3000


class EndedError(Exception):
    pass


@THREADS
def test_what_tell_raises_ends_the_run(threads: int) -> None:
    ground = Ground()
    done: list[str] = []

    def count(src: InputFiles) -> None:
        done.append(src.path)

    def tell(progress: Progress) -> None:
        if progress.shards_done == 2:
            raise EndedError

    with pytest.raises(EndedError):
        run(ground, threads, shards(ground, 20), count, tell)

    assert len(done) < 2 * (2 + 2 * threads)


def test_shards_run_beside_each_other_where_several_threads_do() -> None:
    ground = Ground()
    together = threading.Barrier(3, timeout=30)

    def meet(src: InputFiles) -> None:
        assert src
        together.wait()

    given = [Shard(shard.number, shard.datums[:1]) for shard in shards(ground, 3)]
    assert len(run(ground, 3, given, meet)) == 3


def test_what_spark_plans_as_a_whole_is_refused() -> None:
    ground = Ground()
    ground.transform = SqlTransform(query="select 1")  # type: ignore[assignment]  # on purpose

    with pytest.raises(InvalidInput, match="Spark") as caught:
        run(ground, 1, shards(ground, 1), copy)
    assert caught.value.code == "engine-needed"
