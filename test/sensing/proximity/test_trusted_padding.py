# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Padding that follows a camera's alignment: cautious before a check, grown by what the robot may
be displaced by, and a camera refused that would need more.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.health import Level
from frame_ros.core.time import SECOND
from frame_ros.robots import load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.shapes.link_shapes import box, link_shapes, placed
from frame_ros.sensing.proximity.cameras.alignment import AlignmentOptions
from frame_ros.sensing.proximity.cameras.correction import AGREED, Offset
from frame_ros.sensing.proximity.cameras.offset import Displacement
from frame_ros.sensing.proximity.cameras.posture_agreement import OfPosture, posture_agreement
from frame_ros.sensing.proximity.cameras.robot_view import view_robot
from frame_ros.sensing.proximity.cameras.trusted_padding import TrustedPadding
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.detector import DepthProximity
from frame_ros.sensing.proximity.depth.options import DepthOptions

CAMERA = DepthCamera(160, 120, 155.0, 155.0, 79.5, 59.5)
ROBOT = load_robot('so101')
FRAMES, SHAPES = LinkFrames(ROBOT), link_shapes(ROBOT)
EYE, TARGET = np.array((0.62, -0.40, 0.42)), np.array((0.15, 0.03, 0.10))
WALL = placed('wall', [box((0.02, 4.0, 4.0), (-1.0, 0.0, 1.0))])
PADDING = 0.01


def looking(eye=EYE):
    forward = (TARGET - eye) / np.linalg.norm(TARGET - eye)
    right = np.cross(forward, (0, 0, 1.0))
    right /= np.linalg.norm(right)
    return np.stack((right, np.cross(forward, right), forward), axis=1), eye


def moved(pose, shift=(0, 0, 0), turn=(0, 0, 0)):
    return Rotation.from_rotvec(np.radians(turn)).as_matrix() @ pose[0], pose[1] + shift


def arm(number):
    rng = np.random.default_rng(100 + number)
    return SHAPES.place(
        *FRAMES.compute(np.array((0.0, -0.6, 0.6, 0.7, 0.0, 0.5)) + rng.uniform(-0.6, 0.6, 6))
    )


def image_of(pose, now, seed):
    """A picture of surfaces 2 mm within the shapes, with 1 mm of noise."""
    rng = np.random.default_rng(seed)
    depth = np.zeros((CAMERA.height, CAMERA.width))
    for body in (WALL, now):
        seen = view_robot(CAMERA, body.seen_from(*pose), 1)
        column, row = np.rint(CAMERA.project(seen.points)).astype(int).T
        depth[row, column] = seen.points[:, 2] + 0.002 + rng.normal(0, 0.001, len(seen))
    return np.round(depth * 1000).astype(np.uint16)


def checked(true, assumed, count=3, padding=PADDING, **settings):
    trusted = TrustedPadding(CAMERA, padding, AlignmentOptions(**settings))
    for number in range(count):
        now = arm(number)
        trusted.check(number * SECOND, image_of(true, now, number), now, *assumed)
    return trusted


def test_the_padding_is_cautious_until_a_check_was_conclusive():
    pose, now = looking(), arm(0)
    trusted = TrustedPadding(CAMERA, PADDING, AlignmentOptions(cautious_growth=0.03))
    assert trusted.padding == pytest.approx(0.04) and not trusted.refusal
    assert trusted.status('front').level is Level.WARN
    away = np.diag((-1.0, 1.0, -1.0)) @ pose[0], pose[1]
    found = trusted.check(0, image_of(pose, now, 0), now, *away)
    assert found.unavailable and trusted.padding == pytest.approx(0.04)
    assert found.unavailable in trusted.status('front').message
    trusted.check(SECOND, image_of(pose, now, 0), now, *pose)
    assert PADDING < trusted.padding < 0.03
    status = trusted.status('front')
    assert status.level is Level.OK
    assert float(status.values['padding, m']) == pytest.approx(trusted.padding, abs=1e-4)
    trusted.reset()
    assert trusted.padding == pytest.approx(0.04)


