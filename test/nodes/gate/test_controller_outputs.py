# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that subscribers in the place of a robot's controllers receive, over real topics."""

import importlib.util
import math
import time

import numpy as np
import pytest
from patience import PATIENCE
from scipy.spatial.transform import Rotation

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped
from rclpy.qos import QoSProfile, QoSReliabilityPolicy, qos_profile_system_default
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from frame_ros.core.errors import RobotError, SetupError, ValueRangeError
from frame_ros.nodes.gate.controller_outputs import ControllerOutput
from frame_ros.nodes.gate.gripper_command import GripperCommandOutput
from frame_ros.nodes.runtime.polled import PolledSubscription
from frame_ros.robots import load_robot

STAMP = 1_700_000_000 * 10**9 + 250
PERIOD = 0.02
SO101, FR3 = load_robot('so101'), load_robot('fr3')
ARM = SO101.joint_names[:5]
JOINTS = (*ARM, 'gripper')
POSITIONS = np.array((0.1, -0.2, 0.3, 0.4, -0.5, 0.6))
FRANKA = (*FR3.joint_names, 'fr3_finger_joint1')
READY = np.array((0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785, 0.03))
# What the controllers subscribe with: crisp_controllers, and rclcpp::SystemDefaultsQoS.
CRISP_QOS = QoSProfile(depth=1, reliability=QoSReliabilityPolicy.RELIABLE)


class Bench:
    """An output, and subscribers that wait for it."""

    def __init__(self, rclpy, preset, robot, subscribed, **overrides):
        self.node = rclpy.create_node('gate', namespace='/cell')
        self.listener = rclpy.create_node('controller', namespace='/cell')
        self.output = ControllerOutput(self.node, preset, robot, PERIOD, **overrides)
        self.inputs = {
            topic: PolledSubscription(self.listener, kind, topic, qos)
            for topic, (kind, qos) in subscribed.items()
        }
        wanted = {subscription.topic_name for subscription in self.inputs.values()}
        self.until(lambda: wanted == self.matched() and self.are_heard())

    def matched(self):
        """The topics on which the output has a subscriber."""
        found = [p for p in self.node.publishers if p.get_subscription_count()]
        return {p.topic_name for p in found if p.topic_name.startswith('/cell/')}

    def are_heard(self):
        return all(each.publisher_count() for each in self.inputs.values())

    @staticmethod
    def until(condition, timeout=PATIENCE):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.01)

    def received(self, topic):
        """The next message on a topic."""
        found = []

        def arrived():
            found.extend(message for message, _ in self.inputs[topic].take(10))
            return found

        self.until(arrived)
        assert len(found) == 1
        return found[0]

    def silent(self, topic):
        time.sleep(0.1)
        return not list(self.inputs[topic].take(10))

    def close(self):
        self.output.close()
        self.node.destroy_node()
        self.listener.destroy_node()


@pytest.fixture
def bench(ros_context):
    made = []

    def make(*arguments, **overrides):
        made.append(Bench(ros_context, *arguments, **overrides))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_lerobot_gets_every_joint_by_name(bench):
    one = bench('lerobot_so101', SO101, {'joint_commands': (JointState, 10)})
    assert one.output.topics == ('joint_commands',)
    shuffled = np.array((5, 0, 3, 1, 2, 4))
    one.output.publish(STAMP, [JOINTS[i] for i in shuffled], POSITIONS[shuffled], 2 * shuffled)
    message = one.received('joint_commands')
    assert tuple(message.name) == JOINTS
    np.testing.assert_allclose(message.position, POSITIONS)
    np.testing.assert_allclose(message.velocity, 2.0 * np.arange(6))
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (1_700_000_000, 250)

    one.output.publish(STAMP, ['elbow_flex', 'camera_pan'], [0.7, 1.0])  # a driver takes some
    message = one.received('joint_commands')
    assert (list(message.name), list(message.position)) == (['elbow_flex'], [0.7])
    assert not message.velocity


