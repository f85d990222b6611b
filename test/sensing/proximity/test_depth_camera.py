# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Depth images as they come, and those that are none."""

import numpy as np
import pytest

from frame_ros.sensing.proximity.depth.camera import (
    DepthCamera,
    DepthError,
    decode_depth,
    depth_in_metres,
)

CAMERA = DepthCamera(4, 3, 100.0, 110.0, 1.5, 1.0)


@pytest.mark.parametrize('order', ['<', '>'])
@pytest.mark.parametrize(('encoding', 'kind'), [('16UC1', 'u2'), ('32FC1', 'f4'), ('mono16', 'u2')])
def test_images_of_both_byte_orders_with_padded_rows(encoding, kind, order):
    values = np.arange(12).reshape(3, 4) * 100 + 500
    rows = values.astype(order + kind).view(np.uint8).reshape(3, -1)
    padded = np.hstack((rows, np.full((3, 6), 255, np.uint8)))
    for data, step in ((rows.tobytes(), rows.shape[1]), (padded.tobytes(), padded.shape[1])):
        depth = decode_depth(data, encoding, 3, 4, step, order == '>')
        np.testing.assert_array_equal(depth, values)
        assert depth.dtype == np.dtype(kind) and depth.dtype.isnative


def test_a_plain_image_is_not_copied():
    data = np.zeros(24, np.uint8)
    depth = decode_depth(data, '16UC1', 3, 4, 8)
    data[0] = 7
    assert depth[0, 0] == 7


@pytest.mark.parametrize(
    ('encoding', 'height', 'width', 'step', 'size', 'why'),
    [('rgb8', 3, 4, 12, 36, 'depth topic'), ('16UC1', 3, 4, 6, 24, 'step is 6'),
     ('16UC1', 3, 4, 8, 20, 'has 20'), ('16UC1', 3, 4, 8, 48, 'has 48'),
     ('32FC1', 3, 4, 8, 24, 'step is 8'), ('16UC1', 0, 4, 8, 0, 'empty')],
)  # fmt: skip
def test_what_does_not_fit_is_refused(encoding, height, width, step, size, why):
    with pytest.raises(DepthError, match=why):
        decode_depth(bytes(size), encoding, height, width, step)


def test_invalid_pixels_are_not_a_number():
    whole = depth_in_metres(np.array([0, 1, 65534, 65535], np.uint16))
    np.testing.assert_array_equal(whole, [np.nan, 0.001, 65.534, np.nan])
    single = depth_in_metres(np.array([0, -1, np.nan, np.inf, 1.5], np.float32))
    np.testing.assert_array_equal(single, [np.nan] * 4 + [1.5])


def test_points_project_to_their_pixels():
    depth = np.full((3, 4), 1500, np.uint16)
    depth[1, 2] = 0
    points = CAMERA.points(depth)
    assert np.isnan(points[1, 2]).all()
    rows, columns = np.nonzero(depth)
    pixels = CAMERA.project(points[rows, columns])
    np.testing.assert_allclose(pixels, np.stack((columns, rows), axis=1), atol=1e-9)
    assert np.isnan(CAMERA.project(np.array([[0.0, 0.0, -1.0]]))).all()


@pytest.mark.parametrize(
    'values',
    [(0, 3, 1, 1, 0, 0), (4, 3, 0, 1, 0, 0), (4, 3, 1, float('nan'), 0, 0),
     (4, 3, 1, 1, float('inf'), 0)],
)  # fmt: skip
def test_what_is_no_camera_is_refused(values):
    with pytest.raises(DepthError):
        DepthCamera(*values)


def test_images_of_another_camera_are_refused():
    with pytest.raises(DepthError, match='camera_info is of 4x3'):
        CAMERA.points(np.zeros((4, 3), np.uint16))
    with pytest.raises(DepthError, match='float64'):
        CAMERA.points(np.zeros((3, 4)))
