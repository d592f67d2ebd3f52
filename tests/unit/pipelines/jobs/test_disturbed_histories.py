# SPDX-License-Identifier: Apache-2.0
"""Whatever happens to inputs, outputs, pipelines and old objects: the next job's output is right.

Right is what one job over all inputs, by the spec of now, would give.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from lochan.errors import Conflict, Gone, InvalidInput
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.gc.collect import Collection, collect
from lochan.operations.hard_reset import hard_reset
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.put_object import put_object
from lochan.operations.retention import set_gc_rules
from lochan.operations.transplant import TransplantRequest, cherry_pick, revert
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.model.records import JobState
from lochan.pipelines.model.spec import Collision, Output, RepoInput
from lochan.pipelines.schedule.run_by_hand import run_by_hand
from lochan.refs.log import log
from support.pipeline_world import MAIN, PHOTOS, THUMBS, PipelineWorld, thumbs

DAY_S = 24 * 3600.0
EXP = BranchName("exp")


def spread(img: InputFiles, out: Out) -> None:
    """Write each file's path under every path that it names."""
    for file in img:
        for path in file.read_text().split():
            out.write(path, text_of(file.path, path))


def text_of(name: str, path: str) -> str:
    """Say what a file writes under a path; most of them write the same under one of the paths."""
    return "same;" if path == "z" and name != "b" else f"{name};"


@dataclass
class Life:
    """A world in which anything may happen to an output, and what it ought to be."""

    world: PipelineWorld
    files: dict[str, str] = field(default_factory=dict)
    policy: Collision = "last"
    glob: str = "/*"

    def expected(self) -> dict[str, str]:
        found: dict[str, list[str]] = {}
        for names in self._datums().values():
            wrote = {
                path: text_of(name, path) for name in names for path in self.files[name].split()
            }
            for path, text in wrote.items():
                found.setdefault(path, []).append(text)
        return {path: "".join(_kept(texts, self.policy)) for path, texts in found.items()}

    def _datums(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in sorted(self.files):
            if self.glob == "/*":
                found.setdefault(name.partition("/")[0], []).append(name)
            elif name.startswith("d/"):
                found.setdefault(name, []).append(name)
        return found

    def put(self, name: str, text: str | None) -> None:
        if text is not None:
            self.files[name] = text
            self.world.put({name: text})
        elif self.files.pop(name, None) is not None:
            self.world.put({}, gone=[name])

    def say(self, policy: Collision, glob: str) -> None:
        self.policy, self.glob = policy, glob
        source = RepoInput(name="img", repo=PHOTOS, glob=glob)
        self.world.update(thumbs(input=source, output=Output(repo=THUMBS, collision=policy)))

    def run(self, branch: BranchName) -> None:
        elsewhere = "" if branch == MAIN else branch
        decided = run_by_hand(self.world.lake, ["thumbs"], branch=elsewhere)
        job = self.world.drive(decided.jobs[0].job)
        assert job.state in {JobState.SUCCESS, JobState.SKIPPED}, job.reason
        assert self.world.shown(ref=branch) == self.expected()

    def disturb(self, what: str, number: int) -> None:
        """Do something to the output that its pipeline would not."""
        lake, output = self.world.lake.forcing(), self.world.repository(THUMBS)
        other = self._earlier(number)
        with suppress(InvalidInput, Conflict, Gone):  # what cannot be done changes nothing
            if what == "reset":
                hard_reset(lake, output, MAIN, other)
            elif what == "revert":
                revert(lake, output, MAIN, other, TransplantRequest("eve", parent_number=1))
            elif what == "pick":
                cherry_pick(lake, output, EXP, other, TransplantRequest("eve", parent_number=1))
            elif what == "merge":
                merge(lake, output, MAIN, self.world.head(THUMBS, EXP), MergeRequest("eve"))
            else:
                put_object(lake, output, MAIN, ObjectKey(b"x"), b"eve's")
                commit(lake, output, MAIN, CommitRequest("eve", "mine"))

    def collect(self) -> None:
        self.world.world.sleep(9 * DAY_S)
        collect(self.world.lake, self.world.repository(THUMBS), Collection(force=True))

    def _earlier(self, number: int) -> Commit:
        tables = self.world.lake.tables(self.world.repository(THUMBS))
        commits = list(log(tables, self.world.head(THUMBS).id, first_parent=True))
        return commits[number % (len(commits) - 1)]  # the first has nothing of the pipeline yet


def _kept(texts: list[str], policy: Collision) -> list[str]:
    return texts if policy == "append" else texts[-1:]


puts = st.tuples(
    st.just("put"),
    st.sampled_from(["a", "b", "d/c", "d/e"]),
    st.none() | st.lists(st.sampled_from(["x", "y/1", "y/2", "z"]), max_size=2).map(" ".join),
)
says = st.tuples(
    st.just("say"), st.sampled_from(["append", "last"]), st.sampled_from(["/*", "/d/*"])
)
disturbs = st.tuples(
    st.just("disturb"),
    st.sampled_from(["reset", "revert", "pick", "merge", "commit"]),
    st.integers(0, 3),
)
runs = st.tuples(st.just("run"), st.sampled_from([MAIN, MAIN, EXP]))
steps = puts | runs | runs | says | disturbs | st.tuples(st.just("collect"))


def runs_of(*puts: tuple[str, str | None]) -> list[tuple[Any, ...]]:
    """Have a job behind each put."""
    return [step for put in puts for step in (("put", *put), ("run", MAIN))]


collections = [("collect",), ("collect",)]


# What a datum wrote again as it was, and a collector was there, comes up when what hides it goes.
@example([*runs_of(("b", None), ("a", "x x")), *collections, ("put", "d/c", None)])
# So does what came up equal to what had hidden it, and was hidden once more.
@example(
    [
        *runs_of(("b", None), ("d/c", "z"), ("a", "z"), ("d/c", None)),
        *collections,
        *runs_of(("b", "z"), ("b", None)),
    ]
)
@settings(max_examples=50, deadline=None)
@given(history=st.lists(steps, min_size=4, max_size=14))
def test_whatever_befalls_an_output_its_next_job_makes_it_right(
    history: list[tuple[Any, ...]],
) -> None:
    life = Life(PipelineWorld.open(function=spread))
    life.world.create()
    life.say("last", "/*")
    output = life.world.repository(THUMBS)
    create_branch(life.world.lake, output, EXP, life.world.head(THUMBS).id)
    set_gc_rules(life.world.lake, output, 1, {})
    for name in ("a", "b", "d/c"):
        life.put(name, "x")
        life.run(MAIN)
    life.run(EXP)  # what lies on a branch before its first job stays
    for what, *how in history:
        getattr(life, what)(*how)
        life.world.world.sleep(1)
    life.run(EXP)
    life.run(MAIN)
