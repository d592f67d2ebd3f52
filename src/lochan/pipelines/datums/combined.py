# SPDX-License-Identifier: Apache-2.0
"""How the parts of several inputs make datums: cross, union, join, group, or all as one.

Each kind answers the same three questions, so that kinds can hold each other:

    everything   the datums of now
    changed      those datums of now that a change may have touched
    touched      the parts whose readers in the base's index may be other now, or gone

Every datum that reads a touched part and still exists is in `changed`; one that is not, is gone.
How much each change touches:

    one input    itself
    union        itself
    cross        whatever it stands together with: all parts of the other inputs
    join, group  what has the same value; which parts have it, the index knows (rows k/)
    whole        the one datum that there is
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, product
from typing import Final, Protocol

from lochan.errors import JobFailed
from lochan.pipelines.datums.datum_index import DatumIndex, value_key
from lochan.pipelines.datums.parts import Part, PinnedInput
from lochan.pipelines.model.datum import order_of
from lochan.pipelines.model.spec import (
    CronInput,
    CrossInput,
    GroupInput,
    Input,
    JoinInput,
    RepoInput,
    UnionInput,
)
from lochan.pipelines.specs.globs import ROOT, substituted

MOST_TOGETHER: Final = 5_000_000  # datums that inputs make by standing together

Row = tuple[Part, ...]  # of one datum
Rows = Iterable[Row]
_SameValue = list[list[Part]]  # the parts of each input that have one value
Touched = dict[str, set[bytes]]  # keys by the name of the input


class Combined(Protocol):
    """Inputs that make datums together."""

    def everything(self) -> list[Row]:
        """Give all datums."""

    def changed(self) -> list[Row]:
        """Give those datums that a change since the base may have touched."""

    def touched(self) -> Touched:
        """Name the parts whose readers must be looked at again."""

    def facts(self, *, whole: bool) -> dict[bytes, bool]:
        """Give the rows k/ that are true now, or that changed."""


def combined(node: Input, pinned: Mapping[str, PinnedInput], index: DatumIndex) -> Combined:
    """Put pinned inputs together as a spec says."""
    match node:
        case RepoInput() | CronInput():
            return _One(pinned[node.name])
        case CrossInput():
            return _Cross([combined(part, pinned, index) for part in node.inputs])
        case UnionInput():
            return _Union([combined(part, pinned, index) for part in node.inputs])
        case JoinInput():
            valued = [_Valued(pinned[part.name], part.join_on) for part in node.inputs]
            outer = tuple(part.outer for part in node.inputs)
            return _ByValue(valued, index, lambda inputs: _joined(inputs, outer))
        case GroupInput():
            valued = [_Valued(pinned[part.name], part.group_by) for part in node.inputs]
            return _ByValue(valued, index, _grouped)


class Whole:
    """All inputs as one datum: it is there as soon as anything is matched."""

    def __init__(self, inputs: Sequence[PinnedInput]) -> None:
        """Put these together."""
        self._inputs = inputs

    def everything(self) -> list[Row]:
        """Give the one datum, or none."""
        row = tuple(next(iter(one.everything), one.nothing()) for one in self._inputs)
        return [row] if any(part.file.members for part in row) else []

    def changed(self) -> list[Row]:
        """Give the one datum if anything changed."""
        return self.everything() if self.touched() else []

    def touched(self) -> Touched:
        """Name the whole of each input that changed."""
        return {one.name: {ROOT} for one in self._inputs if one.changed}

    def facts(self, *, whole: bool) -> dict[bytes, bool]:  # noqa: ARG002 - it has none
        """Give nothing: no values are compared."""
        return {}


class _One:
    def __init__(self, pinned: PinnedInput) -> None:
        self._pinned = pinned

    def everything(self) -> list[Row]:
        return [(part,) for part in self._pinned.everything]

    def changed(self) -> list[Row]:
        return [(part,) for part in self._pinned.changed.values() if part is not None]

    def touched(self) -> Touched:
        return {self._pinned.name: set(self._pinned.changed)}

    def facts(self, *, whole: bool) -> dict[bytes, bool]:  # noqa: ARG002
        return {}


class _Several:
    def __init__(self, inputs: Sequence[Combined]) -> None:
        self._inputs = inputs

    def touched(self) -> Touched:
        return _merged(one.touched() for one in self._inputs)

    def facts(self, *, whole: bool) -> dict[bytes, bool]:
        return dict(chain.from_iterable(one.facts(whole=whole).items() for one in self._inputs))


class _Union(_Several):
    def everything(self) -> list[Row]:
        return [row for one in self._inputs for row in one.everything()]

    def changed(self) -> list[Row]:
        return [row for one in self._inputs for row in one.changed()]


class _Cross(_Several):
    def everything(self) -> list[Row]:
        return list(_crossed([one.everything() for one in self._inputs]))

    def changed(self) -> list[Row]:
        """Give each combination once: at the first of its inputs that changed."""
        found: list[Row] = []
        for number, one in enumerate(self._inputs):
            fresh = one.changed()
            if fresh:
                before = [_stable(other) for other in self._inputs[:number]]
                behind = [other.everything() for other in self._inputs[number + 1 :]]
                found += _crossed([*before, fresh, *behind])
        return found


class _Valued:
    """An input whose parts have a value that others may have too."""

    def __init__(self, pinned: PinnedInput, template: str) -> None:
        self.pinned = pinned
        self._template = template

    def value(self, key: bytes) -> str:
        return substituted(self._template, self.pinned.captures(key))


class _ByValue:
    """Join and group: parts by value, and which values a change touched."""

    def __init__(
        self, inputs: Sequence[_Valued], index: DatumIndex, rows_of: Callable[[_SameValue], Rows]
    ) -> None:
        self._inputs = inputs
        self._index = index
        self._rows_of = rows_of  # the datums of one value, from each input's parts that have it

    def everything(self) -> list[Row]:
        return self._rows([_by_value(one, one.pinned.everything) for one in self._inputs])

    def changed(self) -> list[Row]:
        return self._rows([self._now(one) for one in self._inputs]) if self._values else []

    def touched(self) -> Touched:
        return {
            one.pinned.name: self._keys_at_base(one) | set(one.pinned.changed)
            for one in self._inputs
        }

    def facts(self, *, whole: bool) -> dict[bytes, bool]:
        return {
            value_key(one.pinned.name, one.value(key), key): there
            for one in self._inputs
            for key, there in _there(one.pinned, whole=whole)
        }

    @cached_property
    def _values(self) -> set[str]:
        return {one.value(key) for one in self._inputs for key in one.pinned.changed}

    def _keys_at_base(self, one: _Valued) -> set[bytes]:
        found = self._index.parts_with(one.pinned.name, self._values)
        return set(chain.from_iterable(found.values()))

    def _now(self, one: _Valued) -> dict[str, list[Part]]:
        """Give the parts of an input that have touched values now; most are as they were."""
        changed = one.pinned.changed
        parts = one.pinned.at(self._keys_at_base(one) - changed.keys())
        parts |= {key: part for key, part in changed.items() if part is not None}
        return _by_value(one, [parts[key] for key in sorted(parts)])

    def _rows(self, inputs: list[dict[str, list[Part]]]) -> list[Row]:
        values = sorted(set().union(*inputs))
        several = ([parts.get(value, []) for parts in inputs] for value in values)
        return list(bounded(row for same in several for row in self._rows_of(same)))


def _joined(inputs: _SameValue, outer: tuple[bool, ...]) -> Rows:
    """Take one of each; where an input has none, one of each that is to be kept anyway."""
    if not all(inputs):
        inputs = [parts for parts, kept in zip(inputs, outer, strict=True) if parts and kept]
    return product(*inputs) if inputs else ()


def _grouped(inputs: _SameValue) -> Rows:
    return [tuple(chain.from_iterable(inputs))]


def _crossed(inputs: list[list[Row]]) -> Iterator[Row]:
    return bounded(tuple(chain.from_iterable(rows)) for rows in product(*inputs))


def bounded(rows: Rows, most: int = MOST_TOGETHER) -> Iterator[Row]:
    """Pass rows on, and refuse to go on behind so many. Raises JobFailed, code too-many-datums."""
    for number, row in enumerate(rows):
        if number == most:
            names = " and ".join(repr(part.file.input) for part in row)
            raise JobFailed(
                f"inputs {names} make more than {most} datums together; narrow their globs, or"
                " match folders instead of files",
                code="too-many-datums",
            )
        yield row


def _stable(one: Combined) -> list[Row]:
    fresh = {_place(row) for row in one.changed()}
    return [row for row in one.everything() if _place(row) not in fresh]


def _place(row: Row) -> tuple[tuple[str, bytes], ...]:
    return order_of(part.file for part in row)


def _merged(several: Iterable[Touched]) -> Touched:
    found: Touched = {}
    for touched in several:
        for name, keys in touched.items():
            found.setdefault(name, set()).update(keys)
    return found


def _by_value(one: _Valued, parts: Iterable[Part]) -> dict[str, list[Part]]:
    found: dict[str, list[Part]] = {}
    for part in parts:
        found.setdefault(one.value(part.file.key), []).append(part)
    return found


def _there(pinned: PinnedInput, *, whole: bool) -> Iterator[tuple[bytes, bool]]:
    if whole:
        return ((part.file.key, True) for part in pinned.everything)
    return ((key, part is not None) for key, part in pinned.changed.items())
