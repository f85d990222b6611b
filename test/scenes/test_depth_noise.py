# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The depth camera's noise model: its statistics on surfaces whose answer is known."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip('cv2')

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.robots.profiles import packaged_profiles
from frame_ros.scenes.simulation.noise.depth_noise import (
    D405,
    D435,
    DEPTH_SENSORS,
    IDEAL_DEPTH,
    DepthNoise,
    DepthNoiseOptions,
)
from frame_ros.scenes.simulation.rendering import Intrinsics

WIDTH, HEIGHT = 640, 480
CAMERA = Intrinsics(WIDTH, HEIGHT, 500.0, 319.5, 239.5)
AXIAL = replace(IDEAL_DEPTH, subpixel=0.08)  # nothing but noise along the axis


def wall(depth):
    return np.full((HEIGHT, WIDTH), depth, np.float32)


def step(near=0.5, far=1.0):
    """A near half on the right, a far one on the left."""
    depth = wall(far)
    depth[:, WIDTH // 2 :] = near
    return depth


def test_an_ideal_camera_gives_whole_millimetres():
    depth = wall(0.7123)
    depth[0, 0], depth[0, 1], depth[0, 2] = 0.005, 7.0, 0.01049
    picture = DepthNoise(CAMERA, IDEAL_DEPTH)(depth)
    assert picture.dtype == np.uint16
    assert picture[0, :4].tolist() == [0, 0, 10, 712]
    assert (picture[1:] == 712).all()
    fine = DepthNoise(CAMERA, replace(IDEAL_DEPTH, unit=0.0001))(depth)
    assert fine[1, 1] == 7123


def test_pictures_follow_from_the_seed_and_differ_from_each_other():
    def pictures(seed):
        noise = DepthNoise(CAMERA, D435, seed)
        return [noise(step()) for _ in range(2)]

    first, again, other = pictures(1), pictures(1), pictures(2)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize('correlation', [1, 2, 3])
def test_noise_grows_with_the_square_of_the_distance(correlation):
    noise = DepthNoise(CAMERA, replace(AXIAL, correlation=correlation, unit=0.0001))
    for depth in (0.5, 1.0, 2.0):
        error = noise(wall(depth)) * 1e-4 - depth
        expected = depth**2 * 0.08 / (640 * 0.05)
        assert error.std() == pytest.approx(expected, rel=0.04)
        assert abs(error.mean()) < expected / 20


def test_noise_is_smooth_over_neighbours():
    error = DepthNoise(CAMERA, AXIAL)(wall(2.0)).astype(float)
    error -= error.mean()
    beside = (error[:, 1:] * error[:, :-1]).mean() / error.var()
    apart = (error[:, 5:] * error[:, :-5]).mean() / error.var()
    assert beside > 0.4
    assert abs(apart) < 0.05


def slanted(angle, depth=1.0):
    """Depth of a plane that is turned by an angle (rad) about the vertical."""
    slope = (np.arange(WIDTH) - CAMERA.cx) / CAMERA.focal
    return np.tile((depth / (1.0 - np.tan(angle) * slope)).astype(np.float32), (HEIGHT, 1))


def test_noise_grows_with_incidence_and_steep_surfaces_have_holes():
    middle = slice(WIDTH // 2 - 20, WIDTH // 2 + 20)
    narrow = slice(WIDTH // 2 - 3, WIDTH // 2 + 3)
    settings = replace(AXIAL, unit=0.0001)
    depth = slanted(np.radians(60))
    error = DepthNoise(CAMERA, settings)(depth)[:, middle] * 1e-4 - depth[:, middle]
    plain = 0.08 / (640 * 0.05)
    assert error.std() == pytest.approx(plain / np.cos(np.radians(60)), rel=0.15)
    steep = DepthNoise(CAMERA, replace(IDEAL_DEPTH, steep=0.18))
    assert (steep(slanted(np.radians(82)))[:, narrow] == 0).all()
    assert (steep(slanted(np.radians(75)))[:, narrow] > 0).all()


def test_small_holes_have_the_share_asked_for():
    picture = DepthNoise(CAMERA, replace(IDEAL_DEPTH, holes=0.02))(wall(1.0))
    assert (picture == 0).mean() == pytest.approx(0.02, abs=0.003)


def test_dark_surfaces_have_holes():
    rgb = np.full((HEIGHT, WIDTH, 3), 200, np.uint8)
    rgb[:, :100] = 5
    picture = DepthNoise(CAMERA, replace(IDEAL_DEPTH, dark_holes=0.4))(wall(1.0), rgb)
    assert (picture[:, :100] == 0).mean() == pytest.approx(0.4, abs=0.02)
    assert (picture[:, 100:] > 0).all()


def test_edges_have_flying_and_fattened_pixels_and_holes():
    settings = replace(IDEAL_DEPTH, flying=0.3, fattened=0.2, edge_holes=0.1)
    picture = DepthNoise(CAMERA, settings)(step())
    edge = picture[:, WIDTH // 2 - 1 : WIDTH // 2 + 1]
    assert (picture[:, : WIDTH // 2 - 1] == 1000).all()
    assert (picture[:, WIDTH // 2 + 1 :] == 500).all()
    flying = (edge > 500) & (edge < 1000)
    assert flying.mean() == pytest.approx(0.3, abs=0.05)
    assert (edge == 0).mean() == pytest.approx(0.1, abs=0.03)
    assert (edge[:, 0] == 500).mean() == pytest.approx(0.2, abs=0.06)  # the far side, fattened


def test_what_the_second_imager_does_not_see_is_empty():
    """The band beside a near thing is as wide as the disparities differ; that at the border as the
    disparity there.
    """
    settings = replace(IDEAL_DEPTH, has_shadow=True, baseline=0.05)
    picture = DepthNoise(CAMERA, settings)(step(0.5, 1.0))
    row = picture[100] == 0
    near, far = 500 * 0.05 / 0.5, 500 * 0.05 / 1.0
    assert row[: round(far)].all()
    band = row[round(far) : WIDTH // 2]
    assert band.sum() == pytest.approx(near - far, abs=1)
    assert band[-round(near - far) + 1 :].all()
    assert not row[WIDTH // 2 :].any()


def test_each_camera_has_its_own_scale():
    settings = replace(IDEAL_DEPTH, scale_error=0.01, unit=0.0001)
    scales = [DepthNoise(CAMERA, settings, seed)(wall(1.0)).mean() * 1e-4 for seed in range(30)]
    assert np.std(scales) == pytest.approx(0.01, rel=0.35)
    noise = DepthNoise(CAMERA, settings, 3)
    assert np.array_equal(noise(wall(1.0)), noise(wall(1.0)))


def test_pictures_arrive_late_in_order_and_once():
    noise = DepthNoise(CAMERA, replace(IDEAL_DEPTH, delay=0.05))
    noise.put(1.0, wall(0.5))
    noise.put(1.033, wall(0.6))
    assert noise.take(1.04) == []
    arrived = noise.take(1.06)
    assert [stamp for stamp, _ in arrived] == [1.0]
    assert arrived[0][1][0, 0] == 500
    assert [stamp for stamp, _ in noise.take(2.0)] == [1.033]
    assert noise.take(2.0) == []


def test_most_of_a_real_scene_is_still_measured():
    noise = DepthNoise(CAMERA, D435)
    picture = noise(step(0.6, 0.9))
    assert 0.85 < (picture > 0).mean() < 0.98
    assert (DepthNoise(CAMERA, D405)(wall(0.05)) == 0).all()


def test_every_camera_of_the_scene_has_a_known_sensor():
    for robot in filter(None, (profile.simulation for profile in packaged_profiles())):
        assert {mount.depth_sensor for mount in robot.cameras.values()} <= set(DEPTH_SENSORS)


def test_wrong_input_is_refused():
    with pytest.raises(ShapeError, match=r'\(10, 10\)'):
        DepthNoise(CAMERA)(np.ones((10, 10), np.float32))
    with pytest.raises(ValueRangeError, match='-1'):
        DepthNoise(CAMERA, seed=-1)
    with pytest.raises(ValueRangeError, match='shares'):
        DepthNoiseOptions(flying=0.6, fattened=0.6)
    with pytest.raises(ValueRangeError, match='range'):
        DepthNoiseOptions(minimum=3.0, maximum=1.0)
