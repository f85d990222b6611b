# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""tf and robot_description as others expect them, with one arm and with two."""

import importlib.util
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from frame_ros.nodes.runtime.polled import PolledSubscription
from frame_ros.robots import load_robot

ROOT = Path(__file__).resolve().parents[3]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
HAS_TF = importlib.util.find_spec('tf2_msgs') is not None
needs_tf = pytest.mark.skipif(not HAS_TF, reason='run by test_transforms_of_several_arms')


def test_transforms_of_several_arms(tf2_environment):
    """Runs in a process of its own, which has tf2_msgs from the start, where it had to be built."""
    if tf2_environment is None:
        return
    command = [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', __file__]
    done = subprocess.run(command, cwd=ROOT, env=tf2_environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'skipped' not in done.stdout


class Arm:
    """A kinematics node in its namespace, and what it says beside tf."""

    def __init__(self, rclpy, log, name, *parameters, robot='so101', called=''):
        self.log, self.name, self.robot = log, name, load_robot(robot)
        arguments = [sys.executable, '-m', 'frame_ros.nodes.kinematics', '--ros-args']
        arguments += ['-r', f'__ns:=/{name}', '-p', f'robot:={robot}']
        for parameter in parameters:
            arguments += ['-p', parameter]
        if called:
            arguments += ['-r', f'__node:={called}']
        self.process = subprocess.Popen(arguments, stderr=log.open('w'), cwd=ROOT)
        self.node = rclpy.create_node('bench', namespace=f'/{name}')
        self.publisher = self.node.create_publisher(JointState, 'joint_states', 50)
        self.poses = PolledSubscription(self.node, PoseStamped, 'ee_pose', 50)
        self.description = PolledSubscription(self.node, String, 'robot_description', LATCHED)

    def send(self):
        names = self.robot.all_joint_names
        message = JointState(name=list(names), position=[0.01] * len(names))
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.publisher.publish(message)

    def close(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        for subscription in (self.poses, self.description):
            subscription.destroy()
        self.node.destroy_node()


@pytest.fixture()
def arms(ros_context, tmp_path):
    with ExitStack() as stack:

        def start(name, *parameters, called='', **options):
            log = tmp_path / f'{called or name}.log'
            arm = Arm(ros_context, log, name, *parameters, called=called, **options)
            stack.callback(arm.close)
            return arm

        yield start


def until(condition, arms, each=lambda: None):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, [arm.log.read_text() for arm in arms]
        each()
        time.sleep(0.05)


class Tree:
    """Child -> parent, as whoever listens to /tf and /tf_static sees it."""

    def __init__(self, node):
        from tf2_msgs.msg import TFMessage

        static = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.inputs = [
            PolledSubscription(node, TFMessage, '/tf', 100),
            PolledSubscription(node, TFMessage, '/tf_static', static),
        ]
        self.parents = {}

    def listen(self):
        for subscription in self.inputs:
            for message, _ in subscription.take(100):
                for transform in message.transforms:
                    self.parents[transform.child_frame_id] = transform.header.frame_id


@needs_tf
def test_two_arms_share_tf_and_are_kept_apart_by_their_prefixes(arms):
    left = arms('left', 'frame_prefix:=left/')
    right = arms('right', 'frame_prefix:=right/')
    tree, both = Tree(left.node), (left, right)
    wanted = {
        f'{arm.name}/{link}': f'{arm.name}/{arm.robot.parent_of(link)}'
        for arm in both
        for link in arm.robot.links
        if link != arm.robot.base_link
    }

    def step():
        for arm in both:
            arm.send()
        tree.listen()

    until(lambda: tree.parents.keys() >= wanted.keys(), both, step)
    assert tree.parents == wanted
    for arm in both:
        until(lambda arm=arm: arm.poses.wait(0.01), both, step)
        assert {m.header.frame_id for m, _ in arm.poses.take(50)} == {f'{arm.name}/base_link'}
        until(lambda arm=arm: arm.description.wait(0.01), both)
        assert arm.description.take(1)[0][0].data == arm.robot.urdf  # as it is: no prefix


class OtherPublisher:
    """robot_state_publisher as it stands in most launch files: global, or in another namespace."""

    def __init__(self, arm, namespace, frames):
        import rclpy
        from geometry_msgs.msg import TransformStamped
        from tf2_msgs.msg import TFMessage

        self.node = rclpy.create_node('robot_state_publisher', namespace=namespace)
        self.tf = self.node.create_publisher(TFMessage, '/tf', 100)
        self.static = self.node.create_publisher(TFMessage, '/tf_static', LATCHED)
        self.message = TFMessage()
        for frame in frames:
            transform = TransformStamped(child_frame_id=frame)
            transform.header.frame_id = 'parent'
            self.message.transforms.append(transform)

    def send(self):
        for transform in self.message.transforms:
            transform.header.stamp = self.node.get_clock().now().to_msg()
        self.tf.publish(self.message)

    def close(self):
        self.node.destroy_node()


@needs_tf
@pytest.mark.parametrize('namespace', ['/', '/elsewhere'])
def test_the_transforms_are_left_to_whoever_publishes_those_frames(arms, namespace):
    arm = arms('arm')
    tree = Tree(arm.node)
    until(lambda: tree.parents, [arm], lambda: (arm.send(), tree.listen()))
    stranger = OtherPublisher(arm, namespace, ['base_link', 'camera'])
    for _ in range(60):
        stranger.send()
        arm.send()
        time.sleep(0.05)
    assert arm.node.count_publishers('/tf') == 2  # none of the robot's own links: both publish
    other = OtherPublisher(arm, namespace, ['gripper_link'])
    step = lambda: (other.send(), stranger.send(), arm.send())  # noqa: E731
    said = 'another node publishes the transform of gripper_link on /tf'
    until(lambda: said in arm.log.read_text(), [arm], step)
    assert f'{namespace.rstrip("/")}/robot_state_publisher' in arm.log.read_text()
    until(lambda: arm.node.count_publishers('/tf') == 2, [arm], step)  # the other and the stranger
    other.close()
    until(lambda: arm.node.count_publishers('/tf') == 1, [arm], stranger.send)
    tree.listen()
    tree.parents.clear()
    step = lambda: (stranger.send(), arm.send(), tree.listen())  # noqa: E731
    until(lambda: 'gripper_link' in tree.parents, [arm], step)
    stranger.close()


@needs_tf
def test_transforms_that_are_latched_are_enough_to_know_the_other_by(arms):
    arm = arms('arm')
    until(lambda: 'publishes transforms' in arm.log.read_text(), [arm])
    driven = {*arm.robot.joint_of_link, arm.robot.base_link}
    fixed = next(link for link in arm.robot.links if link not in driven)
    other = OtherPublisher(arm, '/', [fixed])
    other.static.publish(other.message)
    said = f'the transform of {fixed} on /tf_static'
    until(lambda: said in arm.log.read_text(), [arm])
    late = arms('late')
    until(lambda: said in late.log.read_text(), [late])
    for each in (arm, late):
        assert each.log.read_text().count('publishes transforms') == (each is arm)
    other.close()


@needs_tf
def test_of_two_nodes_in_one_namespace_one_publishes(arms):
    both = [arms('arm', called='first'), arms('arm', called='second')]
    node = both[0].node
    since = time.monotonic()

    def is_settled():
        nonlocal since
        topics = ('/tf', '/tf_static', '/arm/robot_description')
        if any(node.count_publishers(topic) != 1 for topic in topics):
            since = time.monotonic()
        return time.monotonic() - since > 6.0

    until(is_settled, both, both[0].send)

    (publisher,) = node.get_publishers_info_by_topic('/tf')
    both[['first', 'second'].index(publisher.node_name)].process.terminate()
    until(lambda: node.count_publishers('/tf') == 0, both)
    tree = Tree(node)
    until(lambda: tree.parents, both, lambda: (both[0].send(), tree.listen()))


def test_a_description_is_published_without_tf2_msgs_too(arms):
    arm = arms('arm')
    until(lambda: arm.description.wait(0.05), [arm])
    assert arm.description.take(1)[0][0].data == arm.robot.urdf


def test_a_choice_that_is_none_ends_the_node(arms):
    arm = arms('arm', 'publish_tf:=maybe')
    until(lambda: arm.process.poll() is not None, [arm])
    assert "publish_tf is 'maybe'; it must be auto, true or false" in arm.log.read_text()
