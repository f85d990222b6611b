# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The place of a weight that is held or hangs on the hand, wherever the robot's tip is."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.time import MILLISECOND
from frame_ros.sensing.contact.wrench.detector import WrenchContact
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.tool_model import Tool, ToolLoad
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotion
from frame_ros.sensing.contact.wrench.weight_place import SPREAD, TARED, WeightPlace

TOOL, STEP = Tool(0.9, (0.01, -0.015, 0.055)), 4  # ms
TCP = (0.0, 0.0, 0.1034)
DOWN = np.array([0.0, 0.0, -1.0])
ASIDE = np.array([1.0, 0.0, 0.0])
DEVIATIONS = [0.06, 0.06, 0.06, 0.0024, 0.0024, 0.0024]


class Hand:
    """A hand of which only the turning is simulated, and a sensor at its flange, as is its tip."""

    def __init__(self, weight_point=None, **settings):
        options = WrenchOptions(weight_point=weight_point, **settings)
        self.contact = WrenchContact(options, TOOL, np.zeros(6))
        self.time, self.angles = 0, np.array([np.pi, 0.0, 0.0])
        self._random = np.random.default_rng(3)

    def run(self, seconds, load, turn=(0.0, 0.0, 0.0), is_holding=None, push=(0.0, 0.0, 0.0)):
        """Turns by angles, rad, forth and back in 6 s. load: kg and place. push: N m on the sensor.
        Returns whether there was contact, of each sample.
        """
        found, carried = [], ToolLoad(TOOL.with_payload(*load))
        for tick in range(round(seconds * 1000 / STEP)):
            t = tick * STEP / 1000.0
            share = np.sin(2.0 * np.pi * t / 6.0)
            angles = self.angles + share * np.array(turn)
            row = Rotation.from_euler('xyz', angles).as_matrix()
            is_moving, speed = any(turn), 0.3 * float(np.linalg.norm(turn))
            motion = ToolMotion(row, *np.zeros((3, 3)), is_moving, speed=speed)
            values = np.array(carried.weight(carried.gravity(row.ravel().tolist())))
            values[3:] += push
            values += self._random.normal(size=6) * DEVIATIONS
            self.time += STEP
            detection = self.contact.update(self.time * MILLISECOND, values, motion, is_holding)
            found.append(bool(detection.is_contact))
        return np.array(found)


NOTHING = (0.0, TCP)


@pytest.mark.parametrize('weight_point', [None, TCP])
@pytest.mark.parametrize('place', [TCP, (0.06, -0.04, 0.15)])
def test_what_is_held_away_from_the_tip_is_no_contact_as_the_hand_turns(weight_point, place):
    hand = Hand(weight_point)
    hand.run(2.0, NOTHING, is_holding=True)
    lifted = hand.run(1.5, (0.3, place), is_holding=True)
    assert lifted.any() and not lifted[-1]
    assert not hand.run(30.0, (0.3, place), (0.9, 0.7, 0.3), True).any()
    assert hand.contact.payload.mass == pytest.approx(0.3, abs=0.01)
    np.testing.assert_allclose(hand.contact.payload.position, place, atol=0.01)
    # What pushes is felt as before.
    assert hand.run(1.0, (0.3, place), is_holding=True, push=(0.0, 0.3, 0.0))[-1]


@pytest.mark.parametrize('weight_point', [None, TCP])
def test_what_hangs_away_from_the_tip_is_no_contact_once_it_is_known(weight_point):
    hand, load = Hand(weight_point), (0.25, (0.01, -0.015, 0.147))
    hand.run(12.0, NOTHING, (0.9, 0.7, 0.3))
    hand.run(12.0, load, (0.9, 0.7, 0.3))
    assert hand.contact.hung.payload.mass == pytest.approx(0.25, abs=0.02)
    assert not hand.run(30.0, load, (0.9, 0.7, 0.3)).any()
    np.testing.assert_allclose(hand.contact.hung.payload.position, load[1], atol=0.01)
    assert np.abs(hand.contact.bias[3:]).max() < 0.03


TURN = (0.9, 0.7, 0.3)


@pytest.mark.parametrize(
    'twist', [(0.0, 0.0, 0.4), (0.4, 0.0, 0.0), (0.0, 0.6, 0.0), (0.0, 0.0, 3.0)]
)
def test_a_twist_along_with_a_weight_stays_a_contact_until_it_ends(twist):
    hand, load = Hand(TCP), (0.2, TCP)
    hand.run(12.0, NOTHING, TURN)
    assert hand.run(18.0, load, TURN, push=twist)[500:].all()
    assert any('turned by more than a weight' in why for why in hand.contact.warnings)
    assert np.abs(hand.contact.bias[3:]).max() < 0.06
    assert not hand.run(18.0, load, TURN)[-3000:].any()
    assert hand.contact.hung.payload.mass == pytest.approx(0.2, abs=0.02)
    np.testing.assert_allclose(hand.contact.hung.payload.position, TCP, atol=0.03)


