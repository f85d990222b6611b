# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""MP4 files made from a bag's images, read back by PyAV."""

import sys

import numpy as np
import pytest
from bag_making import T0, message, pose, stamp, write_bag

from frame_ros.core.errors import BagError, MissingExtraError
from frame_ros.core.time import SECOND
from frame_ros.episodes.export.video import main, write_video

av = pytest.importorskip('av')
STEPS = [0, 40, 80, 120, 400, 440]  # ms; a gap, as when a camera stops


def frames(encoding='rgb8', topic='/front/image_raw', steps=STEPS, shape=(48, 64)):
    for number, step in enumerate(steps):
        at = T0 + step * SECOND // 1000
        if encoding == '16UC1':
            pixels = np.full(shape, 300 * number, np.uint16)
        else:
            pixels = np.full((*shape, 3), (40 * number, 10, 200), np.uint8)
        rows = pixels.view(np.uint8).reshape(shape[0], -1)
        content = message(
            'sensor_msgs/msg/Image', header__stamp=stamp(at), encoding=encoding, height=shape[0],
            width=shape[1], step=rows.shape[1], data=rows.reshape(-1),
        )  # fmt: skip
        yield topic, at, content


def decoded(path):
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        images = [
            (float(f.pts * f.time_base), f.to_ndarray(format='rgb24')) for f in file.decode(stream)
        ]
        return stream, images


def test_a_video_has_every_image_at_its_time(tmp_path):
    bag = write_bag(tmp_path / 'bag', list(frames()))
    seen = []
    path = write_video(bag, progress=lambda done, total: seen.append((done, total)))
    assert path == tmp_path / 'bag.mp4' and seen[-1] == (6, 6)
    stream, images = decoded(path)
    assert (stream.codec_context.name, stream.pix_fmt) == ('h264', 'yuv420p')
    assert [round(at * 1000) for at, _ in images] == STEPS
    for number, (_, image) in enumerate(images):
        np.testing.assert_allclose(image.mean(axis=(0, 1)), (40 * number, 10, 200), atol=6)


def test_the_index_is_in_front_so_that_browsers_can_stream_it(tmp_path):
    data = write_video(write_bag(tmp_path / 'bag', list(frames()))).read_bytes()
    assert 0 < data.find(b'moov') < data.find(b'mdat')


def test_depth_and_odd_sizes(tmp_path):
    bag = write_bag(
        tmp_path / 'bag', list(frames('16UC1', '/front/depth/image_raw', shape=(49, 65)))
    )
    stream, images = decoded(write_video(bag, tmp_path / 'depth.mp4'))
    assert (stream.height, stream.width) == (48, 64)
    assert images[2][1].mean() == pytest.approx(600 / 2000 * 255, abs=6)


def test_images_come_in_the_order_of_their_stamps(tmp_path):
    sent = list(frames(steps=[0, 40, 40, 20, 80]))
    sent.append(('/front/image_raw', T0 + SECOND, next(frames(steps=[-T0 // 1_000_000]))[2]))
    remarks = []
    _, images = decoded(write_video(write_bag(tmp_path / 'bag', sent), remark=remarks.append))
    assert [round(at * 1000) for at, _ in images] == [0, 20, 40, 80]
    assert [round(image[:, :, 0].mean() / 40) for _, image in images] == [0, 3, 1, 4]
    assert remarks == [
        '/front/image_raw: 1 without a stamp were left out',
        '/front/image_raw: 1 with the stamp of another were left out',
    ]


def test_a_damaged_image_is_left_out(tmp_path):
    sent = list(frames())
    object.__setattr__(sent[1][2], 'data', sent[1][2].data[:-1])
    remarks = []
    _, images = decoded(write_video(write_bag(tmp_path / 'bag', sent), remark=remarks.append))
    assert [round(at * 1000) for at, _ in images] == [STEPS[0], *STEPS[2:]]
    assert remarks == ['/front/image_raw: 1 that cannot be decoded were left out']


def test_images_without_stamps_are_shown_when_they_were_received(tmp_path):
    unstamped = next(frames(steps=[-T0 // 1_000_000]))[2]
    sent = [('/front/image_raw', T0 + step * 1_000_000, unstamped) for step in STEPS]
    remarks = []
    _, images = decoded(write_video(write_bag(tmp_path / 'bag', sent), remark=remarks.append))
    assert [round(at * 1000) for at, _ in images] == STEPS
    assert remarks == [
        '/front/image_raw: no image has a stamp; they are shown at the times of their receipt'
    ]


def test_what_cannot_be_shown_is_said_and_leaves_no_file(tmp_path):
    bag = write_bag(tmp_path / 'bag', [('/ee_pose', T0, pose(T0)), *frames('nv21')])
    with pytest.raises(BagError, match='nv21'):
        write_video(bag)
    with pytest.raises(BagError, match='one topic side'):
        write_video(bag, topic='side')
    assert sorted(path.name for path in tmp_path.iterdir()) == ['bag']


def test_the_command(tmp_path, capsys):
    bag = write_bag(tmp_path / 'bag', list(frames()))
    assert main([str(bag), '--topic', '/front/image_raw', '--if-recorded']) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / 'bag.mp4')
    (tmp_path / 'bag.mp4').unlink()
    assert main([str(bag), '--topic', '/side/image_raw', '--if-recorded']) == 0
    assert main([str(bag), '--topic', '/side/image_raw']) == 1
    assert 'side' in capsys.readouterr().err and not (tmp_path / 'bag.mp4').exists()


def test_without_pyav_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'av', None)
    with pytest.raises(MissingExtraError, match=r'pip install .mujoco>=.* .av>='):
        write_video(tmp_path)


def test_images_by_the_times_of_their_receipt(tmp_path, capsys):
    """As of a camera whose driver stamps all images alike."""
    from frame_ros.cli import main as frame_ros

    sent = [
        ('/front/image_raw', T0 + step * SECOND // 1000, message(
            'sensor_msgs/msg/Image', header__stamp=stamp(T0), height=48, width=64,
            encoding='mono8', step=64, data=np.full(48 * 64, number, np.uint8),
        ))
        for number, step in enumerate(STEPS)
    ]  # fmt: skip
    path = write_bag(tmp_path / 'bag', sent)
    counts = []
    for stamps in ('header', 'receive'):
        film = tmp_path / f'{stamps}.mp4'
        assert frame_ros(['video', str(path), '--stamps', stamps, '-o', str(film)]) == 0
        with av.open(str(film)) as file:
            counts.append([round(1000 * frame.time) for frame in file.decode(video=0)])
    assert counts == [[0], STEPS]
