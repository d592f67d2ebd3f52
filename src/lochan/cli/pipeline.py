# SPDX-License-Identifier: Apache-2.0
"""`lochan pipeline`: make pipelines of a file, run them, look at them."""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from lochan.cli.failing import FAILED
from lochan.cli.on_lake import on_lake
from lochan.cli.show import Show
from lochan.cli.shown_jobs import JOB_COLUMNS, finished, watching
from lochan.cli.verb import new_app
from lochan.client.lake import Lake
from lochan.errors import InvalidInput
from lochan.shapes.pipelines import Pipeline

app = new_app("Make pipelines, run them, and see how they hang together.")

File = Annotated[
    Path,
    typer.Argument(help="YAML, or Python with decorated functions; the code lies beside it."),
]
Name = Annotated[str, typer.Argument(help="Name of the pipeline.")]
# Imported when it is needed alone: it brings along what runs code.
_TRY: Final = "lochan.pipelines.jobs.try_file"
_COLUMNS: Final = {
    "pipeline": lambda one: one.pipeline,
    "state": lambda one: one.state,
    "reads": lambda one: ", ".join(_reads(one.spec["input"])),
    "writes": lambda one: f"{one.spec['output']['repo']}@{one.spec['output']['branch']}",
    "version": lambda one: one.version[:12],
}


@on_lake(app, "create")
def create(show: Show, lake: Lake, file: File) -> None:
    """Make the pipelines of a file.

    Example: lochan pipeline create pipeline.yaml
    """
    _tell(show, lake.pipelines.create(file))


@on_lake(app, "update")
def update(
    show: Show,
    lake: Lake,
    file: File,
    *,
    reprocess: Annotated[
        bool, typer.Option("--reprocess", help="Run every datum again, and now.")
    ] = False,
    create_missing: Annotated[
        bool, typer.Option("--create", help="Make pipelines that are not there yet.")
    ] = False,
) -> None:
    """Give pipelines another version; what is the same stays as it is.

    Example: lochan pipeline update pipeline.yaml --create
    """
    changed = lake.pipelines.update(file, reprocess=reprocess, create=create_missing)
    if reprocess:
        for one in changed:
            lake.pipelines.run(one.pipeline)
    _tell(show, changed)


@on_lake(app, "check")
def check(show: Show, lake: Lake, file: File) -> None:
    """Say what is wrong with a file, or what its pipelines would read now; nothing is made.

    Example: lochan pipeline check pipeline.yaml
    """
    found = lake.pipelines.check(file)
    if show.json:
        show.value(found)
        return
    for one in found:
        show.line(f"{one.pipeline}: {one.datums} datums", style="bold")
        for files in one.first:
            show.line(f"   {', '.join(files)}")
        if one.datums > len(one.first):
            show.line("   ...")
        for note in one.notes:
            show.note(f"   {note}")


@on_lake(app, "test")
def try_out(
    show: Show,
    lake: Lake,
    file: File,
    *,
    pipeline: Annotated[
        str, typer.Option("--pipeline", "-p", help="Which one, where the file has several.")
    ] = "",
    datum: Annotated[
        list[int] | None, typer.Option("--datum", help="Number of a datum; else the first one.")
    ] = None,
    path: Annotated[
        list[str] | None, typer.Option("--path", help="Datums that read this path or pattern.")
    ] = None,
    into: Annotated[
        Path | None, typer.Option("--into", help="Folder to keep what they write.")
    ] = None,
) -> None:
    """Run a few datums of real data in this process; nothing is published.

    It needs the lake in a folder (--lake). Exit code 1 where a datum fails.

    Example: lochan pipeline test pipeline.yaml --lake ./lake --path 'b*.txt'
    """
    if lake.inside is None:
        message = "datums are tried where the data is; name the lake's folder with --lake"
        raise InvalidInput(message, code="lake-needed")
    here = import_module(_TRY)
    tried = here.try_file(
        lake.inside, file, pipeline=pipeline, numbers=datum or (), paths=path or (), into=into
    )
    show.rows(
        tried,
        {
            "datum": lambda one: one.number,
            "reads": lambda one: ", ".join(one.inputs),
            "writes": lambda one: ", ".join(f"{each.path} ({each.size})" for each in one.outputs),
            "ms": lambda one: one.milliseconds,
            "result": lambda one: one.reason or "ok",
        },
    )
    for one in tried:
        for line in one.log:
            show.note(f"{one.number} {line.stream}: {line.text.rstrip()}")
    if not all(one.passed for one in tried):
        raise typer.Exit(FAILED)


@on_lake(app, "list")
def list_pipelines(show: Show, lake: Lake) -> None:
    """List the pipelines.

    Example: lochan pipeline list
    """
    show.rows(lake.pipelines.list(), _COLUMNS)


