# SPDX-License-Identifier: Apache-2.0
"""Engines that run shards without Spark; those of Spark are in `lochan.spark`."""
