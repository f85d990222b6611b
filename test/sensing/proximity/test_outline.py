# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The outline of the robot: what a camera mixes with it is no obstacle, and not seen either."""

import numpy as np
import pytest
from attrs import evolve

from frame_ros.robots.shapes.link_shapes import box, placed
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.cloud import OBSTACLE, SELF
from frame_ros.sensing.proximity.depth.detector import DepthProximity
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.depth.outline import mixed_pixels, outline_width

CAMERA = DepthCamera(200, 160, 200.0, 200.0, 99.5, 79.5)
FACE, WALL = 1.0, 2.0  # m from the camera
ROBOT = placed('arm', [box([0.2, 0.2, 0.2], [0.0, 0.0, FACE + 0.1])])
SIDE = 20  # pixels that its face is to either side of the middle
SETTINGS = DepthOptions()
WITHOUT = evolve(SETTINGS, outline=0.0)
WIDE = 8  # pixels by which the rim is smeared; the padding alone has 4 to 5


def picture(smeared=0, kind=np.uint16):
    """The robot before a wall; the wall about it has the robot's depth, `smeared` pixels wide."""
    depth = np.full((160, 200), WALL)
    reach = SIDE + smeared
    depth[80 - reach : 80 + reach, 100 - reach : 100 + reach] = FACE + 0.02
    depth[80 - SIDE : 80 + SIDE, 100 - SIDE : 100 + SIDE] = FACE
    return depth if kind is float else (1e3 * depth).astype(kind)


def reading(depth, settings=SETTINGS):
    return DepthProximity(CAMERA, settings).measure(depth, ROBOT, np.eye(3), np.zeros(3))


def test_a_rim_that_is_smeared_is_no_obstacle():
    assert reading(picture(WIDE), WITHOUT).distance < 0.03
    clean = reading(picture()).distance
    assert clean > 0.5
    assert reading(picture(WIDE)).distance == pytest.approx(clean, abs=0.02)


def test_depth_in_metres_is_treated_alike():
    depth = picture(WIDE)
    metres = (1e-3 * depth).astype(np.float32)
    assert reading(metres).distance == pytest.approx(reading(depth).distance, abs=1e-4)


def test_what_is_before_the_robot_counts_at_its_outline():
    depth = picture()
    columns = slice(100 + SIDE - 2, 100 + SIDE + 4)
    depth[70:90, columns] = 1e3 * (FACE - 0.06)
    found = reading(depth)
    assert found.distance == pytest.approx(0.06, abs=0.006)


@pytest.mark.parametrize('kind', [np.uint16, float])
def test_a_cable_before_the_robot_counts_at_its_outline(kind):
    depth = picture(kind=kind)
    metre = 1e3 if kind is np.uint16 else 1.0
    depth = depth.astype(np.float32) if kind is float else depth
    depth[62:98, 100 + SIDE + 2] = metre * (FACE - 0.1)  # a pixel wide: no median shows it
    assert reading(depth).distance == pytest.approx(0.1, abs=0.006)
    depth[62:98, 100 + SIDE + 2] = metre * (FACE + 0.04)  # behind its face, it is mixed
    assert reading(depth).distance > 0.5


def test_what_reaches_beyond_the_outline_is_followed_back():
    depth = picture()
    depth[70:90, 100 + SIDE + 3 :] = 1e3 * FACE  # 15 mm off, within the padding and the outline
    assert reading(depth).distance == pytest.approx(0.02, abs=0.01)


