# SPDX-License-Identifier: Apache-2.0
"""Specs in YAML: what they may say, and that a mistake is told with its place."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    SparkRules,
    Spec,
    SqlTransform,
    Trigger,
    TriggerTerm,
    UnionInput,
)
from lochan.pipelines.specs.yaml_spec import load_specs

WHOLE = """\
pipeline: thumbs
description: small pictures
input:
  cross:
    - repo: {name: img, repo: photos, branch: main, glob: "/(*)/*.jpg"}
    - repo: {name: model, repo: models, branch: prod, trigger: false, reference: true}
transform: {files: "thumbs.steps:make", params: {size: 256, when: 2024-01-01, on: yes}, code: auto}
output: {repo: thumbs, branch: main, collision: append}
shards: auto
datum: {tries: 2, timeout: 5m, on_error: quarantine, set_bytes: 256MB}
job: {timeout: 1h30m, max_failed: 1%}
trigger: {on: commit, any: [{commits: 10}, {size: 1GB}, {cron: "@hourly"}]}
rerun: never
checks: [{sql: "select count(*) > 0 from out"}]
egress: {jdbc: {url: "jdbc:x", table: thumbs}}
spark: {conf: {spark.sql.shuffle.partitions: 64}, resources: {gpu: 1}}
"""
LEAST = """\
pipeline: words
input: {repo: {repo: my-texts, glob: "/*"}}
transform: {files: "steps:count"}
output: words@dev
"""
JOINED = (
    "{join: [{repo: {repo: aaa, glob: /(*), join_on: $1, outer: true}},"
    " {repo: {repo: bbb, glob: /(*), join_on: $1}}]}"
)
WORDS = st.text(st.characters(exclude_categories=["Cc", "Cn", "Cs", "Zl", "Zp"]), max_size=5)


def one(text: str) -> Spec:
    (spec,) = load_specs(text, file="p.yaml")
    return spec


def changed(old: str, new: str) -> Spec:
    assert old in LEAST
    return one(LEAST.replace(old, new))


def mistake(text: str) -> str:
    with pytest.raises(InvalidInput) as caught:
        load_specs(text, file="p.yaml")
    assert "\n" not in caught.value.message
    return caught.value.message


def test_a_spec_can_say_everything() -> None:
    image = RepoInput(name="img", repo="photos", glob="/(*)/*.jpg")
    model = RepoInput(name="model", repo="models", branch="prod", trigger=False, reference=True)
    assert one(WHOLE) == Spec(
        pipeline="thumbs",
        description="small pictures",
        input=CrossInput(inputs=(image, model)),
        transform=FilesTransform(
            function="thumbs.steps:make", params={"size": 256, "when": "2024-01-01", "on": "yes"}
        ),
        output=Output(repo="thumbs", collision="append"),
        datum=DatumRules(tries=2, timeout_s=300, on_error="quarantine", set_bytes=256 << 20),
        job=JobRules(timeout_s=5400, max_failed="1%"),
        trigger=Trigger(
            any=(TriggerTerm(commits=10), TriggerTerm(size=1 << 30), TriggerTerm(cron="@hourly"))
        ),
        rerun="never",
        checks=(Check(sql="select count(*) > 0 from out"),),
        egress=(Egress(jdbc="jdbc:x", table="thumbs"),),
        spark=SparkRules(conf={"spark.sql.shuffle.partitions": "64"}, resources={"gpu": "1"}),
    )


def test_what_is_left_out_has_its_default() -> None:
    assert one(LEAST) == Spec(
        pipeline="words",
        input=RepoInput(name="my_texts", repo="my-texts", glob="/*"),
        transform=FilesTransform(function="steps:count"),
        output=Output(repo="words", branch="dev"),
    )


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("{cron: {name: tick, schedule: '@daily'}}", CronInput(name="tick", schedule="@daily")),
        (
            "{union: [{repo: {repo: aaa}}, {repo: {repo: bbb}}]}",
            UnionInput(
                inputs=(RepoInput(name="aaa", repo="aaa"), RepoInput(name="bbb", repo="bbb"))
            ),
        ),
        (
            JOINED,
            JoinInput(
                inputs=(
                    RepoInput(name="aaa", repo="aaa", glob="/(*)", join_on="$1", outer=True),
                    RepoInput(name="bbb", repo="bbb", glob="/(*)", join_on="$1"),
                )
            ),
        ),
        (
            "{group: [{repo: {repo: aaa, glob: '/(*)-*', group_by: $1}}]}",
            GroupInput(inputs=(RepoInput(name="aaa", repo="aaa", glob="/(*)-*", group_by="$1"),)),
        ),
    ],
)
def test_inputs_have_a_form_each(said: str, meant: object) -> None:
    assert changed('{repo: {repo: my-texts, glob: "/*"}}', said).input == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (
            "{command: [python, count.py], stdin: [a, b], ok_codes: [0, 3]}",
            FilesTransform(command=("python", "count.py"), stdin=("a", "b"), ok_codes=(0, 3)),
        ),
        (
            "{command: 'wc -l < a > out/a', environment: {A: 1}, code: 7}",
            FilesTransform(
                command=("sh", "-c", "wc -l < a > out/a"), environment={"A": "1"}, code="7"
            ),
        ),
        (
            "{frame: 'steps:daily', incremental: partition, partition_by: dt}",
            FrameTransform(function="steps:daily", incremental="partition", partition_by=("dt",)),
        ),
        (
            "{sql: select 1, format: csv}",
            SqlTransform(query="select 1", format="csv"),
        ),
        ("{declarative: project}", DeclarativeTransform(project="project")),
    ],
)
def test_transforms_have_a_form_each(said: str, meant: object) -> None:
    assert changed('{files: "steps:count"}', said).transform == meant


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "pipeline: words",
            "pipelin: words",
            "p.yaml:1:1: there is no field 'pipelin'; did you mean 'pipeline'?",
        ),
        ('glob: "/*"', 'glib: "/*"', "p.yaml:2:32: there is no field 'glib'; did you mean 'glob'?"),
        ('glob: "/*"', 'glob: "/[a"', "p.yaml:2:32: input.repo.glob: "),
        ("my-texts", "My", "p.yaml:2:16: input.repo.repo: 'My' is not a valid repository id"),
        (
            "{repo: {repo: my-texts",
            "{repos: {repo: my-texts",
            "p.yaml:2:9: there is no field 'repos'; did you mean 'repo'?",
        ),
        (
            "steps:count",
            "steps.count",
            "p.yaml:3:13: transform.files: 'steps.count' is no function",
        ),
        (
            '{files: "steps:count"}',
            "{files: a:b, sql: c}",
            "p.yaml:3:1: expected one of files, command",
        ),
        (
            '{files: "steps:count"}',
            "{sql: c, stdin: [x]}",
            "p.yaml:3:21: there is no field 'stdin'",
        ),
        ("words@dev", "words@dev\nshards: many", "p.yaml:5:1: expected a whole number, not 'many'"),
        (
            "words@dev",
            "words@dev\ndatum: {timeout: 5 minutes}",
            "p.yaml:5:9: expected a time such as",
        ),
        (
            "words@dev",
            "words@dev\ndatum: {set_bytes: much}",
            "p.yaml:5:9: expected a size in bytes",
        ),
        ("words@dev", "words@dev\ndatum:\n  tries: 0", "p.yaml:6:3: datum.tries: 0 is too small"),
        (
            "words@dev",
            "words@dev\nrerun: always",
            "p.yaml:5:1: expected on_code_change, never or every_job",
        ),
        (
            "words@dev",
            "words@dev\ntrigger: {any: [{}]}",
            "p.yaml:5:17: trigger.any[0]: it says nothing",
        ),
        ("words@dev", "my-texts@main", "p.yaml:4:1: output: pipelines would run in a circle"),
        ("output: words@dev", "", "p.yaml:1:1: field 'output' is missing"),
        ("pipeline: words", "pipeline: 7", "p.yaml:1:1: expected text, not 7; put it in quotes"),
        (
            "pipeline: words",
            "pipeline: words\npipeline: more",
            "p.yaml:2:1: field 'pipeline' is there twice",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line_and_column(old: str, new: str, told: str) -> None:
    assert mistake(LEAST.replace(old, new)).startswith(told)


def test_what_is_no_yaml_is_told_with_its_place() -> None:
    assert mistake("a: [1\nb: 2").startswith("p.yaml:2:")
    assert mistake("- a").startswith("p.yaml:1:1: expected a mapping")
    assert mistake("a: 1\nb: \x00").startswith("p.yaml:2:4: ")


def test_all_mistakes_of_a_document_are_told_together() -> None:
    text = LEAST.replace("steps:count", "count").replace('"/*"', '"/["').replace("words@", "w@")
    with pytest.raises(InvalidInput) as caught:
        load_specs(text, file="p.yaml")
    told = caught.value.facts["problems"]

    assert isinstance(told, list)
    assert [line.split(":")[1] for line in told] == ["2", "3", "4"]


def test_a_file_may_hold_several_pipelines_of_different_names() -> None:
    other = LEAST.replace("words", "letters")

    assert [spec.pipeline for spec in load_specs(f"{LEAST}---\n{other}---\n", file="p.yaml")] == [
        "words",
        "letters",
    ]
    assert mistake(f"{LEAST}---\n{LEAST}").startswith("p.yaml:6:1: pipeline 'words' is there twice")
    assert load_specs("", file="p.yaml") == ()


def test_rel_S25_no_tag_makes_an_object_of_a_text() -> None:
    for tag in ("!!python/object/apply:os.system [ls]", "!!binary aGk=", "!mine x"):
        assert "tags such as" in mistake(LEAST.replace("words@dev", tag))


def test_rel_S26_anchors_cannot_blow_a_text_up_or_hold_themselves() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join(f'*a{n - 1}' for _ in range(9))}]\n" for n in range(1, 9)
    )
    assert "too much" in mistake(bomb)
    assert "too much, or nested too deeply" in mistake("a: &a [*a]")
    assert mistake("[" * 5000).startswith("p.yaml: ")


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    with suppress(InvalidInput):
        load_specs(text, file="p.yaml")
        return
    mistake(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | WORDS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner),
        max_leaves=8,
    )
)
def test_parameters_in_json_come_as_they_are(value: object) -> None:
    for plain in (True, False):
        said = json.dumps({"value": value}, ensure_ascii=plain)
        transform = changed('{files: "steps:count"}', f"{{files: 'a:b', params: {said}}}").transform
        assert isinstance(transform, FilesTransform)
        assert transform.params == {"value": value}


def test_half_of_a_character_is_refused() -> None:
    assert mistake('a: "\\ud83d"') == "p.yaml:1:4: this text holds half of a character"
