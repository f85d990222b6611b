# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts that are meant, and the reason in words."""

from dataclasses import replace

import numpy as np
import pytest
from attrs import evolve

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.time import MILLISECOND
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.expectation import (
    AllowedRegion,
    ContactContext,
    ContactExpectations,
    ContactJudge,
)

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
    return ContactContext(stamp * MILLISECOND, gripper, tip_position=tip, **values)


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
    empty = verdict(touch('left'), at(gripper=0.38, is_grasped=False))
    assert not empty.is_expected and 'at 0.38' in empty.reason and 'grasp.closed' in empty.reason
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
    settings = evolve(SETTINGS, smaller_is_closed=False)
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
    only = evolve(SETTINGS, regions=(replace(TABLE, links=('left',)),))
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


def test_what_is_held_explains_forces_along_the_vertical():
    grasp = (at(0, tip=LOW, is_grasped=False), at(100, tip=LOW, is_grasped=True))

    def found(force, **values):
        context = at(700, **{'is_grasped': True, **values})
        return verdict(touch('', np.linalg.norm(force), np.array(force) / np.linalg.norm(force)),
                       *grasp, context)  # fmt: skip

    near = LOW + [0.3, 0.0, 0.019]
    resting = found((3.0, 0.0, 2.0), tip=near)
    assert resting.is_expected and 'lay on' in resting.reason and not resting.is_lasting
    assert not found((3.0, 0.0, 2.0), tip=near + [0, 0, 0.002]).is_expected
    assert not found((3.0, 0.0, 0.5), tip=near).is_expected
    assert not found((3.0, 0.0, 2.0)).is_expected
    assert 'supports the weight' in found((0.5, 0.0, 5.0), held_weight=4.0).reason
    assert not found((0.5, 0.0, 6.0), held_weight=4.0).is_expected
    assert not found((0.5, 0.0, 5.0)).is_expected
    assert 'weight' in found((1.0, 1.0, -3.0)).reason
    assert not found((2.0, 2.0, -3.0)).is_expected
    opening = (*grasp, at(600, 0.083, is_grasped=True), at(700, 0.083, is_grasped=True))
    assert 'opens' in verdict(touch(), *opening).reason
    unknown = replace(touch(), wrench=np.full(6, np.nan))
    assert not verdict(unknown, *grasp, at(700, tip=near, is_grasped=True)).is_expected


def test_regions_reach_down_for_what_is_held():
    table = replace(TABLE, phases=(), held_only=True)
    settings = evolve(SETTINGS, regions=(table,), held_reach=0.1)
    above = np.array([0.3, 0.0, 0.14])
    assert verdict(touch(), at(tip=above, is_grasped=True), settings=settings).is_expected
    assert not verdict(touch(), at(tip=LOW, is_grasped=False), settings=settings).is_expected
    higher = at(tip=above + [0, 0, 0.02], is_grasped=True)
    assert not verdict(touch(), higher, settings=settings).is_expected
    held = at(tip=above, is_grasped=True, link_positions={'elbow': LOW})
    assert not verdict(touch('elbow'), held, settings=settings).is_expected
    assert not verdict(touch(position=LOW), held, settings=settings).is_expected


def test_a_force_that_is_not_measured_passes_no_limit():
    assert verdict(touch('skirt', force=np.nan), at()).is_expected


def test_bad_settings():
    for values in [
        {'max_force': 0.0}, {'max_grasp_force': np.nan}, {'gripper_motion': 0.0},
        {'settling': -1.0}, {'held_reach': np.nan}, {'held_clearance': -0.1}, {'doubt': np.inf},
        {'regions': (TABLE, TABLE)},
    ]:  # fmt: skip
        with pytest.raises(ValueRangeError):
            evolve(SETTINGS, **values)
    for values in [{'upper': (1.0, -1.0, 0.0)}, {'lower': (np.nan, 0.0, 0.0)}, {'max_force': 0.0}]:
        with pytest.raises(ValueRangeError):
            replace(TABLE, **values)
