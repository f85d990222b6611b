# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pulls that look like a weight on the hand, and a push along with one, stay contacts."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.time import MILLISECOND
from frame_ros.sensing.contact.wrench.block import WrenchBlock
from frame_ros.sensing.contact.wrench.detector import WrenchContact
from frame_ros.sensing.contact.wrench.heavy_pull import HeavyPull
from frame_ros.sensing.contact.wrench.hung_weight import HungWeight
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.tool_model import GRAVITY, Tool, ToolLoad
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotion

TOOL, TIP, STEP = Tool(0.5, (0.0, 0.0, 0.05)), (0.0, 0.0, 0.1), 5
DOWN = np.array([0.0, 0.0, -1.0])
WEIGHT = 0.1 * 9.80665


def swing(pull, seconds=14.0, aside=lambda t: 0.0, sideways=lambda t: 0.0, shaken=0.0):
    """A wrist swings about its x axis from 1 s on, at 200 Hz.

    pull(t): N downwards in the world; sideways(t): N along its y axis; aside(t): N along the
    sensor's x axis, all at the tip. shaken: m/s^2 by which the hand is accelerated, and the mass
    with it that pulls downwards.
    """
    assert np.isclose(np.linalg.norm(GRAVITY), 9.80665, atol=0.02)
    contact = WrenchContact(WrenchOptions(tip=TIP), TOOL, np.zeros(6))
    rng, load, found = np.random.default_rng(0), ToolLoad(TOOL), []
    for tick in range(int(seconds * 1000 / STEP)):
        t = tick * STEP / 1000
        angle = 0.6 * np.sin(1.2 * max(t - 1.0, 0.0))
        turned = Rotation.from_rotvec([angle, 0.0, 0.0]).as_matrix()
        speed = 0.72 * abs(np.cos(1.2 * (t - 1.0))) * 0.3 if t > 1.0 else 0.0
        phase = np.array([4.0 * t, 5.0 * t, 6.0 * t])
        shake = shaken * np.sin(phase) if t > 1.0 else np.zeros(3)
        motion = ToolMotion(turned, shake, np.zeros(3), np.zeros(3), t > 1.0, speed=speed)
        down = DOWN - shake / GRAVITY
        force = turned.T @ (down * pull(t) + [0.0, sideways(t), 0.0]) + [aside(t), 0.0, 0.0]
        wrench = np.array(load.weight(load.gravity(turned.ravel().tolist())))
        wrench += load.inertial(turned.ravel().tolist(), motion)
        wrench += np.concatenate((force, np.cross(TIP, force)))
        wrench += rng.normal(size=6) * [0.05, 0.05, 0.05, 0.002, 0.002, 0.002]
        detection = contact.update((tick + 1) * STEP * MILLISECOND, wrench, motion)
        found.append((t, bool(detection.is_contact), detection.force, contact.warnings))
    return contact, found


def test_a_light_weight_is_taken_off_with_a_warning():
    contact, found = swing(lambda t: WEIGHT if t > 3.0 else 0.0)
    assert contact.hung.payload.mass == pytest.approx(0.1, abs=0.03)
    assert any('nobody announced' in why for why in found[-1][3])
    assert not any(each[1] for each in found if each[0] > 10.0)


def test_a_cable_that_pulls_down_and_aside_is_no_weight():
    def cable(t):
        return 0.8 * min(max(t - 3.0, 0.0) / 2.0, 1.0) * (1.0 + 0.3 * np.sin(2.0 * t))

    contact, found = swing(cable, sideways=cable)
    assert contact.hung.payload.mass == 0.0
    assert not any('nobody announced' in why for each in found for why in each[3])


def test_a_pull_whose_strength_changes_on_the_way_is_no_weight():
    contact, found = swing(lambda t: 0.8 * (1.0 + 0.5 * np.sin(2.0 * t)) * (t > 2.0))
    assert contact.hung.payload.mass == 0.0
    assert not any('nobody announced' in why for each in found for why in each[3])


def test_a_strong_pull_downwards_is_no_weight():
    contact, found = swing(lambda t: 8.0 if t > 3.0 else 0.0)
    assert contact.hung.payload.mass == 0.0
    assert all(each[1] for each in found if each[0] > 3.1)
    said = [why for each in found for why in each[3]]
    assert any('or something it is hooked to' in why for why in said)


@pytest.mark.parametrize('mass', [0.4, 0.8, 1.5])
def test_of_a_weight_too_heavy_to_be_taken_off_there_is_a_warning(mass):
    """With its inertia: the hand is shaken as in a brisk motion."""
    contact, found = swing(lambda t: mass * GRAVITY * (t > 3.0), shaken=1.0)
    assert contact.hung.payload.mass == 0.0
    assert all(each[1] for each in found if each[0] > 3.1)
    assert not any('hangs on the hand' in why for each in found if each[0] < 5.0 for why in each[3])
    (said,) = found[-1][3]
    newton, grams = (float(part) for part in re.findall(r'([\d.]+) (?:N|g)\b', said))
    assert 'it stays a contact' in said
    assert newton == pytest.approx(mass * GRAVITY, rel=0.1)
    assert grams == pytest.approx(1e3 * newton / GRAVITY, rel=0.02)


