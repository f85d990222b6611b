# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The images of a bag: encodings, thinning out, ones that cannot be shown."""

import numpy as np
import pytest
from bag_making import T0, message, pose, stamp, write_bag

from frame_ros.episodes.bag_reader import Bag
from frame_ros.episodes.images import iter_images
from frame_ros.episodes.reading import read_bag
from frame_ros.errors import BagError

ENCODED = {
    'rgb8': lambda a: a,
    'bgr8': lambda a: a[..., ::-1],
    'rgba8': lambda a: np.concatenate([a, a[..., :1]], axis=2),
    'bgra8': lambda a: np.concatenate([a[..., ::-1], a[..., :1]], axis=2),
}


def image_message(at, encoding, pixels, padding=0, is_bigendian=0):
    rows = np.ascontiguousarray(pixels).view(np.uint8).reshape(len(pixels), -1)
    rows = np.pad(rows, ((0, 0), (0, padding)))
    return message(
        'sensor_msgs/msg/Image', header__stamp=stamp(at), encoding=encoding, height=rows.shape[0],
        width=pixels.shape[1], step=rows.shape[1], data=rows.reshape(-1), is_bigendian=is_bigendian,
    )  # fmt: skip


@pytest.mark.parametrize('encoding', list(ENCODED))
def test_colour_images_come_back_as_rgb(tmp_path, encoding):
    pixels = np.random.default_rng(4).integers(0, 256, (4, 6, 3), dtype=np.uint8)
    content = image_message(T0, encoding, ENCODED[encoding](pixels), padding=2)
    path = write_bag(tmp_path / 'bag', [('/front/image_raw', T0, content)])
    ((at, image),) = iter_images(path, 'front/image_raw')
    assert at == T0
    np.testing.assert_array_equal(image, pixels)


@pytest.mark.parametrize(
    ('encoding', 'dtype'), [('mono8', 'u1'), ('16UC1', '<u2'), ('16UC1', '>u2'), ('32FC1', '<f4')]
)
def test_single_channel_images_keep_their_numbers(tmp_path, encoding, dtype):
    pixels = (np.arange(24).reshape(4, 6) * 9).astype(dtype)
    content = image_message(T0, encoding, pixels, is_bigendian=int(dtype[0] == '>'))
    path = write_bag(tmp_path / 'bag', [('/depth', T0, content)])
    ((_, image),) = iter_images(path, '/depth')
    np.testing.assert_array_equal(image, pixels)
    assert image.dtype == np.dtype(dtype).newbyteorder('=')


def test_images_are_thinned_out_evenly(tmp_path):
    pixels = np.zeros((2, 2), np.uint8)
    sent = [
        ('/a/front/image_raw', T0 + i, image_message(T0 + i, 'mono8', pixels)) for i in range(11)
    ]
    bag = Bag(write_bag(tmp_path / 'bag', sent))
    (episode,) = read_bag(bag)
    assert [at - T0 for at, _ in iter_images(bag, 'front/image_raw', max_count=3)] == [0, 5, 10]
    assert [at - T0 for at, _ in iter_images(episode, 'front/image_raw', every=4)] == [0, 4, 8]


def test_images_that_cannot_be_shown_are_said(tmp_path):
    pixels = np.zeros((2, 2), np.uint8)
    odd = image_message(T0, 'yuv422', pixels)
    short = image_message(T0, 'rgb8', pixels)
    bag = Bag(
        write_bag(
            tmp_path / 'bag', [('/odd', T0, odd), ('/short', T0, short), ('/t', T0, pose(T0))]
        )
    )
    for topic, reason in (
        ('odd', 'yuv422'),
        ('short', 'needs rows of 6 bytes'),
        ('t', 'not sensor_msgs'),
    ):
        with pytest.raises(BagError, match=reason):
            list(iter_images(bag, topic))
    with pytest.raises(BagError, match='one topic nothing'):
        list(iter_images(bag, 'nothing'))
