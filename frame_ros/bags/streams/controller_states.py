# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""States of a joint_trajectory_controller: its set points as commands, and the measured joints.

The definition in the bag says how its points are called: desired and actual up to Humble, reference
and feedback since, both in between.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.message_forms import CONTROLLER_TYPE
from frame_ros.bags.reader import STAMP, Bag
from frame_ros.core.errors import BagError

# The names of a point, the present one first.
SET_POINTS = ('reference', 'desired')
MEASURED = ('feedback', 'actual')
JOINTS = 'joint_names'
# Field of a point -> that of a JointState.
FIELDS = {'positions': 'position', 'velocities': 'velocity', 'effort': 'effort'}


def read_set_points(bag: Bag, topic: str) -> tuple[NDArray, dict[str, NDArray]]:
    """Returns receive times and set points, in the form of joint commands."""
    return _read(bag, topic, SET_POINTS)


def read_measured(bag: Bag, topic: str) -> tuple[NDArray, dict[str, NDArray]]:
    """Returns receive times and measured joints, in the form of joint states."""
    return _read(bag, topic, MEASURED)


def _read(bag: Bag, topic: str, points: Sequence[str]) -> tuple[NDArray, dict[str, NDArray]]:
    paths = [f'{point}.{field}' for point in points for field in FIELDS]
    received, columns = bag.columns(topic, [STAMP, JOINTS, *paths])
    known = [point for point in points if f'{point}.positions' in columns]
    missing = [path for path in (STAMP, JOINTS) if path not in columns]
    missing += [] if known else [' or '.join(points)]
    if len(received) and missing:
        raise BagError(f'{topic}: its {CONTROLLER_TYPE} lacks {", ".join(missing)}')
    names = columns.get(JOINTS, np.zeros((0, 0), '<U1'))
    found = {
        STAMP: columns.get(STAMP, received),
        'name': names,
        'name.count': columns.get(f'{JOINTS}.count', np.zeros(0, np.int64)),
    }
    for field, name in FIELDS.items():
        found[name], found[f'{name}.count'] = _filled(columns, known, field, len(received))
    return received, found


def _filled(
    columns: dict[str, NDArray], points: Sequence[str], field: str, count: int
) -> tuple[NDArray, NDArray]:
    """Returns a field (T, K) and its lengths (T,), of each message of the first point that has
    it."""
    values: NDArray = np.zeros((count, 0))
    sizes: NDArray = np.zeros(count, np.int64)
    for point in points:
        own, lengths = columns.get(f'{point}.{field}'), columns.get(f'{point}.{field}.count')
        if own is None or lengths is None:
            continue
        width = max(values.shape[1], own.shape[1])
        is_taken = (sizes == 0) & (lengths > 0)
        values = np.where(is_taken[:, None], _widened(own, width), _widened(values, width))
        sizes = np.where(is_taken, lengths, sizes)
    return values, sizes


def _widened(values: NDArray, width: int) -> NDArray:
    return np.pad(values, ((0, 0), (0, width - values.shape[1])), constant_values=np.nan)
