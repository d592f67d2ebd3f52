# SPDX-License-Identifier: Apache-2.0
"""One file, an earlier version of it, and what two sides made of it: laws of `merged`.

Blocks are of three kinds only, so that a file holds equal ones and the same comes again after it
was taken away. What the two sides did is known here, and looked for in what came of it.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from lochan.model.entry import Block, Entry, entry_of_blocks
from lochan.model.ids import LineageId
from lochan.model.instant import EPOCH
from lochan.model.records import Clock
from lochan.operations.open_commits.alignment import aligned
from lochan.operations.open_commits.file_change import (
    applied,
    is_same_file,
    pieces_of,
    properties_of,
)
from lochan.operations.open_commits.three_way import Brought, merged

FIRST, SECOND, NEW = (Clock(LineageId("line"), number) for number in range(3))
Text = tuple[str, ...]


def block(name: str) -> Block:
    return Block(f"data/{name}", 0, len(name), hashlib.sha256(name.encode()).digest())


def file(text: Sequence[str], said: Mapping[str, str] | None = None, epoch: Clock = FIRST) -> Entry:
    return entry_of_blocks(
        [block(name) for name in text], epoch, last_modified=EPOCH, metadata=said
    )


def plain(name: str, said: Mapping[str, str] | None = None) -> Entry:
    return Entry(
        address=f"data/{name}", last_modified=EPOCH, size=len(name), e_tag=name, metadata=said or {}
    )


def as_block(entry: Entry) -> Block:
    return block(entry.address.removeprefix("data/"))


def brought(below: Entry | None, *sources: tuple[Entry | None, Entry | None]) -> Entry | None:
    """Bring sources, each given with the one version that it is compared with, to a version."""
    return squashed(below, *(Brought((each,), right, (each,)) for each, right in sources))


def squashed(below: Entry | None, *sources: Brought) -> Entry | None:
    return applied(below, merged(sources, below), NEW, EPOCH, as_block)


def read(entry: Entry | None) -> Text | None:
    if entry is None:
        return None
    return tuple(piece.address.removeprefix("data/") for piece in pieces_of(entry))


names = st.sampled_from(["a", "b", "c"])
texts = st.lists(names, max_size=5).map(tuple)
saids = st.sampled_from([{}, {"owner": "ada"}, {"owner": "bob"}])
files = st.one_of(
    st.none(),
    st.builds(file, texts, saids, st.sampled_from([FIRST, SECOND])),
    st.builds(plain, names, saids),
)


@st.composite
def taken_from(draw: st.DrawFn, text: Text) -> Text:
    """Leave blocks out."""
    return tuple(name for name in text if draw(st.integers(0, 2)))


@given(files, files)
def test_a_target_that_is_the_earlier_version_becomes_the_source(
    earlier: Entry | None, source: Entry | None
) -> None:
    made = brought(earlier, (earlier, source))
    assert read(made) == read(source)
    if made is not None and source is not None:
        assert properties_of(made) == properties_of(source)


@given(files, files)
def test_a_source_that_changed_nothing_leaves_the_target_as_it_is(
    earlier: Entry | None, target: Entry | None
) -> None:
    assert brought(target, (earlier, earlier)) == target


@given(texts, texts, texts, st.data())
def test_what_a_source_took_away_is_what_stood_in_the_earlier_version(
    base: Text, more: Text, ours: Text, data: st.DataObject
) -> None:
    kept = data.draw(taken_from(base))
    gone = Counter(base) - Counter(kept)
    new = tuple(name for name in more if not gone[name])  # or it would not have been taken away
    made = brought(file(base + ours), (file(base), file(kept + new)))
    assert read(made) == kept + ours + new


@given(texts, texts, texts, st.data())
def test_appends_come_behind_whatever_the_target_made_of_the_file(
    base: Text, more: Text, ours: Text, data: st.DataObject
) -> None:
    target = data.draw(taken_from(base)) + ours
    assert read(brought(file(target), (file(base), file(base + more)))) == target + more


@given(files, texts, st.lists(st.tuples(texts, saids), min_size=1, max_size=3))
def test_pach_M1_pach_M2_a_squash_of_appends_and_properties_equals_their_replay(
    target: Entry | None, base: Text, steps: list[tuple[Text, Mapping[str, str]]]
) -> None:
    earlier, text = [file(base)], base
    replayed = target
    for more, said in steps:
        text += more
        earlier.append(file(text, said))
        replayed = brought(replayed, (earlier[-2], earlier[-1]))
    squashed = brought(target, (earlier[0], earlier[-1]))
    assert read(replayed) == read(squashed)
    if replayed is not None and squashed is not None and target is not None:
        changed = earlier[-1].metadata != earlier[0].metadata
        assert squashed.metadata == (earlier[-1] if changed else target).metadata


@given(files, texts, st.lists(texts, min_size=2, max_size=3), st.data())
def test_pach_M4_the_order_of_sources_says_nothing_but_the_order_of_their_blocks(
    target: Entry | None, base: Text, several: list[Text], data: st.DataObject
) -> None:
    earlier = file(base)
    sources = [
        (earlier, data.draw(st.sampled_from([None, file(data.draw(taken_from(base)) + more)])))
        for more in several
    ]
    made = [brought(target, *order) for order in permutations(sources)]
    assert len({text and tuple(sorted(text)) for text in map(read, made)}) == 1


@given(texts, texts, texts, st.data())
def test_pach_M4_what_one_source_took_away_of_what_it_shares_with_another_does_not_come(
    base: Text, shared: Text, more: Text, data: st.DataObject
) -> None:
    parted, both = (file(base),), (file(base + shared),)
    kept = data.draw(taken_from(shared))
    taking, growing = file(base + kept), file(base + shared + more)
    # Who comes second is compared with what it shares with the first.
    beside = ((both, frozenset({0})),)
    one = squashed(
        *parted, Brought(parted, taking, parted), Brought(both, growing, parted, 1, beside)
    )
    other = squashed(
        *parted, Brought(parted, growing, parted), Brought(both, taking, parted, 1, beside)
    )
    assert read(one) == read(other) == base + kept + more


@given(texts, texts, texts, st.data())
def test_what_a_source_took_of_the_targets_is_not_what_another_one_appended(
    base: Text, ours: Text, more: Text, data: st.DataObject
) -> None:
    below = file(base + ours)
    kept = data.draw(st.none() | taken_from(base + ours))
    taking = (below, None if kept is None else file(kept))
    growing = (file(base), file(base + more))
    for order in permutations([taking, growing]):
        assert Counter(read(brought(below, *order)) or ()) == Counter((*(kept or ()), *more))


@given(files, files, files)
def test_pach_M4_sources_with_one_file_that_was_not_there_bring_it_once(
    target: Entry | None, earlier: Entry | None, source: Entry | None
) -> None:
    if earlier is None or source is None or not is_same_file(earlier, source):
        once = brought(target, (earlier, source))
        assert brought(target, (earlier, source), (earlier, source)) == once


@given(first=texts, second=texts, whole_first=st.booleans())
def test_pach_M4_a_file_that_is_whole_in_one_source_and_grown_in_another_comes_once(
    first: Text, second: Text, *, whole_first: bool
) -> None:
    sources = [(None, plain("a")), (None, file(("a", *first)))]
    made = brought(None, *sources[:: 1 if whole_first else -1], (None, file(("a", *second))))
    content = read(made)
    assert content is not None
    assert Counter(content) <= Counter(("a", *first, *second))
    assert Counter(content) >= Counter(("a", *first)) | Counter(("a", *second))


@given(st.permutations([{"owner": "ada"}, {"owner": "bob"}, {}]), saids)
def test_of_sources_that_change_properties_the_last_one_wins(
    several: list[Mapping[str, str]], ours: Mapping[str, str]
) -> None:
    earlier = file("a")
    made = brought(file("ab", ours), *((earlier, file("a", said)) for said in several))
    assert made is not None
    assert made.metadata == next(said for said in reversed(several) if said)


behind = st.lists(files, min_size=1, max_size=3).map(tuple)
numbers = st.integers(0, 2)
beside = st.lists(st.tuples(behind, st.frozensets(numbers)), max_size=2).map(tuple)


@given(files, st.lists(st.builds(Brought, behind, files, behind, numbers, beside), max_size=3))
def test_nothing_comes_but_from_the_sources_and_nothing_goes_but_what_was_behind_them(
    target: Entry | None, sources: list[Brought]
) -> None:
    change = merged(sources, target)
    made = applied(target, change, NEW, EPOCH, as_block)
    there, content = (Counter(read(each) or ()) for each in (target, made))
    assert content <= sum((Counter(read(each.right) or ()) for each in sources), there)
    if not change.delete:
        known = {name for each in sources for one in each.earlier for name in read(one) or ()}
        assert content >= Counter({name: n for name, n in there.items() if name not in known})
    if made is not None and target is not None and not change.delete:
        said = [properties_of(each.right) for each in sources if each.right is not None]
        assert properties_of(made) in [properties_of(target), *said]


@given(texts, texts)
def test_pieces_of_two_versions_are_aligned_in_order_and_as_many_as_can_be(
    before: Text, after: Text
) -> None:
    found = aligned(before, after)
    pairs = sorted(found.items())
    assert all(before[one] == after[other] for one, other in pairs)
    assert [other for _, other in pairs] == sorted({other for _, other in pairs})
    subsequences = {
        tuple(name for n, name in enumerate(before) if chosen >> n & 1)
        for chosen in range(1 << len(before))
    }
    longest = max(len(each) for each in subsequences if _is_within(each, after))
    assert len(found) == longest


def _is_within(text: Text, other: Text) -> bool:
    rest = iter(other)
    return all(name in rest for name in text)


def test_long_versions_without_much_in_common_are_aligned_in_order() -> None:
    before, after = ["a", "b", "c"] * 1000, ["c", "b", "d"] * 1000
    pairs = list(aligned(before, after).items())
    assert len(pairs) >= 1000
    assert all(before[one] == after[other] for one, other in pairs)
    assert pairs == sorted(pairs)
    assert len({other for _, other in pairs}) == len(pairs)
