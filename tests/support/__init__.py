# SPDX-License-Identifier: Apache-2.0
"""What several tests share: `from support.<module> import ...`."""