def test_a_twist_that_grows_slowly_is_followed_no_farther_than_without_a_weight():
    begins = []
    for load in (NOTHING, (0.25, TCP)):
        hand = Hand(TCP)
        hand.run(12.0, NOTHING, TURN)
        hand.run(30.0, load, TURN)
        felt = [hand.run(6.0, load, TURN, push=(0.0, 0.0, 0.15 * k)).mean() for k in range(1, 7)]
        begins.append(next(k for k, share in enumerate(felt) if share > 0.9))
        assert hand.contact.bias[5] < 0.3
    assert begins[0] == begins[1] <= 3


def test_a_weight_that_slips_is_taken_off_where_it_hangs_then():
    hand, aside = Hand(TCP), (0.1, 0.0, 0.1)
    hand.run(12.0, NOTHING, TURN)
    hand.run(18.0, (0.25, TCP), TURN)
    assert hand.run(1.0, (0.25, aside), TURN)[-1]
    assert not hand.run(18.0, (0.25, aside), TURN)[-3000:].any()
    np.testing.assert_allclose(hand.contact.hung.payload.position, aside, atol=0.01)


def test_a_place_that_one_posture_does_not_show_widens_the_threshold_with_a_warning():
    hand, load = Hand(TCP), (1.0, (0.0, 0.0, 0.17))
    hand.run(2.0, NOTHING, is_holding=True)
    hand.run(2.0, load, is_holding=True)
    assert hand.contact.unknown_torque < 0.05 and not hand.contact.warnings
    before = hand.contact.sensitivity
    hand.time += 3000  # no wrench comes while the hand turns
    hand.angles = np.array([np.pi / 2.0, 0.0, 0.0])
    assert not hand.run(0.04, load, is_holding=True).any()
    assert hand.contact.unknown_torque > 1.0
    (said,) = hand.contact.warnings
    assert 'where a weight on the hand acts is not known' in said
    assert not hand.run(0.5, load, is_holding=True).any()
    hand.run(3.0, load, (0.3, 0.3, 0.0), True)
    assert not hand.run(3.0, load, is_holding=True).any()
    assert hand.contact.unknown_torque < 0.05 and not hand.contact.warnings
    assert hand.contact.sensitivity.force <= before.force * 1.2


def test_one_posture_shows_a_line_and_others_the_place():
    place, weight, true = WeightPlace(TCP), 3.0, np.array([0.04, -0.02, 0.2])
    offset = np.array([0.1, -0.05, 0.02])
    place.begin(offset, TARED)
    place.hang(weight)
    assert place.unknown(DOWN) == pytest.approx(np.sqrt(2.0) * weight * SPREAD, rel=0.05)
    for _ in range(20):
        place.update(offset + np.cross(weight * true, DOWN), DOWN)
    found = place.moment / weight
    np.testing.assert_allclose(found[:2], true[:2], atol=0.005)
    assert found[2] == pytest.approx(TCP[2], abs=1e-3)
    assert place.unknown(DOWN) < 0.03 < 0.2 < place.unknown(ASIDE)
    for _ in range(20):
        place.update(offset + np.cross(weight * true, ASIDE), ASIDE)
    np.testing.assert_allclose(place.moment / weight, true, atol=0.005)
    assert place.unknown(ASIDE) < 0.03
    # Another weight later: no more is known than at the beginning.
    place.doubt()
    assert place.unknown(DOWN) > 1.0


def test_a_block_that_contradicts_counts_for_less():
    place = WeightPlace(TCP)
    place.begin(np.zeros(3), TARED)
    place.hang(3.0)
    for _ in range(20):
        place.update(np.cross(3.0 * np.array(TCP), ASIDE), ASIDE)
    before = place.moment.copy()
    place.update(np.array([0.0, 5.0, 0.0]), ASIDE)
    assert np.abs(place.moment - before).max() < 0.1


def test_thresholds_that_are_changed_later_are_those_of_weights_too():
    wide = {'force_on': 4.0, 'torque_on': 0.8}
    changed, made_so = Hand(), Hand(**wide)
    changed.contact.change(made_so.contact.settings)
    for hand in (changed, made_so):
        hand.run(6.0, NOTHING, TURN)
        hand.run(12.0, (0.2, TCP), TURN, push=(0.5, 0.0, 0.0))
    np.testing.assert_allclose(changed.contact.bias, made_so.contact.bias, atol=1e-6)
    assert changed.contact.warnings == made_so.contact.warnings
    found, wanted = changed.contact.hung.payload, made_so.contact.hung.payload
    np.testing.assert_allclose(found.position, wanted.position, atol=1e-6)
    assert found.mass == pytest.approx(wanted.mass) == pytest.approx(0.2, abs=0.01)
