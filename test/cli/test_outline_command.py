# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The width of the outline that a camera smears, from bags of a drawn arm that moves alone."""

import math

import numpy as np
import pytest
import yaml
from bag_making import T0, message, stamp, write_bag
from benchmark_parts import import_parts
from robot_bags import joint_state
from scipy.spatial.transform import Rotation

from frame_ros.cli import main
from frame_ros.cli.outline import FEWEST, node_options
from frame_ros.core.time import SECOND
from frame_ros.evaluation.recorded_motion.arm_images import AHEAD
from frame_ros.evaluation.recorded_motion.outline_width import different_postures, spread_order

COUNT, APART = 24, '0.03'  # postures, m apart
BLOCK = slice(60, 100), slice(150, 170)  # rows and columns of an obstacle


@pytest.fixture
def drawn(monkeypatch):
    """The module that draws an arm."""
    (module,) = import_parts(monkeypatch, 'drawn_arm_images')
    return module


def postures(count):
    turns = np.linspace(-1.2, 1.2, COUNT // 4)
    return [(turn, bend) for turn in turns for bend in (-0.9, -0.5, 0.5, 0.9)][:count]


def arm_bag(
    drawn, folder, smeared=0, count=COUNT, every=1, obstacle=COUNT, joints=True, damaged=(),
    encoding='16UC1',
):  # fmt: skip
    """A bag: an image a second, and joint states 50 ms before and after it. obstacle: number of the
    first image that shows one. damaged: numbers of images without their pixels.
    """
    drawn.draw_recording(folder)
    lens = {'k': np.array([drawn.FOCAL, 0, 159.5, 0, drawn.FOCAL, 119.5, 0, 0, 1.0])}
    info = message(
        'sensor_msgs/msg/CameraInfo', header__stamp=stamp(T0), width=drawn.WIDTH,
        height=drawn.HEIGHT, distortion_model='plumb_bob', d=np.zeros(5), r=np.eye(3).ravel(),
        p=np.zeros(12), **lens,
    )  # fmt: skip
    sent = [('/front/depth/camera_info', T0, info)]
    for number, positions in enumerate(postures(count)):
        at = T0 + number * SECOND
        depth, _ = drawn.picture(folder, positions, smeared)
        if number >= obstacle:
            depth[BLOCK] = np.where(depth[BLOCK] > drawn.WALL - 0.1, 1.15, depth[BLOCK])
        image = depth_image(at, depth, encoding)
        if number in damaged:
            image.data = image.data[:100]
        sent.append(('/front/depth/image_raw', at, image))
        if joints and number % every == 0:
            sent += [
                ('/joint_states', at + apart, joint_state(at + apart, positions, drawn.JOINTS))
                for apart in (-50_000_000, 50_000_000)
            ]
    return write_bag(folder / 'bag', sorted(sent, key=lambda each: each[1]))


def depth_image(at, depth, encoding):
    pixels = np.rint(1e3 * depth).astype('<u2')
    height, width = pixels.shape
    return message(
        'sensor_msgs/msg/Image', header__stamp=stamp(at), height=height, width=width,
        encoding=encoding, step=2 * width, data=pixels.view(np.uint8).ravel(),
    )  # fmt: skip


def parameters_file(drawn, folder, **changes):
    place = ' '.join(map(str, drawn.POSE[:3, 3]))
    turn = ' '.join(map(str, Rotation.from_matrix(drawn.POSE[:3, :3] @ AHEAD).as_quat()))
    given = {
        'robot': str(folder / 'arm.urdf'), 'cameras': ['front'],
        'extrinsics': [f'front=base {place} {turn}'], **changes,
    }  # fmt: skip
    file = folder / 'proximity.yaml'
    file.write_text(yaml.safe_dump({'proximity': {'ros__parameters': given}}), encoding='utf-8')
    return file


def outline(drawn, folder, bag, *arguments, **changes):
    """Returns the exit code, and the width that is written; None: none is."""
    file, out = parameters_file(drawn, folder, **changes), folder / 'outline.yaml'
    given = ['--params-file', str(file), '--out', str(out), '--spacing', APART, *arguments]
    code = main(['outline', str(bag), *given])
    return code, node_options(out, '').depth.outline if out.exists() else None


def test_the_width_is_what_a_camera_smears(drawn, tmp_path, capsys):
    code, found = outline(drawn, tmp_path, arm_bag(drawn, tmp_path, smeared=6))
    assert code == 0
    # In pixels as the node counts them; what remains of the last is within the padding.
    assert 5 <= math.ceil(found * drawn.FOCAL) <= 6
    printed = capsys.readouterr().out
    assert f'front: {COUNT} images of different postures' in printed
    assert 'at most 11.7 % of such images need more, with 95 % confidence' in printed


@pytest.mark.parametrize('smeared', [0, 2])
def test_a_camera_that_smears_less_than_the_padding_needs_none(drawn, tmp_path, smeared):
    assert outline(drawn, tmp_path, arm_bag(drawn, tmp_path, smeared)) == (0, 0.0)


def test_something_near_the_arm_is_no_outline(drawn, tmp_path, capsys):
    bag = arm_bag(drawn, tmp_path, obstacle=0)
    assert outline(drawn, tmp_path, bag) == (1, None)
    shown = capsys.readouterr()
    assert 'mm from something' in shown.out
    assert 'something is near the arm that is not its outline' in shown.err


def test_few_images_say_too_little(drawn, tmp_path, capsys):
    bag = arm_bag(drawn, tmp_path, count=FEWEST - 1)
    assert outline(drawn, tmp_path, bag) == (1, None)
    assert f'{FEWEST - 1} images of different postures' in capsys.readouterr().err


def test_images_without_joint_states_around_them_are_left_out(drawn, tmp_path, capsys):
    bag = arm_bag(drawn, tmp_path, every=2)
    assert outline(drawn, tmp_path, bag) == (1, None)
    assert f'front: {COUNT // 2} images of different postures' in capsys.readouterr().out


def test_no_more_images_are_measured_than_are_wanted(drawn, tmp_path, capsys):
    bag = arm_bag(drawn, tmp_path)
    assert outline(drawn, tmp_path, bag, '--images', '5') == (1, None)
    assert 'front: 5 images of different postures' in capsys.readouterr().out


def test_the_images_that_are_measured_are_spread_over_the_recording(drawn, tmp_path, capsys):
    # Something is near the arm in the last quarter alone.
    bag = arm_bag(drawn, tmp_path, obstacle=3 * COUNT // 4)
    assert outline(drawn, tmp_path, bag, '--images', '8') == (1, None)
    assert 'mm from something' in capsys.readouterr().out


def test_images_that_are_not_measured_are_not_unpacked(drawn, tmp_path, capsys):
    bag = arm_bag(drawn, tmp_path, damaged=range(1, COUNT, 2))
    assert outline(drawn, tmp_path, bag, '--images', '8') == (1, None)
    assert 'front: 8 images of different postures' in capsys.readouterr().out
    assert outline(drawn, tmp_path, bag) == (2, None)


def test_mono16_is_depth_on_the_topic_that_is_named(drawn, tmp_path, capsys):
    bag = arm_bag(drawn, tmp_path, count=2, encoding='mono16')
    assert outline(drawn, tmp_path, bag) == (1, None)
    assert 'front: 2 images of different postures' in capsys.readouterr().out


@pytest.mark.parametrize('count', [0, 1, 2, 7, 64, 1000])
def test_every_beginning_of_the_order_is_spread(count):
    order = spread_order(count)
    assert sorted(order) == list(range(count))
    for size in (4, 16, 64):
        gaps = np.diff([*sorted(order[:size]), count])
        assert count < size or gaps.max() <= 4 * count / size


def test_a_camera_that_is_elsewhere_is_not_measured(drawn, tmp_path, capsys):
    bag = arm_bag(drawn, tmp_path)
    turn = ' '.join(map(str, Rotation.from_matrix(drawn.POSE[:3, :3] @ AHEAD).as_quat()))
    aside = [f'front=base 1.2 0.06 0.3 {turn}']
    assert outline(drawn, tmp_path, bag, extrinsics=aside) == (1, None)
    assert f'{COUNT} not measured: misaligned' in capsys.readouterr().out


@pytest.mark.parametrize(
    ('changes', 'arguments', 'why'),
    [
        ({'extrinsics': ['']}, (), 'the parameters have no extrinsics of front'),
        ({}, ('--camera', 'side'), '--camera side: cameras has front'),
        ({'cameras': ['front', 'side']}, (), '--camera must be one of front, side'),
        ({}, ('--joint-topic', 'arm_joints'), 'should have one topic arm_joints, and has none'),
        ({'image_topics': ['front=front/joint_states']}, (), 'should have one topic'),
        ({'depth': {'outlyne': 0.1}}, (), 'outlyne'),
        ({'meshes': {'file': 'arm.urdf'}}, (), 'with meshes.file'),
    ],
)
def test_what_cannot_be_used_is_said(drawn, tmp_path, capsys, changes, arguments, why):
    bag = arm_bag(drawn, tmp_path, count=2)
    assert outline(drawn, tmp_path, bag, *arguments, **changes) == (2, None)
    assert why in capsys.readouterr().err


def test_the_node_s_parameters_are_not_overwritten(drawn, tmp_path, capsys):
    bag = arm_bag(drawn, tmp_path, count=2)
    file = tmp_path / 'proximity.yaml'
    assert outline(drawn, tmp_path, bag, '--out', str(file))[0] == 2
    assert 'is a file that is read' in capsys.readouterr().err
    assert 'extrinsics' in file.read_text(encoding='utf-8')


def test_a_bag_without_joint_states_cannot_be_used(drawn, tmp_path, capsys):
    bag = arm_bag(drawn, tmp_path, count=2, joints=False)
    assert outline(drawn, tmp_path, bag) == (2, None)
    assert 'joint_states' in capsys.readouterr().err


def test_postures_differ_from_every_other(drawn, tmp_path):
    drawn.draw_recording(tmp_path)
    options = node_options(parameters_file(drawn, tmp_path), '')
    robot = options.watched(options.load_robot())
    # The middle of the upper link is 0.15 m from its joint; turned about itself it stays.
    given = [(0, 0), (1, 0), (0, 0.2), (0, 0.5), (0, 0.01), (2, 0.5)]
    assert list(different_postures(robot, map(np.array, given), 0.05)) == [0, 3, 5]
    assert list(different_postures(robot, map(np.array, given), 0.02)) == [0, 2, 3, 5]
