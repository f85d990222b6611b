# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pixels with support: one by one the result of a plain pass over the whole image."""

import sys
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from frame_ros.robots import Capsule
from frame_ros.robots.shapes.link_shapes import capsule_shape, placed, sphere
from frame_ros.sensing.proximity.depth.camera import DepthCamera, depth_in_metres
from frame_ros.sensing.proximity.depth.detector import NOTHING_NEAR, DepthProximity
from frame_ros.sensing.proximity.depth.edges import EdgeFilter
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.depth.support_kernels import is_kept

sys.path.insert(0, str(Path(__file__).parent))
from depth_scenes import CAMERA, ROTATION, TRANSLATION, full_scan, in_millimetres, seen

ARM = placed('arm', [capsule_shape(Capsule(np.array([-0.2, 0.0, 0.2]),
                                           np.array([0.2, 0.0, 0.4]), 0.05))])  # fmt: skip
BALL = placed('ball', [sphere(0.06, [0.3, 0.0, 0.15])])
STEPS = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if row or column]


def plainly_supported(image, settings):
    """The image without what has too few neighbours, pixel by pixel."""
    unit = 1.0 if image.dtype == np.float32 else 1e-3
    share, rest = settings.relative_tolerance, settings.tolerance / unit

    def agree(one, other):
        low, high = sorted((one, other))
        if image.dtype == np.float32:
            more = low * np.float32(1 + share) + np.float32(rest)
        else:
            more = low + (((low >> 4) * round(share * 256)) >> 4) + round(rest)
        return low > 0 and high <= more

    height, width = image.shape
    values = image if image.dtype == np.float32 else image.astype(int)
    neighbours = {}
    for row, column in np.ndindex(image.shape):
        near = [(row + down, column + across) for down, across in STEPS]
        near = [at for at in near if 0 <= at[0] < height and 0 <= at[1] < width]
        neighbours[row, column] = [at for at in near if agree(values[row, column], values[at])]
    has_support = {at: len(near) >= settings.min_support for at, near in neighbours.items()}
    result = np.zeros_like(image)
    for at, near in neighbours.items():
        if has_support[at] or any(has_support[other] for other in near):
            result[at] = image[at]
    return result


@pytest.mark.parametrize('kind', [np.uint16, np.float32])
@pytest.mark.parametrize('settings', [
    DepthOptions(), DepthOptions(min_support=8, relative_tolerance=0.1),
    DepthOptions(min_support=5, tolerance=0.3, relative_tolerance=0.0),
])  # fmt: skip
def test_pixels_one_by_one_as_the_whole_image(kind, settings):
    generator = np.random.default_rng(3)
    image = generator.normal(1000, 12, (24, 40))
    image[:, 25:] += 60000
    image[5:9, 5:9] = 100
    image[generator.random(image.shape) < 0.15] = 0
    image = image.astype(np.uint16) if kind == np.uint16 else (image / 1000).astype(kind)
    support = EdgeFilter(settings).support(image.dtype)
    expected = plainly_supported(image, settings)
    assert 0 < np.count_nonzero(expected) < np.count_nonzero(image)
    places = generator.permutation(np.argwhere(image > 0))
    verdicts = np.zeros(image.shape, np.uint8)
    as_loaded = image.astype(np.float32)
    for _ in range(2):  # the second time from what was found out
        for row, column in places:
            found = is_kept(as_loaded, row, column, support, verdicts)
            assert found == (expected[row, column] > 0)


def noisy(sigma):
    depth = seen(CAMERA, ARM.joined(BALL))
    generator = np.random.default_rng(2)
    depth += generator.normal(0, sigma, depth.shape)
    depth[generator.random(depth.shape) < 0.03] = 0
    return in_millimetres(np.maximum(depth, 0))


@pytest.mark.parametrize(('sigma', 'support'), [(0.003, 7), (0.008, 3), (0.015, 7), (0.015, 8)])
def test_the_nearest_pixel_with_support_is_that_of_the_whole_image(sigma, support):
    # Of depths with more noise than is declared, some would be thin things.
    settings = evolve(
        DepthOptions(), depth_noise=0.0, smoothing=1, min_support=support, thin_support=0
    )
    depth = noisy(sigma)
    points = CAMERA.points(depth) @ ROTATION.T + TRANSLATION
    gaps = ARM.shape_distances(points.reshape(-1, 3)).min(axis=1).reshape(depth.shape)
    metres = depth_in_metres(depth)
    rest = np.where((gaps > settings.padding) & (metres >= 0.1) & (metres <= 3.0), depth, 0)
    kept = plainly_supported(rest.astype(np.uint16), settings)
    expected, _ = full_scan(CAMERA, kept, ARM, settings.padding)
    reading = DepthProximity(CAMERA, settings).measure(depth, ARM, ROTATION, TRANSLATION)
    np.testing.assert_allclose(reading.distances, expected, rtol=0, atol=1e-6)
    assert np.isnan(expected[0]) == (reading.unavailable == NOTHING_NEAR)


def test_nothing_with_support_is_nothing_near():
    depth = np.where(np.indices((120, 160)).sum(axis=0) % 2, 900, 1800).astype(np.uint16)
    settings = evolve(DepthOptions(), smoothing=1, min_support=5, thin_support=0)
    reading = DepthProximity(CAMERA, settings).measure(depth, ARM, ROTATION, TRANSLATION)
    assert reading.unavailable == NOTHING_NEAR and np.isnan(reading.distance)


def wall_along_the_line_of_sight(camera, offset, kind):
    """Depths of a wall x = `offset` m from 0.8 m on, left of it a wall 2.5 m away."""
    x, _ = camera.rays()
    along = np.where(x > 0, offset / np.where(x > 0, x, 1.0), np.inf)
    depth = np.tile(np.where((along > 0.8) & (along < 2.5), along, 2.5), (camera.height, 1))
    return in_millimetres(depth) if kind == np.uint16 else depth.astype(kind)


@pytest.mark.parametrize('kind', [np.uint16, np.float32])
def test_a_wall_along_the_line_of_sight_is_seen(kind):
    # No neighbour of its pixels is at about their depth beyond 1.2 m.
    camera = DepthCamera(320, 240, 192.0, 192.0, 159.5, 119.5)
    depth = wall_along_the_line_of_sight(camera, 0.3, kind)
    ball = placed('ball', [sphere(0.05, [0.1, 0.0, 1.6])])
    reading = DepthProximity(camera, DepthOptions(depth_noise=0.0)).measure(
        depth, ball, np.eye(3), np.zeros(3)
    )
    assert reading.distance == pytest.approx(0.15, abs=0.005)
    assert reading.points_on_obstacle[0, 2] == pytest.approx(1.6, abs=0.05)


@pytest.mark.parametrize('wide', range(1, 5))
def test_mixed_depths_along_an_outline_count_for_nothing(wide):
    """A plate that is left out as held, before a wall, and depths in between them."""
    depth = np.full((CAMERA.height, CAMERA.width), 1.6)
    depth[:, :80] = 1.0
    depth[:, 80 : 80 + wide] = 1 / np.linspace(1.0, 1 / 1.6, wide + 2)[1:-1]
    plate = np.where(np.arange(CAMERA.width) < 80, depth, 0.0)
    verdicts = np.zeros(depth.shape, np.uint8)
    support = EdgeFilter(DepthOptions()).support(np.dtype(np.uint16))
    for image in (depth, depth - plate):
        verdicts[:] = 0
        as_loaded = in_millimetres(image).astype(np.float32)
        for column in range(80, 80 + wide):
            assert not is_kept(as_loaded, 60, column, support, verdicts)
