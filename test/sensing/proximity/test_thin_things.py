# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Lines a pixel wide: those of things count, those that fly at an edge do not."""

import sys
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from frame_ros.robots import Capsule
from frame_ros.robots.shapes.link_shapes import capsule_shape, placed, sphere
from frame_ros.sensing.proximity.depth import thin_kernels
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.detector import DepthProximity, compile_loops
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.depth.thin import MOST, ThinThings

sys.path.insert(0, str(Path(__file__).parent))
from depth_scenes import in_millimetres, seen

# A pixel is 1 cm wide at 1 m; the middle of the picture is (50, 50).
CAMERA = DepthCamera(101, 101, 100.0, 100.0, 50.0, 50.0)
FORWARD, ORIGIN = np.eye(3), np.zeros(3)
BALL = placed('ball', [sphere(0.05, [0.0, 0.0, 1.0])])
SETTINGS = DepthOptions()
WALL = 2000  # mm, about 1 m from the ball


def distance(depth, settings=SETTINGS, images=1):
    """m, in the last of several equal images; NaN: nothing was found."""
    proximity = DepthProximity(CAMERA, settings)
    for _ in range(images):
        reading = proximity.measure(depth, BALL, FORWARD, ORIGIN)
    return reading.distance


def wall(near=None):
    """A picture of a wall, and something at 1 m before it."""
    depth = np.full((101, 101), WALL, np.uint16)
    if near is not None:
        depth[near] = 1000
    return depth


FAR = distance(wall())  # of what is there anyway


@pytest.mark.parametrize('kind', [np.uint16, np.float32])
def test_a_line_one_pixel_wide_is_an_obstacle_at_its_place(kind):
    depth = wall(np.s_[20:60, 70])  # 0.2 m beside the middle of the ball
    depth = depth if kind == np.uint16 else (depth * 1e-3).astype(np.float32)
    assert distance(depth) == pytest.approx(0.15, abs=1e-6)
    assert distance(depth, evolve(SETTINGS, thin_support=0)) == pytest.approx(FAR, abs=1e-6)


def test_lines_count_in_every_direction():
    line = np.arange(-15, 16)
    for down, across in ((1, 0), (0, 1), (1, 1), (1, -1)):
        depth = wall((40 + down * line, 70 + across * line))
        assert distance(depth) < 0.25 < FAR


def test_what_flies_at_an_edge_is_no_obstacle():
    # The edge of something that the robot's padding takes away, and its mixture with the wall.
    depth = wall()
    depth[20:60, :45] = 1030  # nearer than the mixture, and left of it
    alone = distance(depth)
    depth[20:60, 45] = 1500
    assert distance(depth) == pytest.approx(alone, abs=1e-6)


def test_a_spot_is_no_line():
    assert distance(wall(np.s_[40:43, 70:73])) == pytest.approx(FAR, abs=1e-6)
    assert distance(wall(np.s_[40:43, 70:73]), images=9) == pytest.approx(FAR, abs=1e-6)


def test_depths_that_do_not_agree_are_no_line():
    depth = wall()
    depth[20:60, 70] = 900 + 60 * (np.arange(40) % 11)  # 60 mm apart, at 14 mm of tolerance
    assert distance(depth, images=9) == pytest.approx(FAR, abs=1e-6)


def test_a_faint_line_counts_once_it_was_seen_before():
    depth = wall(np.s_[20:60:3, 70])  # 5 of 15 pixels, 8 are enough at once
    assert distance(depth) == pytest.approx(FAR, abs=1e-6)
    assert distance(depth, images=2) == pytest.approx(FAR, abs=1e-6)
    assert distance(depth, images=3) == pytest.approx(0.15, abs=1e-6)
    proximity = DepthProximity(CAMERA, SETTINGS)
    for image in (depth, wall(), wall(), wall(), depth):  # forgotten meanwhile
        found = proximity.measure(image, BALL, FORWARD, ORIGIN).distance
    assert found == pytest.approx(FAR, abs=1e-6)


def test_a_line_within_the_padding_or_below_the_table_is_none():
    assert distance(wall(np.s_[20:60, 70]), evolve(SETTINGS, padding=0.4)) > 0.4
    bounds = ((-2.0, -2.0, -2.0), (0.1, 2.0, 3.0))
    outside = distance(wall(np.s_[20:60, 70]), evolve(SETTINGS, workspace=bounds))
    assert outside == pytest.approx(distance(wall(), evolve(SETTINGS, workspace=bounds)), abs=1e-6)