@pytest.mark.parametrize('shift', [(0, 0.003, 0), (0.004, 0, 0.003), (-0.004, 0.006, 0)])
def test_the_padding_grows_by_at_least_the_displacement(shift):
    pose = looking()
    trusted = checked(pose, moved(pose, shift), growth=0.03, is_corrected=False)
    assert not trusted.refusal and trusted.newest.is_aligned
    assert trusted.padding >= PADDING + np.linalg.norm(shift)
    exact = checked(pose, pose, growth=0.03)
    assert exact.padding < trusted.padding
    assert trusted.newest.displacement == pytest.approx(np.linalg.norm(shift), abs=0.003)


def test_a_camera_that_needs_more_padding_than_may_be_is_refused():
    pose = looking()
    assumed = moved(pose, (0.0, 0.006, 0.003))
    trusted = checked(pose, assumed, growth=0.007, is_corrected=False)
    assert 'the padding would be' in trusted.refusal and 'more than 17 mm' in trusted.refusal
    assert not trusted.newest.is_aligned
    assert trusted.padding == pytest.approx(0.017)
    assert trusted.status('front').message == trusted.refusal
    settings = {'growth': 0.007, 'withhold': False, 'is_corrected': False}
    assert not checked(pose, assumed, **settings).refusal


def test_a_camera_displaced_by_more_than_the_padding_is_refused():
    pose = looking()
    assumed = moved(pose, (0.0, 0.014, 0.0))
    settings = {'growth': 0.1, 'is_corrected': False}
    assert 'misaligned by' in checked(pose, assumed, **settings).refusal
    # The relation follows the padding: a larger one bears more.
    assert not checked(pose, assumed, padding=0.025, **settings).refusal
    assert checked(pose, assumed, padding=0.025, tolerance=0.01, **settings).refusal


def test_a_refused_camera_is_not_called_displaced_while_checks_show_that_it_is_not():
    pose, settings = looking(), {'is_corrected': False, 'growth': 0.05, 'spacing': 1.0}
    trusted = TrustedPadding(CAMERA, PADDING, AlignmentOptions(**settings))
    away = moved(pose, (0.0, 0.03, 0.0))
    reasons = []
    for number in range(4):
        now = arm(number)
        true = pose if number else away
        trusted.check(number * SECOND, image_of(true, now, number), now, *pose)
        reasons.append(trusted.refusal)
    assert reasons[0].startswith('misaligned by') and reasons[3] == ''
    for number in (1, 2):
        assert reasons[number].startswith('misaligned until 3 checks in a row'), reasons[number]
    assert trusted.newest.displacement < PADDING


def test_a_tolerance_above_the_padding_is_refused_in_words():
    with pytest.raises(ValueRangeError, match=r'at most the padding of 0\.01 m'):
        TrustedPadding(CAMERA, PADDING, AlignmentOptions(tolerance=0.011))
    TrustedPadding(CAMERA, PADDING, AlignmentOptions(tolerance=0.01))


def test_a_camera_on_the_hand_has_its_offset_in_its_mount():
    """It moves with the arm, and its offset turns with it."""
    trusted = TrustedPadding(CAMERA, PADDING, AlignmentOptions(is_corrected=True))
    wrong = Rotation.from_rotvec(np.radians((0, 1.0, 0))).as_matrix()
    for number, side in enumerate((-0.40, -0.2, -0.55)):
        true = looking(np.array((0.62, side, 0.42)))
        assumed = true[0] @ wrong, true[1] + true[0] @ (0.004, 0.0, 0.0)
        now = arm(number)
        trusted.check(number * SECOND, image_of(true, now, number), now, *assumed)
    mended = trusted.pose(*assumed)
    assert not trusted.refusal

    def largest(pose):
        points = view_robot(CAMERA, now.seen_from(*true), 8).points
        apart = (points @ pose[0].T + pose[1]) - (points @ true[0].T + true[1])
        return np.linalg.norm(apart, axis=1).max()

    assert largest(assumed) > 0.008
    assert largest(mended) < min(0.004, trusted.padding - PADDING)


def test_offsets_are_taken_out_only_where_that_is_asked_for():
    pose = looking()
    assumed = moved(pose, (0.0, 0.02, 0.0), (0, 0.5, 0))
    kept, mended = checked(pose, assumed, is_corrected=False), checked(pose, assumed)
    assert kept.refusal and kept.pose(*assumed) is not None
    assert np.array_equal(kept.pose(*assumed)[1], assumed[1])
    assert not mended.refusal
    assert mended.pose(*assumed)[1] == pytest.approx(pose[1], abs=0.006)
    assert mended.padding < PADDING + 0.01


