# SPDX-License-Identifier: Apache-2.0
"""Stories of what goes into a lake and out of it in bulk: garbage, exports, inventories, reports.

Like those of fault_stories, of which they are a part. Most of them change nothing that a ref shows.
So each looks at its own end, with stores that do not fail: of a lake that was collected, all that
refs show can be read and nothing dead is left; a destination holds what the ref shows.

GROUNDS says what is done to the ground of fault_ground before some of them.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from lochan.errors import NotFound
from lochan.kernel.records import Record
from lochan.model.ids import ObjectKey, StorageNamespace
from lochan.model.instant import from_seconds
from lochan.objects.address import BLOCKS
from lochan.objects.walk import walk
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.delete_objects import delete_objects
from lochan.operations.export_places import StorePlace, open_place
from lochan.operations.export_ref import STATE, export_ref
from lochan.operations.gc.collect import GRACE_S, Collection, collect, plan
from lochan.operations.gc.empty import empty_trash
from lochan.operations.gc.held import hold, holds, let_go, reusable
from lochan.operations.gc.still_there import still_there
from lochan.operations.gc.sweeping import is_under_way, last_sweep
from lochan.operations.gc.trash import PREFIX as TRASH
from lochan.operations.gc.trash import State, list_trash
from lochan.operations.gc.undo import undo
from lochan.operations.import_inventory import Inventory, import_inventory
from lochan.operations.import_objects import ImportRequest
from lochan.operations.list_objects import list_objects
from lochan.operations.open_commits.cancel_commit import cancel_commit
from lochan.operations.open_commits.put_file import Mode, put_file
from lochan.operations.put_object import put_object
from lochan.operations.read_object import get_object
from lochan.operations.repositories import delete_repository
from lochan.operations.storage_report import storage_report
from lochan.refs.cleaner import Cleaner
from support.fault_ground import DEV, FILES, MAIN, NAMESPACE, OLD, V1, Place
from support.fault_stories_around import begin_collection

REFS = (MAIN, DEV, OLD, FILES, V1)
EXPORTED = StorageNamespace("mem://exported")
FORCED = Collection(force=True)
AT_ONCE = Collection(force=True, grace_s=0)
DAY_S = 86_400.0
INVENTORY = """key,address,size,e_tag,last_modified
raw/y,mem://far/raw/y,1,ey,2024-05-06T07:08:09Z
raw/x,mem://far/raw/x,1,ex,2024-05-06T07:08:09Z
"""


def grown_old(ground: Place) -> Place:
    """Have dead objects of every kind, long dead, and nobody else in the namespace.

    One was staged and replaced, one is a block of a commit that was given up, and one is of a
    commit that the rules do not keep.
    """
    place = ground.copy()
    lake, repository = place.where
    delete_repository(lake, place.known.spare)
    for body in (b"of a commit that expires", b"replaced at once", b"kept"):
        put_object(lake, repository, MAIN, ObjectKey(b"d/m"), body)
        if body != b"replaced at once":
            place.world.sleep(10)
            commit(lake, repository, MAIN, CommitRequest("ann", body.decode()))
    put_file(lake, repository, place.known.opened, b"d/h", b"given up", mode=Mode.OVERWRITE)
    cancel_commit(lake, repository, place.known.opened)
    place.world.sleep(60 * DAY_S)
    for _ in range(3):
        assert Cleaner(place.kept, place.world, grace_s=0).run().skipped == ()
    found = plan(*place.again().where)
    assert found.commits_expired
    assert any(address.startswith(BLOCKS) for address in found.examples)
    return place


def condemned(ground: Place) -> Place:
    place = grown_old(ground)
    collect(*place.where, FORCED)
    place.world.sleep(GRACE_S + 1)
    return place


def in_trash(ground: Place) -> Place:
    place = condemned(ground)
    assert collect(*place.where, FORCED).moved >= 3
    place.world.sleep(GRACE_S + 1)
    return place


def alive_in_trash(ground: Place) -> Place:
    """Have something in the trash that is shown again, as by a KV store that was restored."""
    place, key = ground.copy(), ObjectKey(b"d/n")
    lake, repository = place.where
    put_object(lake, repository, OLD, key, b"shown again")
    token = lake.branches.fresh(repository, OLD).record.staging_token
    staged = lake.staging.find(token, key)
    assert staged is not None
    delete_objects(lake, repository, OLD, [key])
    place = in_trash(place)
    place.lake.staging.set(token, staged[0])
    return place


def exported_before(ground: Place) -> Place:
    """Have a destination that holds another branch, with a file that is to go."""
    place = ground.copy()
    export_ref(*place.where, DEV, StorePlace(place.lake.storage(EXPORTED).objects))
    return place


def bodies(place: Place, ref: str) -> dict[str, bytes]:
    """Read everything that a ref shows."""
    found = {}
    for item in list_objects(*place.where, ref).items:
        assert isinstance(item, Record)
        _, reading = get_object(*place.where, ref, ObjectKey(item.key))
        with reading:
            found[item.key.decode()] = reading.read()
    return found


def addresses(place: Place, prefix: str) -> list[str]:
    return [listed.address for listed in walk(place.objects[NAMESPACE], f"{prefix}/")]


def held_in_trash(place: Place) -> list[str]:
    """Name what is in the trash by where it was."""
    return [address.split("/", 3)[3] for address in addresses(place, TRASH)]


def count_dead(place: Place) -> int:
    """Count what is dead, however young: what comes back from the trash is stored anew."""
    place.world.sleep(1)
    return plan(*place.where, AT_ONCE).dead.count


def require_all_readable(place: Place) -> None:
    for ref in REFS:
        assert bodies(place, ref)


def collect_all(place: Place, how: Collection = FORCED) -> None:
    before = {*addresses(place, "data"), *held_in_trash(place)}
    collect(*place.where, how)
    sure = place.again()
    require_all_readable(sure)
    assert count_dead(sure) == 0
    assert not is_under_way(last_sweep(*sure.where))
    rows = list_trash(*sure.where)
    assert {row.state for row in rows} == {State.MOVED}
    after = {*addresses(sure, "data"), *held_in_trash(sure)}
    assert after == before, "nothing is gone for good"


def undo_all(place: Place) -> None:
    """Bring back what is in the trash; it may all be back."""
    with suppress(NotFound):
        undo(*place.where)
    sure = place.again()
    require_all_readable(sure)
    assert count_dead(sure) >= 3
    assert (list_trash(*sure.where), addresses(sure, TRASH)) == ([], [])


def empty_all(place: Place) -> None:
    empty_trash(*place.where)
    sure = place.again()
    require_all_readable(sure)
    assert (list_trash(*sure.where), addresses(sure, TRASH)) == ([], [])


def export(place: Place) -> None:
    objects = place.lake.storage(EXPORTED).objects
    export_ref(*place.where, MAIN, StorePlace(objects), delete=True)
    sure, found = place.objects[EXPORTED], {}
    for listed in walk(sure):
        with sure.get(listed.address) as reading:
            found[listed.address] = reading.read()
    assert found.pop(STATE)
    assert found == bodies(place.again(), f"{MAIN}@")


def export_files(place: Place) -> None:
    with TemporaryDirectory() as folder:
        export_ref(*place.where, MAIN, open_place(folder, place.world))
        shown = bodies(place.again(), f"{MAIN}@")
        assert {key: Path(folder, key).read_bytes() for key in shown} == shown


def import_list(place: Place) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "inventory.csv")
        path.write_text(INVENTORY)
        inventory = Inventory([str(path)], "csv", prefix="raw/", destination="in")
        import_inventory(*place.where, MAIN, inventory, ImportRequest("ada", "story"))


def hold_work(place: Place) -> None:
    """Hold something, use an object again, and let go."""
    hold(*place.where, "work", from_seconds(place.world.now()), [place.known.first.id])
    assert holds(*place.again().where)["work"].commits == (place.known.first.id,)
    there = addresses(place, "data")[:3]
    assert reusable(*place.where, ["data/x"]) == {"data/x"}
    assert still_there(*place.where, ["data/x", *there]) == set(there)
    let_go(*place.where, "work")
    assert holds(*place.again().where) == {}


BEYOND: dict[str, Callable[[Place], object]] = {
    "plan a collection": lambda p: plan(*p.where),
    "collect what was condemned": collect_all,
    "collect at once": lambda p: collect_all(p, AT_ONCE),
    "undo a collection": undo_all,
    "start plan": lambda p: begin_collection(p, is_plan=True),
    "start collection": lambda p: begin_collection(p, is_plan=False),
    "hold work": hold_work,
    "empty the trash": empty_all,
    "empty the trash of the living": empty_all,
    "storage report": lambda p: storage_report(*p.where),
    "export": export,
    "export to a folder": export_files,
    "import inventory": import_list,
}

GROUNDS: dict[str, Callable[[Place], Place]] = {
    "plan a collection": grown_old,
    "collect what was condemned": condemned,
    "collect at once": grown_old,
    "start plan": grown_old,
    "start collection": grown_old,
    "undo a collection": in_trash,
    "empty the trash": in_trash,
    "empty the trash of the living": alive_in_trash,
    "export": exported_before,
}
