# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An arm with joints that turn without end, its motion as counted and as a driver publishes it from
-pi to pi, and the Jaco of Kinova, where its package is installed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

NAMES = ('turn', 'lift', 'roll')
TURNING = ('turn', 'roll')
PLACES = np.array([True, False, True])


def kinova() -> Path:
    """The URDF of Kinova's Jaco, of the package example-robot-data."""
    robots = 'cmeel.prefix/share/example-robot-data/robots'
    for folder in map(Path, sys.path):
        path = folder / robots / 'kinova_description/robots/kinova.urdf'
        if path.is_file():
            return path
    pytest.skip('the package example-robot-data is not installed')


def urdf(kind: str = 'continuous', name: str = 'turning') -> str:
    """Three joints: two of a kind, and one that slides neither nor turns without end."""
    limit = '<limit lower="-3.2" upper="3.2" effort="10" velocity="2"/>'
    axes = (('turn', kind, '0 0 1'), ('lift', 'revolute', '0 1 0'), ('roll', kind, '1 0 0'))
    parts = ['<link name="base"/>']
    parent = 'base'
    for joint, each, axis in axes:
        parts.append(
            f'<link name="{joint}_link"/><joint name="{joint}" type="{each}">'
            f'<parent link="{parent}"/><child link="{joint}_link"/>'
            f'<origin xyz="0.3 0 0.1"/><axis xyz="{axis}"/>{limit}</joint>'
        )
        parent = f'{joint}_link'
    parts.append(
        f'<link name="tip"/><joint name="end" type="fixed"><parent link="{parent}"/>'
        '<child link="tip"/><origin xyz="0.1 0.05 0"/></joint>'
    )
    return f'<robot name="{name}">{"".join(parts)}</robot>'


def counted(count: int = 120, rate: float = 30.0) -> np.ndarray:
    """(count, 3) rad: `turn` goes on over pi, `roll` swings across it."""
    time = np.arange(count) / rate
    return np.stack((2.8 + 0.9 * time, 0.4 * np.sin(time), 3.1 + 0.5 * np.sin(3.0 * time)), axis=1)


def wrapped(positions: np.ndarray, places: np.ndarray = PLACES) -> np.ndarray:
    """The same as a driver publishes them, from -pi to pi: by the angle of a complex number."""
    return np.where(places, np.angle(np.exp(1j * np.asarray(positions))), positions)
