# SPDX-License-Identifier: Apache-2.0
"""What became of a write whose answer was lost: `lochan.kv.outcomes`, by the name used here."""

from lochan.kv.outcomes import ATTEMPTS, begun, surely

__all__ = ["ATTEMPTS", "begun", "surely"]
