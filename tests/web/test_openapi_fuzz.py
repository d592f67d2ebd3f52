# SPDX-License-Identifier: Apache-2.0
"""Requests made from the served document, by Schemathesis: every answer is one that it describes.

Each operation is asked with what the document allows and with what it does not, about things that
are there and things that are not. No answer is a 500, a status, a content type or a body that the
document does not have, and nothing is answered to somebody unknown that asks for credentials.
Requests that the document allows and the server refuses with 400 are no finding: names have rules
that a schema does not say (bytes, not letters; no overlap with other repositories).
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from lochan.web.api import ROUTES
from lochan.web.application import new_application
from lochan.web.environ import HEADERS
from lochan.web.route import Route
from support.meant_requests import SmallLake
from support.web import Api, open_api

SEED = 20_260_701
EXAMPLES = 4  # of each of two kinds
EXAMPLES_OF_A_CAMPAIGN = 150
# What needs more than one request to succeed, or does so once; their own tests show their answers.
NEVER_SUCCEED = {
    "setup",
    "createCommitRecord",
    "stageObject",
    "linkPhysicalAddress",
    "readPresigned",
    "writePresigned",
    "completePresignMultipartUpload",
    "abortPresignMultipartUpload",
    "uploadPart",
    "uploadPartCopy",
    "importStart",
    "importStatus",
    "importCancel",
    "restoreSubmit",
    "restoreStatus",
    "restoreRefs",
    "getRange",
}
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
each_route = pytest.mark.parametrize(
    "route", [pytest.param(route, id=route.operation_id) for route in ROUTES]
)


class Served:
    """A lake behind the document that it serves."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.lake = SmallLake(api)
        self.application = new_application(api.services)
        self.schema = schemathesis.openapi.from_wsgi("/openapi.json", self.wsgi)
        credential = api.credential
        assert credential is not None
        pair = f"{credential.access_key_id}:{credential.secret_access_key}"
        self.headers = {"Authorization": "Basic " + b64encode(pair.encode()).decode()}

    def wsgi(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:  # noqa: ANN401 - WSGI's
        """Tell of a request what our own server tells."""
        names = [(name, value) for name, value in environ.items() if name.startswith("HTTP_")]
        environ[HEADERS] = [(name[5:].replace("_", "-").lower(), value) for name, value in names]
        return self.application(environ, start)

    def ask(self, route: Route, examples: int) -> None:
        """Ask one operation in many ways."""
        self.lake.make()
        operation = self.schema[route.path][route.method]
        meant = self.lake.meant(route.operation_id)
        names = self.lake.names() | meant.path
        there = {name: value for name, value in names.items() if f"{{{name}}}" in route.path}
        answers: set[int] = set()

        def laid_over(case: "schemathesis.Case[Any]") -> "schemathesis.Case[Any]":
            case.query = {**(case.query or {}), **meant.query}
            if isinstance(case.body, dict):
                case.body |= meant.body
            return case

        def check(case: "schemathesis.Case[Any]") -> None:
            answer = case.call(headers=self.headers)
            answers.add(answer.status_code)
            excluded: list[Any] = [positive_data_acceptance]
            if answer.status_code == 501 and b'"not-implemented"' in answer.content:
                excluded.append(schemathesis.checks.not_a_server_error)
            case.validate_response(answer, headers=self.headers, excluded_checks=excluded)

        quiet = settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        meaningful = operation.as_strategy(GenerationMode.POSITIVE, path_parameters=there)
        wild = [operation.as_strategy(mode) for mode in MODES]
        wild.append(operation.as_strategy(GenerationMode.NEGATIVE, path_parameters=there))
        for cases in (meaningful.map(laid_over), st.one_of(wild)):
            seed(SEED)(quiet(given(cases)(check)))()
        if 501 not in route.answers and route.operation_id not in NEVER_SUCCEED:
            assert [one for one in answers if one < 400], answers


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with open_api(tmp_path_factory.mktemp("fuzz") / "lake") as api:
        yield Served(api)


def test_a_job_has_a_shard_to_show_beside_objects_that_are_no_text(served: Served) -> None:
    served.lake.make()
    at = "/repositories/lake/branches/main"
    served.api.post(f"{at}/objects", params={"path": "no text"}, body=b"\xff")
    served.api.post(f"{at}/commits", json={"message": "no text"})
    assert served.lake.job_with_shard()


@each_route
def test_every_answer_is_one_that_the_document_describes(served: Served, route: Route) -> None:
    served.ask(route, EXAMPLES)


@pytest.mark.campaign
@pytest.mark.beside_others
@each_route
def test_every_answer_is_one_that_the_document_describes_at_length(
    tmp_path: Path, route: Route
) -> None:
    with open_api(tmp_path / "lake") as api:
        Served(api).ask(route, EXAMPLES_OF_A_CAMPAIGN)
