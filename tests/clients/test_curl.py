# SPDX-License-Identifier: Apache-2.0
"""curl against the API: what a person types."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from servers.missing import skip_without
from support.server import Server


class Curl:
    """curl with the administrator's key, in a folder."""

    def __init__(self, server: Server, repository: str, folder: Path) -> None:
        """Speak to one repository."""
        self.key = ":".join(server.auth)
        self.api, self.at = server.api, f"{server.api}/repositories/{repository}"
        self.folder = folder

    def __call__(self, *args: str) -> str:
        command = ["curl", "--silent", "--show-error", "--user", self.key, *args]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=True)
        return done.stdout.decode()

    def json(self, *args: str) -> Any:  # noqa: ANN401 - JSON
        return json.loads(self("--fail-with-body", *args))

    def status(self, *args: str) -> str:
        return self("--output", "/dev/null", "--write-out", "%{http_code}", *args)


@pytest.fixture
def curl(server: Server, repository: str, tmp_path: Path) -> Curl:
    if shutil.which("curl") is None:
        skip_without("curl", "no such program on the PATH")
    (tmp_path / "in.txt").write_text("hello lake\n")
    return Curl(server, repository, tmp_path)


def test_a_file_goes_up_and_comes_down(curl: Curl) -> None:
    place = f"{curl.at}/branches/main/objects?path=a/in.txt"
    up = curl.json("--data-binary", "@in.txt", "-H", "Content-Type: text/plain", place)
    assert (up["size_bytes"], up["content_type"]) == (11, "text/plain")
    assert up["checksum"] == hashlib.md5(b"hello lake\n").hexdigest()
    down = f"{curl.at}/refs/main/objects?path=a/in.txt"
    assert curl(down) == "hello lake\n"
    assert curl("--range", "6-9", down) == "lake"
    assert curl.status("--range", "6-9", down) == "206"
    assert curl.status("--range", "20-", down) == "416"
    tag = f'If-None-Match: "{up["checksum"]}"'
    assert curl.status("-H", tag, down) == "304"
    assert "content-length: 11" in curl("--head", down).lower()


def test_a_form_and_a_stream_without_a_length_go_up_too(curl: Curl) -> None:
    place = f"{curl.at}/branches/main/objects?path="
    form = curl.json("--form", "content=@in.txt;type=text/x-own", place + "form")
    assert (form["size_bytes"], form["content_type"]) == (11, "text/x-own")
    pieces = ("-X", "POST", "--upload-file", "in.txt", "-H", "Transfer-Encoding: chunked")
    stream = curl.json(*pieces, place + "stream")
    assert stream["checksum"] == form["checksum"]


def test_metadata_keeps_the_names_of_its_headers(curl: Curl) -> None:
    place = f"{curl.at}/branches/main/objects?path=m"
    curl.json("--data-binary", "@in.txt", "-H", "x-lakefs-meta-my_key: v", place)
    stat = curl.json(f"{curl.at}/refs/main/objects/stat?path=m&user_metadata=true")
    assert stat["metadata"] == {"my_key": "v"}


def test_a_signed_url_needs_no_key(curl: Curl) -> None:
    curl.json("--data-binary", "@in.txt", f"{curl.at}/branches/main/objects?path=a")
    down = f"{curl.at}/refs/main/objects?path=a&presign=true"
    assert curl.status(down) == "302"
    assert curl("--location", down) == "hello lake\n"


def test_a_branch_from_its_making_to_its_merge(curl: Curl) -> None:
    body = ("-H", "Content-Type: application/json", "--data")
    curl(*body, '{"name": "fix", "source": "main"}', f"{curl.at}/branches")
    curl.json("--data-binary", "@in.txt", f"{curl.at}/branches/fix/objects?path=a")
    curl.json(*body, '{"message": "a"}', f"{curl.at}/branches/fix/commits")
    diff = curl.json(f"{curl.at}/refs/main/diff/fix")
    assert [(one["type"], one["path"]) for one in diff["results"]] == [("added", "a")]
    made = curl.json("-X", "POST", f"{curl.at}/refs/fix/merge/main")
    assert curl.json(f"{curl.at}/branches/main")["commit_id"] == made["reference"]


def test_what_is_wrong_is_said_in_one_line(curl: Curl, server: Server) -> None:
    missing = f"{curl.at}/refs/main/objects?path=no"
    assert curl.status(missing) == "404"
    told = json.loads(curl(missing))
    assert "\n" not in told["message"]
    assert told["code"]
    assert curl.status("--user", "AKIA:wrong", missing) == "401"


def test_the_server_s_address_leads_to_a_page(curl: Curl, server: Server) -> None:
    page = curl("--location", f"{server.url}/")
    assert page.lower().startswith("<!doctype html>")
    assert curl.status(f"{server.url}/nowhere") == "404"
