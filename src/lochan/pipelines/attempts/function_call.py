# SPDX-License-Identifier: Apache-2.0
"""A function as the transform: called once for each datum, with what its parameters are named for.

    the name of an input     InputFiles of this datum; empty where it has none (union, outer join)
    out                      Out
    ctx                      Context: parameters, ids of the datum, a logger
    a parameter of the spec  its value

`**rest` takes all inputs and parameters that are left. What is asked for and is none of these is
refused before anything runs. What the function returns is not looked at.
"""

import inspect
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from lochan.errors import InvalidInput
from lochan.pipelines.attempts.deadline import call_within
from lochan.pipelines.attempts.input_files import DatumReading, InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.model.datum import Datum, DatumFile
from lochan.pipelines.model.spec import FilesTransform
from lochan.pipelines.model.work import JobTask

OUT: Final = "out"
CONTEXT: Final = "ctx"
_NAMED: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)

Function = Callable[..., Any]


class Call(Protocol):
    """What is done with a datum: a function or a command."""

    def __call__(self, datum: Datum, reading: DatumReading, out: Out) -> None:
        """Run it once. Raises what its code raises, TimedOut, Stuck."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a function may know of the datum that it is run on.

    `idempotency_key` is the datum's hash: the same inputs, code and parameters have the same one,
    so that what a function does elsewhere can be done once.
    """

    job: str
    pipeline: str
    datum: str
    number: int
    idempotency_key: str
    params: Mapping[str, Any]
    log: logging.Logger


class FunctionCall:
    """One function, and which arguments it takes."""

    def __init__(
        self,
        task: JobTask,
        transform: FilesTransform,
        function: Function,
        inputs: frozenset[str],
    ) -> None:
        """Look at the function's parameters. Raises InvalidInput, code function-signature."""
        self._task = task
        self._transform = transform
        self._function = function
        self._inputs = inputs
        self._log = logging.getLogger("lochan.ctx")
        self._log.setLevel(logging.DEBUG)
        self._takes_rest, self._wanted, needed = _parameters(function, transform.function)
        known = {OUT, CONTEXT, *inputs, *transform.params}
        if unknown := sorted(needed - known):
            message = (
                f"function {transform.function!r} asks for {', '.join(unknown)}; there are"
                f" {', '.join(sorted(known))}"
            )
            raise InvalidInput(message, code="function-signature")

    def __call__(self, datum: Datum, reading: DatumReading, out: Out) -> None:
        """Call the function on a datum."""
        arguments = self._arguments(datum, reading, out)
        function = self._function
        call_within(self._task.rules.timeout_s, lambda: function(**arguments))

    def _arguments(self, datum: Datum, reading: DatumReading, out: Out) -> dict[str, Any]:
        files: dict[str, list[DatumFile]] = defaultdict(list)
        for file in datum.files:
            files[file.input].append(file)
        offered: dict[str, Any] = dict(self._transform.params)
        for name in self._inputs:
            offered[name] = InputFiles(name, files.get(name, ()), reading)
        offered[OUT] = out
        if CONTEXT in self._wanted or self._takes_rest:
            offered[CONTEXT] = self._context(datum)
        if self._takes_rest:
            return offered
        return {name: offered[name] for name in self._wanted if name in offered}

    def _context(self, datum: Datum) -> Context:
        return Context(
            job=self._task.job,
            pipeline=self._task.pipeline,
            datum=datum.id.hex(),
            number=datum.number,
            idempotency_key=datum.hash.hex(),
            params=self._transform.params,
            log=self._log,
        )


def _parameters(function: Function, said: str) -> tuple[bool, frozenset[str], frozenset[str]]:
    """Give whether it takes anything, the names that it takes, and those that it cannot do without.

    Raises: InvalidInput, code function-signature.
    """
    inner = inspect.unwrap(function)
    if inspect.iscoroutinefunction(inner) or inspect.isgeneratorfunction(inner):
        message = f"function {said!r} yields or awaits; write with out.write() in a plain function"
        raise InvalidInput(message, code="function-signature")
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        message = f"nobody can say what {said!r} takes: {error}"
        raise InvalidInput(message, code="function-signature") from error
    if positional := [one.name for one in found if one.kind is inspect.Parameter.POSITIONAL_ONLY]:
        message = f"function {said!r} takes {positional[0]!r} by position only; name it"
        raise InvalidInput(message, code="function-signature")
    wanted = [one for one in found if one.kind in _NAMED]
    needed = frozenset(one.name for one in wanted if one.default is inspect.Parameter.empty)
    takes_rest = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in found)
    return takes_rest, frozenset(one.name for one in wanted), needed
