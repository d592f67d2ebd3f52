# SPDX-License-Identifier: Apache-2.0
"""Pipelines of a lake: made once, changed by content, and alone on their branches."""

from collections.abc import Callable

import msgspec
import pytest

from lochan.errors import AlreadyExists, InvalidInput, NotFound, Refused, RepositoryNotFound
from lochan.model.ids import ObjectKey, StorageNamespace
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.list_objects import list_objects
from lochan.operations.put_object import put_object
from lochan.pipelines.model.records import PipelineState
from lochan.pipelines.model.spec import (
    CronInput,
    CrossInput,
    FilesTransform,
    Output,
    RepoInput,
    Spec,
)
from lochan.pipelines.specs.code import unpack_code
from lochan.pipelines.specs.registry import (
    create_pipeline,
    delete_pipeline,
    digest_for_job,
    get_pipeline,
    get_version,
    list_pipelines,
    list_versions,
    load_graph,
    set_paused,
    update_pipeline,
)
from support.registered import (
    FILES,
    MAIN,
    NAME,
    READS,
    SPEC,
    Stage,
    changed,
    made,
    named,
    open_stage,
    put,
    repository,
    rows,
    somewhere,
    updated,
)


@pytest.fixture
def stage() -> Stage:
    return open_stage()


def test_a_pipeline_is_stored_with_its_code_and_what_was_hashed(stage: Stage) -> None:
    record = create_pipeline(stage.lake, SPEC, FILES, principal="ada", namespaces=somewhere)
    version = get_version(stage.lake, "counts", record.version)

    assert get_pipeline(stage.lake, "counts") == record
    assert (record.state, record.principal) == (PipelineState.ACTIVE, "ada")
    assert (version.spec, version.hashed) == (SPEC, ("steps.py",))
    objects = stage.lake.storage(StorageNamespace(version.code.namespace)).objects
    with objects.get(version.code.address) as stored:
        assert unpack_code(stored.read()) == FILES
    assert [one.pipeline for one in list_pipelines(stage.lake)] == ["counts"]
    assert load_graph(stage.lake).node("counts").version == record.version


def test_a_pipeline_is_made_once(stage: Stage) -> None:
    made(stage)
    before = rows(stage.lake)
    with pytest.raises(AlreadyExists, match="update it"):
        made(stage, changed(description="another"))
    assert rows(stage.lake) == before


def test_jobs_act_for_who_changed_the_pipeline_last(stage: Stage) -> None:
    create_pipeline(stage.lake, SPEC, FILES, principal="ada", namespaces=somewhere)
    update_pipeline(stage.lake, SPEC, FILES, principal="eve")
    assert get_pipeline(stage.lake, "counts").principal == "ada"

    update_pipeline(stage.lake, changed(description="mine"), FILES, principal="bob")
    assert get_pipeline(stage.lake, "counts").principal == "bob"


def test_an_identical_update_changes_nothing(stage: Stage) -> None:
    made(stage)
    before, record = rows(stage.lake), repository(stage.lake)
    updated(stage, msgspec.convert(msgspec.to_builtins(SPEC), Spec), dict(reversed(FILES.items())))

    assert rows(stage.lake) == before
    assert repository(stage.lake) == record


def test_a_comment_makes_a_new_version_that_runs_nothing_again(stage: Stage) -> None:
    one = get_version(stage.lake, "counts", made(stage))
    said = FILES | {"steps.py": b"# the same\n" + FILES["steps.py"]}
    other = get_version(stage.lake, "counts", updated(stage, files=said))

    assert one.version != other.version
    assert one.digest == other.digest


def test_other_parameters_and_other_code_run_everything_again(stage: Stage) -> None:
    one = get_version(stage.lake, "counts", made(stage))
    transform = FilesTransform(function="steps:make", params={"size": 1})
    other = get_version(stage.lake, "counts", updated(stage, changed(transform=transform)))
    said = FILES | {"steps.py": b"def make(files, out):\n    out.write('a', 'b')\n"}
    third = get_version(stage.lake, "counts", updated(stage, files=said))

    assert len({one.digest, other.digest, third.digest}) == 3


def test_rerun_never_goes_on_with_the_digest_of_before(stage: Stage) -> None:
    one = get_version(stage.lake, "counts", made(stage))
    said = FILES | {"steps.py": b"def make(files, out):\n    print()\n"}
    other = get_version(stage.lake, "counts", updated(stage, changed(rerun="never"), said))

    assert other.digest == one.digest


def test_a_version_that_comes_back_is_the_one_of_before(stage: Stage) -> None:
    first = made(stage)
    row = get_version(stage.lake, "counts", first)
    second = updated(stage, changed(description="x"))

    assert updated(stage) == first
    assert get_version(stage.lake, "counts", first) == row
    assert {one.version for one in list_versions(stage.lake, "counts")} == {first, second}


