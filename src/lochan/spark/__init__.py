# SPDX-License-Identifier: Apache-2.0
"""Spark on a lake: its own readers and writers move the bytes, Lochan moves metadata alone.

session    a Spark session that is bound to a lake
"""

from lochan.spark.session import session

__all__ = ["session"]
