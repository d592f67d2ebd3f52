# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.config.values import Address, Network, Size


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8000", "127.0.0.1", 8000),
        ("[::1]:80", "::1", 80),
        (":8000", "0.0.0.0", 8000),
        ("lake.example:0", "lake.example", 0),
    ],
)
def test_an_address_is_read_and_written(text: str, host: str, port: int) -> None:
    address = Address.parse(text)

    assert address == (host, port)
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize("text", ["8000", "host", "host:", "host:http", "host:65536", "::1:80", 80])
def test_what_is_no_address_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"host:port|brackets"):
        Address.parse(text)


@pytest.mark.parametrize(
    ("host", "near"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("me", False)],
)
def test_an_address_knows_whether_others_can_reach_it(host: str, near: bool) -> None:  # noqa: FBT001 - expected value
    assert Address(host, 1).is_loopback is near


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), (7, 7), ("4MiB", 4 << 20), ("4 mb", 4 << 20), ("1.5K", 1536), ("5TiB", 5 << 40)],
)
def test_a_size_is_read_with_its_unit(text: object, size: int) -> None:
    assert Size.parse(text) == size


@pytest.mark.parametrize("text", ["", "many", "-1", "1PB", "1e3", True, None, 1.5j])
def test_what_is_no_size_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="4MiB"):
        Size.parse(text)


@given(st.integers(0, 1 << 50))
def test_a_size_comes_back_from_its_text(size: int) -> None:
    assert Size.parse(str(Size(size))) == size


def test_rel_S11_a_network_knows_its_addresses() -> None:
    network = Network.parse("10.0.0.0/8")

    assert "10.1.2.3" in network
    assert "11.1.2.3" not in network
    assert "somebody" not in network
    assert Network.parse(str(network)) == network


@pytest.mark.parametrize("text", ["somebody", "10.0.0.1/8", "10.0.0.0/33"])
def test_what_is_no_network_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"10\.0\.0\.0/8"):
        Network.parse(text)
