# SPDX-License-Identifier: Apache-2.0
"""One line of a shard attempt's log, as JSON; `attempts.datum_log` says what the streams are."""

import msgspec


class LogLine(msgspec.Struct, frozen=True):
    """One line that a datum's code said."""

    job: str
    shard: int
    attempt: str
    datum: str
    stream: str
    time: str
    text: str