@on_lake(app, "show")
def show_pipeline(
    show: Show,
    lake: Lake,
    name: Name,
    *,
    jobs: Annotated[int, typer.Option("--jobs", min=0, help="How many jobs to list.")] = 10,
) -> None:
    """Show a pipeline, what is in its digest, and its newest jobs.

    Example: lochan pipeline show words
    """
    found = lake.pipelines.get(name)
    if show.json:
        show.value(found)
        return
    columns = {
        **_COLUMNS,
        "made by": lambda one: one.principal,
        "digest": lambda one: f"{one.digest[:12]} of {', '.join(one.hashed) or 'the spec'}",
    }
    show.record(found, columns)
    show.line("")
    show.rows(lake.pipelines.jobs.of(name, max_amount=jobs), JOB_COLUMNS)


@on_lake(app, "delete")
def delete(show: Show, lake: Lake, name: Name) -> None:
    """Take a pipeline away; its output stays.

    Example: lochan pipeline delete words
    """
    lake.pipelines.delete(name)
    show.done(f"{name} is gone; what it wrote stays", pipeline=name)


@on_lake(app, "pause")
def pause(show: Show, lake: Lake, name: Name) -> None:
    """Let new commits start nothing.

    Example: lochan pipeline pause words
    """
    lake.pipelines.pause(name)
    show.done(f"{name} rests", pipeline=name, state="paused")


@on_lake(app, "resume")
def resume(show: Show, lake: Lake, name: Name) -> None:
    """Let new commits start jobs again.

    Example: lochan pipeline resume words
    """
    lake.pipelines.resume(name)
    show.done(f"{name} runs again", pipeline=name, state="active")


@on_lake(app, "run")
def run(
    show: Show,
    lake: Lake,
    name: Name,
    *,
    branch: Annotated[
        str, typer.Option("--branch", help="Read and write on this branch, wherever it is.")
    ] = "",
    commit: Annotated[
        list[str] | None,
        typer.Option("--commit", metavar="INPUT=REF", help="Fix an input to a ref."),
    ] = None,
    key: Annotated[
        str, typer.Option("--key", help="Runs with one key are one run; to ask again safely.")
    ] = "",
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for its end.")] = True,
) -> None:
    """Run a pipeline and all that hangs below it, whether something changed or not.

    On a lake in a folder (--lake) it runs in this process; else the server's scheduler, or a
    worker, runs it. Exit code 1 where a job fails.

    Example: lochan pipeline run words --branch experiment
    """
    decided = lake.pipelines.run(name, branch=branch, commits=_fixed(commit or ()), key=key)
    if not wait:
        show.rows(decided.jobs, JOB_COLUMNS)
        return
    with watching(show) as watch:
        finished(show, decided, watch)


@on_lake(app, "stop")
def stop(show: Show, lake: Lake, name: Name) -> None:
    """Ask for the end of all jobs of a pipeline that have not ended.

    Example: lochan pipeline stop words
    """
    jobs = lake.pipelines.jobs
    asked = [jobs.stop(job.id) for job in jobs.of(name, max_amount=100) if not job.finished]
    show.rows(asked, JOB_COLUMNS)


@on_lake(app, "dag")
def dag(
    show: Show,
    lake: Lake,
    *,
    dot: Annotated[bool, typer.Option("--dot", help="Draw for Graphviz.")] = False,
) -> None:
    """Show how all pipelines hang together.

    Example: lochan pipeline dag --dot | dot -Tsvg > dag.svg
    """
    graph = lake.pipelines.graph()
    if dot and not show.json:
        show.text(graph.dot)
        return
    show.rows(
        graph.nodes,
        {
            "reads": lambda node: ", ".join(node.reads),
            "pipeline": lambda node: node.pipeline + (" (paused)" if node.paused else ""),
            "writes": lambda node: node.writes,
        },
    )


def _fixed(said: Iterable[str]) -> dict[str, str]:
    """Read INPUT=REF. Raises InvalidInput."""
    found = {}
    for text in said:
        name, sign, ref = text.partition("=")
        if not (name and sign and ref):
            raise InvalidInput(f"--commit {text!r}: write INPUT=REF", code="invalid-commit")
        found[name] = ref
    return found


def _tell(show: Show, made: Iterable[Pipeline]) -> None:
    show.rows(made, _COLUMNS)


def _reads(node: dict[str, Any]) -> list[str]:
    if node["kind"] == "repo":
        return [f"{node['repo']}@{node['branch']}:{node['glob']}"]
    if node["kind"] == "cron":
        return [f"clock {node['schedule']}"]
    return [text for part in node["inputs"] for text in _reads(part)]
