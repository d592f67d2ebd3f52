# SPDX-License-Identifier: Apache-2.0
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from lochan.errors import Conflict, InvalidInput, Refused, Unavailable
from lochan.objects.open import open_objects
from lochan.objects.store import WHOLE, Extent, ObjectStore, Reading
from lochan.operations.export_ref import STATE, Exported
from lochan.pipelines.jobs.egress import send_files, sender
from lochan.pipelines.jobs.run_job import Beside, run_job
from lochan.pipelines.model.records import JobState
from lochan.pipelines.model.spec import Egress
from support.fault_ground import Wrap
from support.pipeline_world import PHOTOS, THUMBS, PipelineWorld, thumbs


@pytest.fixture
def world() -> PipelineWorld:
    world = PipelineWorld.open()
    world.put({"a": "1", "b/c": "2"}, to=THUMBS)
    return world


def files(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != STATE)
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


def send(world: PipelineWorld, egress: Egress) -> Exported:
    return send_files(world.lake, world.repository(THUMBS), world.head(), egress)


def test_a_result_is_copied_and_later_what_changed(world: PipelineWorld, tmp_path: Path) -> None:
    egress = Egress(files=str(tmp_path))
    assert send(world, egress).written == 2
    assert send(world, egress).written == 0
    world.put({"a": "new"}, gone=["b/c"], to=THUMBS)

    assert send(world, egress).written == 1
    assert files(tmp_path) == {"a": "new"}


def test_append_leaves_what_the_output_has_no_more(world: PipelineWorld, tmp_path: Path) -> None:
    egress = Egress(files=f"file://{tmp_path}", mode="append")
    send(world, egress)
    world.put({"d": "3"}, gone=["a"], to=THUMBS)
    send(world, egress)

    assert files(tmp_path) == {"a": "1", "b/c": "2", "d": "3"}


class Limping:
    """A store of which one object cannot be read."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def get(self, address: str, extent: Extent = WHOLE) -> Reading:
        reading = self._store.get(address, extent)
        if reading.info.size == 1 and self._store.get(address).read() == b"2":
            raise Unavailable("it does not answer")
        return reading


def test_a_copy_that_was_interrupted_is_taken_up(world: PipelineWorld, tmp_path: Path) -> None:
    wrap: Wrap = Limping  # type: ignore[assignment]  # the rest is handed on
    egress = Egress(files=str(tmp_path))
    with pytest.raises(Unavailable):
        send(world.again(wrap=wrap), egress)

    assert send(world, egress).written == 2
    assert files(tmp_path) == {"a": "1", "b/c": "2"}


def test_a_store_takes_results_too(world: PipelineWorld) -> None:
    egress = Egress(files="mem://taken/here")
    with closing(open_objects(egress.files, world.world)) as taken:
        assert [send(world, egress).written for _ in range(2)] == [2, 0]
        assert taken.get("b/c").read() == b"2"
    with pytest.raises(InvalidInput, match="has options region"):
        send(world, Egress(files="mem://taken/here", options={"region": "eu"}))


def test_a_destination_of_another_repository_is_refused(
    world: PipelineWorld, tmp_path: Path
) -> None:
    send(world, Egress(files=str(tmp_path)))
    world.put({"x": "1"})

    with pytest.raises(Conflict, match="holds an export of repository"):
        send_files(
            world.lake, world.repository(PHOTOS), world.head(PHOTOS), Egress(files=str(tmp_path))
        )


@pytest.mark.parametrize(
    ("location", "places", "is_allowed"),
    [
        ("{}/out/x", ["{}/out"], True),
        ("{}/out", ["file://{}/out/"], True),
        ("{}/out/../else", ["{}/out"], False),
        ("{}/outer", ["{}/out"], False),
        ("{}/out", [], False),
        ("mem://bucket/a/b", ["mem://bucket/a"], True),
        ("mem://bucket/ab", ["mem://bucket/a"], False),
        ("mem://bucket/a?x=1", ["mem://other"], False),
    ],
)
def test_rel_S22_a_server_sends_only_to_the_places_it_was_told(
    world: PipelineWorld, tmp_path: Path, location: str, places: list[str], is_allowed: object
) -> None:
    egress = Egress(files=location.format(tmp_path))
    told = [place.format(tmp_path) for place in places]
    where = (world.lake, world.repository(THUMBS), world.head(), egress)
    if is_allowed:
        assert send_files(*where, places=told).written == 2
        return
    with pytest.raises(Refused, match="below no place"):
        send_files(*where, places=told)


def test_a_link_out_of_a_place_is_no_way_out(world: PipelineWorld, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "link").symlink_to(tmp_path)
    where = (world.lake, world.repository(THUMBS), world.head())

    with pytest.raises(Refused):
        send_files(*where, Egress(files=f"{tmp_path}/out/link/x"), places=[f"{tmp_path}/out"])


def test_a_job_sends_its_result_and_the_commit_stands_if_that_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for place, said in ((tmp_path / "out", "done"), (tmp_path / "file", "failed")):
        world = PipelineWorld.open()
        world.create(thumbs(egress=(Egress(files=str(place)),)))
        beside = replace(world.beside(), sender=partial(sender, world.lake))
        decided = world.decide(world.put({"a": "one"}))
        job = run_job(world.lake, decided.jobs[0].job, world.engine(), beside)

        assert job.state is JobState.SUCCESS
        assert said in job.egress
        assert world.shown() == {"a": "ONE"}
    assert files(tmp_path / "out") == {"a": "ONE"}


def test_nothing_is_sent_where_nobody_asked(world: PipelineWorld) -> None:
    assert sender(world.lake, ()) is None
    assert Beside().sender is None


def test_a_table_is_sent_by_who_can(world: PipelineWorld) -> None:
    egress = Egress(jdbc="jdbc:x", table="t")
    world.create()
    job = world.run({"a": "one"})
    told: list[tuple[object, ...]] = []
    able = sender(world.lake, [egress], tables=lambda *said: told.append(said[1:]))
    unable = sender(world.lake, [egress])
    assert able is not None
    assert unable is not None

    able(job, world.head())

    assert told == [(world.repository(THUMBS), world.head(), egress)]
    with pytest.raises(InvalidInput, match="by a Spark engine"):
        unable(job, world.head())
