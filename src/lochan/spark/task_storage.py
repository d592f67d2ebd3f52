# SPDX-License-Identifier: Apache-2.0
"""A storage namespace as tasks open it: by the credentials of their machine, once a process."""

from dataclasses import dataclass
from functools import lru_cache

from pyspark import TaskContext

from lochan.committed import Cuts, Files
from lochan.environment import RealEnvironment
from lochan.errors import Internal
from lochan.objects.open import open_objects
from lochan.objects.store import ObjectStore

_ENVIRONMENT = RealEnvironment()


@dataclass(frozen=True, slots=True)
class TaskStorage:
    """Where a repository's files lie, and how its ranges are cut; it may be pickled."""

    namespace: str
    cuts: Cuts

    def objects(self) -> ObjectStore:
        """Give the objects of the namespace."""
        return _opened(self.namespace)

    def files(self) -> Files:
        """Give its ranges and metaranges."""
        return Files(self.objects(), _ENVIRONMENT, memory_bytes=0)

    def task_number(self) -> int:
        """Number the part that this task works on."""
        context = TaskContext.get()
        if context is None:
            raise Internal("only a task has a part")
        return context.partitionId()


@lru_cache(16)
def _opened(namespace: str) -> ObjectStore:
    return open_objects(namespace, _ENVIRONMENT)
