# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A state of a Franka arm, as libfranka reports it once a millisecond."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.hardware.franka_estimates import FrankaEstimates

Array = NDArray[np.float64]
# Of franka::RobotMode; in these two it takes commands.
IDLE, MOVE, REFLEX = 'idle', 'move', 'reflex'
READY = (IDLE, MOVE)


class FrankaReading:
    """One state of the arm. A field is converted when it is first asked for, and once: each costs
    as much as reading the state, and most cycles need few of them.

    Attributes:
        read_at: ns of time.monotonic_ns(), when it was here.
        count: ms since the robot started; the next state's is one more.
        positions: (7,) rad.
        velocities: (7,) rad/s.
        commanded_velocities: (7,) rad/s, by which the arm goes.
        torques: (7,) N m, of the sensors in the joints.
        estimates: external torques and wrench, and the flags.
        pose: (7,) of the end effector in the base: position in m, quaternion xyzw.
        mode: franka::RobotMode, in lower case.
        success_rate: share of the last 100 commands that the arm received in time; 0 without any.
    """

    positions: Array
    velocities: Array
    commanded_velocities: Array
    torques: Array
    estimates: FrankaEstimates
    pose: Array
    mode: str
    success_rate: float

    def __init__(self, state: Any, read_at: int, count: int, modes: Mapping[Any, str]) -> None:
        """state: a franky.RobotState. modes: names of its modes."""
        self.read_at, self.count = read_at, count
        self._state, self._modes = state, modes

    def __getattr__(self, name: str) -> Any:
        """Converts a field that was not asked for before."""
        convert = _CONVERSIONS.get(name)
        if convert is None:
            raise AttributeError(f'a reading has no {name!r}')
        value = convert(self._state)
        if name == 'mode':
            value = self._modes.get(value, 'other')
        self.__dict__[name] = value
        return value

    def write_joints(self, positions: Array, velocities: Array, torques: Array) -> None:
        """Writes these into arrays (7,), without keeping them."""
        state = self._state
        positions[:], velocities[:], torques[:] = state.q, state.dq, state.tau_J

    @property
    def is_ready(self) -> bool:
        """True if the arm can be moved: it is in no error, not stopped and not guided by hand."""
        return self.mode in READY


def mode_names(franky: Any) -> dict[Any, str]:
    """Returns the names of franky's modes: the enumeration costs more to name than to compare."""
    modes = franky.RobotMode
    names = ('Other', 'Idle', 'Move', 'Guiding', 'Reflex', 'UserStopped')
    found = {getattr(modes, name): _words(name) for name in names}
    return found | {modes.AutomaticErrorRecovery: 'automatic error recovery'}


def _estimates(state: Any) -> FrankaEstimates:
    return FrankaEstimates(
        state.tau_ext_hat_filtered,
        state.O_F_ext_hat_K,
        state.K_F_ext_hat_K,
        state.cartesian_contact != 0.0,
        state.cartesian_collision != 0.0,
        state.joint_contact != 0.0,
        state.joint_collision != 0.0,
    )


def _pose(state: Any) -> Array:
    pose = state.O_T_EE
    return np.concatenate((pose.translation, pose.quaternion))


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    'positions': attrgetter('q'),
    'velocities': attrgetter('dq'),
    'commanded_velocities': attrgetter('dq_d'),
    'torques': attrgetter('tau_J'),
    'estimates': _estimates,
    'pose': _pose,
    'mode': attrgetter('robot_mode'),
    'success_rate': attrgetter('control_command_success_rate'),
}


def _words(name: str) -> str:
    """'UserStopped' -> 'user stopped'."""
    return ''.join(f' {c.lower()}' if c.isupper() else c for c in name).strip()
