# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The kinematics node as a process of its own, over real topics."""

import math
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped, TwistStamped
from input_watch import InputWatch
from nav_msgs.msg import Path as PathMessage
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from frame_ros.core.stamps import RateLimit
from frame_ros.core.time import SECOND
from frame_ros.nodes.kinematics.node import FIRST_SILENCE, SILENCE, is_silent
from frame_ros.nodes.runtime.polled import PolledSubscription
from frame_ros.robots import load_robot

ROOT = Path(__file__).resolve().parents[3]
START = 1_700_000_000 * SECOND


class Bench:
    """The node under test in its own namespace, and what it is sent and publishes."""

    def __init__(self, rclpy, log, *parameters, namespace='arm'):
        self.log = log
        arguments = [sys.executable, '-m', 'frame_ros.nodes.kinematics', '--ros-args']
        arguments += ['-r', f'__ns:=/{namespace}']
        for parameter in parameters:
            arguments += ['-p', parameter]
        self.process = subprocess.Popen(
            arguments, stdout=subprocess.DEVNULL, stderr=log.open('w'), cwd=ROOT
        )
        self.node = rclpy.create_node('bench', namespace=f'/{namespace}')
        self.publisher = self.node.create_publisher(JointState, 'joint_states', 500)
        kinds = {'ee_pose': PoseStamped, 'ee_twist': TwistStamped, 'path': PathMessage}
        self.inputs = {n: PolledSubscription(self.node, k, n, 1000) for n, k in kinds.items()}
        self.found = {name: [] for name in kinds}
        self.until(lambda: self.publisher.get_subscription_count() == 1)
        watch = InputWatch(self.node)
        watch.wait_until_matched('joint_states')
        watch.wait_until_heard(*kinds)
        watch.destroy()

    def until(self, condition, timeout=PATIENCE):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, self.log.read_text()
            assert self.process.poll() is None, self.log.read_text()
            self.collect()
            time.sleep(0.005)

    def collect(self):
        for name, subscription in self.inputs.items():
            self.found[name] += [message for message, _ in subscription.take(1000)]

    def send(self, names, positions, stamp, velocities=()):
        self.publisher.publish(self.message(names, positions, stamp, velocities))

    def message(self, names, positions, stamp, velocities=()):
        message = JointState(name=list(names), position=[float(p) for p in positions])
        message.velocity = [float(v) for v in velocities]
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, SECOND)
        return message

    def poses(self, count):
        """The poses, once `count` have come and none follows."""
        self.until(lambda: len(self.found['ee_pose']) >= count)
        time.sleep(0.1)
        self.collect()
        return self.found['ee_pose']

    def stop(self, by=signal.SIGTERM):
        """Stop the node; its exit code and what it logged."""
        if self.process.poll() is None:
            self.process.send_signal(by)
        code = self.process.wait(PATIENCE)
        self.node.destroy_node()
        return code, self.log.read_text()


@pytest.fixture()
def bench(ros_context, tmp_path):
    made = []

    def make(*parameters, **options):
        made.append(Bench(ros_context, tmp_path / f'log{len(made)}', *parameters, **options))
        return made[-1]

    yield make
    for one in made:
        one.stop(signal.SIGKILL)


def stamp_of(message):
    return message.header.stamp.sec * SECOND + message.header.stamp.nanosec


def values(pose):
    place, turn = pose.pose.position, pose.pose.orientation
    return [place.x, place.y, place.z], [turn.x, turn.y, turn.z, turn.w]


def counts(log):
    """The counters of the node's last line."""
    return {
        name: int(count)
        for name, count in re.findall(r'(\w+) (\d+)(?:,|$)', log.strip().splitlines()[-1])
    }


def test_poses_are_those_of_the_robot_whatever_the_order_of_the_joints(bench):
    arm, robot = bench('robot:=fr3', 'tip:=tcp'), load_robot('fr3', 'tcp')
    generator = np.random.default_rng(0)
    q = generator.uniform(robot.lower, robot.upper, (200, 7))
    everything = [*robot.joint_names, 'fr3_finger_joint1', 'wheel']
    for i, row in enumerate(q):
        order = generator.permutation(9)
        padded = [*row, 0.02, math.nan]
        arm.send([everything[k] for k in order], [padded[k] for k in order], START + i * 1_000_003)
    poses = arm.poses(200)
    assert [stamp_of(pose) for pose in poses] == [START + i * 1_000_003 for i in range(200)]
    for pose, row in zip(poses, q, strict=True):
        position, quaternion = robot.forward(row)
        assert pose.header.frame_id == 'fr3_link0'
        assert values(pose) == (position.tolist(), quaternion.tolist())
    code, log = arm.stop()
    assert code == 0, log
    assert 'Traceback' not in log
    assert counts(log)['poses'] == 200


