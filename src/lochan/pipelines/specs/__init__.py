# SPDX-License-Identifier: Apache-2.0
"""Which pipelines there are: written as YAML or Python, checked, digested, and kept in the lake.

`globs` and `cron` are the two small languages that a spec's fields are written in; `graph` joins
all pipelines by the branches that they read and write.
"""
