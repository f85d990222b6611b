# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The images of a bag: encodings, thinning out, ones that cannot be shown."""

import cv2
import numpy as np
import pytest
from bag_making import STORE, T0, message, pose, serialised, stamp, write_bag

from frame_ros.bags.images.cameras import camera_topics
from frame_ros.bags.images.decoding import (
    decode_image,
    find_image_topics,
    image_reader,
    iter_images,
)
from frame_ros.bags.images.jpeg import JpegEncoder
from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError
from frame_ros.episodes.reading import read_bag

ENCODED = {
    'rgb8': lambda a: a,
    'bgr8': lambda a: a[..., ::-1],
    'rgba8': lambda a: np.concatenate([a, a[..., :1]], axis=2),
    'bgra8': lambda a: np.concatenate([a[..., ::-1], a[..., :1]], axis=2),
    '8UC3': lambda a: a[..., ::-1],
    '8UC4': lambda a: np.concatenate([a[..., ::-1], a[..., :1]], axis=2),
}
# Encoding of a Bayer pattern -> the colour of each pixel of a square of four.
MOSAICS = {
    'bayer_rggb8': ((0, 1), (1, 2)),
    'bayer_bggr8': ((2, 1), (1, 0)),
    'bayer_gbrg8': ((1, 2), (0, 1)),
    'bayer_grbg8': ((1, 0), (2, 1)),
}
# Encoding of YUV 4:2:2 -> place of the brightness, of U and of V in the four bytes of two pixels.
YUV = {
    'yuv422': ((1, 3), 0, 2),
    'uyvy': ((1, 3), 0, 2),
    'yuv422_yuy2': ((0, 2), 1, 3),
    'yuyv': ((0, 2), 1, 3),
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


@pytest.mark.parametrize('encoding', [*MOSAICS, *YUV])
def test_images_of_cameras_that_send_what_they_see(encoding):
    """A picture of two plain halves: within each, no neighbour has another colour."""
    colours = np.array([[180, 60, 40], [50, 90, 170]])
    halves = np.repeat(np.repeat(colours[None], 8, axis=1), 12, axis=0)  # (12, 16, 3)
    if encoding in MOSAICS:
        sent = np.zeros((12, 16, 1), np.uint8)
        for row, places in enumerate(MOSAICS[encoding]):
            for column, colour in enumerate(places):
                sent[row::2, column::2, 0] = halves[row::2, column::2, colour]
    else:
        # BT.601 with 16 to 235 for the brightness, as cameras send it.
        red, green, blue = np.moveaxis(halves, 2, 0) / 255
        light = 0.299 * red + 0.587 * green + 0.114 * blue
        sent = np.zeros((12, 8, 4), np.uint8)
        lights, blueness, redness = YUV[encoding]
        sent[:, :, list(lights)] = (16 + 219 * light).round().reshape(12, 8, 2)
        sent[:, :, blueness] = (128 + 224 * (blue - light) / 1.772).round()[:, ::2]
        sent[:, :, redness] = (128 + 224 * (red - light) / 1.402).round()[:, ::2]
    rows = np.pad(sent.reshape(12, -1), ((0, 0), (0, 3)))  # rows may be longer than the picture
    image = decode_image(rows.ravel(), 12, 16, encoding, rows.shape[1])
    np.testing.assert_allclose(image[2:-2, 2:6], halves[2:-2, 2:6], atol=3)
    np.testing.assert_allclose(image[2:-2, 10:-2], halves[2:-2, 10:-2], atol=3)
    with pytest.raises(BagError, match='needs rows of'):
        decode_image(rows.ravel()[:-1], 12, 16, encoding, rows.shape[1])


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


@pytest.mark.parametrize('dtype', ['<u2', '>u2'])
def test_mono16_is_grey_and_depth_only_where_the_topic_is_named_as_such(tmp_path, dtype):
    pixels = (np.arange(24).reshape(4, 6) * 2500).astype(dtype)
    content = image_message(T0, 'mono16', pixels, is_bigendian=int(dtype[0] == '>'))
    _, png = cv2.imencode('.png', pixels.astype('u2'))
    packed = compressed_message(T0, 'mono16; png compressed ', png.tobytes())
    sent = [('/infra/image_raw', T0, content), ('/side/image_raw/compressed', T0, packed)]
    bag = Bag(write_bag(tmp_path / 'bag', sent))
    assert list(camera_topics(bag)) == ['infra', 'side']
    for name in bag.topics:
        (_, grey), (_, depth) = (
            image_reader(bag, bag.topics[name], is_depth)(0) for is_depth in (False, True)
        )
        assert grey.dtype == np.uint8 and depth.dtype == np.uint16
        np.testing.assert_array_equal(grey, pixels >> 8)
        np.testing.assert_array_equal(depth, pixels)


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
    odd = image_message(T0, 'nv21', pixels)
    short = image_message(T0, 'rgb8', pixels)
    bag = Bag(
        write_bag(
            tmp_path / 'bag', [('/odd', T0, odd), ('/short', T0, short), ('/t', T0, pose(T0))]
        )
    )
    for topic, reason in (
        ('odd', 'nv21'),
        ('short', 'needs rows of 6 bytes'),
        ('t', 'not sensor_msgs'),
    ):
        with pytest.raises(BagError, match=reason):
            list(iter_images(bag, topic))
    with pytest.raises(BagError, match='one topic nothing'):
        list(iter_images(bag, 'nothing'))


def compressed_message(at, encoded, content):
    return message(
        'sensor_msgs/msg/CompressedImage',
        header__stamp=stamp(at),
        format=encoded,
        data=np.frombuffer(content, np.uint8),
    )


def _smooth(height=48, width=64):
    rows, columns = np.mgrid[0:height, 0:width]
    return np.stack([4 * rows, 3 * columns, 2 * (rows + columns)], axis=2).astype(np.uint8)


@pytest.mark.parametrize(('suffix', 'most'), [('.png', 0), ('.jpg', 12)])
def test_compressed_images_come_back_as_rgb_under_the_raw_topics_name(tmp_path, suffix, most):
    pixels = _smooth()
    _, content = cv2.imencode(suffix, pixels[..., ::-1])
    sent = compressed_message(T0, f'rgb8; {suffix[1:]} compressed bgr8', content.tobytes())
    path = write_bag(tmp_path / 'bag', [('/front/image_raw/compressed', T0, sent)])
    ((at, image),) = iter_images(path, 'front/image_raw')
    assert at == T0 and image.shape == pixels.shape
    assert np.abs(image.astype(int) - pixels).max() <= most
    assert find_image_topics(Bag(path)) == ['/front/image_raw/compressed']


def test_compressed_depth_keeps_its_numbers(tmp_path):
    depth = np.random.default_rng(5).integers(0, 5000, (12, 16)).astype(np.uint16)
    _, content = cv2.imencode('.png', depth)
    name = '/depth/image_raw/compressedDepth'
    for encoded, is_known in (('16UC1; compressedDepth png', True), ('32FC1; compressedDepth', 0)):
        sent = compressed_message(T0, encoded, bytes(12) + content.tobytes())
        path = write_bag(tmp_path / str(is_known) / 'bag', [(name, T0, sent)])
        if is_known:
            ((_, image),) = iter_images(path, name)
            np.testing.assert_array_equal(image, depth)
        else:
            with pytest.raises(BagError, match='32FC1'):
                list(iter_images(path, name))


@pytest.mark.parametrize('padding', [0, 5])
@pytest.mark.parametrize('encoding', ['rgb8', 'bgr8'])
def test_the_recorders_jpegs_are_what_was_sent(tmp_path, encoding, padding):
    pixels = _smooth()
    content = image_message(T0 + 7, encoding, ENCODED[encoding](pixels), padding)
    object.__setattr__(content.header, 'frame_id', 'front')
    data = JpegEncoder().encode(serialised(content))
    assert len(data) < pixels.size / 4
    got = STORE.deserialize_cdr(data, 'sensor_msgs/msg/CompressedImage')
    assert got.format == f'{encoding}; jpeg compressed bgr8' and got.header.frame_id == 'front'
    path = write_bag(tmp_path / 'bag', [('/image/compressed', T0, got)])
    ((at, image),) = iter_images(path, 'image')
    assert at == T0 + 7
    assert np.abs(image.astype(int) - pixels).max() <= 12


@pytest.mark.parametrize('encoding', ['mono8', '16UC1', '32FC1', 'rgba8', 'unknown'])
def test_what_is_no_8_bit_colour_is_not_made_a_jpeg(encoding):
    content = image_message(T0, encoding, np.zeros((4, 16), np.uint8))
    assert JpegEncoder().encode(serialised(content)) is None
    assert JpegEncoder().encode(b'nonsense') is None
    short = image_message(T0, 'rgb8', np.zeros((4, 16), np.uint8))
    assert JpegEncoder().encode(serialised(short)) is None
