# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops over the pixels of depth images, which are refused without numba: uncompiled they
would be too slow for a live image.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frame_ros.core import compiled as core
from frame_ros.core.errors import MissingExtraError, install_hint


def compiled(function: Callable[..., Any]) -> Any:
    """Returns the function, compiled; without numba a call raises MissingExtraError, so that code
    without depth images runs without it.
    """
    return core.compiled(function, _refuse)


def inlined(function: Callable[..., Any]) -> Any:
    """Returns the function as a part of each compiled function that calls it."""
    return core.inlined(function, _refuse)


def _refuse(*_: object) -> None:
    raise MissingExtraError(
        f'distances from depth images need numba ({core.problem}): {install_hint("depth")}'
    )
