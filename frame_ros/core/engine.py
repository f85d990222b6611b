# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo, imported only when a simulation is made, with a renderer that needs no display."""

from __future__ import annotations

import ctypes.util
import logging
import os
from types import ModuleType

from frame_ros.core.errors import MissingExtraError, install_hint

_LOG = logging.getLogger(__name__)


def load_mujoco() -> ModuleType:
    """Returns the module `mujoco`; chooses an off-screen renderer where MUJOCO_GL is not set.

    Its warnings go to the log of this module, not to a file in the working directory.

    Raises:
        MissingExtraError: mujoco is not installed.
    """
    if 'MUJOCO_GL' not in os.environ and os.name == 'posix':
        backend = _offscreen_backend()
        if backend:
            os.environ['MUJOCO_GL'] = backend
    try:
        import mujoco
    except ImportError as error:
        raise MissingExtraError(
            f'the simulation needs mujoco ({error}): {install_hint("sim")}'
        ) from error
    mujoco.set_mju_user_warning(_LOG.warning)
    return mujoco


def _offscreen_backend() -> str:
    """'egl' or 'osmesa', whichever library is there; empty if neither is."""
    for backend, library in (('egl', 'EGL'), ('osmesa', 'OSMesa')):
        if ctypes.util.find_library(library):
            return backend
    return ''