def test_what_touches_a_slanted_edge_is_followed_back():
    # The square that is left out is wider across its diagonal.
    camera = DepthCamera(320, 240, 600.0, 600.0, 159.5, 119.5)
    y, x = (np.mgrid[:240, :320] - np.array([119.5, 159.5])[:, None, None]) / 600
    across, along = (x + y) / np.sqrt(2), (y - x) / np.sqrt(2)
    depth = np.full((240, 320), WALL, np.float32)
    depth[(abs(across) < 0.05) & (abs(along) < 0.15)] = FACE
    depth[(across >= 0.05) & (across < 0.15) & (abs(along) < 0.06)] = FACE  # touches it
    turn = np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, np.sqrt(2)]]) / np.sqrt(2)
    arm = placed('arm', [box([0.1, 0.3, 0.2], [0.0, 0.0, FACE + 0.1])])
    settings = evolve(SETTINGS, depth_noise=0.0)
    found = DepthProximity(camera, settings).measure(depth, arm, turn, np.zeros(3))
    assert found.unseen.is_at_padding.all()
    assert found.distance < settings.padding


def test_a_wide_outline_does_not_end_the_following():
    depth = picture()
    depth[70:90, 100 + SIDE :] = 1e3 * FACE  # touches the robot
    near = DepthCamera(200, 160, 600.0, 600.0, 99.5, 79.5)
    arm = placed('arm', [box([0.2 / 3, 0.2 / 3, 0.2], [0.0, 0.0, FACE + 0.1])])
    found = [
        DepthProximity(near, evolve(SETTINGS, outline=each, depth_noise=0.0)).measure(
            depth, arm, np.eye(3), np.zeros(3)
        )
        for each in (0.01, 0.08)
    ]
    assert found[0].distance < SETTINGS.padding
    assert found[1].distance == pytest.approx(found[0].distance, abs=1e-3)


def test_places_at_the_outline_are_not_seen():
    depth = picture()
    seen, blind = (reading(depth, each).unseen for each in (WITHOUT, SETTINGS))
    assert (blind.states != 0).sum() > (seen.states != 0).sum()
    assert (reading(depth).link_observed < reading(depth, WITHOUT).link_observed).all()


def test_points_for_display_are_marked_as_the_robot():
    def marks(settings, step):
        cloud = DepthProximity(CAMERA, settings).points(
            picture(6), ROBOT, np.eye(3), np.zeros(3), step=step
        )
        return cloud.marks[cloud.points[:, 2] < 1.5]

    for step in (1, 2):
        assert (marks(WITHOUT, step) == OBSTACLE).any()
        assert (marks(SETTINGS, step) == SELF).all()


def test_the_mask_is_that_of_a_direct_search():
    generator = np.random.default_rng(0)
    depth = generator.uniform(0.5, 2.0, (40, 50)).astype(np.float32)
    own = generator.random((40, 50)) < 0.02
    depth[generator.random((40, 50)) < 0.1] = 0.0
    own &= depth > 0.0
    width, padding, noise = 3, 0.05, 0.01
    expected = np.zeros_like(own)
    for row, column in np.ndindex(own.shape):
        part = np.s_[
            max(0, row - width) : row + width + 1, max(0, column - width) : column + width + 1
        ]
        near = depth[part][own[part]]
        if own[row, column] or not len(near):
            continue
        robot = near.min()
        expected[row, column] = depth[row, column] > robot - padding - noise * robot**2
    assert expected.any() and not expected[depth == 0.0].any()
    found = mixed_pixels(depth, own, width, padding, noise)
    assert np.array_equal(found, expected)


def test_without_a_robot_in_view_nothing_is_mixed():
    own = np.zeros((4, 5), np.bool_)
    assert not mixed_pixels(np.ones((4, 5), np.float32), own, 2, 0.01, 0.01).any()


def test_its_width_is_an_angle():
    wide = DepthCamera(400, 320, 400.0, 400.0, 199.5, 159.5)
    assert outline_width(CAMERA, SETTINGS) == np.ceil(0.022 * 200)
    assert outline_width(wide, SETTINGS) == np.ceil(0.022 * 400)
    assert outline_width(wide, SETTINGS, step=2) == outline_width(CAMERA, SETTINGS)
    assert outline_width(CAMERA, WITHOUT) == 0
