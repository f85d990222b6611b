# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Obstacles that begin where the robot's padding ends are followed into the padding."""

import numpy as np
import pytest
from attrs import evolve

from frame_ros.robots.shapes.link_shapes import box, placed
from frame_ros.sensing.proximity.depth import padding_kernels, surface_kernels
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.detector import FOLLOWED, DepthProximity, compile_loops
from frame_ros.sensing.proximity.depth.options import DepthOptions

CAMERA = DepthCamera(161, 161, 200.0, 200.0, 80.0, 80.0)
PADDING = 0.03
SETTINGS = DepthOptions(
    padding=PADDING, depth_noise=0.0, thin_support=0, needs_links_in_view=False,
    min_valid_fraction=0.0,
)  # fmt: skip
Z = 0.8  # m, of the wall that the obstacle's face is
EDGE = -0.1  # m, x of the robot's right face
ROBOT = placed('arm', [box([0.2, 0.6, 0.2], [EDGE - 0.1, 0.0, Z], np.eye(3))])


def picture(gap, kind=np.uint16):
    """A face at depth Z that begins `gap` m to the right of the robot, and the robot's front."""
    x, _ = CAMERA.rays()
    depth = np.zeros((161, 161))
    depth[:, x * Z >= EDGE + gap] = Z
    depth[:, x * (Z - 0.1) <= EDGE] = Z - 0.1
    return (1e3 * depth if kind == np.uint16 else depth).astype(kind)


def reading(depth, settings=SETTINGS):
    return DepthProximity(CAMERA, settings).measure(depth, ROBOT, np.eye(3), np.zeros(3))


@pytest.mark.parametrize('kind', [np.uint16, np.float32])
def test_a_face_that_begins_in_the_padding_is_measured_there(kind):
    found = reading(picture(0.02, kind))
    assert found.distance == pytest.approx(0.02, abs=0.006)  # a pixel is 4 mm
    gap = np.linalg.norm(found.points_on_obstacle - found.points_on_robot, axis=1)
    assert gap[0] == pytest.approx(found.distance, abs=1e-6)
    assert found.is_partial  # as before: what is nearer may reach into the padding


@pytest.mark.parametrize(('smoothing', 'is_pixel'), [(1, True), (3, False)])
def test_without_smoothing_the_pixel_itself_is_kept(smoothing, is_pixel):
    noise = np.random.default_rng(0).normal(0, 0.002, (161, 161))
    depth = picture(0.02, np.float32)
    depth = np.where(depth > 0, depth + noise, 0).astype(np.float32)
    found = reading(depth, evolve(SETTINGS, smoothing=smoothing))
    x, y, z = found.points_on_obstacle[0]
    column, row = np.rint((200.0 * x / z + 80.0, 200.0 * y / z + 80.0)).astype(int)
    assert found.distance < PADDING and bool(abs(depth[row, column] - z) < 1e-6) == is_pixel


def test_nothing_is_followed_up_to_the_robot():
    core = FOLLOWED * PADDING
    assert core <= reading(picture(0.0)).distance <= core + 0.006


def test_what_lies_in_the_padding_alone_is_the_robot():
    x, _ = CAMERA.rays()
    depth = picture(0.018)
    depth[:, x * Z > EDGE + PADDING - 0.002] = 0
    assert np.count_nonzero(depth == round(1e3 * Z)) > 300
    assert np.isnan(reading(depth).distance)


def test_what_is_apart_from_the_obstacle_is_not_followed():
    x, _ = CAMERA.rays()
    depth = picture(0.018)
    depth[:, (x * Z > EDGE + 0.024) & (x * Z < EDGE + PADDING + 0.004)] = 0
    assert reading(depth).distance > PADDING


def test_the_surface_and_the_crop_hold_in_the_padding_too():
    y = CAMERA.rays()[1]
    depth = picture(0.018)
    below = evolve(SETTINGS, workspace=((-9.0, 0.1, -9.0), (9.0, 9.0, 9.0)))
    found = reading(depth, below)
    assert found.points_on_obstacle[0, 1] > 0.1 and (y * Z > 0.1).any()
    assert found.distance == pytest.approx(0.02, abs=0.006)


@pytest.mark.parametrize('kind', [np.uint16, np.float32])
def test_the_first_obstacle_in_the_padding_needs_no_compilation(kind, monkeypatch):
    follow, calls = padding_kernels.follow, []
    monkeypatch.setattr(padding_kernels, 'follow', lambda *given: calls.append(follow(*given)))
    compile_loops()
    assert len(calls) == 2  # for both kinds of image
    before = [list(each.signatures) for each in (follow, surface_kernels.settle)]
    depth = picture(0.02, kind)
    depth.flags.writeable = False  # as an image that is a view of a message's bytes
    reading(depth)
    assert len(calls) == 3
    assert [list(each.signatures) for each in (follow, surface_kernels.settle)] == before
