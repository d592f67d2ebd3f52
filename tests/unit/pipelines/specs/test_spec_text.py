# SPDX-License-Identifier: Apache-2.0
"""Specs written as text are read back as they were; files of specs are YAML or Python."""

import sys
from pathlib import Path

import pytest

from lochan.errors import InvalidInput
from lochan.pipelines.specs import yaml_spec
from lochan.pipelines.specs.spec_file import read_specs
from lochan.pipelines.specs.spec_text import spec_text
from lochan.pipelines.specs.yaml_spec import load_specs

BEGINNING = "pipeline: p\noutput: {repo: out, branch: b, collision: last}\n"
FILES = "transform: {files: 'm:f'}\n"
ONE = "input: {repo: {name: a, repo: aaa}}\n"
SPECS = [
    BEGINNING + FILES + ONE,
    BEGINNING + FILES + "input: {cron: {name: tick, schedule: '@daily', overwrite: false}}",
    BEGINNING
    + FILES
    + """input: {join: [{repo: {name: a, repo: aaa, glob: '/(*)', join_on: $1, outer: true}},
        {repo: {name: b, repo: bbb, glob: '/(*)', join_on: $1}}]}""",
    BEGINNING
    + FILES
    + "input: {group: [{repo: {name: a, repo: aaa, glob: '/(*)', group_by: $1}}]}",
    BEGINNING
    + FILES
    + """input: {union: [{repo: {name: a, repo: aaa}}, {cross: [{repo: {name: b, repo: bbb}},
        {repo: {name: c, repo: ccc, reference: true}}]}]}""",
    BEGINNING
    + ONE
    + """transform: {command: [wc, -l], stdin: [one, two], environment: {A: b}, ok_codes: [0, 3]}
datum: {tries: 1, timeout: 1.5s, set_bytes: 3KB}
job: {timeout: 2h, max_failed: 1%, restarts: 0, empty_commit: true}
trigger: {any: [{commits: 3, size: 5MB}, {cron: '@hourly'}], each_commit: true}
shards: 7
rerun: every_job
egress: [{files: /there, mode: append}, {jdbc: {url: 'jdbc:x', table: t, options: {k: v}}}]
spark: {master: 'local[2]', conf: {a: b}, resources: {gpu: '1'}}
checks: [{function: 'm:g'}, {sql: select true, name: rows}]
""",
    BEGINNING + ONE + "transform: {frame: 'm:f', incremental: append, params: {n: 1}, code: v1}",
    BEGINNING + ONE + "transform: {sql: select 1, format: json, partition_by: [a, b]}",
    BEGINNING + ONE + "transform: {declarative: project, full_refresh: true}",
]
STEPS = """\
from beside import SIZE
from lochan.pipelines import Files, Out, pipeline

@pipeline(output="thumbs@main", params={"size": SIZE})
def make_thumbs(img: Files("photos", "/*"), out: Out, size):
    '''Make pictures small.'''
"""


@pytest.mark.parametrize("text", SPECS)
def test_a_spec_that_is_written_is_read_as_it_was(text: str) -> None:
    found = load_specs(text, file="spec")
    assert load_specs(spec_text(found[0]), file="written") == found


def test_the_spec_of_the_manual_is_written_and_read() -> None:
    page = (yaml_spec.__doc__ or "").splitlines()
    (found,) = load_specs(
        "\n".join(line[4:] for line in page if line.startswith("    ")), file="page"
    )
    assert load_specs(spec_text(found), file="written") == (found,)


def test_a_python_file_says_pipelines_and_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text(STEPS)
    (tmp_path / "beside.py").write_text("SIZE = 3\n")
    path = list(sys.path)
    (found,) = read_specs(tmp_path / "steps.py")
    assert (found.pipeline, found.description) == ("make-thumbs", "Make pictures small.")
    assert load_specs(spec_text(found), file="written") == (found,)
    assert sys.path == path
    assert "steps" not in sys.modules


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.py", "1 / 0\n", "cannot be imported: ZeroDivisionError"),
        ("b.py", "x = 1\n", "has no pipeline; decorate a function"),
        ("c.yaml", "", "has no pipeline; say one"),
        ("d.yaml", "pipeline: [\n", "d.yaml:2:1"),
        ("missing.yaml", None, "cannot be read"),
        ("missing.py", None, "cannot be read"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(
    tmp_path: Path, name: str, text: str | None, said: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InvalidInput, match=said):
        read_specs(tmp_path / name)
