# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The scene overlay over real rclpy: ghosts in images, scenes by parameter and service, reasons."""

import attrs
import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped, TransformStamped
from patience import spin_until
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from frame_ros.core.errors import SetupError, UnsetError
from frame_ros.nodes.runtime.message_parts import time_message
from frame_ros.nodes.scene_overlay.node import SceneOverlayNode
from frame_ros.scenes.cards.camera import placed_camera
from frame_ros.scenes.cards.ghosts import draw_ghosts, ghosts_of
from frame_ros.scenes.description.files import write_scenes
from frame_ros.scenes.generation.setting import nominal_scene, setting
from frame_ros.scenes.running_scene import RunningScene
from frame_ros.scenes.simulation.scene_robot import SO101

FIRST = attrs.evolve(nominal_scene(setting(SO101, 'put_in')), name='first')
ELSEWHERE = attrs.evolve(FIRST.target, position=(0.25, -0.15))
SECOND = attrs.evolve(
    FIRST, name='second', objects=(ELSEWHERE, FIRST.receptacle), instruction='put it elsewhere'
)
FRONT = next(each for each in FIRST.cameras if each.name == 'front')
FRAME = 'front_camera_optical_frame'
GREY = np.full((FRONT.height, FRONT.width, 3), 90, np.uint8)
START = 1_700_000_000_000_000_000  # ns


def pose_text():
    return ' '.join(str(value) for value in ('base_link', *FRONT.position, *FRONT.orientation))


def expected(scene, off=''):
    """The picture that the node must publish."""
    labels = {
        each.name: each.type + (off if each.role == 'target' else '') for each in scene.objects
    }
    number = 1 if scene is FIRST else 2
    text = (scene.instruction, f'scene {number} of 2: {scene.name}')
    return draw_ghosts(GREY, ghosts_of(scene, placed_camera(FRONT)), 0.45, text, labels)


def made(rclpy, arguments):
    """The node with parameters name:=value, which it takes from the context."""
    rclpy.shutdown()
    rclpy.init(args=arguments)
    return SceneOverlayNode()


