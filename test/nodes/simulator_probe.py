# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A node that listens to the simulator, and the simulator in this process."""

import threading

import rclpy
from patience import spin_until
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState

from frame_ros.msg import EpisodeEvent
from frame_ros.nodes.simulator.node import SimulatorNode
from frame_ros.srv import ResetScene


class Probe:
    """A node that keeps what the simulator publishes, and sends to it."""

    def __init__(self, topics, qos=10):
        """topics: name -> message class. qos: of the subscriptions."""
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = Node('probe', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.received = {topic: [] for topic in topics}
        for topic, kind in topics.items():
            self.node.create_subscription(kind, topic, self.received[topic].append, qos)
        latched = QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.events = []
        self.node.create_subscription(EpisodeEvent, 'episode_events', self.events.append, latched)
        self.commands = self.node.create_publisher(JointState, 'joint_commands', 50)
        self.announcements = self.node.create_publisher(EpisodeEvent, 'episode_events', latched)
        self.reset_client = self.node.create_client(ResetScene, 'reset_scene')

    def until(self, condition, action=None):
        """Spins until the condition holds, repeating the action now and then."""
        spin_until(self.executor, condition, action, 0.1)

    def newest(self, topic):
        return self.received[topic][-1]

    def command(self, names, positions):
        message = JointState(name=list(names), position=list(positions))
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.commands.publish(message)

    def reset(self, seed):
        self.until(self.reset_client.service_is_ready)
        future = self.reset_client.call_async(ResetScene.Request(seed=seed))
        self.until(future.done)
        return future.result()

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)


class SimulatorInThread:
    """The node in this process, so that the cube can be moved by hand."""

    def __init__(self, *parameters):
        given = ["cameras:=['']", 'viewer:=false', *parameters]
        rclpy.init(args=['--ros-args', *(word for text in given for word in ('-p', text))])
        self.node = SimulatorNode()
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._spin)
        self.thread.start()

    def _spin(self):
        """Not `spin`: an executor shut down from another thread can miss it, and wait for ever."""
        while not self.ending.is_set():
            self.executor.spin_once(timeout_sec=0.1)

    def put_cube(self, place):
        simulation = self.node.simulation
        with self.node.lock:
            address = simulation.model.joint('cube_free').qposadr[0]
            bin_floor = simulation.goal_pose()[:3] + (0.0, 0.0, 0.02)
            position = bin_floor if place == 'bin' else (0.3, 0.47, 0.02)
            simulation.data.qpos[address : address + 3] = position

    def close(self):
        self.ending.set()
        self.thread.join()
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown()
