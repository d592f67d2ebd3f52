# SPDX-License-Identifier: Apache-2.0
"""One cause gives one job set, and jobs have one driver at a time."""

from contextlib import suppress

import msgspec
import pytest

from lochan.errors import Conflict, InvalidInput, NotFound, Unavailable
from lochan.faults import Crashed, Fault
from lochan.kv.faulty import Faulty, fail_nth
from lochan.pipelines.jobs.job_records import (
    LEASE_S,
    Readiness,
    ask_kill,
    change_job,
    claim,
    end_job,
    get_job,
    get_job_set,
    list_jobs,
    open_jobs,
    readiness,
    release,
    renew,
)
from lochan.pipelines.model.failures import LeaseLost
from lochan.pipelines.model.records import Cause, Job, JobState
from lochan.pipelines.schedule.job_sets import decide, job_id, job_set_id
from lochan.pipelines.specs.registry import load_graph
from support.pipeline_world import PHOTOS, POSTERS, PipelineWorld

CAUSE = Cause(kind="manual", key="request-1")


@pytest.fixture
def world() -> PipelineWorld:
    world = PipelineWorld.open()
    world.create()
    world.create(POSTERS)
    return world


def job_of(world: PipelineWorld) -> Job:
    return get_job(world.kept, world.decide(world.put({"a": "one"})).jobs[0].job)


def test_rel_P5_an_event_that_comes_twice_or_to_two_servers_gives_one_set(
    world: PipelineWorld,
) -> None:
    made = world.put({"a": "one"})
    first = world.decide(made)
    world.world.sleep(100)
    assert world.again().decide(made) == first
    assert len(list(open_jobs(world.kept))) == 2


def test_a_set_holds_what_hangs_on_the_branch_those_above_first(world: PipelineWorld) -> None:
    decided = world.decide(world.put({"a": "one"}))
    assert [job.pipeline for job in decided.jobs] == ["thumbs", "posters"]
    assert decided.jobs[1].upstream == (decided.jobs[0].job,)
    assert decided.jobs[0].job == job_id(decided.id, "thumbs")
    assert get_job_set(world.kept, decided.id) == decided


def test_nothing_is_decided_where_nothing_hangs(world: PipelineWorld) -> None:
    graph = load_graph(world.lake)
    cause = Cause(kind="commit", key="1", repository="elsewhere", branch="main", commit="c")
    assert decide(world.lake, cause, graph) is None
    with pytest.raises(InvalidInput, match="say which pipelines"):
        decide(world.lake, CAUSE, graph)
    with pytest.raises(NotFound, match="no pipeline 'x'"):
        decide(world.lake, CAUSE, graph, pipelines=["x"])


def test_a_person_asks_for_a_pipeline_and_gets_what_is_below_it_once_a_request(
    world: PipelineWorld,
) -> None:
    graph = load_graph(world.lake)
    first = decide(world.lake, CAUSE, graph, pipelines=["thumbs"])
    assert first is not None
    assert [job.pipeline for job in first.jobs] == ["thumbs", "posters"]
    assert decide(world.lake, CAUSE, graph, pipelines=["thumbs"]) == first
    rerun = msgspec.structs.replace(CAUSE, key="request-2")
    second = decide(world.lake, rerun, graph, pipelines=["thumbs"])
    assert second is not None
    assert second.id != first.id, "a rerun runs"


@pytest.mark.parametrize(
    "field", ["kind", "key", "unique_identifier", "branch", "commit", "graph", "runs on"]
)
def test_whatever_makes_a_cause_another_one_makes_another_set(field: str) -> None:
    cause = Cause(kind="commit", key="1", unique_identifier="u", branch="b", commit="c")
    first = job_set_id(cause, "graph")
    if field == "graph":
        assert job_set_id(cause, "other") != first
    elif field == "runs on":
        assert job_set_id(cause, "graph", branch="exp") != first
    else:
        other = msgspec.structs.replace(cause, **{field: "other"})
        assert job_set_id(other, "graph") != first
    named = msgspec.structs.replace(cause, repository="another name")
    assert job_set_id(named, "graph") == first, "a name may change; the identifier is the fact"


def test_rel_P5_who_dies_while_deciding_leaves_what_the_next_one_ends(world: PipelineWorld) -> None:
    made = world.put({"a": "one"})
    for number in range(1, 40):
        copy = world.copy()
        dying = Faulty(copy.kept, fail_nth(number, Fault.CRASH_AFTER), copy.world)
        try:
            copy.again(dying).decide(made)
        except Crashed:
            pass
        else:
            break
        copy.again().decide(made)
        assert len(list(open_jobs(copy.kept))) == 2
        assert len(list(list_jobs(copy.kept, "thumbs"))) == 1
    else:
        pytest.fail("deciding took more than forty calls")
    assert number > 8


