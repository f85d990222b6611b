# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Units that joint values look like, in words with and without an option."""

import numpy as np
import pytest

from frame_ros.robots import load_robot
from frame_ros.robots.likely_units import DEGREES, PERCENT, TICKS, likely_units

ARM = load_robot('so101')


@pytest.mark.parametrize(
    ('position', 'units', 'words'),
    [
        (-170.0, (DEGREES,), 'they look like degrees: -u deg'),
        (40.0, (DEGREES, PERCENT), "degrees (-u deg) or LeRobot's -100 to 100 (-u percent)"),
        (2047.0, (TICKS,), 'ticks of an encoder: -u ticks'),
        (12345.6, (), 'their units are unknown'),
    ],
)
def test_values_look_like_units(position, units, words):
    found = likely_units({'shoulder_lift': np.array([position])}, ARM)
    assert found.units == units and not found.is_rad
    assert found.words('-u').endswith(words)
    assert '-u' not in found.words()


def test_a_turn_or_less_may_be_another_zero():
    found = likely_units({'shoulder_lift': np.array([3.0])}, ARM)
    assert found.is_rad and found.words('-u').startswith('another zero')
