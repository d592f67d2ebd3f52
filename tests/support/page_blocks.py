# SPDX-License-Identifier: Apache-2.0
"""The blocks of a page of documentation, run in their order as a reader would.

    ```sh        a shell; what it exports holds for all blocks after it
    ```python    a program
    ```text      what the block before it shows; `...` stands for anything in a line, and a line of
                 nothing else for any lines

`lochan quickstart` is started beside the others and stopped at the end, on a port of its own: where
the page has port 8000, that port is meant.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

import httpx

from support.ports import free_port

BLOCK = re.compile(r"^```(sh|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PORT = "8000"
SERVER = "lochan quickstart"
START_S = 60.0


@dataclass(frozen=True, slots=True)
class Block:
    """A block, and what it is said to show."""

    line: int
    kind: str
    body: str
    shows: str | None


def blocks_of(page: Path) -> list[Block]:
    """Give the blocks of a page that can be run."""
    text = page.read_text()
    found: list[Block] = []
    for match in BLOCK.finditer(text):
        if match[1] == "text":
            found[-1] = Block(found[-1].line, found[-1].kind, found[-1].body, match[2])
        else:
            found.append(Block(text.count("\n", 0, match.start()) + 2, match[1], match[2], None))
    return found


def as_shown(expected: str) -> re.Pattern[str]:
    """Make what a page shows a pattern; runs of spaces count as one."""
    lines = []
    for line in expected.strip("\n").split("\n"):
        if line == "...":
            lines.append(r"(?:.*\n)*?")
        else:
            words = (re.escape(part) for part in re.split(r" +|\.\.\.", line.strip()))
            gaps = re.findall(r" +|\.\.\.", line.strip())
            joined = [next(words)]
            for gap, word in zip(gaps, words, strict=True):
                joined += [".*" if gap == "..." else " +", word]
            lines.append(r"\s*" + "".join(joined) + r" *\n")
    return re.compile("".join(lines))


@dataclass(slots=True)
class Reader:
    """Somebody who types what the page says, in an empty folder."""

    folder: Path
    port: str = field(default_factory=lambda: str(free_port()))
    exports: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def server(self) -> Iterator[None]:
        """Serve while the other blocks are run."""
        command = [*SERVER.split(), "--port", self.port]
        with (self.folder / "server.log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=self.folder, env=self._surroundings(), stdout=log, stderr=log
            )
        try:
            self._wait(process)
            yield
        finally:
            process.terminate()
            assert process.wait(60) == 0

    def run(self, block: Block) -> str:
        """Run a block, and give what it writes to stdout."""
        body = block.body.replace(f":{PORT}", f":{self.port}")
        if block.kind == "python":
            command = [sys.executable, "-W", "error", "-c", body]
        else:
            command = ["bash", "-eu", "-o", "pipefail", "-c", f"{body}\nenv -0 > exports"]
        done = subprocess.run(
            command, cwd=self.folder, env=self._surroundings(), capture_output=True, check=False
        )
        shown = done.stdout.decode()
        assert done.returncode == 0, f"line {block.line}: {shown}{done.stderr.decode()}"
        if block.kind == "sh":
            self._remember()
        return shown

    def _remember(self) -> None:
        rows = (self.folder / "exports").read_text().rstrip("\0").split("\0")
        kept = dict(row.split("=", 1) for row in rows)
        self.exports = {name: value for name, value in kept.items() if name.startswith("LOCHAN_")}

    def _surroundings(self) -> dict[str, str]:
        commands = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
        endpoint = f"http://127.0.0.1:{self.port}"
        told = {"PATH": commands, "HOME": str(self.folder), "LOCHAN_SERVER_ENDPOINT_URL": endpoint}
        return {**told, **self.exports}

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        give_up = monotonic() + START_S
        while process.poll() is None and monotonic() < give_up:
            try:
                if httpx.get(f"http://127.0.0.1:{self.port}/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                sleep(0.05)
        raise AssertionError((self.folder / "server.log").read_text())
