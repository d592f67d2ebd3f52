# SPDX-License-Identifier: Apache-2.0
"""The name that a put aims at, and what may stand there."""

import errno
import os
import stat
from typing import NamedTuple

from lochan.errors import InvalidInput
from lochan.objects.drivers.local.disk import info_of
from lochan.objects.drivers.local.failures import told
from lochan.objects.preconditions import check_precondition
from lochan.objects.store import ObjectInfo, Precondition


class Target(NamedTuple):
    """A name in a folder, the address it stands for, and the condition of the put."""

    name: str
    address: str
    when: Precondition

    def check(self, folder: int) -> None:
        """Raise unless the put may take the name now; remove an empty folder that has it.

        Raises: PredicateFailed; InvalidInput where a folder of other objects has the name, which
        happens in trees alone; OSError.
        """
        try:
            os.rmdir(self.name, dir_fd=folder)
        except FileNotFoundError:
            current = None
        except NotADirectoryError:
            current = find_info(folder, self.name)
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                raise
            message = f"{self.address} is the folder of other objects; in data/, _lakefs/ and"
            raise InvalidInput(f"{message} _work/ it cannot be an object too") from error
        else:
            current = None
        check_precondition(self.when, current, self.address)


def find_info(folder: int, name: str) -> ObjectInfo | None:
    """Describe the object of a name, or None where there is no file."""
    try:
        with told(f"{name} cannot be looked at", FileNotFoundError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return info_of(status) if stat.S_ISREG(status.st_mode) else None
