# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated arm on its bus, the robot driver on it in this process, and a node that watches."""

import time

import numpy as np
import pytest
from patience import spin_until

pytest.importorskip('rclpy')
pytest.importorskip('lerobot')
pytest.importorskip('scservo_sdk')

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import Image, JointState
from std_srvs.srv import SetBool

from frame_ros.hardware.feetech.emulator.bus import SimulatedBus
from frame_ros.nodes.robot_driver.node import RobotDriverNode
from frame_ros.scenes import JOINT_NAMES
from frame_ros.scenes.simulation.so101_servos import SimulatedSo101

ANSWER_TIMEOUT = 1.0  # s for an answer: the machine that runs this may be busy
PAN, LIFT, GRIPPER = (JOINT_NAMES.index(n) for n in ('shoulder_pan', 'shoulder_lift', 'gripper'))


class Bench:
    """A simulated arm on its bus, the driver on it, and a node that watches."""

    def __init__(self, folder, **parameters):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.arm = SimulatedSo101()
        self.arm.write_calibration(folder, 'arm')
        self.bus = SimulatedBus(self.arm.servos, self.arm.advance, link=folder / 'port')
        self.bus.start()
        values = {'port': self.bus.port, 'robot_id': 'arm', 'calibration_dir': str(folder)}
        values |= {'reconnect_period': 0.1, 'answer_timeout': ANSWER_TIMEOUT, **parameters}
        self.executor = SingleThreadedExecutor(context=self.context)
        self.driver = None
        self.node = Node('probe', context=self.context)
        self.executor.add_node(self.node)
        self.states, self.diagnostics, self.images = [], [], []
        for kind, topic, found in (
            (JointState, 'joint_states', self.states),
            (DiagnosticArray, 'diagnostics', self.diagnostics),
            (Image, 'front/image_raw', self.images),
        ):
            self.node.create_subscription(kind, topic, found.append, 10)
        self.commands = self.node.create_publisher(JointState, 'joint_commands', 10)
        self.torque = self.node.create_client(SetBool, 'robot_driver/torque')
        self.values = values

    def start(self, **parameters):
        overrides = [Parameter(name, value=v) for name, v in {**self.values, **parameters}.items()]
        self.driver = RobotDriverNode(context=self.context, parameter_overrides=overrides)
        self.executor.add_node(self.driver)
        return self

    def stop_driver(self):
        self.executor.remove_node(self.driver)
        self.driver.destroy_node()
        self.driver = None

    def until(self, condition, action=None):
        """Spins until the condition holds, repeating the action now and then."""
        spin_until(self.executor, condition, action)

    def spin(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.02)

    def command(self, positions, names=JOINT_NAMES, age=0.0):
        message = JointState(name=list(names), position=[float(p) for p in positions])
        stamp = self.node.get_clock().now().nanoseconds - round(age * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        self.commands.publish(message)

    def newest(self):
        """The next joint state from now on."""
        self.states.clear()
        self.until(lambda: self.states)
        return self.states[-1]

    def go(self, positions):
        """Commands it until it is there."""
        target = np.array(positions)
        self.until(
            lambda: np.abs(self.arm.positions - target).max() < 0.1,
            lambda: self.command(positions),
        )

    @property
    def counts(self):
        return self.driver._bus.counts

    def status(self, name='robot'):
        found = [s for m in self.diagnostics[-1:] for s in m.status if s.name.endswith(name)]
        return found[0] if found else None

    def close(self):
        if self.driver is not None:
            self.stop_driver()
        self.bus.close()
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)


def call(bench, is_on):
    bench.until(bench.torque.service_is_ready)
    future = bench.torque.call_async(SetBool.Request(data=is_on))
    bench.until(future.done)
    return future.result()


def running_bench(folder, monkeypatch):
    """A bench whose diagnostics come often; for a fixture."""
    for name in ('LOOK_PERIOD', 'DIAGNOSTICS_PERIOD'):
        monkeypatch.setattr(f'frame_ros.nodes.runtime.node_readiness.{name}', 0.1)
    bench = Bench(folder)
    yield bench
    bench.close()
