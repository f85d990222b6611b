# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Two arms in two namespaces of one domain: nothing crosses, because no name but tf is absolute."""

import time
from contextlib import ExitStack
from dataclasses import replace

import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')
pytest.importorskip('mujoco')

from geometry_msgs.msg import PoseStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState

from frame_ros.bringup.process_table import demo_processes
from frame_ros.bringup.run_options import DemoOptions
from frame_ros.bringup.supervisor import Supervisor
from frame_ros.msg import EpisodeEvent
from frame_ros.srv import StartEpisode

ARMS = ('left', 'right')
OF_ROS = {'/rosout', '/parameter_events', '/tf', '/tf_static', '/diagnostics'}
COMMAND = {'left': 0.5, 'right': -0.5}  # rad, shoulder_pan


def processes_of(arm, directory):
    settings = DemoOptions(namespace=arm, directory=str(directory), record=False)
    wanted = ('simulator', 'kinematics', 'metrics', 'episode_recorder')
    table = {process.name: process for process in demo_processes(settings)}
    simulator = table['simulator']
    parameters = {**simulator.parameters, 'cameras': [''], 'depth.rate': 0.0}
    table['simulator'] = replace(simulator, parameters=parameters)
    return [table[name] for name in wanted]


class Observer:
    """A node outside both namespaces that watches both, and moves each arm to its own place."""

    def __init__(self, rclpy):
        self.node = rclpy.create_node('observer')
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.pan = dict.fromkeys(ARMS, 0.0)
        self.poses = dict.fromkeys(ARMS)
        self.events = {arm: [] for arm in ARMS}
        self.commands = {}
        latched = QoSProfile(depth=50, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
        for arm in ARMS:
            on_joints, on_pose = self._listeners(arm)
            self.node.create_subscription(JointState, f'{arm}/joint_states', on_joints, 10)
            self.node.create_subscription(PoseStamped, f'{arm}/ee_pose', on_pose, 10)
            self.node.create_subscription(
                EpisodeEvent, f'{arm}/episode_events', self.events[arm].append, latched
            )
            self.commands[arm] = self.node.create_publisher(JointState, f'{arm}/joint_commands', 10)

    def _listeners(self, arm):
        def on_joints(message):
            self.pan[arm] = message.position[message.name.index('shoulder_pan')]

        def on_pose(message):
            self.poses[arm] = message.pose.position

        return on_joints, on_pose

    def command(self):
        for arm, publisher in self.commands.items():
            message = JointState(name=['shoulder_pan'], position=[COMMAND[arm]])
            message.header.stamp = self.node.get_clock().now().to_msg()
            publisher.publish(message)

    def until(self, condition, what, each=lambda: None):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, what
            each()
            self.executor.spin_once(timeout_sec=0.05)

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()


@pytest.fixture()
def arms(ros_context, tmp_path):
    with ExitStack() as stack:
        for arm in ARMS:
            logs = tmp_path / arm / 'logs'
            table = processes_of(arm, tmp_path / arm)
            stack.enter_context(Supervisor(table, logs, arm, console=lambda line: None))
        observer = Observer(ros_context)
        stack.callback(observer.close)
        observer.until(lambda: all(observer.poses.values()), 'both arms publish ee_pose')
        yield observer


def top_names(names_and_types):
    """First parts of the names in the graph, but for those that ROS itself has at the root."""
    return {name.split('/')[1] for name, _ in names_and_types if name not in OF_ROS}


def test_two_arms_run_side_by_side(arms):
    topics = ('joint_states', 'ee_pose', 'quality_metrics', 'episode_events')

    def spaces(arm, topic):
        """Namespaces of the publishers; empty until each is known."""
        found = arms.node.get_publishers_info_by_topic(f'/{arm}/{topic}')
        names = {info.node_namespace for info in found}
        return set() if any('UNKNOWN' in name for name in names) else names

    arms.until(
        lambda: all(spaces(arm, topic) for arm in ARMS for topic in topics), 'every topic is there'
    )
    assert top_names(arms.node.get_topic_names_and_types()) == set(ARMS)
    assert top_names(arms.node.get_service_names_and_types()) <= {*ARMS, 'observer'}
    for topic in topics:
        for arm in ARMS:
            assert spaces(arm, topic) == {f'/{arm}'}, topic

    def both_turned():
        return all(abs(arms.pan[arm] - COMMAND[arm]) < 0.1 for arm in ARMS)

    arms.until(both_turned, 'each arm follows its own commands', arms.command)
    arms.until(
        lambda: arms.poses['left'].y * arms.poses['right'].y < 0.0, 'each kinematics its own arm'
    )

    start = arms.node.create_client(StartEpisode, 'left/start_episode')
    arms.until(start.service_is_ready, 'the left recorder is ready')
    answer = start.call_async(StartEpisode.Request())
    arms.until(answer.done, 'the left recorder answers')
    assert answer.result().success, answer.result().message
    arms.until(lambda: arms.events['left'], 'the left arm has an episode')
    assert arms.events['right'] == []