def test_a_side_that_is_not_known_makes_a_line_only_if_the_other_is_not_near():
    depth = wall(np.s_[20:60, 70])
    depth[:, 71:] = 0  # the shadow of a stereo pair
    assert distance(depth) == pytest.approx(0.15, abs=1e-6)
    flying = wall()
    flying[20:60, 64:70] = 950  # something wide, at whose edge a pixel flies before a shadow
    flying[20:60, 70], flying[20:60, 71:] = 980, 0
    alone = flying.copy()
    alone[20:60, 70] = 0
    assert distance(flying) == pytest.approx(distance(alone), abs=1e-6)


def test_what_flies_at_an_outline_of_the_robot_without_depth_is_no_line():
    # A gripper nearer than the camera measures, and pixels mixed of it and the wall at its edge.
    near = placed('gripper', [sphere(0.02, [0.0, 0.0, 0.09])])
    other = placed('ball', [sphere(0.05, [0.0, 0.35, 1.0])])
    depth = wall()
    rows, columns = np.mgrid[:101, :101] - 50
    away = np.hypot(rows, columns)
    depth[away < 20] = 0
    depth[(away >= 20) & (away < 21.2) & (columns > 0) & (abs(rows) < 12)] = 1000
    measured = [DepthProximity(CAMERA, SETTINGS).measure(depth, robot, FORWARD, ORIGIN)
                for robot in (near, other)]  # fmt: skip
    assert measured[0].distance > 1.0
    assert measured[1].distance < 0.4  # the same hole is no robot's
    depth[10:41, 74:76] = 0
    depth[10:41, 75] = 500  # a line of which neither side is the robot's still counts
    seen = DepthProximity(CAMERA, SETTINGS).measure(depth, near, FORWARD, ORIGIN)
    assert seen.distance < 0.45


def test_what_flies_along_an_outline_of_the_robot_is_no_line():
    # An upright arm, 21 pixels wide, and pixels mixed of it and the wall along its outline: what
    # lies above and below each of them is the wall.
    arm = placed('arm', [capsule_shape(Capsule(np.array([0.0, -0.6, 1.0]),
                                               np.array([0.0, 0.6, 1.0]), 0.1))])  # fmt: skip
    clean = in_millimetres(seen(CAMERA, arm, rotation=FORWARD, translation=ORIGIN))

    def found(*places, images=4):
        depth, proximity = clean.copy(), DepthProximity(CAMERA, SETTINGS)
        for place in places:
            depth[place] = 1300
        for _ in range(images):  # those that stay in their places are no thing either
            reading = proximity.measure(depth, arm, FORWARD, ORIGIN)
        return reading.distance

    assert clean[40, 60] < 1100 and clean[40, 61] == WALL
    behind = found(images=1)
    assert behind > 0.9
    assert found(np.s_[20:61:2, 61:63]) == pytest.approx(behind, abs=1e-6)
    assert found(np.s_[20:61:2, 64:66], images=1) < 0.3  # the same apart from the outline is one
    # A cable that passes behind the arm is measured from where it comes out.
    expected = np.hypot(0.14 * 1.3, 0.3) - 0.1
    assert found(np.s_[40, 61:91], images=1) == pytest.approx(expected, abs=1e-3)


def test_what_is_nearer_than_the_range_is_no_line():
    near = wall()
    near[20:60, 70] = 90
    assert distance(near) == pytest.approx(FAR, abs=1e-6)


def test_of_too_many_lines_some_count_everywhere():
    depth = wall()
    depth[3:98, 3:98:2] = 1000  # more pixels than are looked at, from the first row to the last
    found = ThinThings(CAMERA, SETTINGS)._candidates(depth, None)[0]
    assert 0 < len(found) <= MOST
    assert found[:, 1].min() < -0.4 and found[:, 1].max() > 0.4


def test_the_warm_up_compiles_what_images_need(monkeypatch):
    support, take, given = thin_kernels.support_of_ridges, thin_kernels.take_nearer, []

    def support_of_ridges(*found):
        given.append([each.flags.c_contiguous for each in found[4:]])
        support(*found)

    monkeypatch.setattr(thin_kernels, 'support_of_ridges', support_of_ridges)
    monkeypatch.setattr(
        thin_kernels, 'take_nearer', lambda *found: given.append(['near', take(*found)])
    )
    compile_loops()
    assert given.count(['near', None]) == 2
    assert all(each == [True] * 3 for each in given if each[0] != 'near')
