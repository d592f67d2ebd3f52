# SPDX-License-Identifier: Apache-2.0
"""The hot loops under the stores and the committed tree, written twice.

`native` is Cython, `twin` is pure Python; `interface` says what both offer and both give the same
bytes. Everybody else calls `kernel.<function>` and never asks which one answers. Reading order:
records, interface, twin (short and plain), native (the same with bounds checks and no lock).
"""
