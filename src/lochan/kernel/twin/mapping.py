# SPDX-License-Identifier: Apache-2.0
"""Map a file for reading."""

import mmap
import os
from pathlib import Path


def map_file(path: Path) -> memoryview:
    """Show a file's bytes without reading them. Raises OSError."""
    with path.open("rb") as file:
        if not os.fstat(file.fileno()).st_size:  # an empty file cannot be mapped
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