def test_the_jobs_of_a_pipeline_are_listed_newest_first_page_by_page(world: PipelineWorld) -> None:
    made = [job_of(world).id for _ in range(4)]
    found = [job.id for job in list_jobs(world.kept, "thumbs")]
    assert found == list(reversed(made))
    assert [job.id for job in list_jobs(world.kept, "thumbs", found[1])] == found[2:]


def test_one_driver_at_a_time_and_the_next_when_the_lease_has_run_out(world: PipelineWorld) -> None:
    job = job_of(world)
    first = claim(world.lake, job.id)
    assert (first.state, first.epoch) == (JobState.STARTING, 1)
    with pytest.raises(Conflict, match="has a driver"):
        claim(world.lake, job.id)
    world.world.sleep(LEASE_S - 1)
    renew(world.lake, first)
    world.world.sleep(LEASE_S - 1)
    with pytest.raises(Conflict, match="has a driver"):
        claim(world.lake, job.id)
    world.world.sleep(2)
    second = claim(world.lake, job.id)
    assert (second.epoch, second.started) == (2, first.started)


def test_a_driver_that_was_taken_over_changes_nothing_any_more(world: PipelineWorld) -> None:
    job = job_of(world)
    first = claim(world.lake, job.id)
    world.world.sleep(LEASE_S)
    second = claim(world.lake, job.id)
    for act in (renew, release, lambda lake, job: end_job(lake, job, JobState.FAILURE)):
        with pytest.raises(LeaseLost, match="taken over"):
            act(world.lake, first)
    assert get_job(world.kept, job.id) == second


def test_an_end_never_changes(world: PipelineWorld) -> None:
    mine = claim(world.lake, job_of(world).id)
    ended = end_job(world.lake, mine, JobState.FAILURE, "for a reason")
    with pytest.raises(LeaseLost, match="ended as failure"):
        end_job(world.lake, mine, JobState.SUCCESS)
    world.world.sleep(LEASE_S)
    with pytest.raises(Conflict, match="ended as failure"):
        claim(world.lake, mine.id)
    assert ask_kill(world.lake, mine.id) == ended
    assert readiness(world.lake, ended) is Readiness.WAITING


def test_a_job_is_ready_when_what_is_above_it_has_ended_well(world: PipelineWorld) -> None:
    decided = world.decide(world.put({"a": "one"}))
    above, below = (get_job(world.kept, planned.job) for planned in decided.jobs)
    assert readiness(world.lake, above) is Readiness.READY
    assert readiness(world.lake, below) is Readiness.WAITING
    assert readiness(world.lake, ask_kill(world.lake, below.id)) is Readiness.READY
    mine = claim(world.lake, above.id)
    assert readiness(world.lake, mine) is Readiness.WAITING
    end_job(world.lake, mine, JobState.SKIPPED)
    assert readiness(world.lake, below) is Readiness.READY


def test_a_job_below_one_that_ended_badly_is_ready_to_be_called_unrunnable(
    world: PipelineWorld,
) -> None:
    decided = world.decide(world.put({"a": "one"}))
    above, below = (get_job(world.kept, planned.job) for planned in decided.jobs)
    end_job(world.lake, claim(world.lake, above.id), JobState.KILLED)
    assert readiness(world.lake, below) is Readiness.UNRUNNABLE


@pytest.mark.parametrize("fault", [Fault.LOST_REQUEST, Fault.LOST_RESPONSE])
def test_rel_H15_a_claim_whose_answer_is_lost_is_ours_or_nobodys(
    world: PipelineWorld, fault: Fault
) -> None:
    job = job_of(world)
    faulty = Faulty(world.kept, fail_nth(2, fault), world.world)
    mine = claim(world.again(faulty).lake, job.id)
    assert get_job(world.kept, job.id) == mine
    assert mine.epoch == 1


def test_a_change_that_meets_another_one_of_ours_is_known_again(world: PipelineWorld) -> None:
    mine = claim(world.lake, job_of(world).id)
    change_job(world.lake, mine, lambda job: msgspec.structs.replace(job, reason="slow"))
    ask_kill(world.lake, mine.id)
    now = change_job(world.lake, mine, lambda job: msgspec.structs.replace(job, reason="slow"))
    assert (now.kill, now.reason) == (True, "slow")


def test_names_that_name_nothing_are_not_found(world: PipelineWorld) -> None:
    for act in (
        lambda: get_job(world.kept, "x"),
        lambda: get_job_set(world.kept, "x"),
        lambda: claim(world.lake, "x"),
        lambda: ask_kill(world.lake, "x"),
    ):
        with pytest.raises(NotFound, match="there is no job"):
            act()


def test_a_set_whose_decision_is_lost_is_decided_again(world: PipelineWorld) -> None:
    made = world.put({"a": "one"})
    for number in range(1, 9):
        copy = world.copy()
        lossy = Faulty(copy.kept, fail_nth(number, Fault.LOST_REQUEST), copy.world)
        with suppress(Unavailable):
            copy.again(lossy).decide(made)
        assert copy.again().decide(made).cause.repository == PHOTOS
