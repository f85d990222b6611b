# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Points the CMake exports of the ROS 2 wheels at this environment's Python, not the builder's."""

import re
import sys
import sysconfig
from pathlib import Path

import numpy

BUILDER_PYTHON = re.compile(r'/opt/python/cp\d+-cp\d+/include/python3\.\d+')
BUILDER_NUMPY = re.compile(r'/[^;"]*/numpy/(?:_core|core)/include')


def mend(prefix: Path) -> int:
    """Rewrites the exports below `prefix`; returns how many files changed.

    Mending twice changes nothing.
    """
    python_include, numpy_include = sysconfig.get_path('include'), numpy.get_include()
    changed = 0
    for path in prefix.glob('share/*/cmake/*.cmake'):
        text = path.read_text()
        mended = BUILDER_NUMPY.sub(numpy_include, BUILDER_PYTHON.sub(python_include, text))
        if mended != text:
            path.write_text(mended)
            changed += 1
    return changed


if __name__ == '__main__':
    print(f'mended {mend(Path(sys.prefix))} CMake exports')
