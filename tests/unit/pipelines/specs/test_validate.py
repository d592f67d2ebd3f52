# SPDX-License-Identifier: Apache-2.0
"""Rules of specs: each has a spec that breaks it, and the place where it does."""

from datetime import date

import msgspec
import pytest

from lochan.errors import InvalidInput
from lochan.pipelines.model.spec import (
    Check,
    CronInput,
    CrossInput,
    DatumRules,
    DeclarativeTransform,
    Egress,
    FilesTransform,
    FrameTransform,
    GroupInput,
    JobRules,
    JoinInput,
    Output,
    RepoInput,
    Spec,
    SqlTransform,
    Trigger,
    TriggerTerm,
    UnionInput,
)
from lochan.pipelines.specs.validate import problems, said, validate

ONE = RepoInput(name="one", repo="first", glob="/(*)/*")
TWO = RepoInput(name="two", repo="second")
GOOD = Spec(
    pipeline="good",
    input=ONE,
    transform=FilesTransform(function="steps:make"),
    output=Output(repo="out"),
)


def of(leaf: RepoInput, **fields: object) -> RepoInput:
    return msgspec.structs.replace(leaf, **fields)


def work(**params: object) -> FilesTransform:
    return FilesTransform(function="steps:make", params=params)


def test_a_good_spec_has_no_problems() -> None:
    joined = (of(ONE, join_on="$1"), of(ONE, name="b", join_on="$1", outer=True))
    clock = CronInput(name="tick", schedule="0 3 * * *")
    parts = (JoinInput(inputs=joined), clock, UnionInput(inputs=(TWO, of(TWO, name="c"))))
    spec = msgspec.structs.replace(
        GOOD,
        input=CrossInput(inputs=parts),
        transform=work(a=[1, 2.5, None, {"b": True}]),
        job=JobRules(max_failed="2.5%"),
        checks=(Check(sql="select true"), Check(function="steps:check")),
    )
    validate(GOOD)
    assert list(problems(spec)) == []


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"pipeline": "Upper"}, "pipeline"),
        ({"pipeline": "-x"}, "pipeline"),
        ({"pipeline": "a/b"}, "pipeline"),
        ({"input": of(ONE, name="1x")}, "input.repo.name"),
        ({"input": of(ONE, name="class")}, "input.repo.name"),
        ({"input": of(ONE, name="out")}, "input.repo.name"),
        ({"input": of(ONE, repo="A")}, "input.repo.repo"),
        ({"input": of(ONE, branch="a b")}, "input.repo.branch"),
        ({"input": of(ONE, glob="/(")}, "input.repo.glob"),
        ({"input": of(ONE, join_on="$1")}, "input.repo.join_on"),
        ({"input": of(ONE, group_by="$1")}, "input.repo.group_by"),
        ({"input": of(ONE, outer=True)}, "input.repo.outer"),
        ({"input": CrossInput(inputs=(ONE,))}, "input.cross"),
        ({"input": CrossInput(inputs=(ONE, of(TWO, name="one")))}, "input.cross[1].repo.name"),
        ({"input": GroupInput(inputs=(ONE,))}, "input.group[0].repo"),
        ({"input": GroupInput(inputs=(of(ONE, group_by="$2"),))}, "input.group[0].repo.group_by"),
        ({"input": GroupInput(inputs=(of(ONE, group_by="x"),))}, "input.group[0].repo.group_by"),
        ({"input": JoinInput(inputs=(of(ONE, join_on="$1"), TWO))}, "input.join[1].repo"),
        ({"input": CronInput(name="tick", schedule="sometimes")}, "input.cron.schedule"),
        ({"input": CronInput(name="t_t", schedule="@daily")}, "input.cron.name"),
        ({"transform": FilesTransform()}, "transform.files"),
        ({"transform": FilesTransform(function="a:b", command=("c",))}, "transform.files"),
        ({"transform": FilesTransform(function="a.b")}, "transform.files"),
        ({"transform": FrameTransform(function="a:b()")}, "transform.frame"),
        ({"transform": SqlTransform(query=" ")}, "transform.sql"),
        ({"transform": DeclarativeTransform(project="../x")}, "transform.declarative"),
        ({"transform": work(one=1)}, "transform.params.one"),
        ({"transform": work(when=date(2024, 1, 1))}, "transform.params.when"),
        ({"transform": work(much=[float("inf")])}, "transform.params.much"),
        ({"transform": work(deep={"a": {1: 2}})}, "transform.params.deep"),
        ({"output": Output(repo="first")}, "output"),
        ({"output": Output(repo="Out")}, "output.repo"),
        ({"output": Output(repo="out", branch="")}, "output.branch"),
        ({"shards": -1}, "shards"),
        ({"datum": DatumRules(tries=0)}, "datum.tries"),
        ({"datum": DatumRules(timeout_s=float("nan"))}, "datum.timeout"),
        ({"job": JobRules(max_failed="101%")}, "job.max_failed"),
        ({"job": JobRules(max_failed="few")}, "job.max_failed"),
        ({"trigger": Trigger(all=(TriggerTerm(),))}, "trigger.all[0]"),
        ({"trigger": Trigger(any=(TriggerTerm(cron="x"),))}, "trigger.any[0].cron"),
        ({"checks": (Check(),)}, "checks[0]"),
        ({"checks": (Check(function="x"),)}, "checks[0].function"),
        ({"egress": (Egress(),)}, "egress[0]"),
        ({"egress": (Egress(jdbc="jdbc:x"),)}, "egress[0]"),
    ],
    ids=str,
)
def test_a_rule_that_is_broken_is_told_with_its_place(
    change: dict[str, object], place: str
) -> None:
    found = list(problems(msgspec.structs.replace(GOOD, **change)))

    assert [said(problem.steps) for problem in found] == [place]


def test_what_is_refused_says_which_pipeline_and_where() -> None:
    with pytest.raises(InvalidInput, match=r"^pipeline 'good': shards: -1 is too small") as caught:
        validate(msgspec.structs.replace(GOOD, shards=-1))
    assert caught.value.facts["steps"] == ("shards",)