OFF = (0.0, 0.012, 0.004)  # m, more than the padding and less than what is corrected


def left(trusted, assumed, true, now):
    """m, largest displacement of the surface seen that the pose in use leaves."""
    pose = trusted.pose(*assumed)
    points = view_robot(CAMERA, now.seen_from(*true), 8).points
    apart = (points @ pose[0].T + pose[1]) - (points @ true[0].T + true[1])
    return np.linalg.norm(apart, axis=1).max()


def test_an_offset_is_corrected_once_three_postures_agree_on_it():
    pose = looking()
    assumed = moved(pose, OFF)
    for count in (1, 2):
        trusted = checked(pose, assumed, count)
        assert trusted.refusal and trusted.correction.offset is None
    trusted = checked(pose, assumed)
    assert not trusted.refusal and trusted.newest.is_aligned
    assert left(trusted, assumed, pose, arm(2)) < trusted.padding - PADDING < 0.01
    assert trusted.newest.translation == pytest.approx(-np.array(OFF), abs=0.006)
    status = trusted.status('front')
    assert status.level is Level.OK and 'mm and (' in status.message
    assert 'taken out: its extrinsics are wrong by that' in status.message
    assert 'taken out' not in checked(pose, pose).status('front').message


def test_an_offset_within_its_own_error_is_left_in():
    pose = looking()
    assumed = moved(pose, (0.001, 0.0, 0.001))
    trusted = checked(pose, assumed, 5)
    assert trusted.correction.offset is None
    assert np.array_equal(trusted.pose(*assumed)[1], assumed[1])


def test_a_camera_displaced_by_more_than_is_corrected_is_refused():
    pose = looking()
    assumed = moved(pose, OFF)
    trusted = checked(pose, assumed, correctable=0.01)
    assert 'misaligned by' in trusted.refusal and not trusted.newest.is_aligned
    assert np.array_equal(trusted.pose(*assumed)[1], assumed[1])
    assert not checked(pose, assumed, correctable=0.02).refusal


def test_postures_that_contradict_each_other_correct_nothing():
    """As joint states that are late have each posture elsewhere."""
    pose, assumed = looking(), moved(looking(), OFF)
    trusted = TrustedPadding(CAMERA, PADDING, AlignmentOptions())
    contradictions = []
    for number in range(5):
        now = arm(number)
        shift = np.random.default_rng(number).uniform(-0.02, 0.02, 3)
        apart = placed_elsewhere(now, shift)
        found = trusted.check(number * SECOND, image_of(pose, now, number), apart, *assumed)
        contradictions.append(found.contradiction)
        assert trusted.correction.offset is None
    assert np.nanmax(contradictions[2:]) > AGREED and trusted.refusal
    assert checked(pose, assumed, 5).newest.contradiction < AGREED


def test_postures_that_come_to_contradict_each_other_end_a_correction():
    pose, assumed = looking(), moved(looking(), OFF)
    trusted = checked(pose, assumed)
    assert trusted.correction.offset is not None and not trusted.refusal
    for number in range(3, 8):
        now = arm(number)
        apart = placed_elsewhere(now, np.array((0.012, -0.012, 0.0)) * (-1) ** number)
        found = trusted.check(number * SECOND, image_of(pose, now, number), apart, *assumed)
        if found.unavailable:
            break
    assert found.unavailable and found.contradiction > AGREED
    assert trusted.correction.offset is None and trusted.refusal
    assert np.array_equal(trusted.pose(*assumed)[1], assumed[1])


def placed_elsewhere(shapes, shift):
    return replace(shapes, translations=shapes.translations + shift)


def test_a_knock_ends_a_correction_at_once():
    pose = looking()
    assumed = moved(pose, OFF)
    trusted = checked(pose, assumed)
    knocked = moved(pose, (0.0, -0.01, 0.02), (0.0, 0.0, 2.0))
    now = arm(3)
    trusted.check(3 * SECOND, image_of(knocked, now, 3), now, *assumed)
    assert trusted.correction.offset is None and trusted.refusal
    assert np.array_equal(trusted.pose(*assumed)[1], assumed[1])


