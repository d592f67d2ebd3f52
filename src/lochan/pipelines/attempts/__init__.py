# SPDX-License-Identifier: Apache-2.0
"""One shard, run: the author's code called datum by datum, and what it read, wrote and said.

All that an attempt needs comes as data (`model.work`), so it runs on any machine: it touches no
key-value store, and nothing outside an attempt ever imports an author's code. `attempt` is the
story; `in_process` runs it here, `lochan.spark` on Spark.
"""
