# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

from frame_ros.gate.named_positions import NamedPositionsReader
from frame_ros.gate.records import Reason

NAMES = ('shoulder_pan', 'elbow_flex', 'gripper')


@pytest.mark.parametrize(
    ('names', 'positions', 'cause', 'text'),
    [
        (NAMES, (0.0, float('nan'), 0.0), 'not_finite', 'elbow_flex is nan'),
        (NAMES, (0.0, 0.0, -np.inf), 'not_finite', 'gripper is -inf'),
        (('elbow', 'gripper'), (0.0, 0.0), 'malformed', "unknown joint 'elbow'; known: shoulder_p"),
        (NAMES, (0.0, 0.0), 'malformed', '2 positions for 3 joints'),
        (('gripper', 'gripper'), (0.0, 1.0), 'malformed', 'named twice'),
        ((), (), 'malformed', 'names no joint'),
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_reason(names, positions, cause, text):
    reader = NamedPositionsReader(NAMES)
    assert isinstance(reader.read(NAMES, (0.0, 0.0, 0.0)), tuple)
    found = reader.read(list(names), positions)
    assert isinstance(found, Reason) and found.cause == cause and text in found.text


def test_joints_come_in_any_order_and_number():
    reader = NamedPositionsReader(NAMES)
    assert reader.read(NAMES[::-1], (3.0, 2.0, 1.0)).indices.tolist() == [2, 1, 0]
    names = ['gripper']
    found = reader.read(names, [1e308])
    assert found.names == ('gripper',) and found.positions.tolist() == [1e308]
    names[0] = 'elbow_flex'  # a list that its owner fills again
    assert reader.read(names, [0.5]).indices.tolist() == [1]
