# SPDX-License-Identifier: Apache-2.0
"""What pipelines are made of: specs, datums, records, work, and the tables that hold them.

Everything else in `lochan.pipelines` is written in these words; nothing here decides anything.
"""