def test_reprocess_and_every_job_salt_what_datums_are_hashed_with(stage: Stage) -> None:
    made(stage)
    record = get_pipeline(stage.lake, "counts")
    version = get_version(stage.lake, "counts", record.version)
    again = update_pipeline(stage.lake, SPEC, FILES, reprocess=True)
    always = msgspec.structs.replace(version, spec=changed(rerun="every_job"))

    assert again.version == record.version
    assert digest_for_job(record, version, "1") == digest_for_job(record, version, "2")
    assert digest_for_job(again, version, "1") != digest_for_job(record, version, "1")
    assert digest_for_job(record, always, "1") != digest_for_job(record, always, "2")


def test_nobody_else_writes_where_a_pipeline_does(stage: Stage) -> None:
    made(stage)
    with pytest.raises(Refused, match="pipeline 'counts' owns") as caught:
        put(stage.lake)
    assert caught.value.code == "owned-branch"
    put(stage.lake.forcing())
    delete_pipeline(stage.lake, "counts")
    put(stage.lake)


def test_a_clock_has_a_repository_that_is_the_pipelines_own(stage: Stage) -> None:
    clock = CronInput(name="tick", schedule="@hourly")
    made(stage, changed(input=CrossInput(inputs=(READS, clock))))

    assert repository(stage.lake, "counts-tick").branch_owners == {"main": "counts"}
    updated(stage)
    assert repository(stage.lake, "counts-tick").branch_owners == {}


def test_an_output_branch_that_is_missing_begins_without_files(stage: Stage) -> None:
    where = stage.lake, stage.repository, MAIN
    put_object(*where, ObjectKey(b"a"), b"1")
    commit(*where, CommitRequest("ada", "x"))
    made(stage, changed(output=Output(repo=NAME, branch="counted")))

    assert not list_objects(stage.lake, stage.repository, "counted").items
    assert repository(stage.lake, NAME).branch_owners == {"counted": "counts"}


def test_an_output_that_moves_is_released_where_it_was(stage: Stage) -> None:
    made(stage)
    updated(stage, changed(output=Output(repo="elsewhere")))

    assert repository(stage.lake).branch_owners == {}
    assert repository(stage.lake, "elsewhere").branch_owners == {"main": "counts"}


def test_repositories_that_are_missing_are_told(stage: Stage) -> None:
    with pytest.raises(RepositoryNotFound, match="say where"):
        create_pipeline(stage.lake, SPEC, FILES)
    with pytest.raises(RepositoryNotFound, match="input 'files': no repository 'nowhere'"):
        made(stage, named("counts", "nowhere"))
    assert rows(stage.lake) == {}


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (named("other", NAME, "counts"), "both write counts@main"),
        (named("other", "counts", NAME), "in a circle"),
        (named("Other", NAME), "no name of a pipeline"),
        (changed(pipeline="other", transform=FilesTransform(function="step:make")), "no file"),
    ],
)
def test_what_does_not_go_together_is_refused_and_leaves_nothing(
    stage: Stage, spec: Spec, told: str
) -> None:
    made(stage, changed(input=RepoInput(name="files", repo=NAME)))
    before = rows(stage.lake)
    with pytest.raises(InvalidInput, match=told):
        made(stage, spec)

    assert rows(stage.lake) == before
    assert repository(stage.lake).branch_owners == {"main": "counts"}


def test_an_update_that_would_close_a_circle_is_refused(stage: Stage) -> None:
    made(stage)
    made(stage, named("below", "counts"))
    before = rows(stage.lake)
    with pytest.raises(InvalidInput, match="in a circle"):
        updated(stage, named("counts", "below"))
    assert rows(stage.lake) == before


def test_a_paused_pipeline_is_started_by_nothing(stage: Stage) -> None:
    made(stage)
    record = set_paused(stage.lake, "counts", paused=True)
    assert record.state is PipelineState.PAUSED
    assert load_graph(stage.lake).affected(NAME, "main") == ()
    updated(stage, changed(description="x"))
    assert get_pipeline(stage.lake, "counts").state is PipelineState.PAUSED
    set_paused(stage.lake, "counts", paused=False)
    assert len(load_graph(stage.lake).affected(NAME, "main")) == 1


def test_what_is_deleted_is_gone_but_for_its_versions(stage: Stage) -> None:
    version = made(stage)
    delete_pipeline(stage.lake, "counts")

    acts: list[Callable[[], object]] = [
        lambda: get_pipeline(stage.lake, "counts"),
        lambda: delete_pipeline(stage.lake, "counts"),
        lambda: set_paused(stage.lake, "counts", paused=True),
        lambda: updated(stage),
    ]
    for act in acts:
        with pytest.raises(NotFound, match="no pipeline 'counts'"):
            act()
    assert get_version(stage.lake, "counts", version).spec == SPEC
    assert made(stage) == version
