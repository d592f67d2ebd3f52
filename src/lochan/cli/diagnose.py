# SPDX-License-Identifier: Apache-2.0
"""`lochan diagnose`: a bundle for people who help, without what is nobody's business."""

from pathlib import Path
from typing import Annotated

import typer

from lochan.cli.settings import Config, Kv, LakeFolder, lake_settings, opened_lake
from lochan.cli.show import Show
from lochan.cli.verb import new_app, verb
from lochan.operations.diagnose import diagnose as write_bundle

app = new_app()


@verb(app, "diagnose")
def diagnose(
    show: Show,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write; it must not exist.")
    ] = Path("lochan-diagnose.zip"),
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
) -> None:
    """Write names, ids, times and counts to a zip; no messages, metadata, paths or secrets."""
    with opened_lake(lake_settings(lake, kv, config)) as opened, output.open("xb") as file:
        write_bundle(opened, file)
    show.done(f"wrote {output}; look into it before you send it", file=str(output))
