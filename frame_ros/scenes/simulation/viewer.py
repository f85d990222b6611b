# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's window, and the check for a display."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from frame_ros.core.engine import load_mujoco
from frame_ros.core.errors import SetupError
from frame_ros.scenes import SceneState

PROBE_TIMEOUT = 10.0  # s; a display on another machine may never answer
# GLFW, which MuJoCo's viewer uses, ends the whole process where the display does not work.
_PROBE = """
import sys, glfw
glfw.ERROR_REPORTING = 'ignore'
if not glfw.init():
    sys.exit((glfw.get_error()[1] or b'GLFW does not start').decode())
glfw.window_hint(glfw.VISIBLE, glfw.FALSE)
window = glfw.create_window(16, 16, 'probe', None, None)
if not window:
    sys.exit((glfw.get_error()[1] or b'GLFW opens no window').decode())
glfw.terminate()
"""


def wants_viewer(choice: str) -> bool:
    """Returns whether to open the viewer: 'auto' does if there is a display.

    Raises:
        SetupError: a window is demanded without a display.
    """
    has_display = bool(os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY'))
    if choice == 'true' and not has_display:
        raise SetupError('viewer is true, but there is no display: set DISPLAY, or viewer to auto')
    return has_display and choice != 'false'


def display_problem() -> str:
    """Returns why no window can be opened, as tried in a child process; empty if one can."""
    try:
        probe = subprocess.run(
            [sys.executable, '-c', _PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors='replace',
            timeout=PROBE_TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return f'the display did not answer within {PROBE_TIMEOUT:.0f} s'
    if probe.returncode == 0:
        return ''
    lines = probe.stderr.strip().splitlines()
    return lines[-1] if lines else f'opening a window ended with {probe.returncode}'


class Viewer:
    """The open window. Only the thread that made it may use it."""

    def __init__(self, model: Any) -> None:
        """model: the scene's mujoco.MjModel.

        Raises:
            SetupError: no window can be opened.
        """
        problem = display_problem()
        if problem:
            raise SetupError(problem)
        self._model = model
        self._data = load_mujoco().MjData(model)
        try:
            import mujoco.viewer

            self._window = mujoco.viewer.launch_passive(
                model, self._data, show_left_ui=False, show_right_ui=False
            )
        except Exception as error:
            raise SetupError(str(error)) from error

    def show(self, state: SceneState) -> None:
        """Draws a state, unless the user has closed the window."""
        if not self._window.is_running():
            return
        with self._window.lock():
            state.copy_to(self._data)
            load_mujoco().mj_forward(self._model, self._data)
        self._window.sync()

    def close(self) -> None:
        """Closes the window."""
        self._window.close()
