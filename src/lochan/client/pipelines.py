# SPDX-License-Identifier: Apache-2.0
"""Pipelines of a lake: made of a spec and a folder of code, run, and looked after.

    lake.pipelines.create(Path("pipeline.yaml"))
    lake.pipelines.run("words").wait()

A file may hold several pipelines; the code is all that lies beside it. `run` decides what is to be
done, and a server's scheduler or a worker does it.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import yaml

from lochan.client.jobs import Jobs, Run
from lochan.client.pages import items
from lochan.client.transport import Transport
from lochan.errors import InvalidInput, NotFound
from lochan.pipelines.yaml_spec import load_specs
from lochan.shapes.pages import PageQuery
from lochan.shapes.pipelines import (
    JobSet,
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
_CODE: Final = (".py", ".sql", ".sh", ".txt", ".json", ".yaml", ".yml", ".toml", ".csv")
_MOST_BYTES: Final = 32 << 20


class Pipelines:
    """The pipelines of a lake, by name."""

    def __init__(self, transport: Transport) -> None:
        """Speak through a transport."""
        self._transport = transport

    @property
    def jobs(self) -> Jobs:
        """Give the jobs of pipelines."""
        return Jobs(self._transport)

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
        return Run(self._transport, decided)

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


def code_beside(file: Path) -> dict[str, bytes]:
    """Give the files of code in the folder of a spec, by their paths.

    Raises InvalidInput where they have more than 32 MiB: the folder is no pipeline's own.
    """
    top, found, size = file.parent, dict[str, bytes](), 0
    for path in sorted(top.rglob("*")):
        inner = path.relative_to(top)
        hidden = any(part.startswith((".", "__pycache__")) for part in inner.parts)
        if hidden or path == file or path.suffix not in _CODE or not path.is_file():
            continue
        size += path.stat().st_size
        if size > _MOST_BYTES:
            message = f"the code beside {file} has more than 32 MiB; give it a folder of its own"
            raise InvalidInput(message, code="code-too-large")
        found[inner.as_posix()] = path.read_bytes()
    return found


def _said(
    spec: Path | str, files: Mapping[str, bytes] | None
) -> Iterator[tuple[str, str, Mapping[str, bytes]]]:
    """Give name, text and code of each pipeline of a file; mistakes are told by its lines."""
    text = spec if isinstance(spec, str) else _read(spec)
    load_specs(text, file="the spec" if isinstance(spec, str) else str(spec))
    if files is None:
        files = code_beside(spec) if isinstance(spec, Path) else {}
    for part in _documents(text):
        yield part[0], part[1], files


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}", code="no-spec") from error


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
