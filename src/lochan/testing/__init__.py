# SPDX-License-Identifier: Apache-2.0
"""Conformance suites, one for each seam, for our drivers and for other people's.

A driver's test is a short class that inherits a suite and supplies fixtures; the docstring of the
suite's module says which. The suites need pytest and hypothesis, which `lochan` itself does not.
`simulation` runs protocol code under a seed, in every order that can matter; it needs greenlet.
"""
