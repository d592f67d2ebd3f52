# SPDX-License-Identifier: Apache-2.0
"""`python -m lochan` is the command `lochan`."""

from lochan.cli.app import main

main()
