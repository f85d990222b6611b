# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A stall is torque and position error and persistence; each alone is none."""

from __future__ import annotations

import numpy as np
import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.sensing.contact.joints.stall import StallDetector, StallOptions

STEP = 20_000_000


def run(torque: float, error: float, speed: float = 0.0, samples: int = 40) -> list[bool]:
    detector = StallDetector(2)
    zero = np.zeros(2)
    return [
        detector.update(
            (row + 1) * STEP, np.array([torque, 0.0]), zero, np.array([speed, 0.0]),
            np.array([error, 0.0]),
        )[0]
        for row in range(samples)
    ]  # fmt: skip


def test_a_joint_that_pushes_in_vain_is_stalled_after_the_time():
    found = run(2.0, 0.2)
    assert found.index(True) == 20  # 0.4 s after the first
    assert all(found[20:])
    assert run(-2.0, -0.2)[-1]


@pytest.mark.parametrize(('torque', 'error', 'speed'), [(2.0, 0.01, 0), (0.5, 0.2, 0), (2, 0.2, 1)])
def test_one_sign_of_it_alone_is_no_stall(torque, error, speed):
    assert not any(run(torque, error, speed))


def test_it_ends_below_the_release_and_survives_what_is_not_known():
    detector = StallDetector(1, StallOptions(time=0.1))
    zero = np.zeros(1)

    def feed(stamp, torque, error):
        return detector.update(stamp * STEP, np.array([torque]), zero, zero, np.array([error]))[0]

    for stamp in range(1, 8):
        feed(stamp, 2.0, 0.2)
    assert detector.is_stalled == (True,)
    assert feed(9, 1.2, 0.2)  # above 0.7 of the threshold
    assert detector.update(10 * STEP, zero + 2.0, zero, zero, None) == (True,)
    assert feed(11, 2.0, np.nan)
    assert not detector.update(12 * STEP, zero, zero, zero, None)[0]  # nothing pushes any more
    for stamp in range(13, 20):
        feed(stamp, 2.0, 0.2)
    assert detector.is_stalled == (True,)
    assert not feed(20, 0.9, 0.2)
    assert not feed(21, 2.0, 0.2)  # the time begins anew
    detector.reset()
    assert detector.is_stalled == (False,)


def test_an_interruption_begins_the_time_anew():
    detector = StallDetector(1)
    zero, far = np.zeros(1), np.array([0.3])
    for stamp in range(1, 60):
        torque = np.array([0.0 if stamp % 15 == 0 else 2.0])
        assert detector.update(stamp * STEP, torque, zero, zero, far) == (False,)


@pytest.mark.parametrize('interruption', ['missing', 'unknown'])
def test_what_was_not_seen_is_no_persistence(interruption):
    detector = StallDetector(1)
    zero, much, far = np.zeros(1), np.array([2.0]), np.array([0.3])
    assert detector.update(STEP, much, zero, zero, far) == (False,)
    if interruption == 'missing':
        detector.interrupt()
    else:
        detector.update(2 * STEP, much, zero, zero, None)
    assert detector.update(100 * STEP, much, zero, zero, far) == (False,)
    assert detector.update(125 * STEP, much, zero, zero, far) == (True,)


@pytest.mark.parametrize('settings', [{'torque': 0.0}, {'time': -1.0}, {'release': 1.1}])
def test_settings_that_cannot_be(settings):
    with pytest.raises(ValueRangeError):
        StallOptions(**settings)
