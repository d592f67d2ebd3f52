# SPDX-License-Identifier: Apache-2.0
"""Spark on a lake: its own readers and writers move the bytes, Lochan moves metadata alone.

session    a Spark session that is bound to a lake
read       what a ref shows, as a DataFrame
write      a DataFrame to a branch: all of it in one commit, or nothing
"""

from lochan.spark.read import read
from lochan.spark.session import session
from lochan.spark.write import write

__all__ = ["read", "session", "write"]
