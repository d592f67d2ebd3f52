# SPDX-License-Identifier: Apache-2.0
"""Pipelines of a lake: made of a spec and a folder of code, run, and looked after.

    lake.pipelines.create(Path("pipeline.yaml"))
    lake.pipelines.run("words").wait()

The file is YAML, or Python whose functions are decorated (`lochan.pipelines.pipeline`). It may hold
several pipelines; the code is all that lies beside it. `run` decides what is to be done. A server's
scheduler or a worker does it; for a lake in this process, `wait` does.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import yaml

from lochan.client.jobs import Drive, Jobs, Run
from lochan.client.pages import items
from lochan.client.transport import Transport
from lochan.errors import InvalidInput, NotFound
from lochan.pipelines.specs.code import read_code
from lochan.pipelines.specs.spec_file import PYTHON, read_specs, read_text
from lochan.pipelines.specs.spec_text import spec_text
from lochan.pipelines.specs.yaml_spec import load_specs
from lochan.shapes.jobs import JobSet
from lochan.shapes.pages import PageQuery
from lochan.shapes.pipelines import (
    Pipeline,
    PipelineCheck,
    PipelineCreation,
    PipelineGraph,
    PipelineList,
    PipelineState,
    PipelineUpdateQuery,
    RunRequest,
)

_PATH: Final = ("pipelines",)
_MOST_BYTES: Final = 3 << 20  # in base64 they are 4 MiB: what servers take, unless told otherwise


class Pipelines:
    """The pipelines of a lake, by name."""

    def __init__(self, transport: Transport, drive: Drive | None = None) -> None:
        """Speak through a transport; who waits for a run may have to drive it."""
        self._transport = transport
        self._drive = drive

    @property
    def jobs(self) -> Jobs:
        """Give the jobs of pipelines."""
        return Jobs(self._transport, self._drive)

    def list(self, *, max_amount: int | None = None) -> Iterator[Pipeline]:
        """Give the pipelines, by name."""

        def fetch(behind: str, amount: int) -> PipelineList:
            query = PageQuery(after=behind, amount=amount)
            return self._transport.call("GET", _PATH, PipelineList, query=query)

        return items(fetch, max_amount=max_amount)

    def get(self, name: str) -> Pipeline:
        """Give a pipeline as it is now. Raises NotFound."""
        return self._transport.call("GET", (*_PATH, name), Pipeline)

    def create(
        self, spec: Path | str, files: Mapping[str, bytes] | None = None
    ) -> tuple[Pipeline, ...]:
        """Make the pipelines of a file, or of text in YAML; `files` are their code.

        Without files it is all that lies beside the file. Raises InvalidInput, AlreadyExists.
        """
        return tuple(
            self._transport.call("POST", _PATH, Pipeline, body=_creation(text, code))
            for _, text, code in _said(spec, files)
        )

    def update(
        self,
        spec: Path | str,
        files: Mapping[str, bytes] | None = None,
        *,
        reprocess: bool = False,
        create: bool = False,
    ) -> tuple[Pipeline, ...]:
        """Give pipelines another version; what is the same stays as it is.

        With `create` those that are missing are made.
        """
        found = []
        query = PipelineUpdateQuery(reprocess=reprocess)
        for name, text, code in _said(spec, files):
            body = _creation(text, code)
            try:
                path = (*_PATH, name)
                found.append(self._transport.call("PUT", path, Pipeline, query=query, body=body))
            except NotFound as error:
                if not create or error.code != "pipeline-not-found":
                    raise
                found.append(self._transport.call("POST", _PATH, Pipeline, body=body))
        return tuple(found)

    def delete(self, name: str) -> None:
        """Take a pipeline away; its output stays."""
        self._transport.send("DELETE", (*_PATH, name))

    def pause(self, name: str) -> Pipeline:
        """Let new commits start nothing."""
        return self._set_state(name, PipelineState(state="paused"))

    def resume(self, name: str) -> Pipeline:
        """Let new commits start jobs again."""
        return self._set_state(name, PipelineState(state="active"))

    def run(
        self,
        name: str,
        *,
        branch: str = "",
        commits: Mapping[str, str] | None = None,
        key: str = "",
    ) -> Run:
        """Ask for a run of a pipeline and of all that hangs below it.

        On a branch inputs that have it are read there, and all outputs are written there.
        """
        body = RunRequest(key=key, branch=branch, commits=dict(commits or {}))
        decided = self._transport.call("POST", (*_PATH, name, "runs"), JobSet, body=body)
        return Run(self._transport, decided, self._drive)

    def check(
        self, spec: Path | str, files: Mapping[str, bytes] | None = None
    ) -> tuple[PipelineCheck, ...]:
        """Say what the pipelines of a file would do now; nothing is made. Raises InvalidInput."""
        return tuple(
            self._transport.call(
                "POST", ("pipeline-checks",), PipelineCheck, body=_creation(text, code)
            )
            for _, text, code in _said(spec, files)
        )

    def graph(self) -> PipelineGraph:
        """Give the graph of all pipelines."""
        return self._transport.call("GET", ("pipeline-graph",), PipelineGraph)

    def _set_state(self, name: str, state: PipelineState) -> Pipeline:
        return self._transport.call("PUT", (*_PATH, name, "state"), Pipeline, body=state)


def _said(
    spec: Path | str, files: Mapping[str, bytes] | None
) -> Iterator[tuple[str, str, Mapping[str, bytes]]]:
    """Give name, text and code of each pipeline of a file; mistakes are told by its lines."""
    if isinstance(spec, str):
        load_specs(spec, file="the spec")
        documents, beside = _documents(spec), dict[str, bytes]()
    elif spec.suffix == PYTHON:
        documents = ((one.pipeline, spec_text(one)) for one in read_specs(spec))
        beside = _code(spec.parent)
    else:
        read_specs(spec)
        documents, beside = _documents(read_text(spec)), _code(spec.parent, without=[spec])
    for name, text in documents:
        yield name, text, beside if files is None else files


def _code(folder: Path, without: Sequence[Path] = ()) -> dict[str, bytes]:
    found = read_code(folder, without=without)
    size = sum(map(len, found.values()))
    if size > _MOST_BYTES:
        message = f"{folder} has {size / (1 << 20):.1f} MiB of files, of code 3 MiB can be sent"
        raise InvalidInput(f"{message}; keep it in a folder of its own", code="code-too-large")
    return found


def _documents(text: str) -> Iterator[tuple[str, str]]:
    """Part a text into its documents, each with its pipeline's name and its own place in the file.

    Blank lines stand for what is before a document, so that a server names the right line.
    """
    lines = text.splitlines(keepends=True)
    for node in yaml.compose_all(text, Loader=yaml.SafeLoader):
        first, last = node.start_mark.line, node.end_mark.line
        body = "".join(lines[first : last + (node.end_mark.column > 0)])
        named = yaml.safe_load(body)
        name = named.get("pipeline", "") if isinstance(named, dict) else ""
        yield str(name), "\n" * first + body


def _creation(text: str, code: Mapping[str, bytes]) -> PipelineCreation:
    files = {path: b64encode(data).decode() for path, data in code.items()}
    return PipelineCreation(spec=text, files=files)
