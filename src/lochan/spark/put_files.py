# SPDX-License-Identifier: Apache-2.0
"""Where a task puts its finished files.

    given      below an address that was given for a folder of a private branch; linked as it is
    fresh      at an address of its own, on the storage; copied there when it is linked
    uploads    through the server, on a hidden branch that holds nothing but uploads

A write in one go is given an address when it is planned. A stream is planned once and runs for
weeks, longer than an address is good for: its tasks take fresh ones.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from lochan.environment import RealEnvironment
from lochan.errors import Internal
from lochan.objects.address import AddressSource
from lochan.objects.namespace import Namespace
from lochan.spark.reach import Reach

UPLOADS: Final = "spark-uploads"
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Target:
    """Where files go; it may be pickled."""

    reach: Reach
    given: str = ""  # in full, without a slash at its end

    def put(self, logical: str, file: Path, size: int) -> str:
        """Store a file, and give its address: in full, or its path among the uploads."""
        if not self.reach.is_direct:
            path = f"{RealEnvironment().new_id()}/{logical}"
            with closing(self.reach.lake.open()) as lake:
                lake.repository(self.reach.repository).branch(UPLOADS).upload(path, file)
            return path
        namespace = Namespace.parse(self.reach.namespace)
        physical = f"{self.given}/{logical}"
        if not self.given:
            physical = namespace.physical(_addresses().new(logical))
        inside = namespace.find_address(physical)
        if inside is None:
            raise Internal(f"{physical!r} was given for {self.reach.namespace}")
        self.reach.store().put(inside, _chunks(file), size=size)
        return physical


@lru_cache(1)
def _addresses() -> AddressSource:
    return AddressSource(RealEnvironment())


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            yield chunk
