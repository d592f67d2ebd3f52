# SPDX-License-Identifier: Apache-2.0
"""Sources become a typed object, or findings that say what to write.

A source gives values by key and says where each was written. Of two that name the same key the
first wins. Nothing is guessed: an unknown key, a value of the wrong type and a file that cannot be
read are findings, and all of them are reported, not only the first.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Generic, NamedTuple, TypeVar

import msgspec
import yaml

from lochan.config.leaf import Leaf, build, leaves, variable_of
from lochan.config.secret import Secret
from lochan.errors import InvalidInput

T = TypeVar("T", bound=msgspec.Struct)
_NEAR = 3


class Finding(NamedTuple):
    """One thing that is wrong with the settings."""

    key: str
    where: str  # the file with the key, or the variable
    problem: str
    remedy: str
    severity: str = "error"  # or "warning", which keeps nobody from starting

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}; {self.remedy}"


class Given(NamedTuple):
    """What a source says about one key."""

    value: object
    where: str


class Source(NamedTuple):
    """Values by key, and what was wrong already when they were read."""

    name: str
    values: Mapping[str, Given]
    findings: tuple[Finding, ...] = ()


class Gathered(NamedTuple, Generic[T]):
    """Settings, where each value came from, and the findings; with errors, settings are partial."""

    settings: T
    origins: Mapping[str, Source]
    findings: list[Finding]

    def accepted(self) -> T:
        """Give the settings. Raises InvalidInput for the first error, counting the others."""
        errors = [finding for finding in self.findings if finding.severity == "error"]
        if not errors:
            return self.settings
        more = f" (and {len(errors) - 1} more; see `lochan config check`)" if errors[1:] else ""
        keys = [finding.key for finding in errors]
        raise InvalidInput(f"{errors[0]}{more}", code="invalid-config", key=keys[0], keys=keys)


def arguments(values: Mapping[str, object]) -> Source:
    """Take what a command line or a caller says by key; None is not given."""
    given = {key: Given(value, f"argument {key}") for key, value in values.items()}
    return Source(
        "arguments", {key: found for key, found in given.items() if found.value is not None}
    )


def variables(
    environment: Mapping[str, str], keys: Iterable[str], ignored: Iterable[str] = ()
) -> Source:
    """Take LOCHAN_* variables. `ignored` belong to others; any further one is refused."""
    known = {variable_of(key): key for key in keys}
    skipped = set(ignored)
    values: dict[str, Given] = {}
    findings = []
    for name, text in sorted(environment.items()):
        if name in known:
            values[known[name]] = Given(text, name)
        elif name.startswith("LOCHAN_") and name not in skipped:
            remedy = _nearest(name, known)
            findings.append(Finding(name, name, "there is no such variable", remedy))
    return Source("environment", values, tuple(findings))


def yaml_file(path: Path, *, required: bool) -> Source:
    """Take the keys of a YAML file; a missing one that is not required says nothing."""
    name = str(path)
    if not required and not path.exists():
        return Source(name, {})
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it is no text"
        return _unreadable(name, f"the file cannot be read: {problem}", "mend it or name another")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)  # the error's own text repeats the line
        line = f" at line {mark.line + 1}" if mark is not None else ""
        return _unreadable(name, f"this is no YAML{line}", "write keys as `listen: 127.0.0.1:8000`")
    if not isinstance(tree, dict | NoneType):
        return _unreadable(name, "the file holds no keys", "write `listen: 127.0.0.1:8000`")
    return Source(name, {key: Given(value, f"{name}: {key}") for key, value in _flat(tree or {})})


def gather(kind: type[T], sources: Sequence[Source]) -> Gathered[T]:
    """Join sources, the first of which wins, into settings of a type."""
    known = {leaf.key: leaf for leaf in leaves(kind)}
    files = {f"{leaf.key}_file": leaf for leaf in known.values() if leaf.is_secret}
    findings = [finding for source in sources for finding in source.findings]
    values: dict[str, object] = {}
    origins: dict[str, Source] = {}
    for source in sources:
        for key, given in source.values.items():
            leaf = known.get(key) or files.get(key)
            if leaf is None:
                findings.append(_unknown(key, given, [*known, *files]))
            elif leaf.key not in values:
                values[leaf.key] = _value(leaf, key, given, findings)
                origins[leaf.key] = source
            elif origins[leaf.key] is source:
                remedy = "write one of the two"
                findings.append(Finding(key, given.where, f"{leaf.key} is given too", remedy))
    right = {key: value for key, value in values.items() if value is not _WRONG}
    return Gathered(build(kind, right), origins, findings)


_WRONG = object()


def _value(leaf: Leaf, key: str, given: Given, findings: list[Finding]) -> object:
    """Convert a value; a wrong one is a finding, and hides what later sources say all the same."""
    try:
        return leaf.convert(given.value) if key == leaf.key else _from_file(given.value)
    except (ValueError, OSError) as error:
        expects = leaf.expects if key == leaf.key else "the path of a file that holds the secret"
        problem = error.strerror or "unreadable" if isinstance(error, OSError) else str(error)
        findings.append(Finding(key, given.where, problem, f"write {expects}"))
        return _WRONG


def _from_file(path: object) -> Secret:
    if not isinstance(path, str | Path):
        raise ValueError("expected a path")  # noqa: TRY004 - callers catch one kind
    return Secret(Path(path).expanduser().read_text(encoding="utf-8").strip())


def _flat(tree: Mapping[object, object], above: str = "") -> Iterator[tuple[str, object]]:
    """Give the paths of a tree; a key without anything below it is as if it were not there."""
    for name, value in tree.items():
        key = f"{above}{name}"
        if isinstance(value, dict):
            yield from _flat(value, f"{key}.")
        elif value is not None:
            yield key, value


def _unknown(key: str, given: Given, known: Sequence[str]) -> Finding:
    sections = [name for name in known if name.startswith(f"{key}.")]
    if sections:
        return Finding(key, given.where, "this holds further keys", f"write {sections[0]}: ...")
    return Finding(key, given.where, "there is no such key", _nearest(key, known))


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), _NEAR)
    return f"did you mean {' or '.join(near)}?" if near else "take it out"


def _unreadable(name: str, problem: str, remedy: str) -> Source:
    return Source(name, {}, (Finding("", name, problem, remedy),))
