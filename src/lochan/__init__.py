# SPDX-License-Identifier: Apache-2.0
"""Version control for a data lake, with data pipelines built in."""

__version__ = "0.1.0"
