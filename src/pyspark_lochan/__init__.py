# SPDX-License-Identifier: Apache-2.0
"""Where Spark looks for the data source `lochan` by itself, in any session of this environment.

Spark imports packages of such names when a format is first asked for, and takes their
`DefaultSource`. A session of `lochan.spark.session` knows its lake; in others it is named:

    spark.read.format("lochan").option("lake", "./lake").load("lochan://repository/main/path")
"""

from lochan.spark.source import LochanSource as DefaultSource

__all__ = ["DefaultSource"]