def test_a_trajectory_of_one_point(bench):
    topics = {
        'joint_trajectory_controller/joint_trajectory': (
            JointTrajectory,
            qos_profile_system_default,
        ),
        'gripper_controller/joint_trajectory': (JointTrajectory, qos_profile_system_default),
    }
    one = bench('ros2_control_trajectory', SO101, topics, horizon=1.5)
    one.output.publish(STAMP, JOINTS, POSITIONS, np.ones(6))
    arm, gripper = (one.received(topic) for topic in topics)
    assert tuple(arm.joint_names) == ARM and list(gripper.joint_names) == ['gripper']
    (point,) = arm.points
    np.testing.assert_allclose(point.positions, POSITIONS[:5])
    assert (point.time_from_start.sec, point.time_from_start.nanosec) == (1, 500_000_000)
    # The controller refuses a last point that moves, and takes a stamp of 0 for now.
    assert not point.velocities
    assert (arm.header.stamp.sec, arm.header.stamp.nanosec) == (0, 0)
    np.testing.assert_allclose(gripper.points[0].positions, [0.6])

    assert one.output.hold(STAMP, JOINTS, POSITIONS + 0.01)
    (point,) = one.received('joint_trajectory_controller/joint_trajectory').points
    np.testing.assert_allclose(point.positions, POSITIONS[:5] + 0.01)
    assert list(point.velocities) == [0.0] * 5
    assert one.silent('gripper_controller/joint_trajectory')  # it keeps what it was told


def test_a_hold_ends_velocities_and_keeps_the_grip(bench):
    one = bench('lerobot_so101', SO101, {'joint_commands': (JointState, 10)})
    one.output.publish(STAMP, ['gripper'], [0.2])
    assert list(one.received('joint_commands').name) == ['gripper']
    one.output.publish(STAMP, ARM, POSITIONS[:5], np.ones(5))  # arm and gripper take turns
    assert list(one.received('joint_commands').velocity) == [1.0] * 5
    one.output.hold(STAMP, JOINTS, POSITIONS)
    message = one.received('joint_commands')
    np.testing.assert_allclose(message.position, (*POSITIONS[:5], 0.2))
    assert list(message.velocity) == [0.0] * 6


def test_positions_in_the_declared_order(bench):
    topics = {'arm/commands': (Float64MultiArray, qos_profile_system_default)}
    declared = ('wrist_roll', 'gripper', 'shoulder_pan')
    one = bench('ros2_control_position', SO101, topics, topic='arm/commands', joints=declared)
    one.output.publish(STAMP, JOINTS, POSITIONS)
    np.testing.assert_allclose(one.received('arm/commands').data, (-0.5, 0.6, 0.1))
    # A hold stops the arm where it is, and leaves the grip on what is held.
    one.output.hold(STAMP, JOINTS, POSITIONS + 0.1)
    np.testing.assert_allclose(one.received('arm/commands').data, (-0.4, 0.6, 0.2))


def test_the_pose_is_the_forward_kinematics_of_the_command(bench):
    gripper = 'gripper/gripper_position_controller/commands'
    topics = {'target_pose': (PoseStamped, CRISP_QOS), gripper: (Float64MultiArray, 10)}
    one = bench('crisp_pose', FR3, topics)
    tcp = load_robot('fr3', 'tcp')
    former = None
    for turn in np.linspace(-2.0, 2.0, 7):
        joints = READY + np.eye(8)[6] * turn
        one.output.publish(STAMP, FRANKA, joints)
        message = one.received('target_pose')
        position, quaternion = tcp.forward(joints[:7])
        at, turned = message.pose.position, message.pose.orientation
        np.testing.assert_allclose((at.x, at.y, at.z), position, atol=1e-12)
        sent = np.array((turned.x, turned.y, turned.z, turned.w))
        error = Rotation.from_quat(sent) * Rotation.from_quat(quaternion).inv()
        assert error.magnitude() < 1e-9
        assert former is None or sent @ former > 0  # no jump to the other sign
        former = sent
        np.testing.assert_allclose(one.received(gripper).data, [0.75])
    assert message.header.frame_id == 'base' and message.header.stamp.nanosec == 250


