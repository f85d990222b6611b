# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of the proximity node: joint history, extrinsics, cameras."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import TransformStamped
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import CameraInfo

from frame_ros.core.errors import SetupError
from frame_ros.core.time import SECOND
from frame_ros.nodes.proximity.extrinsics import TransformListener
from frame_ros.nodes.proximity.options import ProximityOptions
from frame_ros.nodes.runtime.message_parts import time_message
from frame_ros.robots.frame_names import FrameNames
from frame_ros.sensing.proximity.depth.camera import DepthError
from frame_ros.sensing.proximity.depth.rectified import CameraModel, CameraModels
from frame_ros.sensing.proximity.joint_history import JointHistory
from frame_ros.sensing.proximity.mount import parse_mount

START = 1_700_000_000 * SECOND
LINKS = ('base_link', 'arm', 'hand')


# Joint states.


def history(**options):
    return JointHistory(
        ('a', 'b'), **{'assumed': {}, 'length': 2.0, 'age': 0.02, 'gap': 0.1, **options}
    )


def test_joints_are_interpolated_between_two_states():
    joints = history()
    joints.add(START, ('b', 'a'), np.array([1.0, 0.0]))
    joints.add(START + 10_000_000, ('a', 'b'), np.array([1.0, 3.0]))
    found = joints.at(START + 2_500_000)
    assert found.positions.tolist() == [0.25, 1.5] and not found.is_waiting
    assert joints.at(START).positions.tolist() == [0.0, 1.0]


def test_nothing_is_extrapolated():
    joints = history()
    assert joints.at(START) == (None, True, 'no joint state has come')
    joints.add(START, ('a', 'b'), np.zeros(2))
    young = joints.at(START + 20_000_000)
    assert young.is_waiting and young.positions.tolist() == [0.0, 0.0]
    old = joints.at(START + 21_000_000)
    assert old.is_waiting and old.positions is None
    assert old.unavailable == 'joint states are 0.021 s older than the image'
    before = joints.at(START - 1_000_000)
    assert before == (None, False, 'joint states begin 0.001 s after the image')


def test_a_gap_is_not_bridged():
    joints = history()
    joints.add(START, ('a', 'b'), np.zeros(2))
    joints.add(START + 150_000_000, ('a', 'b'), np.ones(2))
    assert 'gap of 0.150 s' in joints.at(START + 10_000_000).unavailable


def test_parts_and_assumed_joints_and_bad_messages():
    joints = history(assumed={'b': 0.5})
    joints.add(START, ('a',), np.array([1.0]))
    assert joints.at(START).positions.tolist() == [1.0, 0.5]
    joints.add(START + 1, ('a', 'b'), np.array([1.0, np.nan]))
    joints.add(0, ('a',), np.array([1.0]))
    joints.add(START - 1, ('a',), np.array([9.0]))
    assert joints.dropped == 2 and 'no header.stamp' in joints.problem
    assert joints.newest[0] == START
    lacking = history()
    lacking.add(START, ('a',), np.array([1.0]))
    assert 'no joint state has had b yet' in lacking.at(START).unavailable


def test_a_gripper_that_goes_on_does_not_hide_that_the_arm_is_silent():
    """The parts come in messages of their own; the gripper's are stamped a little later."""
    joints = history()
    for index in range(20):
        joints.add(START + index * 5_000_000, ('a',), np.array([float(index)]))
        joints.add(START + index * 5_000_000 - 1_000_000, ('b',), np.array([2.0 * index]))
    found = joints.at(START + 51_500_000)
    assert found.positions == pytest.approx([10.3, 21.0]) and not found.is_waiting
    for index in range(20, 60):
        joints.add(START + index * 5_000_000 - 1_000_000, ('b',), np.array([2.0 * index]))
    silent = joints.at(START + 200_000_000)
    assert silent.positions is None and silent.is_waiting
    assert silent.unavailable == 'joint states are 0.105 s older than the image'


def test_a_part_that_comes_seldom_is_not_waited_for():
    joints = history()
    for index in range(101):
        joints.add(START + index * 5_000_000, ('a',), np.array([float(index)]))
        if index % 10 == 0 and index < 100:
            joints.add(START + index * 5_000_000, ('b',), np.array([float(index)]))
    found = joints.at(START + 497_500_000)
    assert found.positions.tolist() == [99.5, 90.0] and not found.is_waiting
    assert joints.at(START + 505_000_000).is_waiting  # for the one that comes often
    for index in range(101, 121):
        joints.add(START + index * 5_000_000, ('a',), np.array([float(index)]))
    assert joints.at(START + 550_000_000).positions is None  # two periods


