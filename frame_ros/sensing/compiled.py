# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Loops compiled by numba.

What is compiled is kept on disk: in `__pycache__` beside the module, or in the user's cache folder
if that cannot be written. It is made anew when the module's own file has changed, not when another
has. So all that a compiled function calls, and every constant that it uses, must stand in its own
module: no module of compiled functions imports from another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frame_ros.errors import MissingExtraError, install_hint

try:
    import numba
except ImportError as error:
    raise MissingExtraError(
        f'distances from depth images need numba: {install_hint("depth")}'
    ) from error


def compiled(function: Callable[..., Any]) -> Any:
    """The function, compiled at its first call for the types it is called with; it lets other
    threads run meanwhile. Without a cache if there is no folder that can be written.
    """
    try:
        return numba.njit(cache=True, nogil=True, error_model='numpy')(function)
    except RuntimeError:
        return numba.njit(nogil=True, error_model='numpy')(function)


def inlined(function: Callable[..., Any]) -> Any:
    """The function, as a part of each compiled function that calls it: a call that passes many
    arrays takes longer than some hundred operations on numbers.
    """
    return numba.njit(inline='always', nogil=True, error_model='numpy')(function)
