# SPDX-License-Identifier: Apache-2.0
"""An engine that must not be asked: for jobs that have nothing to run."""

from collections.abc import Iterator, Sequence

from lochan.pipelines.model.work import JobTask, Manifest, Shard, Tell


class Refusing:
    """Fails whoever asks it to run something."""

    cores = 2

    def run(self, task: JobTask, shards: Sequence[Shard], tell: Tell) -> Iterator[Manifest]:
        message = f"{task.pipeline} asked for {len(shards)} shards by {tell}"
        raise AssertionError(message)
