# SPDX-License-Identifier: Apache-2.0
"""A function that is given so much time, and stopped when it is over.

In the main thread of a process (a Spark worker, a driver, `pipeline test`) an alarm raises TimedOut
inside the function, again each second if it catches that; a call of the system that waits is
interrupted. In any other thread the function runs in a thread of its own, in which TimedOut is
raised. There, code that waits outside of Python does not see it: then the thread cannot be stopped,
and since nothing may run beside the next datum, the attempt fails as a whole (`Stuck`).

TimedOut is no Exception: code that catches those does not catch it.
"""

import ctypes
import signal
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Final

_AGAIN_S: Final = 1.0
_GRACE_S: Final = 5.0


class TimedOut(BaseException):
    """The time is over."""


class Stuck(Exception):
    """The time is over, and the function goes on all the same."""


def call_within(seconds: float, call: Callable[[], object]) -> None:
    """Call a function that may take so many seconds, any number if 0. Raises TimedOut, Stuck."""
    if seconds <= 0:
        call()
    elif threading.current_thread() is threading.main_thread():
        _with_alarm(seconds, call)
    else:
        _in_thread(seconds, call)


def _with_alarm(seconds: float, call: Callable[[], object]) -> None:
    is_over = has_rung = False

    def ring(*_: object) -> None:
        nonlocal has_rung
        if not is_over:
            has_rung = True
            raise TimedOut

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_S)
    try:
        try:
            call()
        finally:  # the alarm may ring even here, and is silent for a second after that
            is_over = True
    finally:
        is_over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if has_rung:  # and the function caught it: nobody knows what it left undone
        raise TimedOut


def _in_thread(seconds: float, call: Callable[[], object]) -> None:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            raised.append(error)

    context = copy_context()
    thread = threading.Thread(target=context.run, args=(run,), name="lochan datum", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        name = ctypes.c_ulong(thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(name, ctypes.py_object(TimedOut))
        thread.join(_GRACE_S)
        if thread.is_alive():
            raise Stuck
        raise TimedOut
    if raised:
        raise raised[0]
