# SPDX-License-Identifier: Apache-2.0
"""Two pipelines behind the API, for its tests: files are counted each, and then together.

    books ---> words ---> totals

Their jobs are driven in the test's process, when a test says so.
"""

from base64 import b64encode
from typing import Any

from lochan.operations.lake import Lake
from lochan.pipelines.attempts.in_process import InProcess
from lochan.pipelines.jobs.run_job import run_job
from lochan.pipelines.model.records import Job
from lochan.pipelines.schedule.scheduler import ready_jobs
from support.web import Api
from support.web_tasks import commit, make_repository, put

WORDS = """\
pipeline: words
input: {repo: {name: text, repo: books, glob: "/*"}}
transform: {files: "steps:count"}
output: {repo: words}
datum: {tries: 1}
"""
TOTAL = """\
pipeline: total
input: {repo: {name: counts, repo: words, glob: "/"}}
transform: {files: "steps:total"}
output: {repo: totals}
datum: {tries: 1}
"""
STEPS = b"""\
def count(text, out):
    print("counting", text.path)
    out.write(text.path, str(len(text.read_bytes().split())))

def total(counts, out):
    out.write("total", str(sum(int(file.read_text()) for file in counts)))
"""


def said(spec: str, code: bytes = STEPS) -> dict[str, Any]:
    """Give the body that makes or changes a pipeline."""
    return {"spec": spec, "files": {"steps.py": b64encode(code).decode()}}


def put_books(api: Api, **books: str) -> str:
    """Commit files to the input."""
    for name, text in books.items():
        put(api, "/repositories/books", name, text.encode())
    return commit(api, "/repositories/books")


def make_pipelines(api: Api, *specs: str) -> None:
    """Make the input with two books, and pipelines."""
    make_repository(api, "books")
    put_books(api, a="one two", b="three")
    for spec in specs:
        made = api.post("/pipelines", json=said(spec))
        assert made.status_code == 201, made.text


def run(api: Api, pipeline: str, **told: object) -> dict[str, Any]:
    """Ask for a run, drive it to its end, and give the job set as it is then."""
    asked = api.post(f"/pipelines/{pipeline}/runs", json=told)
    assert asked.status_code == 202, asked.text
    drive(api.services.lake)
    found: dict[str, Any] = api.get(f"/job-sets/{asked.json['id']}").json
    return found


def drive(lake: Lake) -> list[Job]:
    """Drive all jobs that are open, upstream first."""
    engine, done = InProcess(lake.environment, lake.storage), list[Job]()
    while ready := list(ready_jobs(lake)):
        done += [run_job(lake, job.id, engine) for job in ready]
    return done
