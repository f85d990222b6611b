# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From a depth image to distances: what counts, what is not measured."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots import Capsule
from frame_ros.robots.shapes.link_shapes import box, capsule_shape, placed, sphere
from frame_ros.sensing.proximity.depth.camera import DepthCamera, DepthError
from frame_ros.sensing.proximity.depth.cloud import CROPPED, OBSTACLE, SELF
from frame_ros.sensing.proximity.depth.detector import (
    NOTHING_NEAR,
    OUT_OF_VIEW,
    TOO_FEW_VALID,
    DepthProximity,
)
from frame_ros.sensing.proximity.depth.options import DepthOptions, Plane

sys.path.insert(0, str(Path(__file__).parent))
from depth_scenes import CAMERA, ROTATION, TRANSLATION, full_scan, in_millimetres, seen

EXACT = DepthOptions(depth_noise=0.0, smoothing=1, min_support=0, outline=0.0)
ARM = placed('arm', [capsule_shape(Capsule(np.array([-0.2, 0.0, 0.2]),
                                           np.array([0.2, 0.0, 0.4]), 0.05))])  # fmt: skip
BALL = placed('ball', [sphere(0.06, [0.3, 0.0, 0.15])])
TABLE = placed('table', [box([4, 4, 0.1], [0, 0, -0.05])])


def measured(depth, settings=EXACT, shapes=ARM, held=None, camera=CAMERA):
    return DepthProximity(camera, settings).measure(depth, shapes, ROTATION, TRANSLATION, held)


def test_distance_and_points_of_an_obstacle():
    depth = in_millimetres(seen(CAMERA, ARM.joined(BALL)))
    for settings in (EXACT, DepthOptions()):
        reading = measured(depth, settings)
        expected = np.linalg.norm(reading.points_on_robot - reading.points_on_obstacle)
        assert reading.distance == pytest.approx(expected, abs=1e-6)
        assert abs(ARM.link_distances(reading.points_on_robot)).max() < 1e-6
        assert abs(BALL.link_distances(reading.points_on_obstacle)).max() < 0.012
        truth = ARM.shape_distances([[0.3, 0, 0.15]])[0, 0] - 0.06
        assert reading.distance == pytest.approx(truth, abs=0.012)
        assert reading.valid_fraction == 1.0 and not reading.unavailable
        assert 0.02 < reading.occluded_fraction < 0.3


def test_the_image_stays_as_it_is_and_both_types_agree():
    depth = in_millimetres(seen(CAMERA, ARM.joined(BALL)))
    before = depth.copy()
    one = measured(depth)
    assert (depth == before).all()
    two = measured((depth * 1e-3).astype(np.float32))
    np.testing.assert_allclose(one.distances, two.distances, atol=1e-6)
    assert one.occluded_fraction == pytest.approx(two.occluded_fraction, abs=1e-3)


@pytest.mark.parametrize('settings', [
    evolve(EXACT, surface_height=0.0, surface_margin=0.02),
    evolve(EXACT, workspace=((-0.4, -0.3, 0.05), (0.4, 0.3, 0.6))),
    evolve(EXACT, planes=(Plane((-0.6, 0.0, 0.8), -0.1),)),
])  # fmt: skip
def test_what_is_cropped_is_no_obstacle(settings):
    everything = ARM.joined(TABLE).joined(BALL)
    depth = in_millimetres(seen(CAMERA, everything, background=2.5))
    normals, offsets = settings.half_spaces()
    expected, _ = full_scan(
        CAMERA, depth, ARM, settings.padding,
        keep=lambda points: (points @ normals.T > offsets).all(axis=1),
    )  # fmt: skip
    proximity = DepthProximity(CAMERA, settings)
    # Twice: the crop of a pose is kept; and once more after another pose.
    for shift in (0.0, 0.0, 0.05, 0.0):
        at = TRANSLATION + [shift, 0, 0]
        reading = proximity.measure(depth, ARM, ROTATION, at)
    np.testing.assert_allclose(reading.distances, expected, atol=1e-6)
    bare, _ = full_scan(CAMERA, depth, ARM, settings.padding)
    assert expected[0] > bare[0] or settings.surface_height is None


