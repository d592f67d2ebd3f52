# SPDX-License-Identifier: Apache-2.0
"""`lochan version`: of the package, of Python, and which kernel is in use."""

import platform

from lochan import __version__
from lochan.cli.show import Show
from lochan.cli.verb import new_app, verb
from lochan.kernel.chosen import kernel

app = new_app()


@verb(app, "version")
def version(show: Show) -> None:
    """Say which version this is, and what it runs on."""
    facts = {
        "lochan": __version__,
        "python": platform.python_version(),
        "kernel": str(getattr(kernel, "__name__", "")).rpartition(".")[2],
    }
    show.record(facts)
