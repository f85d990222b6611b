# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers for the tests of the policy node: a robot that talks to it, and policies."""

import threading
import time

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from patience import PATIENCE
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from rclpy.time import Time
from sensor_msgs.msg import Image, JointState

from frame_ros.msg import EpisodeEvent, PolicyHeartbeat, PolicyInference
from frame_ros.nodes.policy.node import PolicyNode
from frame_ros.nodes.runtime.spinning import spin_until_stopped
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
SIZE = (64, 96)


class Robot(Node):
    """Peer of the policy node: publishes its inputs at 30 Hz and keeps what it publishes.

    published: names of the inputs to publish. nan_joints: whether joint states are not finite.
    joint_count: how many of the joints they name.
    image: what the cameras give.
    """

    def __init__(self) -> None:
        super().__init__('robot')
        latched = QoSProfile(depth=50, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
        self.published = {'joint_states', 'front', 'wrist'}
        self.nan_joints = False
        self.joint_count = 6
        self.commands: list[JointState] = []
        self.inferences: list[PolicyInference] = []
        self.heartbeats: list[PolicyHeartbeat] = []
        self.events: list[EpisodeEvent] = []
        self._joints = self.create_publisher(JointState, 'joint_states', 10)
        self._cameras = {
            name: self.create_publisher(Image, f'{name}/image_raw', 5)
            for name in ('front', 'wrist')
        }
        self._poses = {
            name: self.create_publisher(PoseStamped, f'ground_truth/{name}_pose', 10)
            for name in ('object', 'goal')
        }
        self._events = self.create_publisher(EpisodeEvent, 'episode_events', latched)
        self.create_subscription(JointState, 'joint_commands', self.commands.append, 500)
        self.create_subscription(PolicyInference, 'policy_inference', self.inferences.append, 500)
        self.create_subscription(PolicyHeartbeat, 'policy_heartbeat', self.heartbeats.append, 500)
        self.create_subscription(EpisodeEvent, 'episode_events', self.events.append, latched)
        pixels = np.random.default_rng(0).integers(0, 256, (*SIZE, 3), dtype=np.uint8).tobytes()
        self.image = Image(
            height=SIZE[0], width=SIZE[1], encoding='rgb8', step=3 * SIZE[1], data=pixels
        )
        self.create_timer(1 / 30, self._publish)

    def _publish(self) -> None:
        stamp = self.get_clock().now().to_msg()
        if 'joint_states' in self.published:
            count = self.joint_count
            positions = [float('nan') if self.nan_joints else 0.1 * i for i in range(count)]
            message = JointState(name=JOINTS[:count][::-1], position=positions[::-1])
            message.header.stamp = stamp
            self._joints.publish(message)
        for name, publisher in self._cameras.items():
            if name in self.published:
                self.image.header.stamp = stamp
                publisher.publish(self.image)
        for (name, publisher), x in zip(self._poses.items(), (0.22, 0.2), strict=True):
            if name in self.published:
                message = PoseStamped()
                message.header.stamp = stamp
                message.pose.position.x, message.pose.position.y = (
                    x,
                    0.1 if name == 'goal' else -0.05,
                )
                message.pose.position.z, message.pose.orientation.w = 0.015, 1.0
                publisher.publish(message)

    def send(self, type_: int, episode_id: str = 'e1', delay: float | None = None, **fields) -> int:
        """Publishes an event `delay` s ahead, a START less than others; returns its stamp in ns."""
        if delay is None:
            delay = 0.05 if type_ == EpisodeEvent.START else 0.3
        stamp = self.get_clock().now().nanoseconds + round(delay * 1e9)
        event = EpisodeEvent(type=type_, episode_id=episode_id, source='recorder', **fields)
        event.header.stamp = Time(nanoseconds=stamp).to_msg()
        self._events.publish(event)
        return stamp

    def notes(self) -> list[EpisodeEvent]:
        """The notes that the policy node made."""
        return [event for event in self.events if event.type == EpisodeEvent.NOTE]


class Runner:
    """A policy node and a robot, each in an executor of its own thread."""

    def __init__(self, capture: pytest.CaptureFixture) -> None:
        self._capture, self._log = capture, ''
        self.robot = Robot()
        self.nodes: list[Node] = []
        self._threads: list[tuple[threading.Event, threading.Thread]] = []
        self._spin(self.robot)

    def start(self, given=None, **parameters) -> PolicyNode:
        """Starts a policy node with these parameters."""
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        node = PolicyNode(given, parameter_overrides=overrides)
        self._spin(node)
        return node

    def _spin(self, node: Node) -> None:
        self.nodes.append(node)
        stop = threading.Event()
        thread = threading.Thread(target=spin_until_stopped, args=(node, stop), daemon=True)
        thread.start()
        self._threads.append((stop, thread))

    def wait(self, condition, timeout: float = PATIENCE) -> None:
        """Waits until the condition holds; fails if it never does."""
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, (
                f'never came true; the log ends: {self.log()[-500:]}'
            )
            time.sleep(0.01)

    def wait_for_log(self, text: str) -> None:
        self.wait(lambda: text in self.log())

    def log(self) -> str:
        """All that the nodes have logged so far."""
        self._log += self._capture.readouterr().err
        return self._log

    def close(self) -> None:
        for stop, thread in self._threads:
            stop.set()
            thread.join()
        for node in self.nodes:
            node.destroy_node()


def ns(stamp) -> int:
    return Time.from_msg(stamp).nanoseconds


class CountingPolicy(Policy):
    """A real policy: each chunk goes on from where the executed actions are, in steps of 0.001 rad
    on all joints.

    duration: s that an inference takes. wrong: calls (counted from 0) that raise, or give NaN, or
    leave the limits.
    """

    name = 'counting'

    def __init__(self, duration: float = 0.0, horizon: int = 60, cameras=(), wrong=None) -> None:
        self.duration, self.horizon, self.cameras, self.wrong = (
            duration,
            horizon,
            cameras,
            wrong or {},
        )
        self.seeds, self.observations = [], []

    def reset(self, seed=None) -> None:
        self.seeds.append(seed)

    def infer(self, observation) -> Inference:
        time.sleep(self.duration)
        self.observations.append(observation)
        kind = self.wrong.get(len(self.observations) - 1)
        if kind == 'raise':
            raise ZeroDivisionError('a bug in the policy')
        steps = round(observation.executed * 30) + np.arange(self.horizon)
        actions = np.tile(0.001 * steps[:, None], (1, 6))
        if kind == 'nan':
            actions[3, 2] = np.nan
        if kind == 'outside':
            actions[:, 5] = 7.0
        return Inference(actions, 1 / 30, JOINTS, ('rad',) * 6)