def test_a_table_alone_is_nothing_to_measure():
    depth = in_millimetres(seen(CAMERA, ARM.joined(TABLE), background=9.0))
    reading = measured(depth, evolve(EXACT, surface_height=0.0))
    assert reading.unavailable == NOTHING_NEAR and np.isnan(reading.distance)
    assert reading.occluded_fraction > 0.02


@pytest.mark.parametrize('value', [0, 65535, 20, 9000])
def test_nothing_valid_is_not_measured(value):
    reading = measured(np.full((120, 160), value, np.uint16))
    assert TOO_FEW_VALID in reading.unavailable
    assert np.isnan(reading.distances).all() and reading.valid_fraction == 0.0
    assert np.isnan(reading.points_on_robot).all()


def test_infinite_and_negative_depth_is_not_measured():
    for value in (np.nan, np.inf, -np.inf, -1.0, 0.0):
        reading = measured(np.full((120, 160), value, np.float32))
        assert TOO_FEW_VALID in reading.unavailable


def test_a_link_without_valid_pixels_around_it_is_not_measured():
    other = sphere(0.05, [-0.3, 0.0, 0.6])
    both = replace(placed('a', [ARM_SHAPE, other]), links=('arm', 'other'), owners=np.array([0, 1]))
    depth = in_millimetres(seen(CAMERA, both.joined(BALL)))
    assert np.isfinite(measured(depth, shapes=both).distances).all()
    depth[:60, :60] = 0
    reading = measured(depth, shapes=both)
    assert np.isfinite(reading.distances[0]) and np.isnan(reading.distances[1])
    assert np.isnan(reading.points_on_obstacle[1]).all() and reading.nearest == 0


ARM_SHAPE = capsule_shape(Capsule(np.array([-0.2, 0.0, 0.2]), np.array([0.2, 0.0, 0.4]), 0.05))


def test_what_is_seen_nearest_counts_for_a_link_out_of_view_too():
    ball = placed('ball', [sphere(0.06, [0.6, 0.0, 0.15])])
    depth = in_millimetres(seen(CAMERA, ARM.joined(ball)))
    # Beside the picture stands a link, nearer to the ball than the arm, or farther.
    for place, is_told in ((0.8, True), (1.5, False)):
        shapes = placed('a', [ARM_SHAPE, sphere(0.05, [place, 0.0, 0.15])])
        both = replace(shapes, links=('arm', 'beside'), owners=np.array([0, 1]))
        reading = measured(depth, shapes=both)
        arm, beside = reading.distances
        assert arm > 0.3 and np.isfinite(beside) == is_told
        assert reading.distance == (beside if is_told else arm)


def test_a_robot_out_of_view_is_not_measured_unless_asked_for():
    beside = placed('arm', [sphere(0.05, [3.0, 0.0, 0.3])])
    depth = in_millimetres(seen(CAMERA, BALL))
    assert measured(depth, shapes=beside).unavailable == OUT_OF_VIEW
    behind = placed('arm', [sphere(0.05, [0.0, -2.0, 0.3])])
    assert measured(depth, shapes=behind).unavailable == OUT_OF_VIEW
    reading = measured(depth, evolve(EXACT, needs_links_in_view=False), shapes=behind)
    expected, _ = full_scan(CAMERA, depth, behind, 0.01)
    assert reading.distance == pytest.approx(expected[0], abs=1e-6)


def test_what_is_held_is_excluded():
    held = placed('held', [box([0.05, 0.05, 0.05], [0.28, 0.0, 0.44])])
    depth = in_millimetres(seen(CAMERA, ARM.joined(held)))
    assert measured(depth).distance < 0.1 < measured(depth, held=held).distance


def flying(depth, generator, count):
    """The image with single pixels between the arm and what is behind it."""
    result = depth.copy()
    rows, columns = np.nonzero(np.abs(np.diff(depth.astype(int), axis=1)) > 300)
    for place in generator.choice(len(rows), min(count, len(rows)), replace=False):
        row, column = rows[place], columns[place]
        low, high = sorted(depth[row, column : column + 2])
        result[row, column] = generator.integers(low + 30, high - 30)
    return result