class Bench:
    """The node, and a peer with a camera."""

    def __init__(self, rclpy, file, *parameters):
        words = [f'scenes_file:={file}', 'rate:=60.0', *parameters]
        arguments = ['--ros-args'] + [word for each in words for word in ('-p', each)]
        self.node = made(rclpy, arguments)
        self.peer = rclpy.create_node('peer')
        self.seen, self.stamp = [], START
        self.peer.create_subscription(Image, 'scene_overlay/image', self.seen.append, 10)
        self.images = self.peer.create_publisher(Image, 'front/image_raw', 10)
        self.infos = self.peer.create_publisher(CameraInfo, 'front/camera_info', 10)
        self.client = self.peer.create_client(Trigger, 'scene_overlay/next_scene')
        self.executor = SingleThreadedExecutor()
        for each in (self.node, self.peer):
            self.executor.add_node(each)

    def info(self, **changes):
        (fx, fy), (cx, cy) = FRONT.focal, FRONT.centre
        message = CameraInfo(
            width=FRONT.width, height=FRONT.height, distortion_model='plumb_bob', d=[0.0] * 5,
            k=[fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
        )  # fmt: skip
        message.header.frame_id = FRAME
        for name, value in changes.items():
            setattr(message, name, value)
        self.infos.publish(message)

    def send_info(self, **changes):
        """Sends camera_info until the node has it."""
        before = self.node._info
        self.until(lambda: self.node._info is not before, lambda: self.info(**changes))

    def image(self, encoding='rgb8', pixels=GREY):
        self.stamp += 50_000_000
        message = Image(
            height=pixels.shape[0], width=pixels.shape[1], encoding=encoding,
            step=pixels.nbytes // pixels.shape[0], data=pixels.tobytes(),
        )  # fmt: skip
        message.header.stamp, message.header.frame_id = time_message(self.stamp), FRAME
        self.images.publish(message)
        self.node.poll()

    def until(self, condition, action=None):
        def act():
            if action:
                action()
            self.node.poll()

        spin_until(self.executor, condition, act)

    def picture(self, action=None):
        """The next picture of the node."""
        count = len(self.seen)
        self.until(lambda: len(self.seen) > count, action or self.image)
        message = self.seen[-1]
        return np.frombuffer(message.data, np.uint8).reshape(message.height, message.width, 3)

    def shows(self, scene, off=''):
        """Waits until the node publishes what it must."""
        wanted = expected(scene, off)
        self.until(lambda: np.array_equal(self.picture(), wanted))

    def close(self):
        self.executor.shutdown()
        for each in (self.node, self.peer):
            each.destroy_node()


@pytest.fixture()
def file(tmp_path):
    path = tmp_path / 'scenes.yaml'
    write_scenes(path, (FIRST, SECOND))
    return path


@pytest.fixture()
def benches(ros_context, file):
    opened = []

    def bench(*parameters):
        opened.append(Bench(ros_context, file, *parameters))
        return opened[-1]

    yield bench
    for each in opened:
        each.close()


def test_ghosts_are_those_of_the_scene_chosen_by_parameter_or_service(benches):
    bench = benches(f"extrinsics:='{pose_text()}'", 'object_topic:=seen')
    assert 'no ghosts' not in bench.node._title()
    bench.picture()  # without camera_info: the reason
    assert 'no camera_info has come on /front/camera_info' in bench.node._problem
    bench.send_info()
    bench.shows(FIRST)
    assert bench.node._problem == ''
    assert (bench.seen[-1].header.frame_id, bench.seen[-1].encoding) == (FRAME, 'rgb8')

    (result,) = bench.node.set_parameters([Parameter('scene', value='second')])
    assert result.successful
    bench.shows(SECOND)
    (result,) = bench.node.set_parameters([Parameter('scene', value='third')])
    assert not result.successful and "there is no scene 'third'" in result.reason
    bench.shows(SECOND)

    answer = bench.client.call_async(Trigger.Request())
    bench.until(answer.done)
    assert (answer.result().success, answer.result().message) == (True, 'first')
    assert bench.node.get_parameter('scene').value == '1'
    bench.shows(FIRST)

    poses = bench.peer.create_publisher(PoseStamped, 'seen', 10)
    pose = PoseStamped()
    x, y = FIRST.target.position
    pose.pose.position.x, pose.pose.position.y = x + 0.012, y - 0.005
    pose.header.stamp = time_message(bench.stamp)
    bench.until(lambda: bench.node._object is not None, lambda: poses.publish(pose))
    bench.node._object.header.stamp = time_message(bench.stamp)
    bench.shows(FIRST, ' 13 mm off')
    bench.stamp += 2_000_000_000
    bench.shows(FIRST, ' (its pose is old)')
    bench.stamp -= 10_000_000_000  # the clock was set back
    bench.picture()
    bench.node._object.header.frame_id = 'map'
    bench.until(lambda: "is in 'map', not in 'base_link'" in bench.node._problem, bench.image)


def test_it_follows_the_scene_that_the_simulator_runs(benches):
    bench = benches(f"extrinsics:='{pose_text()}'", 'scene_topic:=scene')
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    scenes = bench.peer.create_publisher(String, 'scene', latched)
    bench.send_info()
    bench.shows(FIRST)
    scenes.publish(String(data=RunningScene.of(SECOND, 1, 'base_link').text))
    bench.shows(SECOND)
    bench.node._follow(RunningScene.of(FIRST, 1, 'base_link').text)  # it is not number 2
    bench.node._follow('no scene')
    assert bench.node.scene.name == 'second'
    scenes.publish(String(data=RunningScene.of(FIRST, 0, 'base_link').text))
    bench.shows(FIRST)


def test_what_cannot_be_drawn_is_said(benches):
    bench = benches('extrinsics:=scene')
    bench.send_info()
    for change, said in (
        ({'width': 640}, 'camera_info is of 640x240 pixels, the image has 320x240'),
        ({'k': [0.0] * 9}, 'camera_info cannot be used: K has the focal lengths'),
        ({'distortion_model': 'odd', 'd': [0.1]}, "the distortion is 'odd' with 1"),
    ):
        bench.send_info(**change)
        drawn = bench.picture()
        assert said in bench.node._problem
        assert (drawn[60:] == GREY[60:]).all() and not np.array_equal(drawn, GREY)
    bench.send_info()
    bench.shows(FIRST)
    bench.until(
        lambda: "encoding '16UC1'" in bench.node._problem,
        lambda: bench.image('16UC1', GREY[..., 0].astype(np.uint16)),
    )
    bench.until(
        lambda: "'yuv420' is not known" in bench.node._problem, lambda: bench.image('yuv420')
    )
    bench.shows(FIRST)


def test_a_camera_on_the_arm_follows_the_joints_and_says_when_they_are_old(benches):
    bench = benches("extrinsics:='gripper_link 0 0.05 0 -1.9 0 0'")
    bench.send_info()
    bench.picture()
    assert 'no joint state of shoulder_pan' in bench.node._problem
    joints = bench.peer.create_publisher(JointState, 'joint_states', 10)

    def move(first):
        message = JointState(name=list(SO101.joint_names), position=list(SO101.home))
        message.position[0] += first
        message.header.stamp = time_message(bench.stamp + 50_000_000)
        joints.publish(message)
        bench.image()

    bench.until(lambda: bench.node._drawn is not None, lambda: move(0.0))
    start = bench.node._drawn[0]
    stamps = bench.node._pose._stamps  # a joint that no newer message has keeps its own
    stamps[SO101.joint_names[0]] = START - 5_000_000_000
    bench.until(lambda: 'joint state differs by' in bench.node._problem, bench.image)
    bench.until(lambda: bench.node._drawn[0] != start, lambda: move(0.3))
    bench.stamp += 5_000_000_000
    bench.until(lambda: 'the newest joint state differs by' in bench.node._problem, bench.image)


def test_without_extrinsics_tf_places_the_camera(benches):
    bench = benches()
    bench.send_info()
    bench.picture()
    assert f"the frame '{FRAME}' of the images is not known" in bench.node._problem
    transform = TransformStamped(child_frame_id=FRAME)
    transform.header.frame_id = 'base_link'
    place, turn = transform.transform.translation, transform.transform.rotation
    place.x, place.y, place.z = FRONT.position
    turn.x, turn.y, turn.z, turn.w = FRONT.orientation
    tf = bench.node._pose._tf
    if not tf.is_available:  # tf2_msgs is not installed
        tf.is_available = True
    tf.add(transform, True)
    bench.until(lambda: bench.node._problem == '', bench.image)
    wanted = ghosts_of(FIRST, placed_camera(FRONT))
    for drawn, each in zip(bench.node._drawn[1], wanted, strict=True):
        np.testing.assert_allclose(drawn.silhouette, each.silhouette, atol=0.01)


@pytest.mark.parametrize(
    ('words', 'kind', 'said'),
    [
        ((), UnsetError, 'scenes_file is empty'),
        (('scenes_file:=no.yaml',), SetupError, 'no.yaml cannot be read'),
        (('scenes_file:={file}', 'scene:=none'), SetupError, "no scene 'none'"),
        (('scenes_file:={file}', "scene:='7'"), SetupError, 'the numbers are 1 to 2'),
        (('scenes_file:={file}', "extrinsics:='floor 0 0 0 0 0 0'"), SetupError, "link 'floor'"),
    ],
)
def test_a_wrong_file_or_scene_ends_the_start(words, kind, said, ros_context, file):
    arguments = ['--ros-args']
    for each in words:
        arguments += ['-p', each.format(file=file)]
    with pytest.raises(kind, match=said):
        made(ros_context, arguments)
