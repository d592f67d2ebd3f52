# SPDX-License-Identifier: Apache-2.0
"""Every test here that asks for `kernel` runs on both kernels."""

from support.kernels import kernel, native

__all__ = ["kernel", "native"]
