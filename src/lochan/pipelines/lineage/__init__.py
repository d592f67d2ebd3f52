# SPDX-License-Identifier: Apache-2.0
"""Where data came from and what came of it: commit by commit, and file by file."""