def test_a_pose_brakes_and_is_held_too(bench):
    gripper = 'gripper/gripper_position_controller/commands'
    topics = {'target_pose': (PoseStamped, CRISP_QOS), gripper: (Float64MultiArray, 10)}
    one = bench('crisp_pose', FR3, topics)
    tcp = load_robot('fr3', 'tcp')
    one.output.publish(STAMP, FRANKA, READY)
    one.received('target_pose'), one.received(gripper)
    for further, is_at_rest in ((0.05, False), (0.06, False), (0.06, True)):
        joints = READY + further * np.r_[np.ones(7), 0.0]
        assert one.output.hold(STAMP, FRANKA, joints, is_at_rest)
        at = one.received('target_pose').pose.position
        np.testing.assert_allclose((at.x, at.y, at.z), tcp.forward(joints[:7])[0], atol=1e-12)
    assert one.silent(gripper)


def test_on_the_way_to_rest_no_velocity_is_told(bench):
    one = bench('crisp_joint', FR3, {'target_joint': (JointState, CRISP_QOS)}, gripper='none')
    one.output.hold(STAMP, FRANKA, READY, is_at_rest=False)
    assert not one.received('target_joint').velocity
    one.output.hold(STAMP, FRANKA, READY)
    assert list(one.received('target_joint').velocity) == [0.0] * 7


def test_crisp_joints_are_the_arms_alone_and_all(bench):
    """crisp_controllers goes by the order, and does not check how many there are."""
    one = bench('crisp_joint', FR3, {'target_joint': (JointState, CRISP_QOS)}, gripper='none')
    order = np.arange(8)[::-1]
    one.output.publish(STAMP, [FRANKA[i] for i in order], READY[order], np.ones(8))
    message = one.received('target_joint')
    assert tuple(message.name) == FRANKA[:7] and len(message.velocity) == 7
    np.testing.assert_allclose(message.position, READY[:7])
    with pytest.raises(RobotError, match=r"lacks the joints \['fr3_joint7'\]"):
        one.output.publish(STAMP, FRANKA[:6], READY[:6])
    assert one.silent('target_joint')


def test_nothing_at_all(bench):
    one = bench('none', SO101, {})
    one.output.publish(STAMP, JOINTS, POSITIONS)
    assert not one.output.hold(STAMP, JOINTS, POSITIONS)
    assert one.output.topics == ()


def test_values_that_are_not_sent(bench):
    one = bench('lerobot_so101', SO101, {'joint_commands': (JointState, 10)})
    broken = POSITIONS.copy()
    broken[2] = math.nan
    with pytest.raises(ValueRangeError, match='elbow_flex is not finite'):
        one.output.publish(STAMP, JOINTS, broken)
    with pytest.raises(RobotError, match=r'shape \(5,\) for the 6 joints'):
        one.output.publish(STAMP, JOINTS, POSITIONS[:5])
    with pytest.raises(RobotError, match='lacks the joints'):
        one.output.publish(STAMP, ['camera_pan'], [0.0])
    with pytest.raises(ValueRangeError, match='elbow_flex is not finite'):
        one.output.hold(STAMP, JOINTS, broken)
    assert one.silent('joint_commands')


def test_closing_takes_the_publishers_away(bench):
    one = bench('lerobot_so101', SO101, {'joint_commands': (JointState, 10)})
    one.output.close()
    one.until(lambda: one.listener.count_publishers('/cell/joint_commands') == 0)
    assert '/cell/joint_commands' not in [p.topic_name for p in one.node.publishers]


