# SPDX-License-Identifier: Apache-2.0
"""Tell a story with one call failing, as another process see what is left, and tell it again.

What a lake shows is a flat dictionary. With it, these are one line each: everything is as it was
before the story or as it is after it; a story that is told again comes to its end, or says that it
had; what crashes leave behind is found by the cleaner, and fsck finds nothing wrong.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count

from lochan.errors import LochanError, Unavailable
from lochan.faults import Crashed, Fault
from lochan.kernel.records import Record
from lochan.kv import faulty as faulty_kv
from lochan.kv.read import scan_prefix
from lochan.model.codec import decode_entry
from lochan.model.keys import SETTINGS, partition_of
from lochan.model.records import Repository
from lochan.objects import faulty as faulty_objects
from lochan.operations.findings import Severity
from lochan.operations.fsck import fsck
from lochan.operations.list_objects import list_objects
from lochan.operations.repository_metadata import get_repository_metadata
from lochan.refs.branches import list_branches
from lochan.refs.cleaner import Cleaner
from lochan.refs.log import log
from lochan.refs.open_commits import open_commits, state_of
from lochan.refs.repositories import list_repositories
from lochan.refs.tags import list_tags
from support.fault_ground import PAUSE_S, Place
from support.fault_stories import Story
from support.fault_stories_beyond import GROUNDS
from support.lake_ground import unaccounted

KINDS = [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]
STORES = ("kv", "objects")

Key = tuple[object, ...]
Shown = dict[Key, object]

OPENED: Key = ("readings", ("opened",))
# What a story passes through: neither what was before it, nor what is after it.
ON_THE_WAY: dict[str, set[Key]] = {
    "copy lake": {("readings", ("read-only",)), ("spare", ("read-only",))},
    "finish commit": {OPENED},
}
# A repository that is being restored has no branch yet, and fsck finds half of its rows missing; so
# it does with an object that is shown and has yet to come back from the trash.
HALF = {"restore", "start restore", "empty the trash of the living"}
# They say Unavailable when they have begun: a copy is taken up again, and closes by itself.
BEGUN = {"copy lake", "close repository"}


def seen(place: Place) -> Shown:
    """Give all that can be seen of a lake, as its names and what each stands for."""
    found: Shown = {}
    for repository in list_repositories(place.lake.store):
        name = repository.repository_id
        found |= {(name, key): value for key, value in _of_repository(place, repository).items()}
    return found


def _of_repository(place: Place, repository: Repository) -> Shown:
    tables, known = place.lake.tables(repository), place.known
    found: Shown = {("read-only",): repository.read_only}
    found["rules",] = repository.branch_protection
    for row in scan_prefix(place.lake.store, partition_of(repository), SETTINGS):
        found["settings", row[0]] = row[1]
    for name, value in get_repository_metadata(place.lake, repository).items():
        found["metadata", name] = value
    refs = [str(tag.tag_id) for tag in list_tags(tables)]
    for branch in list_branches(tables, hidden=True):
        refs += [branch.branch_id, f"{branch.branch_id}@"]
        for commit in log(tables, branch.commit_id):
            found["log", branch.branch_id, commit.message] = commit.committer
    if repository.unique_identifier == known.repository.unique_identifier:
        refs += [known.first.id, known.on_main.id, known.on_dev.id]
        opened = open_commits(place.lake.store, repository).find(known.opened.encode())
        found["opened",] = None if opened is None else state_of(opened.record)
    for ref in refs:
        found[ref,] = "is there"
        for item in list_objects(place.lake, repository, ref).items:
            assert isinstance(item, Record)
            entry = decode_entry(item.value)
            found[ref, item.key] = entry.e_tag, dict(entry.metadata)
    return found


@dataclass(frozen=True, slots=True)
class Tale:
    """A story, what is seen before and after it, and what it says when it is told again."""

    name: str
    story: Story
    ground: Place
    before: Shown
    after: Shown
    twice: Shown
    code: str
    only_reads: bool


def ground_of(ground: Place, name: str) -> Place:
    """Give the lake on which a story is told: some need more than others."""
    return GROUNDS[name](ground) if name in GROUNDS else ground


def prepare(shared: Place, name: str, story: Story) -> Tale:
    """Tell a story twice, without a failure."""
    ground = ground_of(shared, name)
    place = ground.copy()
    before, rows = seen(place), _rows(place)
    story(place)
    only_reads = _rows(place) == rows
    after = seen(place.again())
    place.world.sleep(PAUSE_S)
    code = ""
    try:
        story(place.again())
    except LochanError as error:
        code = error.code
    return Tale(name, story, ground, before, after, seen(place.again()), code, only_reads)


def _rows(place: Place) -> dict[bytes, dict[bytes, bytes]]:
    return {name: dict(found.values) for name, found in place.kept._partitions.items()}


def fail_everywhere(tale: Tale, kinds: Callable[[int], Iterable[Fault]]) -> int:
    """Fail every call of a story, each in the ways that `kinds` gives for it; count the runs."""
    done = 0
    for store in STORES:
        for number in count(1):
            reached = [_fail(tale, store, number, fault) for fault in kinds(number)]
            done += sum(reached)
            if not all(reached):
                break
    return done


def _fail(tale: Tale, store: str, number: int, fault: Fault) -> bool:
    """Tell a story with its n-th call failing; False when it has not so many."""
    place = tale.ground.copy()
    failing, calls = _failing(place, store, number, fault)
    error: BaseException | None = None
    try:
        tale.story(failing)
    except (LochanError, Crashed) as raised:
        error = raised
    if calls() < number:
        assert error is None
        return False
    where = f"{tale.name}: {fault} at call {number} of {store}"
    if tale.only_reads:
        assert error is not None, f"{where}: an answer without what was to be read (H9)"
        assert _rows(place) == _rows(tale.ground), where
        tale.story(place.again())  # it may have written where no row leads, and then goes on
        return True
    _check_left(tale, place.again(), error, where)
    place.world.sleep(PAUSE_S)
    _tell_again(tale, place.again(), where)
    _check_end(tale, place.again(), where)
    return True


def _failing(
    place: Place, store: str, number: int, fault: Fault
) -> tuple[Place, Callable[[], int]]:
    if store == "kv":
        plan = faulty_kv.fail_nth(number, fault)
        faulty = faulty_kv.Faulty(place.kept, plan, place.world)
        return place.again(faulty), lambda: faulty.calls
    made = 0

    def decide(_: faulty_objects.Call) -> Fault:  # the stores of all namespaces count together
        nonlocal made
        made += 1
        return fault if made == number else Fault.OK

    wrapped = place.again(wrap=lambda inner: faulty_objects.Faulty(inner, decide, place.world))
    return wrapped, lambda: made


def _check_left(tale: Tale, place: Place, error: BaseException | None, where: str) -> None:
    now = seen(place)
    for key in now.keys() | tale.before.keys() | tale.after.keys():
        shown = now.get(key)
        if shown not in (tale.before.get(key), tale.after.get(key)):
            assert key in ON_THE_WAY.get(tale.name, ()), f"{where}: {key} is {shown}"
    if error is None:
        assert now == tale.after, f"{where}: it was acknowledged, and is not there"
    elif type(error) is Unavailable and tale.name not in BEGUN:
        changed = [key for key in _differing(now, tale.before) if not _is_of_others(key)]
        assert not changed, f"{where}: it said that nothing was changed, and did {changed}"
    if tale.name not in HALF:
        _require_whole(place, where)


def _is_of_others(key: Key) -> bool:
    """Say whether a change may come of finishing a commit that others had begun."""
    inner = key[1]
    return isinstance(inner, tuple) and (inner[0] == "log" or str(inner[0]).endswith("@"))


def _tell_again(tale: Tale, place: Place, where: str) -> None:
    try:
        tale.story(place)
    except LochanError as error:
        if error.code != tale.code:
            raise AssertionError(f"{where}: told again, it says {error!r}") from error


def _check_end(tale: Tale, place: Place, where: str) -> None:
    """See that all is there after the cleaner has been, and nothing else."""
    for _ in range(3):
        assert Cleaner(place.kept, place.world, grace_s=0).run().skipped == (), where
    assert unaccounted(place.kept) == set(), f"{where}: rows that nobody leads to"
    now, ends = seen(place), [dict(tale.after), dict(tale.twice)]
    for shown in (now, *ends):
        shown.pop(OPENED, None)  # the cleaner forgets commits that are finished
    assert now in ends, f"{where}: told again and cleaned: {_differing(now, ends[0])}"
    if tale.name in HALF:
        _require_whole(place, where)


def _require_whole(place: Place, where: str) -> None:
    wrong = [found for found in fsck(place.lake) if found.severity is Severity.ERROR]
    assert not wrong, f"{where}: {wrong[0]}"


def _differing(now: Shown, after: Shown) -> list[Key]:
    return [key for key in now.keys() | after.keys() if now.get(key) != after.get(key)]
