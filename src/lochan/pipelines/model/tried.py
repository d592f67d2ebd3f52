# SPDX-License-Identifier: Apache-2.0
"""What became of datums that were tried and not published."""

import msgspec

from lochan.pipelines.model.log_line import LogLine


class TriedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file that a datum would write."""

    path: str
    size: int
    sha256: str
    head: bytes  # its first bytes


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one datum."""

    number: int
    datum: str
    inputs: tuple[str, ...]  # input:path
    passed: bool
    reason: str
    milliseconds: int
    outputs: tuple[TriedFile, ...]
    log: tuple[LogLine, ...]
