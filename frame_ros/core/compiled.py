# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Loops compiled by numba.

Compiled code is kept on disk: in `__pycache__` next to the module, or in the user's cache folder if
that cannot be written. It is rebuilt when the module's own file has changed, not when another has.
So everything that a compiled function calls, and every constant that it uses, must be in its own
module. Only the loops over depth images are in several that import from each other: set-up removes
what was kept of all of them when one has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

problem = ''  # why numba cannot be used
try:
    import numba
except ImportError as error:
    problem = str(error) or 'it cannot be imported'


def compiled(function: Callable[..., Any], otherwise: Callable[..., Any] | None = None) -> Any:
    """Returns the function, compiled at its first call for its argument types; other threads run
    meanwhile. There is no cache if no folder can be written; without numba the function is
    `otherwise`, or itself as it is, which is some hundred times slower.
    """
    if problem:
        return otherwise or function
    try:
        return numba.njit(cache=True, nogil=True, error_model='numpy')(function)
    except RuntimeError:
        return numba.njit(nogil=True, error_model='numpy')(function)


def inlined(function: Callable[..., Any], otherwise: Callable[..., Any] | None = None) -> Any:
    """Returns the function as a part of each compiled function that calls it: a call that passes
    many arrays takes longer than some hundred operations on numbers.
    """
    if problem:
        return otherwise or function
    return numba.njit(inline='always', nogil=True, error_model='numpy')(function)