def test_the_warning_of_a_heavy_weight_ends_with_it_and_outlasts_a_push():
    def pull(t):
        return 6.0 * (3.0 < t < 13.0)

    contact, found = swing(pull, 15.0, aside=lambda t: 5.0 * (9.0 < t < 10.0), shaken=0.5)
    warned = {round(each[0], 3) for each in found if any('stays a contact' in w for w in each[3])}
    assert {8.5, 9.5, 10.5, 12.5} <= warned
    assert max(warned) < 13.3 and not contact.warnings


@pytest.mark.parametrize(
    ('aside', 'sideways', 'down', 'size'),
    [
        (1.0, 0.0, 0.0, 25.0),
        (0.0, 1.0, 0.0, 8.0),
        (0.0, 0.7, 0.7, 8.0),
        (0.0, 0.45, 0.9, 25.0),
        (0.7, 0.0, 0.7, 8.0),
    ],
)
def test_a_strong_steady_push_is_not_called_a_weight(aside, sideways, down, size):
    _, found = swing(
        lambda t: down * size * (t > 3.0),
        aside=lambda t: aside * size * (t > 3.0),
        sideways=lambda t: sideways * size * (t > 3.0),
    )
    assert all(each[1] for each in found if each[0] > 3.1)
    assert not any('stays a contact' in why for each in found for why in each[3])


def test_a_steady_push_that_turns_with_the_hand_is_not_called_a_weight():
    """Along the sensor's z axis, about which gravity swings."""
    heavy = HeavyPull(3.0)
    for t in np.arange(0.0, 20.0, 0.05):
        angle = 0.6 * np.sin(1.2 * t)
        heavy.update(
            np.array([0.0, 0.0, -8.0]), np.array([0.0, np.sin(angle), -np.cos(angle)]), 0.05
        )
        assert heavy.weight == 0.0
        # The same downwards, on a hand that does not turn.
        still = HeavyPull(3.0)
        still.update(np.array([0.0, 0.0, -8.0]), DOWN, 5.0)
        assert still.weight == 0.0


def test_a_push_beside_a_weight_is_not_taken_off_with_it():
    contact, found = swing(lambda t: WEIGHT * (t > 3.0), aside=lambda t: 3.0 * (t > 3.0))
    assert all(each[1] for each in found if each[0] > 3.1)
    assert abs(contact.bias[0]) < 0.3
    said = [why for each in found for why in each[3]]
    assert any('N more push it' in why for why in said)


def test_a_weight_that_a_table_bears_is_not_gone():
    def pull(t):
        if t < 3.0:
            return 0.0
        return WEIGHT if t < 11.0 else (-3.0 if t < 11.5 else -0.02)

    contact, found = swing(pull, 18.0)
    assert contact.hung.payload.mass == pytest.approx(0.1, abs=0.03)
    said = [why for each in found if each[0] > 11.0 for why in each[3]]
    assert any('it is still counted' in why for why in said)


def weight_after_holding(speed):
    """N, of the first block behind 10 s in which something was held and the hand went at `speed`,
    m/s; a cable had pulled before, and pulls no more.
    """
    hung, bias, tick = HungWeight(WrenchOptions(tip=TIP), (0.0, 0.0, -9.8)), np.zeros(6), 0

    def take(force, t, way, is_holding):
        nonlocal tick
        tick += 1
        turned = Rotation.from_euler('xy', (0.6 * np.sin(t), 0.5 * np.cos(0.7 * t))).as_matrix()
        rows = np.tile(np.concatenate((turned.T @ force, np.zeros(3))), (50, 1))
        down, begin = np.tile(turned.T @ DOWN, (50, 1)), tick * 50 * MILLISECOND
        block = WrenchBlock(
            begin, begin + 49 * MILLISECOND, rows, down, turned, 0.0 * rows, 0.0 * rows, way, 0.0,
            False, True, is_holding,
        )  # fmt: skip
        hung.update(block, bias)

    for t in np.arange(200) * 0.05:
        take(np.array([0.5, 0.0, -0.45]) * np.sin(0.9 * t), t, 0.2, False)
    for _ in range(200):
        take(2.0 * DOWN, 0.0, speed, True)
    take(np.zeros(3), 0.0, 0.02, False)
    return hung._forces.weight


def test_a_cable_is_elsewhere_after_something_was_carried():
    stood, carried = weight_after_holding(0.0), weight_after_holding(0.4)
    assert abs(carried) < 0.5 * abs(stood)
