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
from support.web import Api, open_api

SEED = 20_260_701
EXAMPLES = 8
EXAMPLES_OF_A_CAMPAIGN = 300
# Things that are there, so that not every answer is 404.
THERE = {
    "repository": "lake",
    "branch": "main",
    "ref": "main",
    "leftRef": "main",
    "rightRef": "other",
    "sourceRef": "other",
    "destinationBranch": "main",
    "commitId": "main",
    "tag": "v1",
    "userId": "bob",
    "groupId": "crew",
    "policyId": "FSReadAll",
    "partNumber": "1",
}
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
ADDRESSES = [(route.method, route.path) for route in ROUTES]


class Served:
    """A lake behind the document that it serves."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.made = 0
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

    def make_all(self) -> None:
        """Make again what an operation before has deleted."""
        api, lake = self.api, "/repositories/lake"
        if api.get(lake).status_code != 200:
            self.made += 1
            namespace = f"local://lake-{self.made}"
            made = api.post("/repositories", json={"name": "lake", "storage_namespace": namespace})
            assert made.status_code == 201, made.text
        api.post(f"{lake}/branches", json={"name": "main", "source": "main"})
        api.post(f"{lake}/branches", json={"name": "other", "source": "main"})
        api.post(f"{lake}/branches/other/objects", params={"path": "a/b"}, body=b"x")
        api.post(f"{lake}/branches/other/commits", json={"message": "a/b"})
        api.post(f"{lake}/tags", json={"id": "v1", "ref": "main"})
        api.post("/auth/users", json={"id": "bob"})
        api.post("/auth/groups", json={"id": "crew"})

    def ask(self, method: str, path: str, examples: int) -> None:
        """Ask one operation in many ways."""
        operation = self.schema[path][method]
        there = {name: value for name, value in THERE.items() if f"{{{name}}}" in path}
        places: list[dict[str, str] | None] = [there, None] if there else [None]
        answers: set[int] = set()

        def check(case: "schemathesis.Case[Any]") -> None:
            answer = case.call(headers=self.headers)
            answers.add(answer.status_code)
            unfinished = answer.status_code == 501 and b'"not-implemented"' in answer.content
            excluded: list[Any] = [positive_data_acceptance]
            if unfinished:
                excluded.append(schemathesis.checks.not_a_server_error)
            case.validate_response(answer, headers=self.headers, excluded_checks=excluded)

        cases = st.one_of(
            [operation.as_strategy(mode, path_parameters=at) for mode in MODES for at in places]
        )
        quiet = settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        seed(SEED)(quiet(given(cases)(check)))()
        assert answers


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with open_api(tmp_path_factory.mktemp("fuzz") / "lake") as api:
        yield Served(api)


@pytest.mark.parametrize(("method", "path"), ADDRESSES)
def test_every_answer_is_one_that_the_document_describes(
    served: Served, method: str, path: str
) -> None:
    served.make_all()
    served.ask(method, path, EXAMPLES)


@pytest.mark.campaign
@pytest.mark.parametrize(("method", "path"), ADDRESSES)
def test_every_answer_is_one_that_the_document_describes_at_length(
    tmp_path: Path, method: str, path: str
) -> None:
    with open_api(tmp_path / "lake") as api:
        served = Served(api)
        served.make_all()
        served.ask(method, path, EXAMPLES_OF_A_CAMPAIGN)
