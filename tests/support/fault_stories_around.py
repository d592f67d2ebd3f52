# SPDX-License-Identifier: Apache-2.0
"""Stories of what goes on around versions: settings of a repository, tasks, sample data, snapshots.

Like those of fault_stories, of which they are a part.
"""

from collections.abc import Callable
from contextlib import suppress

from lochan.errors import Conflict
from lochan.model.ids import BranchName, ObjectKey, RepositoryId, StorageNamespace
from lochan.model.records import BranchProtectionRule
from lochan.model.tasks import Task
from lochan.operations import repositories
from lochan.operations.gc.collect import Collection
from lochan.operations.import_objects import ImportRequest
from lochan.operations.import_paths import ImportPath
from lochan.operations.import_sources import ImportSources
from lochan.operations.kv_restore import restore_store
from lochan.operations.kv_snapshot import snapshot_store
from lochan.operations.kv_snapshot_parts import list_snapshots
from lochan.operations.listed_inventory import list_inventory
from lochan.operations.protection import (
    add_branch_protection,
    get_branch_protection,
    remove_branch_protection,
    set_branch_protection,
)
from lochan.operations.read_object import recall_entry, stat_committed, stat_object
from lochan.operations.repository_metadata import (
    delete_repository_metadata,
    get_repository_metadata,
    set_repository_metadata,
)
from lochan.operations.restore_refs import read_manifest
from lochan.operations.retention import delete_gc_rules, get_gc_rules, set_gc_rules
from lochan.operations.sample_data import add_sample_data
from lochan.operations.start_collection import start_collection, start_report, start_undo
from lochan.operations.start_dump import start_dump, start_restore
from lochan.operations.start_import import start_import
from lochan.operations.storage_namespaces import allowed_namespace
from lochan.operations.task_rows import TaskKind, TaskRows
from lochan.operations.tasks import Tasks
from support.fault_ground import DEV, KEPT, MAIN, Place

B = ObjectKey(b"d/b")
LISTED = b"key,address,size,e_tag,last_modified\nx,mem://far/raw/x,1,ex,2024-05-06T07:08:09Z\n"
SNAPSHOTS = StorageNamespace("mem://snapshots")
PATHS = [ImportPath("mem://far/raw/", b"in/")]
SOURCES = ImportSources(prefixes=["mem://far"])


def others_namespace(number: int, name: RepositoryId) -> StorageNamespace:
    return allowed_namespace("", name, [f"mem://others-{number}"])


def ended(place: Place, kind: TaskKind, begin: Callable[[Tasks], Task]) -> None:
    """Begin a task, which runs at once, and say what its row says of its end."""
    task = begin(Tasks(place.store, place.world, _raise))
    repository = place.known.spare if kind is TaskKind.RESTORE else place.known.repository
    row = TaskRows(place.kept, place.world, repository, kind).get(task.id)
    if row.error:
        raise Conflict(row.error, code=row.error_code)


def _raise(error: Exception) -> None:
    raise error


def begin_import(place: Place) -> None:
    request = ImportRequest("ada", "story")
    ended(
        place,
        TaskKind.IMPORT,
        lambda tasks: start_import(
            place.lake, tasks, SOURCES, place.known.repository, MAIN, PATHS, request
        ),
    )


def begin_dump(place: Place) -> None:
    ended(place, TaskKind.DUMP, lambda tasks: start_dump(place.lake, tasks, place.known.repository))


def begin_restore(place: Place) -> None:
    dump = read_manifest(*place.where)
    ended(
        place,
        TaskKind.RESTORE,
        lambda tasks: start_restore(place.lake, tasks, place.known.spare, dump),
    )


def begin_collection(place: Place, *, is_plan: bool) -> None:
    ended(
        place,
        TaskKind.COLLECT,
        lambda tasks: start_collection(
            place.lake, tasks, place.known.repository, Collection(), is_plan=is_plan
        ),
    )


def begin_undo(place: Place) -> None:
    """Undo a run that never was: it is told so."""
    with suppress(Conflict):
        ended(
            place,
            TaskKind.COLLECT,
            lambda tasks: start_undo(place.lake, tasks, place.known.repository, "never"),
        )


def begin_report(place: Place) -> None:
    ended(
        place,
        TaskKind.STORAGE_REPORT,
        lambda tasks: start_report(place.lake, tasks, place.known.repository, [MAIN]),
    )


def recall(place: Place) -> None:
    """What memory holds is told without a call; what it does not hold is no answer."""
    read = stat_committed(*place.where, place.known.on_dev.id, B)
    assert recall_entry(*place.where, place.known.on_dev.id, B) in (None, read)
    assert recall_entry(*place.where, DEV, B) in (None, stat_object(*place.where, DEV, B))


def read_inventory(place: Place) -> None:
    place.again().lake.storage(SNAPSHOTS).objects.put("inventory.csv", LISTED)
    objects = place.lake.storage(SNAPSHOTS).objects
    listed = list_inventory(objects, "inventory.csv", "mem://far/raw/", b"to/")
    assert [one.key for one in listed] == [b"to/x"]


def save_and_fill(place: Place) -> None:
    """Save the store, find what was saved, and fill another one with it."""
    objects = place.lake.storage(SNAPSHOTS).objects
    made = snapshot_store(place.store, objects, place.world, part_bytes=2_000)
    assert made in list(list_snapshots(objects))
    restore_store(objects, made.id, place.target)


AROUND: dict[str, Callable[[Place], object]] = {
    "get protection": lambda p: get_branch_protection(*p.where),
    "set protection": lambda p: set_branch_protection(*p.where, [BranchProtectionRule("main")]),
    "add protection": lambda p: add_branch_protection(*p.where, MAIN),
    "remove protection": lambda p: remove_branch_protection(*p.where, KEPT),
    "set read-only": lambda p: repositories.set_read_only(*p.where, read_only=True),
    "delete this repository": lambda p: repositories.delete_repository(*p.where),
    "get retention": lambda p: get_gc_rules(*p.where),
    "set retention": lambda p: set_gc_rules(*p.where, 3, {BranchName("dev"): 1}),
    "delete retention": lambda p: delete_gc_rules(*p.where),
    "get metadata": lambda p: get_repository_metadata(*p.where),
    "set metadata": lambda p: set_repository_metadata(*p.where, {"owner": "ada", "for": "tests"}),
    "delete metadata": lambda p: delete_repository_metadata(*p.where, ["owner"]),
    "sample data": lambda p: add_sample_data(*p.where, "ada"),
    "start import": begin_import,
    "start dump": begin_dump,
    "start restore": begin_restore,
    "start undo": begin_undo,
    "start report": begin_report,
    "recall": recall,
    "read an inventory": read_inventory,
    "snapshot": save_and_fill,
}
