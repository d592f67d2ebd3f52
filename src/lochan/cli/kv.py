# SPDX-License-Identifier: Apache-2.0
"""`lochan kv`: copy, save and restore the key-value store of a lake."""

from contextlib import closing
from typing import Annotated

import typer

from lochan.cli.settings import Config, Kv, LakeFolder, lake_settings
from lochan.cli.show import Show, size, when
from lochan.cli.verb import new_app, verb
from lochan.config.server import Settings
from lochan.environment import RealEnvironment
from lochan.kv.open import open_store
from lochan.model.instant import NANOSECONDS
from lochan.objects.open import open_objects
from lochan.operations.kv_copy import SETTLE_S, Progress, copy_lake, release
from lochan.operations.kv_restore import restore_store
from lochan.operations.kv_snapshot import Saved, snapshot_store
from lochan.operations.kv_snapshot_parts import Snapshot, list_snapshots

app = new_app("Copy, save and restore the key-value store of a lake.")

Place = Annotated[
    str,
    typer.Option(
        "--place",
        help="Where snapshots lie, as s3://bucket/prefix or local:///folder;"
        " else _kv-snapshots below the place of repositories.",
    ),
]


@verb(app, "copy")
def copy(
    show: Show,
    *,
    source: Annotated[str, typer.Argument(help="Url of the store to copy, e.g. sqlite://...")],
    destination: Annotated[str, typer.Argument(help="Url of an empty store.")],
    settle: Annotated[
        float,
        typer.Option(
            "--settle", min=0, help="Seconds that a write under way may last; 0 if no server runs."
        ),
    ] = SETTLE_S,
    give_up: Annotated[
        bool, typer.Option("--give-up", help="Let writers back into the source instead.")
    ] = False,
) -> None:
    """Copy a lake to another key-value store while it is used; run it again after an interruption.

    Towards the end the source becomes read-only, and stays so: point the servers to the copy.
    """
    world = RealEnvironment()
    with closing(open_store(source, world)) as old, closing(open_store(destination, world)) as new:
        if give_up:
            release(old, new, world)
            show.done("the source can be written to again", released=True)
            return
        with show.bytes_bar("copying") as bar:

            def tell(progress: Progress) -> None:
                bar.describe(f"{progress.phase}, pass {progress.number}")
                bar.reach(progress.seen.size_bytes)

            copied = copy_lake(old, new, world, settle_s=settle, progress=tell)
    line = f"copied {copied.rows} rows, {size(copied.size_bytes)}, in {copied.passes} passes"
    show.done(
        f"{line}; the source is read-only now: point the servers to the copy",
        rows=copied.rows,
        size_bytes=copied.size_bytes,
        partitions=copied.partitions,
        passes=copied.passes,
    )


@verb(app, "snapshot")
def snapshot(
    show: Show,
    place: Place = "",
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
) -> None:
    """Save the whole key-value store as hashed files of an object store, while it is used."""
    settings = lake_settings(lake, kv, config)
    world = RealEnvironment()
    chosen = _place(place, settings)
    with (
        closing(open_store(settings.kv_url, world)) as store,
        closing(open_objects(chosen, world)) as objects,
        show.bytes_bar("saving") as bar,
    ):

        def tell(saved: Saved) -> None:
            bar.reach(saved.size_bytes)

        made = snapshot_store(store, objects, world, progress=tell)
    line = f"saved {made.rows} rows, {size(made.size_bytes)}, as {made.id} in {chosen}"
    show.done(line, place=chosen, **_facts(made))


@verb(app, "snapshots")
def snapshots(
    show: Show, place: Place = "", config: Config = None, lake: LakeFolder = None
) -> None:
    """List the snapshots that can be restored, oldest first."""
    settings = lake_settings(lake, None, config)
    with closing(open_objects(_place(place, settings), RealEnvironment())) as objects:
        found = list(list_snapshots(objects))
    if show.json:
        show.value([_facts(one) for one in found])
        return
    show.rows(
        found,
        {
            "id": lambda one: one.id,
            "created": lambda one: when(one.created / NANOSECONDS),
            "rows": lambda one: one.rows,
            "size": lambda one: size(one.size_bytes),
        },
    )


@verb(app, "restore")
def restore(
    show: Show,
    snapshot_id: Annotated[str, typer.Argument(help="Which snapshot; `kv snapshots` lists them.")],
    place: Place = "",
    config: Config = None,
    lake: LakeFolder = None,
    kv: Kv = None,
) -> None:
    """Fill an empty key-value store from a snapshot, after every byte of it was checked."""
    settings = lake_settings(lake, kv, config)
    world = RealEnvironment()
    with (
        closing(open_objects(_place(place, settings), world)) as objects,
        closing(open_store(settings.kv_url, world)) as store,
        show.count_bar("restoring") as bar,
    ):

        def tell(stage: str, done: int, total: int) -> None:
            bar.describe(stage)
            bar.reach(done, total)

        made = restore_store(objects, snapshot_id, store, progress=tell)
    show.done(f"restored {made.rows} rows, {size(made.size_bytes)}, from {made.id}", **_facts(made))


def _place(given: str, settings: Settings) -> str:
    return given or f"{settings.namespace_prefix.removesuffix('/')}/_kv-snapshots"


def _facts(snapshot: Snapshot) -> dict[str, object]:
    return {
        "id": snapshot.id,
        "created": snapshot.created,
        "rows": snapshot.rows,
        "size_bytes": snapshot.size_bytes,
        "parts": len(snapshot.parts),
    }
