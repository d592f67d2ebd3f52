# SPDX-License-Identifier: Apache-2.0
"""Who is believed about X-Forwarded-For and X-Forwarded-Proto."""

from pathlib import Path

import falcon.testing
import pytest

from lochan.config.values import Network
from lochan.web.proxies import Proxies
from support.web import open_api

TRUSTED = (Network.parse("10.0.0.0/8"), Network.parse("::1"))


def told(peer: str, **headers: str) -> tuple[str, str]:
    """Give who asks and over what, once the middleware has seen the request."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = falcon.testing.create_req(headers=named, remote_addr=peer)
    Proxies(TRUSTED).process_request(request, falcon.Response())
    return request.remote_addr, request.scheme


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.7", "198.51.100.1", "192.0.2.7"),
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "127.0.0.1, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "203.0.113.9, 198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "198.51.100.1, unknown, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("[::1]", "2001:db8::5", "2001:db8::5"),
        ("::1", "[2001:db8::5]", "2001:db8::5"),
    ],
)
def test_rel_S11_the_client_is_who_the_last_trusted_proxy_saw(
    peer: str, forwarded: str, client: str
) -> None:
    assert told(peer, X_Forwarded_For=forwarded)[0] == client


@pytest.mark.parametrize(
    ("peer", "said", "scheme"),
    [
        ("10.0.0.1", "https", "https"),
        ("10.0.0.1", "http, https", "https"),
        ("10.0.0.1", "javascript", "http"),
        ("192.0.2.7", "https", "http"),
    ],
)
def test_rel_S11_the_scheme_is_believed_of_trusted_proxies_alone(
    peer: str, said: str, scheme: str
) -> None:
    assert told(peer, X_Forwarded_Proto=said)[1] == scheme


@pytest.mark.parametrize(("trusted", "seen"), [((), "127.0.0.1"), (("127.0.0.1",), "192.0.2.7")])
def test_rel_S11_the_audit_log_has_the_address_that_is_believed(
    tmp_path: Path, trusted: tuple[str, ...], seen: str
) -> None:
    networks = tuple(Network.parse(one) for one in trusted)
    with open_api(tmp_path / "lake", trusted_proxies=networks) as api:
        said = {"X-Forwarded-For": "192.0.2.7"}
        api.nobody().get("/user", headers=said, extras={"REMOTE_ADDR": "127.0.0.1"})
    assert f'"address":"{seen}"' in (tmp_path / "lake" / "log").read_text().replace(" ", "")
