# SPDX-License-Identifier: Apache-2.0
"""Every error as one line on stderr that says what to do, and an exit code for scripts.

    0     it was done
    1     it failed: damage was found, a file could not be read or written, a job failed, a bug
    2     the command or the settings are wrong; nothing was tried
    3     what was named does not exist, or is being removed
    4     conflict: the name is taken, or somebody else changed it; look again, then repeat
    5     not allowed: no or wrong credentials, a missing permission, a rule of the lake
    6     a server or store did not answer, or asks to wait: try again later
    130   interrupted by Ctrl-C

No traceback is shown, unless LOCHAN_DEBUG is set.
"""

import sys
import traceback
from collections.abc import Callable
from typing import Final

import typer

from lochan.config.surroundings import is_debugging
from lochan.errors import (
    AlreadyExists,
    Conflict,
    Gone,
    InvalidInput,
    LochanError,
    NotFound,
    PermissionDenied,
    Refused,
    Throttled,
    Unauthenticated,
    Unavailable,
)

OK, FAILED, WRONG, NOT_FOUND, CONFLICT, NOT_ALLOWED, UNAVAILABLE = range(7)
INTERRUPTED: Final = 130

_CODES: dict[type[LochanError], int] = {
    InvalidInput: WRONG,
    NotFound: NOT_FOUND,
    Gone: NOT_FOUND,
    AlreadyExists: CONFLICT,
    Conflict: CONFLICT,
    Refused: NOT_ALLOWED,
    PermissionDenied: NOT_ALLOWED,
    Unauthenticated: NOT_ALLOWED,
    Throttled: UNAVAILABLE,
    Unavailable: UNAVAILABLE,
}


def exit_code(error: LochanError) -> int:
    """Say by which code a script hears of an error."""
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), FAILED)


def told(work: Callable[[], object]) -> int:
    """Run a command line and give its exit code; what went wrong is said in one line.

    `work` gives a code of its own, or nothing when all went well.
    """
    try:
        code = work()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return FAILED  # whoever read us has seen enough
    except Exception as error:  # noqa: BLE001 - nobody above us but the interpreter
        if is_debugging():
            traceback.print_exception(error)
        line, code = _line(error)
        if line:
            sys.stderr.write(f"lochan: {' '.join(line.split())}\n")
    return code if isinstance(code, int) else OK


def _line(error: Exception) -> tuple[str, int]:
    if isinstance(error, LochanError):
        return error.message, exit_code(error)
    if isinstance(error, typer.TyperException):
        return _usage(error), error.exit_code
    if isinstance(error, typer.Abort):
        return "nothing was done: the question was not answered", FAILED
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}", FAILED
    what = f"{type(error).__name__}: {error}"
    return f"this is a bug ({what}); repeat it with LOCHAN_DEBUG=1 and report what it says", FAILED


def _usage(error: typer.TyperException) -> str:
    message = error.format_message().strip().rstrip(".")
    context = getattr(error, "ctx", None)  # the command that was typed, as far as it was known
    if not message or context is None:
        return message  # empty where the help itself was the answer
    return f"{message[0].lower()}{message[1:]}; see `{context.command_path} --help`"
