# SPDX-License-Identifier: Apache-2.0
"""Build the Cython kernel; everything else about the package is in pyproject.toml.

Each module is optional: where no C compiler is found the package installs without it and the
pure-Python twin serves (`lochan.kernel` warns once). No header or library of the system is needed.
"""

from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

NATIVE = Path("src/lochan/kernel/native")

# No -march=native: a wheel must run on any machine of its platform. The routines that use newer
# instructions (CRC32, SHA) ask the processor at run time.
FLAGS = ["-O3", "-fno-strict-aliasing", "-fvisibility=hidden"]

modules = [
    Extension(
        f"lochan.kernel.native.{source.stem}",
        [str(source)],
        extra_compile_args=FLAGS,
    )
    for source in sorted(NATIVE.glob("*.pyx"))
]

compiled = cythonize(
    modules,
    compiler_directives={
        "language_level": 3,
        "boundscheck": False,
        "wraparound": False,
        "cdivision": True,
        "initializedcheck": False,
    },
)
for module in compiled:
    module.optional = True  # cythonize makes new modules and forgets this
setup(ext_modules=compiled)
