# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The nearest of many noisy pixels is too near; the surface through its neighbours is not."""

import numpy as np
import pytest
from attrs import evolve

from frame_ros.robots.shapes.link_shapes import placed, sphere
from frame_ros.sensing.proximity.depth import surface_kernels
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.detector import DepthProximity
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.depth.surface_kernels import LEAST

CAMERA = DepthCamera(101, 101, 100.0, 100.0, 50.0, 50.0)
# 0.3 m behind the camera's wall, so that all the wall is in view and nothing is the robot.
BALL = placed('ball', [sphere(0.05, [0.0, 0.0, 1.35])])
QUIET = DepthOptions(depth_noise=0.0, thin_support=0, needs_links_in_view=False)
PIXELS = evolve(QUIET, smoothing=1)  # each pixel stands for itself


def distance(depth, settings=QUIET, ball=BALL):
    reading = DepthProximity(CAMERA, settings).measure(depth, ball, np.eye(3), np.zeros(3))
    gap = np.linalg.norm(reading.points_on_obstacle - reading.points_on_robot, axis=1)
    assert gap[0] == pytest.approx(reading.distance, abs=1e-6)
    return reading.distance


@pytest.mark.parametrize('kind', [np.uint16, np.float32])
def test_noise_of_many_pixels_brings_no_surface_nearer(kind):
    rng, errors = np.random.default_rng(0), []
    for _ in range(8):
        wall = 1.0 + rng.normal(0.0, 0.003, (101, 101))
        wall = np.rint(1e3 * wall) if kind == np.uint16 else wall
        errors.append([distance(wall.astype(kind)) - 0.3,
                       distance(wall.astype(kind), DepthOptions(
                           depth_noise=0.0, thin_support=0, needs_links_in_view=False,
                           smoothing=1, min_support=0)) - 0.3])  # fmt: skip
    settled, pixels = np.median(errors, axis=0)
    assert pixels < -0.005 and abs(settled) < 0.0015


def test_a_surface_without_noise_stays_where_it_is():
    x, y = CAMERA.rays()
    slanted = 1.0 / (1.0 + 0.3 * x + 0.2 * y[:, None])  # the plane z + 0.3 x + 0.2 y = 1
    normal = np.array([0.3, 0.2, 1.0]) / np.linalg.norm([0.3, 0.2, 1.0])
    expected = normal @ [0.0, 0.0, 1.35] - 1.0 / np.linalg.norm([0.3, 0.2, 1.0]) - 0.05
    assert distance(slanted.astype(np.float32)) == pytest.approx(expected, abs=2e-4)


def test_what_lies_behind_an_edge_moves_nothing():
    step = np.full((101, 101), 1600, np.uint16)
    step[:, :51] = 1000  # its edge is the nearest to the ball on the right
    beside = placed('ball', [sphere(0.05, [0.3, 0.0, 1.0])])
    found = distance(step, ball=beside)
    assert found == pytest.approx(0.25, abs=1e-6)


def test_a_step_within_the_tolerance_moves_its_edge_by_millimetres():
    step = np.full((101, 101), 1012, np.uint16)
    step[:, :51] = 1000
    beside = placed('ball', [sphere(0.05, [0.3, 0.0, 1.0])])
    pixels = distance(step, PIXELS, beside)
    assert pixels <= distance(step, ball=beside) + 1e-9 <= pixels + 0.005


def test_a_bar_and_a_ridge_within_the_tolerance_stay_where_they_are():
    bar = np.full((101, 101), 1500, np.uint16)
    bar[49:52] = 1485
    x, _ = CAMERA.rays()
    ridge = np.tile(np.rint(1e3 / (1.0 - 0.2 * np.abs(x))).astype(np.uint16), (101, 1))
    for depth, middle in ((bar, 1.2), (ridge, 0.75)):
        ball = placed('ball', [sphere(0.03, [0.0, 0.0, middle])])
        settings = evolve(QUIET, min_valid_fraction=0.0)
        pixel = distance(depth, evolve(PIXELS, min_valid_fraction=0.0), ball)
        assert pixel - 1e-3 <= distance(depth, settings, ball) <= pixel + 0.003


