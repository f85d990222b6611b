# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which contacts are meant, and the reason in words."""

from dataclasses import replace

import numpy as np
import pytest

from frame_ros.errors import ValueRangeError
from frame_ros.sensing.contact_expectation import (
    AllowedRegion,
    ContactContext,
    ContactExpectations,
    ContactJudge,
)
from frame_ros.sensing.detection import Detection

MS = 1_000_000
TABLE = AllowedRegion('table', (-1.0, -1.0, -0.1), (1.0, 1.0, 0.05), 8.0, phases=('place',))
SETTINGS = ContactExpectations(
    finger_links=('left', 'right'), allowed_links=('skirt',), regions=(TABLE,),
    grasp_phases=('grasp',), max_force=30.0, max_grasp_force=10.0, settling=0.5,
)  # fmt: skip
HIGH, LOW = np.array([0.3, 0.0, 0.4]), np.array([0.3, 0.0, 0.01])


def touch(link='', force=3.0, direction=(1.0, 0.0, 0.0), position=(np.nan,) * 3):
    wrench = np.concatenate([force * np.array(direction), np.zeros(3)])
    return Detection(0, 2, True, force, wrench, link, np.array(position))


def verdict(detection, *contexts, settings=SETTINGS):
    judge = ContactJudge(settings)
    for context in contexts:
        judge.gripper.update(context)
    return judge.judge(detection, contexts[-1])


def at(stamp=0, gripper=0.08, tip=HIGH, **values):
    return ContactContext(stamp * MS, gripper, tip_position=tip, **values)


def test_allowed_links_and_others():
    assert verdict(touch('skirt'), at()).is_expected
    found = verdict(touch('elbow'), at())
    assert not found.is_expected and 'elbow is not expected' in found.reason


def test_nothing_is_expected_beyond_the_largest_force():
    found = verdict(touch('skirt', force=31.0), at())
    assert not found.is_expected and '31.0 N' in found.reason and '30 N' in found.reason


def test_fingers_while_the_gripper_closes_holds_or_has_just_let_go():
    still = verdict(touch('left'), at())
    assert not still.is_expected and 'neither closes nor holds' in still.reason
    closing = (at(0), at(100, 0.07))
    assert 'closes' in verdict(touch('left'), *closing).reason
    assert verdict(touch('left'), *closing, at(600, 0.07)).is_expected
    assert not verdict(touch('left'), *closing, at(601, 0.07)).is_expected
    assert not verdict(touch('left'), at(0, 0.07), at(100, 0.08)).is_expected  # it opens
    held = verdict(touch('right'), at(is_grasped=True))
    assert held.is_expected and held.other == 'held object' and held.limit == 30.0
    released = (at(0, is_grasped=True), at(100, is_grasped=False))
    assert 'released' in verdict(touch('right'), *released).reason
    assert not verdict(touch('right'), *released, at(700, is_grasped=False)).is_expected
    assert 'phase' in verdict(touch('right'), at(phase='pre-grasp of cube')).reason


def test_a_gripper_that_closes_to_larger_positions():
    settings = replace(SETTINGS, smaller_is_closed=False)
    assert verdict(touch('left'), at(0, 0.07), at(100, 0.08), settings=settings).is_expected
    assert not verdict(touch('left'), at(0, 0.08), at(100, 0.07), settings=settings).is_expected


def test_noise_of_the_gripper_is_no_motion():
    contexts = [at(i, 0.08 + 0.0009 * (-1) ** i) for i in range(20)]
    assert not verdict(touch('left'), *contexts).is_expected


def test_regions_ask_place_phase_and_force():
    placing = at(tip=LOW, phase='place it')
    found = verdict(touch(), placing)
    assert found.is_expected and found.other == 'table' and found.limit == 8.0
    assert 'table' in found.reason
    assert not verdict(touch(), at(tip=LOW)).is_expected
    assert 'not in phase' in verdict(touch(), at(tip=LOW)).reason
    assert not verdict(touch(), at(phase='place it')).is_expected
    hard = verdict(touch(force=9.0), placing)
    assert not hard.is_expected and '9.0 N, more than the 8 N' in hard.reason
    # A known position counts, not the tip; so does that of a known link.
    assert not verdict(touch(position=HIGH), placing).is_expected
    assert verdict(touch(position=LOW), at(phase='place')).is_expected
    moved = at(phase='place', link_positions={'elbow': LOW})
    assert verdict(touch('elbow'), moved).is_expected
    assert not verdict(touch('elbow'), placing).is_expected
    # Fingers touch with the tip, however far from there their link begins.
    reaching = at(tip=LOW, phase='place', link_positions={'left': HIGH})
    assert verdict(touch('left'), reaching).is_expected
    only = replace(SETTINGS, regions=(replace(TABLE, links=('left',)),))
    assert verdict(touch('left'), placing, settings=only).is_expected
    assert not verdict(touch('elbow', position=LOW), placing, settings=only).is_expected


def test_an_unknown_link_is_unexpected_unless_explained():
    found = verdict(touch(), at())
    assert not found.is_expected and 'link is not known' in found.reason
    closing = (at(0), at(100, 0.07))
    assert verdict(touch(), *closing).is_expected
    hard = verdict(touch(force=11.0), *closing)
    assert not hard.is_expected and '10 N' in hard.reason
    weight = touch(direction=(0.1, 0.0, -0.99))
    assert 'weight' in verdict(weight, at(is_grasped=True)).reason
    assert not verdict(weight, at(is_grasped=False)).is_expected
    assert not verdict(touch(), at(is_grasped=True)).is_expected
    bare = ContactExpectations()
    assert not verdict(touch(), *closing, settings=bare).is_expected


def test_a_force_that_is_not_measured_passes_no_limit():
    assert verdict(touch('skirt', force=np.nan), at()).is_expected


def test_bad_settings():
    for values in [
        {'max_force': 0.0}, {'max_grasp_force': np.nan}, {'gripper_motion': 0.0},
        {'settling': -1.0}, {'regions': (TABLE, TABLE)},
    ]:  # fmt: skip
        with pytest.raises(ValueRangeError):
            replace(SETTINGS, **values)
    for values in [{'upper': (1.0, -1.0, 0.0)}, {'lower': (np.nan, 0.0, 0.0)}, {'max_force': 0.0}]:
        with pytest.raises(ValueRangeError):
            replace(TABLE, **values)