def test_a_small_knock_is_covered_by_the_padding():
    pose = looking()
    assumed = moved(pose, OFF)
    for shift in (0.004, 0.008, 0.012):
        trusted = checked(pose, assumed)
        knocked, now = moved(pose, (0.0, 0.0, shift)), arm(3)
        trusted.check(3 * SECOND, image_of(knocked, now, 3), now, *assumed)
        covered = left(trusted, assumed, knocked, now) <= trusted.padding - PADDING
        assert covered or trusted.refusal


def test_a_correction_outlives_checks_that_show_less():
    pose = looking()
    assumed = moved(pose, OFF)
    trusted = checked(pose, assumed)
    offset, padding = trusted.pose(*assumed), trusted.padding
    now = arm(2)
    away = trusted.check(3 * SECOND, np.zeros((120, 160), np.uint16), now, *assumed)
    assert away.unavailable and not trusted.refusal
    assert trusted.pose(*assumed)[1] == pytest.approx(offset[1]) and trusted.padding == padding
    # A minute or two later the arm still stands: one image is left, which agrees.
    for number in range(3):
        stamp = (200 + number) * SECOND
        found = trusted.check(stamp, image_of(pose, now, 10 + number), now, *assumed)
        assert found.frames == 1 and found.is_aligned and not trusted.refusal
    assert trusted.pose(*assumed)[1] == pytest.approx(offset[1])
    assert padding <= trusted.padding <= PADDING + AlignmentOptions().growth


def test_what_is_nowhere_to_be_seen_ends_a_correction():
    pose = looking()
    assumed = moved(pose, OFF)
    trusted = checked(pose, assumed)
    now = arm(1)
    trusted.check(9 * SECOND, image_of(pose, placed_elsewhere(now, 5.0), 1), now, *assumed)
    assert trusted.correction.offset is None and trusted.refusal


def test_the_distance_between_two_offsets_is_that_of_the_places_they_give():
    turn = Rotation.from_rotvec((0.0, 0.0, 0.01)).as_matrix()
    points = np.array(((0.0, 0.0, 1.0), (1.0, 0.0, 1.0)))
    none, shifted = Offset(np.eye(3), np.zeros(3)), Offset(np.eye(3), np.array((0.0, 0.0, 0.02)))
    assert none.apart(shifted, points) == pytest.approx(0.02)
    assert none.apart(Offset(turn, np.zeros(3)), points) == pytest.approx(0.01, rel=1e-3)
    assert shifted.apart(shifted, points) == 0.0


def test_postures_are_apart_by_what_their_own_offsets_say_more():
    centre, points = np.array((0.0, 0.0, 1.0)), np.array(((0.1, 0.0, 1.0), (-0.1, 0.0, 1.0)))
    covariance = np.diag([0.002**2] * 3 + [0.01**2] * 3)

    def at(shift, turn=0.0):
        return Displacement(centre, np.array((shift, 0.0, 0.0)), np.array((0, 0, turn)), covariance)

    common = at(0.0)
    agreed = posture_agreement(common, [OfPosture(at(0.004), points), OfPosture(at(0.0), points)])
    assert agreed.apart == pytest.approx(0.002)
    assert agreed.contradiction == pytest.approx((2.0**2 + 0.0) / 2 / 6)
    turned = posture_agreement(common, [OfPosture(at(0.0, 0.02), points)])
    assert turned.apart == pytest.approx(0.002, rel=1e-3)
    assert turned.contradiction == pytest.approx(2.0**2 / 6)


def test_a_larger_padding_of_an_image_takes_more_out_of_it():
    pose, now = looking(), arm(0)
    proximity = DepthProximity(CAMERA, DepthOptions(depth_noise=0.0))
    image = image_of(moved(pose, (0.0, 0.02, 0.0)), now, 0)
    near = proximity.measure(image, now, *pose)
    far = proximity.measure(image, now, *pose, padding=0.03)
    assert near.distance < 0.03
    assert not far.distance < 0.03
    assert far.occluded_fraction > near.occluded_fraction
    assert proximity.measure(image, now, *pose).distance == near.distance