def test_the_history_is_bounded_and_follows_a_clock_set_back():
    joints = history()
    for index in range(10_000):
        joints.add(START + index * 1_000_000, ('a', 'b'), np.full(2, index))
    assert 'begin' in joints.at(START).unavailable
    assert joints.at(START + 9_998_500_000).positions.tolist() == [9998.5, 9998.5]
    for index in range(3):
        joints.add(START // 2 + index * 1_000_000, ('a', 'b'), np.zeros(2))
    assert joints.newest[0] == START // 2 + 2_000_000
    assert joints.at(START // 2 + 3_000_000).is_waiting


# Extrinsics.


def test_extrinsics_are_read_as_a_urdf_has_them():
    mount = parse_mount('front', 'arm 1 2 3 0.1 -0.2 0.3', LINKS)
    assert mount.link == 'arm' and mount.translation.tolist() == [1, 2, 3]
    expected = Rotation.from_euler('ZYX', [0.3, -0.2, 0.1]).as_matrix()
    np.testing.assert_allclose(mount.rotation, expected)
    same = parse_mount('front', 'arm, 0, 0, 0, 0, 0, 0.70710678, 0.70710678', LINKS)
    np.testing.assert_allclose(same.rotation[:, 0], [0, 1, 0], atol=1e-8)


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('arm 1 2 3', 'x y z'),
        ('arm a b c 0 0 0', 'x y z'),
        ('arm 0 0 0 0 0 nan', 'x y z'),
        ('leg 0 0 0 0 0 0', 'base_link, arm, hand'),
        ('arm 0 0 0 1 1 0 0', 'of length 1.414'),
        ('', 'x y z'),
    ],
)
def test_extrinsics_that_cannot_be(text, said):
    with pytest.raises(SetupError, match=said):
        parse_mount('front', text, LINKS)


class Listener(TransformListener):
    """With transforms handed in: tf2_msgs need not be installed."""

    def __init__(self, frame_prefix=''):
        super().__init__(None, LINKS, 'base_link', FrameNames(frame_prefix), 0.05)
        self.is_available = True

    @staticmethod
    def _subscribe(node):
        return []

    def tell(self, parent, child, x, is_static=True, stamp=START):
        message = TransformStamped(child_frame_id=child)
        message.header.frame_id, message.header.stamp = parent, time_message(stamp)
        message.transform.translation.x, message.transform.rotation.w = x, 1.0
        self.add(message, is_static)


def test_the_first_link_above_a_camera_carries_it():
    tf = Listener()
    tf.tell('base_link', 'arm', 5.0, is_static=False)
    tf.tell('arm', 'hand', 5.0, is_static=False)
    tf.tell('hand', 'camera', 0.1)
    tf.tell('camera', 'optical', 0.02)
    mount = tf.mount('/optical', START + 100 * SECOND)  # what moves above the hand does not matter
    assert mount.link == 'hand' and mount.translation == pytest.approx([0.12, 0, 0])
    tf.tell('camera', 'optical', 0.03)
    assert tf.mount('optical', START).translation == pytest.approx([0.13, 0, 0])


def test_a_camera_beside_the_robot_is_found_through_the_world():
    tf = Listener('left_')
    assert "does not connect the frame 'optical'" in tf.mount('optical', START)
    tf.tell('world', 'optical', 2.0)
    tf.tell('world', 'left_base_link', 0.5)
    mount = tf.mount('optical', START)
    assert mount.link == 'base_link' and mount.translation == pytest.approx([1.5, 0, 0])


