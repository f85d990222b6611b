# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A table that holds a recorded arm up, by positions and goals."""

import numpy as np
import pytest

from frame_ros.evaluation.recorded_motion.sage import EffortRecording
from frame_ros.evaluation.recorded_motion.table import (
    HOLD,
    NEAR,
    RISE,
    heights,
    is_held_up,
    presses,
    rises,
)
from frame_ros.robots import load_robot

ROBOT = load_robot('so101')
NAMES = ROBOT.joint_names
TIMES = np.arange(300) / 50.0
LIFT, ELBOW = NAMES.index('shoulder_lift'), NAMES.index('elbow_flex')


def recording(lift, aims):
    """Of a lift that goes so far and is sent so far, rad; the elbow reaches for the table."""
    stamps = 10**9 + np.rint(TIMES * 1e9).astype(np.int64)
    positions, goals = np.zeros((2, 300, len(NAMES)))
    positions[:, ELBOW] = goals[:, ELBOW] = 0.3
    positions[:, LIFT], goals[:, LIFT] = lift, aims
    return EffortRecording('any', NAMES, stamps, positions, 0 * goals, 0 * goals, goals)


def lift_at(height):
    """Rad of the lift with the lowest link at a height above the table."""
    ways = np.linspace(0.0, 0.9, 300)
    levels = heights(recording(ways, ways), ROBOT)
    return float(np.interp(-height, -levels, ways))


def judged(lift, aims):
    found = recording(lift, aims)
    above, risen = heights(found, ROBOT), rises(found, ROBOT)
    return presses(found, above, risen), above, risen


def test_an_arm_that_stays_above_its_goals_at_the_table_is_held_up():
    surface, deep = lift_at(0.0), lift_at(-0.02)
    high = lift_at(0.1)
    # Down in 2 s, there for 2 s, and up again, with 20 mm to go.
    aims = np.interp(TIMES, [0.0, 2.0, 4.0, 6.0], [high, deep, deep, high])
    (press,), above, _ = judged(np.minimum(aims, surface), aims)
    assert press.rise == pytest.approx(0.02, abs=1e-3)
    assert press.height == pytest.approx(0.0, abs=1e-3) == above.min()
    assert 1.5 < press.begin < 2.1 and 3.9 < press.end < 4.5


def test_weight_goals_that_jump_and_free_air_are_no_press():
    surface, deep, high = lift_at(0.0), lift_at(-0.02), lift_at(0.1)
    still = np.full(300, surface)
    # It hangs below its goal; it stands above one in the air; goals jump for less than HOLD.
    for lift, aims in (
        (still, np.full(300, lift_at(0.02))),
        (np.full(300, high), np.full(300, lift_at(0.07))),
        (still, np.where((TIMES > 2.0) & (TIMES < 2.0 + 0.8 * HOLD), deep, surface)),
    ):
        assert judged(lift, aims)[0] == []


def test_goals_that_move_on_are_not_judged():
    high, low = lift_at(0.1), lift_at(-0.02)
    aims = np.interp(TIMES, [0.0, 2.0, 2.5], [high, high, low])
    risen = judged(np.full(300, high), aims)[2]
    assert np.isnan(risen[: round(50 * HOLD)]).all()
    assert np.isnan(risen[(TIMES > 2.1) & (TIMES < 2.5)]).all()
    assert np.isfinite(risen[(TIMES > 0.3) & (TIMES < 2.0)]).all()


def test_a_short_recording_has_no_rise():
    whole = recording(np.zeros(300), np.zeros(300))
    short = EffortRecording('any', NAMES, *(getattr(whole, name)[:3] for name in (
        'stamps', 'positions', 'velocities', 'efforts', 'goals')))  # fmt: skip
    assert np.isnan(rises(short, ROBOT)).all()


def test_it_takes_height_and_rise_to_be_held_up():
    near, above = np.array([NEAR, NEAR + 1e-6]), np.array([0.5 * RISE, 1.1 * RISE])
    assert is_held_up(near, np.full(2, 1.1 * RISE)).tolist() == [True, False]
    assert is_held_up(np.zeros(2), above).tolist() == [False, True]
    assert not is_held_up(np.zeros(1), np.full(1, np.nan)).any()
