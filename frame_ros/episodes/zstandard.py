# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Python's zstd, of the standard library where that has it, else its backport."""

from __future__ import annotations

import sys
from typing import Any


def zstd() -> Any:
    """Returns the module `compression.zstd`, or what stands in for it before Python 3.14."""
    if sys.version_info >= (3, 14):
        from compression import zstd as module
    else:
        from backports import zstd as module
    return module
