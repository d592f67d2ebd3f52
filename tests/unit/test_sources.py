# SPDX-License-Identifier: Apache-2.0
"""The files that are taken for a campaign's imports are all that its process loads."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.sources import imported, is_by_imports

ROOT = Path(__file__).parents[2]
BY_IMPORTS = sorted(
    path.name for path in (ROOT / "tests/verify").glob("test_*.py") if is_by_imports(path)
)
# Of the longest campaign some seeds, too: what is loaded late would be loaded by then.
LOAD = """
import json, sys
from importlib import import_module
module = import_module(sys.argv[1])
if hasattr(module, "run_chaos"):
    module.run_chaos(1_000_000, 5)
print(json.dumps([one.__file__ for one in sys.modules.values() if getattr(one, "__file__", None)]))
"""


@pytest.mark.parametrize("name", BY_IMPORTS)
def test_a_campaign_loads_nothing_but_what_it_is_said_to_stand_on(name: str) -> None:
    said = imported(ROOT, ROOT / "tests/verify" / name)
    command = [sys.executable, "-c", LOAD, Path(name).stem]
    around = {"PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / 'tests/verify'}"}
    ended = subprocess.run(command, env=around, capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stderr
    loaded = {Path(file) for file in json.loads(ended.stdout)}
    ours = {file for file in loaded if {ROOT / "src", ROOT / "tests"} & set(file.parents)}
    kernel = ROOT / "src/lochan/kernel"
    assert len(ours) > 10
    assert {file for file in ours - said if kernel not in file.parents} == set()


def test_the_longest_campaigns_stand_on_their_imports() -> None:
    assert {"test_chaos_campaign.py", "test_gc_campaign.py"} <= set(BY_IMPORTS)