@pytest.mark.parametrize('kind', [np.uint16, np.float32])
def test_pixels_that_fly_at_edges_are_no_obstacle(kind):
    clean = in_millimetres(seen(CAMERA, ARM))
    torn = flying(clean, np.random.default_rng(0), 40)
    scale = 1 if kind == np.uint16 else 1e-3
    plain, filtered, truth = (
        measured((image * scale).astype(kind), settings)
        for image, settings in ((torn, EXACT), (torn, DepthOptions()), (clean, DepthOptions()))
    )
    assert plain.distance < 0.4 < filtered.distance
    assert filtered.distance == pytest.approx(truth.distance, abs=0.02)


def test_noise_of_the_robot_itself_is_no_obstacle():
    generator = np.random.default_rng(1)
    depth = seen(CAMERA, ARM.joined(BALL))
    clean = measured(in_millimetres(depth), EXACT).distance
    noisy = in_millimetres(depth + generator.normal(0, 0.006, depth.shape))
    assert measured(noisy, EXACT).distance < clean - 0.02
    assert measured(noisy, DepthOptions()).distance == pytest.approx(clean, abs=0.015)


def test_a_thin_obstacle_of_a_few_pixels_is_kept():
    pole = placed('pole', [box([0.03, 0.03, 1.0], [0.35, 0.0, 0.3])])
    depth = in_millimetres(seen(CAMERA, ARM.joined(pole)))
    assert measured(depth, DepthOptions()).distance == pytest.approx(
        measured(depth, EXACT).distance, abs=0.01
    )


def test_sizes_that_are_not_whole_blocks():
    camera = DepthCamera(157, 113, 150.0, 155.0, 79.0, 60.5)
    depth = in_millimetres(seen(camera, ARM.joined(BALL)))
    expected, own = full_scan(camera, depth, ARM, 0.01)
    reading = measured(depth, camera=camera)
    assert reading.distance == pytest.approx(expected[0], abs=1e-6)
    assert reading.occluded_fraction == pytest.approx(own / depth.size)
    assert measured(depth, DepthOptions(), camera=camera).distance == pytest.approx(
        expected[0], abs=0.015
    )


def test_the_cloud_marks_what_points_count_as():
    everything = ARM.joined(TABLE).joined(BALL)
    depth = in_millimetres(seen(CAMERA, everything))
    settings = evolve(EXACT, surface_height=0.0)
    proximity = DepthProximity(CAMERA, settings)
    cloud = proximity.points(depth, ARM, ROTATION, TRANSLATION, step=4)
    points = cloud.points.astype(float)
    assert 0 < len(points) <= (120 // 4) * (160 // 4) and len(cloud.marks) == len(points)
    assert set(cloud.marks) == {OBSTACLE, SELF, CROPPED}
    assert ARM.shape_distances(points[cloud.marks == SELF]).max() <= 0.0101
    assert (points[cloud.marks == CROPPED, 2] <= 0.011).all()
    assert (points[cloud.marks == OBSTACLE, 2] > 0.009).all()
    held = proximity.points(depth, ARM, ROTATION, TRANSLATION, BALL, step=4)
    assert (held.marks == SELF).sum() > (cloud.marks == SELF).sum()
    with pytest.raises(ValueRangeError):
        proximity.points(depth, ARM, ROTATION, TRANSLATION, step=0)


def test_images_of_another_camera_are_refused():
    with pytest.raises(DepthError, match='camera_info'):
        measured(np.zeros((60, 80), np.uint16))


@pytest.mark.parametrize(
    'wrong',
    [{'padding': -0.1}, {'min_range': 0.0}, {'max_range': 0.05}, {'smoothing': 2},
     {'min_support': 9}, {'min_valid_fraction': 2.0}, {'max_range': float('nan')},
     {'workspace': ((0, 0, 0), (1, 1, -1))}],
)  # fmt: skip
def test_settings_that_cannot_be_meant_are_refused(wrong):
    with pytest.raises(ValueRangeError):
        DepthOptions(**wrong)


def test_without_numba_only_what_measures_by_images_is_refused():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        'from frame_ros.core.errors import MissingExtraError\n'
        'from frame_ros.sensing.proximity.depth.detector import compile_loops\n'
        'try:\n    compile_loops()\n'
        'except MissingExtraError as error:\n    print(error)\n'
    )
    done = subprocess.run([sys.executable, '-c', code], check=True, capture_output=True, text=True)
    assert 'need numba' in done.stdout and "pip install 'numba>=" in done.stdout
