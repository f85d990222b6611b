# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An arm, a policy, a person and an operator around gates, for the tests of the gate node."""

import math
import subprocess
import sys
import threading
import time

from lifecycle_msgs.srv import ChangeState
from patience import PATIENCE
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from frame_ros.msg import EpisodeEvent, GateIntervention, GateState, PolicyHeartbeat
from frame_ros.nodes.gate.node import GateNode
from frame_ros.nodes.runtime.spinning import spin_until_stopped

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
HOME = (0.0, -1.35, 1.25, 0.85, 0.0, 0.3)
LATCHED = QoSProfile(depth=50, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)


class Cell(Node):
    """An arm that goes where it is sent at once, a policy, a person, and an operator's ears."""

    def __init__(self, joints=JOINTS, home=HOME) -> None:
        super().__init__('cell')
        self.joints, self.positions, self.measures = joints, list(home), True
        self.commands, self.states, self.interventions, self.events = [], [], [], []
        self._joints = self.create_publisher(JointState, 'joint_states', 10)
        self._policy = self.create_publisher(JointState, 'policy_commands', 10)
        self._person = self.create_publisher(JointState, 'teleop_commands', 10)
        self.takeover = self.create_publisher(Bool, 'takeover', LATCHED)
        self.heartbeats = self.create_publisher(PolicyHeartbeat, 'policy_heartbeat', 10)
        self.event_publisher = self.create_publisher(EpisodeEvent, 'episode_events', LATCHED)
        self.clock_publisher = self.create_publisher(Clock, 'clock', 10)
        self.create_subscription(JointState, 'joint_commands', self._on_command, 500)
        self.create_subscription(GateState, 'gate_state', self.states.append, LATCHED)
        self.create_subscription(
            GateIntervention, 'gate_interventions', self.interventions.append, 500
        )
        self.create_subscription(EpisodeEvent, 'episode_events', self.events.append, LATCHED)
        self.stop = self.create_client(Trigger, 'gate/stop')
        self.reset = self.create_client(Trigger, 'gate/reset')
        self.change_state = self.create_client(ChangeState, 'gate/change_state')
        self.create_timer(0.02, self._measure)

    def _on_command(self, message: JointState) -> None:
        self.commands.append((time.monotonic(), message))
        for name, position in zip(message.name, message.position, strict=True):
            self.positions[self.joints.index(name)] = position

    def _measure(self) -> None:
        if self.measures:
            message = JointState(name=self.joints, position=self.positions)
            message.header.stamp = self.get_clock().now().to_msg()
            self._joints.publish(message)

    def command(self, positions, source='policy', names=None) -> JointState:
        message = JointState(name=list(names or self.joints), position=list(positions))
        message.header.stamp = self.get_clock().now().to_msg()
        (self._policy if source == 'policy' else self._person).publish(message)
        return message

    def drive(self, seconds=0.5, source='policy') -> list[JointState]:
        """Commands of somebody good: the first joint moves on, slowly."""
        sent, place = [], list(self.positions)
        for _ in range(round(seconds / 0.03)):
            place[0] += 0.002
            sent.append(self.command(place, source))
            time.sleep(0.03)
        return sent

    def event(self, kind, text='', episode_id='e1') -> None:
        event = EpisodeEvent(type=kind, episode_id=episode_id, source='operator', text=text)
        event.header.stamp = self.get_clock().now().to_msg()
        self.event_publisher.publish(event)

    @property
    def state(self) -> int:
        return self.states[-1].state if self.states else -1


class Bench:
    """A cell, and gates beside it, each in an executor of its own thread."""

    def __init__(self, cell=None) -> None:
        self.cell = cell or Cell()
        self._threads, self._nodes, self.processes = [], [], []
        self._spin(self.cell)

    def gate(self, spins=True, **parameters) -> GateNode:
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        node = GateNode(parameter_overrides=overrides)
        self._nodes.append(node)
        if spins:
            self._spin(node)
        self.wait(lambda: self.cell.states)
        self.wait(lambda: self.cell.count_subscribers('policy_commands'))
        self.wait(lambda: self.has_measured(node))
        return node

    @staticmethod
    def has_measured(node) -> bool:
        return node.gate is not None and not math.isnan(node.gate.measured.sum())

    def process(self, module, *arguments) -> subprocess.Popen:
        """A node in a process of its own."""
        command = [sys.executable, '-u', '-m', f'frame_ros.nodes.{module}', '--ros-args']
        started = subprocess.Popen([*command, *arguments], start_new_session=True)
        self.processes.append(started)
        return started

    def _spin(self, node) -> None:
        stop = threading.Event()
        thread = threading.Thread(target=spin_until_stopped, args=(node, stop), daemon=True)
        thread.start()
        self._threads.append((stop, thread))

    def wait(self, condition, timeout=PATIENCE) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, 'never came true'
            time.sleep(0.005)

    def wait_for(self, state, each=lambda: None) -> None:
        def reached():
            each()
            return self.cell.state == state

        self.wait(reached)

    def call(self, client, request=None):
        assert client.wait_for_service(PATIENCE)
        future = client.call_async(request or Trigger.Request())
        self.wait(future.done)
        return future.result()

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
                process.wait(PATIENCE)
        for stop, thread in self._threads:
            stop.set()
            thread.join()
        for node in [*self._nodes, self.cell]:
            node.destroy_node()
