# SPDX-License-Identifier: Apache-2.0
"""The secret of an embedded lake: drawn once, and kept in the lake's folder.

A lake in a folder needs no settings, and so no secret in them: where none is given, `secret.key`
beside `kv.db` is it. Only its owner can read it. Whoever copies the folder has it too, as the
lake's data; who wants them apart gives `auth.encrypt.secret_key` from elsewhere.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from lochan.environment import Environment

SECRET_FILE: Final = "secret.key"  # noqa: S105 - a name, not a secret
_BYTES: Final = 32
_OWNER_ONLY: Final = 0o600


def draw_secret_key(folder: Path, environment: Environment) -> Path:
    """Name the file with a lake's secret, written first where there is none. Raises OSError.

    Of several who come at once, one writes it and all use that.
    """
    file = folder / SECRET_FILE
    if file.exists():
        return file
    folder.mkdir(parents=True, exist_ok=True)
    own = folder / f".{SECRET_FILE}.{environment.new_id()}"
    descriptor = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
    with os.fdopen(descriptor, "w", encoding="ascii") as written:
        written.write(environment.random_bytes(_BYTES).hex())
        written.flush()
        os.fsync(written.fileno())
    with suppress(FileExistsError):  # somebody else was first, and theirs counts
        file.hardlink_to(own)
    own.unlink()
    return file