def test_a_transform_that_moves_must_be_young():
    tf = Listener()
    tf.tell('base_link', 'pan', 0.5, is_static=False)
    tf.tell('pan', 'optical', 0.1)
    assert tf.mount('optical', START + 10_000_000).translation == pytest.approx([0.6, 0, 0])
    assert '0.100 s older than the image' in tf.mount('optical', START + SECOND // 10)
    assert '0.100 s newer than the image' in tf.mount('optical', START - SECOND // 10)


def test_a_transform_told_again_moves_nothing():
    tf = Listener()
    tf.tell('arm', 'optical', 0.5)
    first = tf.mount('optical', START)
    tf.tell('arm', 'optical', 0.5)
    assert tf.mount('optical', START).is_as(first)
    tf.tell('arm', 'optical', 0.6)
    assert not tf.mount('optical', START).is_as(first) and not first.is_as(None)


def test_a_link_of_the_robot_needs_no_tf():
    tf = TransformListener.__new__(Listener)
    tf.__init__()
    tf.is_available = False
    assert tf.mount('hand', START).link == 'hand'
    assert 'tf2_msgs' in tf.mount('optical', START)
    assert 'no header.frame_id' in tf.mount('', START)


# Cameras.


def info(**others):
    message = CameraInfo(width=64, height=48, distortion_model='plumb_bob', d=[0.0] * 5)
    message.k = [50.0, 0.0, 31.0, 0.0, 60.0, 23.0, 0.0, 0.0, 1.0]
    message.p = [40.0, 0.0, 30.0, 0.0, 0.0, 41.0, 20.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    for name, value in others.items():
        setattr(message, name, value)
    return message


def test_a_camera_is_that_of_its_picture():
    camera = CameraModel(info(), is_rectified=False).camera
    assert (camera.fx, camera.fy, camera.cx, camera.cy) == (50.0, 60.0, 31.0, 23.0)
    camera = CameraModel(info(), is_rectified=True).camera
    assert (camera.fx, camera.fy, camera.cx, camera.cy) == (40.0, 41.0, 30.0, 20.0)
    assert ProximityOptions.is_rectified('/camera/depth/image_rect_raw')
    assert not ProximityOptions.is_rectified('/rect/depth/image_raw')


@pytest.mark.parametrize('model', ['plumb_bob', 'rational_polynomial', 'equidistant'])
def test_a_distorted_picture_is_made_a_pinholes(model):
    """A pixel of the pinhole's picture has what the distorted one measured along the same ray."""
    coefficients = {
        'plumb_bob': [-0.2, 0.05, 0.001, -0.002, 0.0],
        'rational_polynomial': [-0.2, 0.05, 0.001, -0.002, 0.0, 0.01, 0.0, 0.0],
        'equidistant': [0.05, 0.01, 0.0, 0.0],
    }[model]
    made = CameraModel(info(distortion_model=model, d=coefficients), is_rectified=False)
    v, u = np.mgrid[0:48, 0:64]
    pixels = (1000 + 64 * v + u).astype(np.uint16)  # each tells where it was
    found = made.undistorted(pixels).astype(int)
    source = _distorted(model, coefficients, (u - 31.0) / 50.0, (v - 23.0) / 60.0)
    column, row = source[0] * 50.0 + 31.0, source[1] * 60.0 + 23.0
    is_seen = found > 0
    assert is_seen.mean() > 0.7
    assert np.abs((found - 1000) // 64 - row)[is_seen].max() <= 0.6
    assert np.abs((found - 1000) % 64 - column)[is_seen].max() <= 0.6


def _distorted(model, d, x, y):
    """Returns the image of the ray (x, y, 1) in the plane at distance 1."""
    r = np.hypot(x, y)
    if model == 'equidistant':
        angle = np.arctan(r)
        factor = np.where(
            r > 0, angle * (1 + d[0] * angle**2 + d[1] * angle**4) / np.maximum(r, 1e-9), 1
        )
        return x * factor, y * factor
    k = (1 + d[0] * r**2 + d[1] * r**4) / (1 + (d[5] * r**2 if len(d) > 5 else 0))
    return (
        x * k + 2 * d[2] * x * y + d[3] * (r**2 + 2 * x**2),
        y * k + d[2] * (r**2 + 2 * y**2) + 2 * d[3] * x * y,
    )


def test_a_camera_info_that_cannot_be_used_is_said():
    models = CameraModels(is_rectified=False)
    with pytest.raises(DepthError, match='no camera_info'):
        models.of_image(64, 48)
    models.take(info())
    assert models.of_image(64, 48).camera.fx == 50.0
    with pytest.raises(DepthError, match='64x48 pixels, the image has 32x24'):
        models.of_image(32, 24)
    named = info()
    named.header.frame_id = 'depth'
    models.take(named)
    assert models.of_image(64, 48, '/depth') and models.of_image(64, 48)
    with pytest.raises(DepthError, match="of the frame 'depth', the image of 'colour'"):
        models.of_image(64, 48, 'colour')
    for wrong, said in (
        ({'k': [0.0] * 9}, 'not calibrated'),
        ({'k': [50.0, 1.0, 31.0, 0.0, 60.0, 23.0, 0.0, 0.0, 1.0]}, 'skew'),
        ({'width': 0}, '0x48'),
        ({'d': [0.1] * 3}, 'plumb_bob'),
        ({'k': [50.0, 0.0, 999.0, 0.0, 60.0, 23.0, 0.0, 0.0, 1.0]}, 'far outside'),
    ):
        models.take(info(**wrong))
        with pytest.raises(DepthError, match=said):
            models.of_image(64, 48)
