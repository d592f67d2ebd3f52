# SPDX-License-Identifier: Apache-2.0
"""The page about Python is true: its blocks run, in their order."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "python.md"


def test_every_block_of_the_page_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)

    assert len(blocks) == PAGE.read_text().count("```python") > 4
    script = "\n".join(blocks)
    subprocess.run([sys.executable, "-W", "error", "-c", script], cwd=tmp_path, check=True)
