# SPDX-License-Identifier: Apache-2.0
"""What clients tell about themselves is taken and kept nowhere."""

from support.web import Api


def test_events_are_taken_from_who_is_signed_in(api: Api) -> None:
    told = {"events": [{"class": "cli", "name": "ls", "count": 3}]}
    assert api.post("/statistics", json=told).status_code == 204
    assert api.user("bob").post("/statistics", json=told).status_code == 204
    assert api.nobody().post("/statistics", json=told).status_code == 401
    assert api.post("/statistics", json={"events": [{"class": "cli"}]}).status_code == 400


def test_wishes_to_be_written_to_are_taken_from_anybody(api: Api) -> None:
    told = {"email": "ada@example.org", "featureUpdates": True, "securityUpdates": False}
    assert api.nobody().post("/setup_comm_prefs", json=told).status_code == 200
