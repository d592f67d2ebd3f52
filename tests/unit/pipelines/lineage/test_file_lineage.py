# SPDX-License-Identifier: Apache-2.0
"""File by file: what a file was made of, and what was made of it, by two look-ups."""

import pytest

from lochan.errors import NotFound
from lochan.model.ids import BranchName
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.transplant import TransplantRequest, revert
from lochan.pipelines.lineage.file_lineage import FileStep, came_of, made_of
from lochan.pipelines.model.spec import CrossInput, UnionInput
from support.pipeline_graph import drive_all, jobs_of, made, reads, swept
from support.pipeline_world import PHOTOS, THUMBS, PipelineWorld

EXP = BranchName("exp")


@pytest.fixture
def world() -> PipelineWorld:
    return PipelineWorld.open(PHOTOS, THUMBS)


def settle(world: PipelineWorld) -> None:
    swept(world)
    drive_all(world)


def up(world: PipelineWorld, repository: str, path: str, commit: Commit | None = None) -> list[str]:
    """Give what a file was made of, as repository@commit:path."""
    at = commit or world.head(repository)
    return sources(made_of(world.lake, world.repository(repository), at, path.encode()))


def sources(steps: tuple[FileStep, ...]) -> list[str]:
    found = (place for step in steps for place in step.sources)
    return sorted(f"{place.repository}@{place.commit}:{place.path}" for place in found)


def down(world: PipelineWorld, commit: Commit, path: str) -> list[str]:
    """Give what was made of a file of photos, by their paths."""
    steps = came_of(world.lake, world.repository(PHOTOS), commit, path.encode())
    return sorted(f"{place.repository}:{place.path}" for step in steps for place in step.results)


def test_a_file_leads_to_what_it_was_made_of_and_back(world: PipelineWorld) -> None:
    made(world, "one", reads(PHOTOS))
    photos = world.put({"a": "1", "b": "2"})
    settle(world)
    (job,) = jobs_of(world, "one")
    (step,) = made_of(world.lake, world.repository("one-out"), world.head("one-out"), b"a")
    assert sources((step,)) == [f"{PHOTOS}@{photos.id}:a"]
    assert (step.job, step.pipeline, step.commit) == (job.id, "one", job.commit)
    assert down(world, photos, "a") == ["one-out:a"]


def test_a_file_that_later_jobs_left_alone_is_found_in_the_last_one(world: PipelineWorld) -> None:
    made(world, "one", reads(PHOTOS))
    world.put({"a": "1"})
    settle(world)
    later = world.put({"b": "2"})
    settle(world)
    assert up(world, "one-out", "a") == [f"{PHOTOS}@{later.id}:a"]
    assert down(world, later, "a") == ["one-out:a"]


def test_a_file_of_a_folder_is_known_by_the_folder_that_was_read(world: PipelineWorld) -> None:
    made(world, "one", reads(PHOTOS, glob="/*"))
    made(world, "whole", reads(PHOTOS, glob="/"))
    photos = world.put({"d/e/a": "1", "x": "2"})
    settle(world)
    assert up(world, "one-out", "d/e/a") == [f"{PHOTOS}@{photos.id}:d/"]
    assert up(world, "whole-out", "x") == [f"{PHOTOS}@{photos.id}:/"]
    expected = ["one-out:d/e/a", "whole-out:d/e/a", "whole-out:x"]
    assert down(world, photos, "d/e/a") == expected


def test_a_file_of_a_cross_was_made_of_both_sides(world: PipelineWorld) -> None:
    both = CrossInput(inputs=(reads(PHOTOS, "left", "/a"), reads(THUMBS, "right", "/b")))
    made(world, "both", both, "join")
    photos, thumbs = world.put({"a": "1"}), world.put({"b": "2"}, to=THUMBS)
    settle(world)
    assert up(world, "both-out", "both") == [f"{PHOTOS}@{photos.id}:a", f"{THUMBS}@{thumbs.id}:b"]
    assert down(world, photos, "a") == ["both-out:both"]


def test_a_file_of_a_union_was_made_of_one_side_though_both_are_of_one_commit(
    world: PipelineWorld,
) -> None:
    either = UnionInput(inputs=(reads(PHOTOS, "files", "/a"), reads(PHOTOS, "right", "/b")))
    made(world, "either", either, "either")
    photos = world.put({"a": "1", "b": "2"})
    settle(world)
    assert up(world, "either-out", "a") == [f"{PHOTOS}@{photos.id}:a"]
    assert down(world, photos, "b") == ["either-out:b"]


def test_a_file_is_followed_through_merges_and_reverts_to_the_job_that_wrote_it(
    world: PipelineWorld,
) -> None:
    made(world, "one", reads(PHOTOS))
    photos = world.put({"a": "1"})
    settle(world)
    output, first = world.repository("one-out"), world.head("one-out")
    create_branch(world.lake, output, EXP, first.id)
    world.put({"b": "2"})
    settle(world)
    merged = merge(world.lake, output, EXP, world.head("one-out"), MergeRequest("ann"))
    undone = revert(world.lake, output, EXP, merged, TransplantRequest("ann", parent_number=1))
    for commit in (merged, undone):
        assert up(world, "one-out", "a", commit)[0].endswith(":a")
    assert up(world, "one-out", "a", undone) == [f"{PHOTOS}@{photos.id}:a"]


def test_a_file_that_no_job_wrote_was_made_of_nothing_and_one_that_is_not_there_is_not_found(
    world: PipelineWorld,
) -> None:
    photos = world.put({"a": "1"})
    assert up(world, PHOTOS, "a") == []
    assert down(world, photos, "a") == []
    with pytest.raises(NotFound, match="has no 'b'"):
        up(world, PHOTOS, "b")


def test_lineage_of_a_file_costs_two_look_ups_however_many_datums_there_are(
    world: PipelineWorld,
) -> None:
    made(world, "one", reads(PHOTOS))
    world.put({f"{number:04}": "x" for number in range(400)})
    settle(world)
    fresh = world.again()
    files = fresh.lake.storage(world.repository("one-out").storage_namespace).snapshots.files
    assert len(up(fresh, "one-out", "0123")) == 1
    assert files.opened <= 6  # the tree, and twice the index: a metarange and a range each