def test_a_pose_needs_every_joint_of_the_chain(ros_context):
    node = ros_context.create_node('gate')
    with pytest.raises(
        ValueRangeError, match="pose of fr3_hand_tcp needs the joints .*'fr3_joint7'"
    ):
        ControllerOutput(node, 'crisp_pose', FR3, PERIOD, joints=FRANKA[:6])
    node.destroy_node()


@pytest.mark.skipif(
    importlib.util.find_spec('control_msgs') is not None, reason='control_msgs is installed'
)
def test_without_control_msgs_a_franka_says_what_to_do(ros_context):
    node = ros_context.create_node('gate')
    with pytest.raises(SetupError, match=r"ros-\$ROS_DISTRO-control-msgs, or .*'none'"):
        ControllerOutput(node, 'franka_ros2', FR3, PERIOD)
    with_arm_alone = ControllerOutput(node, 'franka_ros2', FR3, PERIOD, gripper='none')
    assert with_arm_alone.topics == ('fr3_arm_controller/joint_trajectory',)
    with_arm_alone.close()
    node.destroy_node()


def test_a_franka_hand_gets_one_goal_per_position(bench, ros_context):
    action = pytest.importorskip('control_msgs.action').GripperCommand
    from rclpy.action import ActionServer
    from rclpy.executors import SingleThreadedExecutor

    one = bench('franka_ros2', FR3, {'fr3_arm_controller/joint_trajectory': (JointTrajectory, 10)})
    goals = []

    def execute(handle):
        goals.append(handle.request.command)
        handle.succeed()
        return action.Result()

    hand_node = ros_context.create_node('hand', namespace='/cell')
    hand = ActionServer(hand_node, action, 'franka_gripper/gripper_action', execute)
    executor = SingleThreadedExecutor(context=one.node.context)
    executor.add_node(one.node)
    executor.add_node(hand_node)
    end = time.monotonic() + PATIENCE
    for opening in (0.04, 0.0):
        count = len(goals)
        while len(goals) == count and time.monotonic() < end:
            one.output.publish(STAMP, FRANKA, np.r_[READY[:7], opening])
            executor.spin_once(timeout_sec=0.02)
    for _ in range(20):
        one.output.publish(STAMP, FRANKA, np.r_[READY[:7], 0.0])
        executor.spin_once(timeout_sec=0.02)
    assert [(goal.position, goal.max_effort) for goal in goals] == [(0.0392, 20.0), (0.0, 20.0)]
    executor.shutdown()
    hand.destroy()
    hand_node.destroy_node()


def test_a_rejected_goal_is_sent_again(ros_context):
    action = pytest.importorskip('control_msgs.action').GripperCommand
    from rclpy.action import ActionServer, GoalResponse
    from rclpy.executors import SingleThreadedExecutor

    node = ros_context.create_node('gate')
    asked, done = [], []

    def judge(goal):
        asked.append(goal.command.position)
        return GoalResponse.REJECT if len(asked) == 1 else GoalResponse.ACCEPT

    def execute(handle):
        done.append(handle.request.command.position)
        handle.succeed()
        return action.Result()

    hand = ActionServer(node, action, 'gripper', execute, goal_callback=judge)
    output = GripperCommandOutput(node, 'gripper', 20.0)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    end = time.monotonic() + PATIENCE
    while not done and time.monotonic() < end:
        output.send(0.03)
        executor.spin_once(timeout_sec=0.02)
    assert (asked, done) == ([0.03, 0.03], [0.03])
    executor.shutdown()
    output.close()
    hand.destroy()
    node.destroy_node()


def test_without_the_hands_node_nothing_is_sent(ros_context):
    pytest.importorskip('control_msgs.action')
    node = ros_context.create_node('gate')
    output = GripperCommandOutput(node, 'gripper', 20.0)
    assert not output.send(0.04) and output.sent == 0
    output.close()
    node.destroy_node()
