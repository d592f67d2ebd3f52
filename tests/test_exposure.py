# SPDX-License-Identifier: Apache-2.0
"""What is never done with bytes of others, and what is never shown to everybody."""

import ast
import gzip
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.object_routes import Objects
from support.web import Api, open_api

SOURCES = Path(__file__).resolve().parent.parent / "src" / "lochan"
# What runs the code that it reads.
UNSAFE = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "jsonpickle", "joblib"}


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with open_api(tmp_path / "lake") as opened:
        yield opened


def unsafe_in(tree: ast.AST) -> Iterator[str]:
    """Name what in a file could run somebody else's bytes."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from UNSAFE & {one.name.partition(".")[0] for one in names}
            case ast.ImportFrom(module=str(module), names=names):
                yield from UNSAFE & {module.partition(".")[0], *(one.name for one in names)}
            case ast.Call(func=ast.Name(id=("eval" | "exec") as name)):
                yield name
            case ast.Attribute(value=ast.Name(id="yaml"), attr=("load" | "unsafe_load") as name):
                yield f"yaml.{name}"


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from marshal import loads",
        "from pyspark import cloudpickle",
        "eval(x)",
        "yaml.load(x)",
    ],
)
def test_what_is_unsafe_is_noticed(text: str) -> None:
    assert list(unsafe_in(ast.parse(text)))


def test_rel_S25_nothing_that_is_read_can_run() -> None:
    trees = {file: ast.parse(file.read_text()) for file in SOURCES.rglob("*.py")}
    found = {str(file.relative_to(SOURCES)): list(unsafe_in(tree)) for file, tree in trees.items()}
    assert len(found) > 100
    # They say how functions go from a driver to its own workers, and read nothing.
    assert {file: names for file, names in found.items() if names} == {
        "spark/frames.py": ["cloudpickle"],
        "spark/ship.py": ["cloudpickle"],
    }


@pytest.mark.parametrize("module", ["lochan.bootstrap.server", "lochan.bootstrap.job_runner"])
def test_rel_S25_no_process_that_opens_the_lake_knows_spark(module: str) -> None:
    looked = f"import sys, {module}; print(sorted(one for one in sys.modules if 'spark' in one))"
    ran = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_rel_S29_figures_are_for_who_may_see_the_configuration(api: Api) -> None:
    assert api.nobody().get("/metrics", prefix="").status_code == 401
    assert api.user("ann").get("/metrics", prefix="").status_code == 403
    assert api.get("/metrics", prefix="").status_code == 200


@pytest.mark.parametrize(
    "path", ["/_pprof/", "/debug", "/debug/pprof", "/admin", "/.env", "/config"]
)
def test_rel_S29_there_is_nothing_to_look_inside_with(api: Api, path: str) -> None:
    assert api.get(path, prefix="").status_code == 404


def test_rel_S29_the_description_tells_nothing_of_this_lake(api: Api) -> None:
    told = api.nobody().get("/openapi.json", prefix="").text
    settings = api.services.settings
    assert str(settings.lake) not in told
    assert settings.namespace_prefix not in told


def test_rel_S19_no_body_is_unpacked(api: Api) -> None:
    objects, bomb = Objects.made(api), gzip.compress(b"0" * 10_000_000)
    assert objects.put("bomb", bomb, content_encoding="gzip").status_code in {201, 415}
    assert objects.stat("bomb").json.get("size_bytes", len(bomb)) == len(bomb)
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    told = gzip.compress(b'{"id": "bob"}')
    assert api.post("/auth/users", body=told, headers=headers).status_code in {400, 415}


def test_rel_S18_a_json_body_has_a_limit(api: Api) -> None:
    most = int(api.services.settings.limits.json_body)
    headers = {"content-type": "application/json"}
    body = b'{"id": "' + b"x" * most + b'"}'
    answer = api.post("/auth/users", body=body, headers=headers)
    assert (answer.status_code, answer.json["code"]) == (413, "body-too-large")