def test_a_thing_of_few_pixels_is_its_nearest_pixel():
    few = np.zeros((101, 101), np.uint16)
    few[49:52, 49:52] = 1000
    few[50, 50] = 990
    settings = DepthOptions(
        depth_noise=0.0, thin_support=0, needs_links_in_view=False, min_valid_fraction=0.0,
        smoothing=3, min_support=0,
    )  # fmt: skip
    assert np.count_nonzero(few) < LEAST
    assert distance(few, settings) == pytest.approx(0.3, abs=1e-6)  # the median took the 990


@pytest.mark.parametrize(('tip', 'alone', 'of_five'), [('corner', 3.9, 5.5), ('cone', 17.0, 17.7)])
def test_a_tip_is_measured_little_farther_than_by_one_point(monkeypatch, tip, alone, of_five):
    """mm too far, of a tip 1 m from a camera of 385 pixels, whose pixels are 2.6 mm wide: the right
    angle of a plate across the rays, and a cone of 30 degrees that points at the camera.
    """
    camera = DepthCamera(160, 160, 385.0, 385.0, 79.5, 79.5)
    across, down = camera.rays()
    x, y = np.broadcast_arrays(across, down[:, None])
    if tip == 'corner':
        depth, middle = np.where(np.abs(y) < -x, 1.0, 3.0), [0.25, 0.0, 1.0]
    else:
        slope, away = np.tan(np.radians(15.0)), np.hypot(x, y)
        cone = slope / np.maximum(slope - away, 1e-9)
        depth, middle = np.minimum(cone, 3.0), [0.0, 0.0, 0.75]
    picture = np.rint(1e3 * depth).astype(np.uint16)
    robot, settings = placed('ball', [sphere(0.05, middle)]), evolve(QUIET, min_valid_fraction=0.0)
    for around, expected in ((0, alone), (2, of_five)):
        monkeypatch.setattr(surface_kernels, 'AROUND', around)
        found = DepthProximity(camera, settings).measure(picture, robot, np.eye(3), np.zeros(3))
        assert 1e3 * (found.distance - 0.2) == pytest.approx(expected, abs=0.4)


def test_the_mean_of_five_points_is_nearer_to_the_truth_than_one(monkeypatch):
    """A ball of 50 mm with the lateral and axial noise of a depth camera at 1.3 m."""
    camera = DepthCamera(161, 161, 385.0, 385.0, 80.0, 80.0)
    x, y = camera.rays()
    rays = np.stack(np.broadcast_arrays(x, y[:, None], 1.0), axis=2)
    middle, radius, square = np.array([0.0, 0.0, 1.3]), 0.05, (rays**2).sum(axis=2)
    half = rays @ middle
    root = half**2 - square * (middle @ middle - radius**2)
    clean = np.where(root > 0.0, (half - np.sqrt(np.maximum(root, 0.0))) / square, 2.0)
    robot = placed('ball', [sphere(0.03, [0.0, -0.2, 1.1])])
    truth = 0.2 * np.sqrt(2.0) - 0.08
    rng, errors = np.random.default_rng(2), []
    rows, columns = np.mgrid[:161, :161]
    for _ in range(12):
        shifts = np.rint(0.8 * rng.standard_normal((2, 161, 161))).astype(int)
        shifted = clean[(rows + shifts[0]).clip(0, 160), (columns + shifts[1]).clip(0, 160)]
        picture = np.rint(1e3 * (shifted + rng.normal(0.0, 0.0024, clean.shape))).astype(np.uint16)
        pair = []
        for around in (0, 2):
            monkeypatch.setattr(surface_kernels, 'AROUND', around)
            proximity = DepthProximity(camera, QUIET)
            pair.append(proximity.measure(picture, robot, np.eye(3), np.zeros(3)).distance)
        errors.append(pair)
    alone, of_five = np.median(np.abs(np.array(errors) - truth), axis=0)
    assert of_five < 0.75 * alone and of_five < 5e-4