def test_partial_messages_are_put_together(bench):
    arm, robot = bench(), load_robot('so101')
    first, rest = robot.joint_names[:2], robot.joint_names[2:]
    arm.send(first, [0.1, 0.2], START)
    arm.send(['gripper'], [0.5], START + 1)
    arm.send(rest, [0.3, 0.4, 0.5], START + 2)
    arm.send(first, [-0.1, -0.2], START + 3)
    arm.send(rest, [0.3, 0.4, 0.6], START + 4)
    (pose,) = arm.poses(1)
    # In the first round one part has nothing at the stamp of the other; then halfway is halfway.
    assert stamp_of(pose) - START == 3
    assert values(pose)[0] == robot.forward([-0.1, -0.2, 0.3, 0.4, 0.55])[0].tolist()
    code, log = arm.stop(signal.SIGINT)
    assert code == 0, log
    assert counts(log)['incomplete'] == 1
    assert counts(log)['interpolated'] == 1
    assert counts(log)['unknown_joints_only'] == 1


def test_bad_input_is_dropped_counted_and_said(bench):
    arm, robot = bench(), load_robot('so101')
    names, good = robot.joint_names, [0.1, 0.2, 0.3, 0.4, 0.5]
    arm.send(names, good, START)
    arm.send(names, [0.1, math.nan, 0.3, 0.4, 0.5], START + 1000)
    arm.send(names, [0.1, 0.2, math.inf, 0.4, 0.5], START + 2000)
    arm.send(names, good[:3], START + 3000)
    arm.send(names, [], START + 3500)
    arm.send([], good, START + 3600)
    arm.send(names, good, START + 4000, [1.0])
    arm.send(['wheel'], [1.0], START + 5000)
    arm.send(names, good, 0)
    arm.send(names, good, START - SECOND // 2)
    arm.send(names, good, START)
    arm.send(names, [0.2] * 5, START + 6000)
    poses = arm.poses(2)
    assert [stamp_of(pose) - START for pose in poses] == [0, 6000]
    assert values(poses[1])[0] == robot.forward([0.2] * 5)[0].tolist()
    code, log = arm.stop()
    assert code == 0, log
    found = counts(log)
    assert (found['non_finite'], found['wrong_length'], found['unknown_joints_only']) == (2, 4, 1)
    assert (found['stamp_zero'], found['stamp_backward'], found['stamp_duplicate']) == (1, 1, 1)
    assert found['poses'] == 2
    assert 'shoulder_lift = nan' in log
    assert 'without header.stamp' in log
    assert 'Traceback' not in log


def test_joints_in_degrees_are_warned_of(bench):
    arm, names = bench(), load_robot('so101').joint_names
    arm.send(names, [0.1, 0.2, 0.3, 0.4, 0.5], START)
    arm.send(names, [10.0, -70.0, 60.0, 30.0, 0.0], START + 1000)
    arm.poses(2)
    code, log = arm.stop()
    assert code == 0, log
    assert 'shoulder_lift at -70 rad (limits' in log and 'they look like degrees' in log


def test_damaged_messages_are_dropped_counted_and_said(bench):
    arm, robot = bench(), load_robot('so101')
    names, good = robot.joint_names, [0.1, 0.2, 0.3, 0.4, 0.5]
    whole = serialize_message(arm.message(names, good, START + 1000, good))
    huge, no_time = b'\xff\xff\xff\x7f', b'\xff\xff\xff\xff'
    damaged = [
        whole[:-9],  # ends in the velocities
        whole[: len(whole) // 2],
        whole[:20],
        whole[:4],
        whole[:-56] + huge + whole[-52:],  # the number of velocities
        whole[:4] + huge + no_time + whole[12:],
    ]
    for k in range(50):  # before the first whole one is learned from, and after
        arm.send(names, good, START + 3000 * k, good)
        for data in damaged:
            arm.publisher.publish(data)
    poses = arm.poses(50)
    assert [stamp_of(pose) - START for pose in poses] == [3000 * k for k in range(50)]
    code, log = arm.stop()
    assert code == 0, log
    found = counts(log)
    assert found['unreadable'] == 50 * len(damaged)
    assert found['poses'] == found['states'] - found['unreadable'] == 50
    assert 1 <= log.count('/arm/joint_states of') <= 2 * len(damaged)
    assert 'cannot be read as sensor_msgs/msg/JointState' in log
    assert 'Traceback' not in log


def test_twist_from_velocities_and_from_poses(bench):
    arm, robot = bench('robot:=panda', 'side_rate:=50.0', 'path.rate:=10.0'), load_robot('panda')
    start = (robot.lower + robot.upper) / 2
    speed, step = np.linspace(0.1, 0.4, 7), 5_000_000
    for i in range(100):
        q = start + speed * i * step / SECOND
        arm.send(robot.joint_names, q, START + i * step, speed if i < 50 else ())
    arm.poses(100)
    arm.until(lambda: len(arm.found['ee_twist']) >= 25 and len(arm.found['path']) >= 5)
    twists = arm.found['ee_twist']
    gaps = np.diff([stamp_of(twist) for twist in twists])
    assert 25 <= len(twists) <= 26
    assert gaps[1:].min() >= 0.02 * SECOND
    for twist in twists:
        q = start + speed * (stamp_of(twist) - START) / SECOND
        expected = robot.jacobian(q) @ speed
        linear, angular = twist.twist.linear, twist.twist.angular
        actual = [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
        measured = stamp_of(twist) - START < 50 * step
        np.testing.assert_allclose(actual, expected, atol=1e-9 if measured else 0.01)
        assert twist.header.frame_id == 'panda_link0'
    assert_path(arm.found['path'][-1], robot, start, speed)


def assert_path(path, robot, start, speed):
    assert path.header.frame_id == 'panda_link0'
    places = []
    for pose in path.poses:
        q = start + speed * (stamp_of(pose) - START) / SECOND
        np.testing.assert_allclose(values(pose)[0], robot.forward(q)[0], atol=1e-12)
        places.append(values(pose)[0])
    assert len(places) > 5
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).min() >= 0.002


def test_a_clock_set_back_is_followed(bench):
    arm, robot = bench(), load_robot('so101')
    for i in range(5):
        arm.send(robot.joint_names, [0.1] * 5, START + i * 10_000_000)
    for i in range(6):
        arm.send(robot.joint_names, [0.2] * 5, START // 2 + i * 10_000_000)
    stamps = [stamp_of(pose) for pose in arm.poses(9)]
    assert stamps[5:] == [START // 2 + i * 10_000_000 for i in range(2, 6)]
    _, log = arm.stop()
    assert counts(log)['stamp_reset'] == 1
    assert 'another time' in log


def test_two_arms_side_by_side(bench):
    left, right = bench(namespace='left'), bench('robot:=fr3', namespace='right')
    left.send(load_robot('so101').joint_names, [0.1] * 5, START)
    right.send(load_robot('fr3').joint_names, [0, 0, 0, -1, 0, 1, 0], START)
    assert left.poses(1)[0].header.frame_id == 'base_link'
    assert right.poses(1)[0].header.frame_id == 'fr3_link0'
    assert len(left.found['ee_pose']) == len(right.found['ee_pose']) == 1


def test_tf_of_all_links(request, tf2_environment):
    """Runs in a process of its own, which has tf2_msgs from the start, where it had to be built."""
    if tf2_environment is None:
        check_tf_of_all_links(request.getfixturevalue('bench'))
        return
    this = f'{__file__}::{test_tf_of_all_links.__name__}'
    command = [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', this]
    done = subprocess.run(command, cwd=ROOT, env=tf2_environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '1 passed' in done.stdout


def check_tf_of_all_links(bench):
    from tf2_msgs import msg as messages

    arm, robot = bench('robot:=fr3', 'publish_tf:=true'), load_robot('fr3')
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    tf = PolledSubscription(arm.node, messages.TFMessage, '/tf', 100)
    fixed = PolledSubscription(arm.node, messages.TFMessage, '/tf_static', latched)
    arm.until(lambda: tf.publisher_count() and fixed.wait(0.01))
    names = [*robot.joint_names, 'fr3_finger_joint1']
    q = [*(robot.lower + robot.upper) / 2, 0.02]
    arm.send(names, q, START)
    arm.until(lambda: tf.wait(0.01))
    moving = {t.child_frame_id: t for t in tf.take()[-1][0].transforms}
    still = {t.child_frame_id: t for t in fixed.take()[-1][0].transforms}
    assert set(moving) == set(robot.joint_of_link)
    transforms = {**moving, **still}
    assert set(transforms) == set(robot.links) - {'fr3_link0'}
    for link, (place, turn) in robot.link_poses(dict(zip(names, q, strict=True))).items():
        transform = transforms[link].transform
        assert transforms[link].header.frame_id == robot.parent_of(link)
        shift, rotation = transform.translation, transform.rotation
        assert [shift.x, shift.y, shift.z] == place.tolist()
        assert [rotation.x, rotation.y, rotation.z, rotation.w] == turn.tolist()


@pytest.mark.parametrize(
    ('parameter', 'words'),
    [('tip:=nowhere', 'gripper_frame_link'), ('side_rate:=100.0', '50 Hz')],
)
def test_what_cannot_be_used_ends_the_node_with_a_sentence(ros_domain, parameter, words):
    arguments = [sys.executable, '-m', 'frame_ros.nodes.kinematics', '--ros-args', '-p', parameter]
    ended = subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT)
    assert ended.returncode == 1
    assert words in ended.stderr
    assert 'Traceback' not in ended.stderr


def test_a_stream_of_just_the_rate_passes_whole_and_a_faster_one_is_thinned():
    jitter = np.random.default_rng(0).integers(-500_000, 500_000, 200)
    limit = RateLimit(50.0)
    assert all(limit.is_due(START + i * SECOND // 50 + int(j)) for i, j in enumerate(jitter))
    limit = RateLimit(50.0)
    due = [ms for ms in range(1000) if limit.is_due(START + ms * 1_000_000)]
    assert np.diff(due).tolist() == [18, *[20] * 49]
    assert not RateLimit(0.0).is_due(START)


def test_nodes_that_start_together_have_time_to_load_before_silence_is_warned_of():
    quiet = (SILENCE + FIRST_SILENCE) / 2
    assert not is_silent(quiet, received=0) and is_silent(FIRST_SILENCE + 1, received=0)
    assert is_silent(quiet, received=1) and not is_silent(SILENCE / 2, received=1)
