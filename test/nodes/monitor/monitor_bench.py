# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The monitor node among faults: wrong clocks, gates that do not stop, what is sent no longer."""

import math
import threading
import time

import numpy as np
from patience import PATIENCE
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64, String

from frame_ros.bags.writer import BagWriter
from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.calibration_parts import HorizonThresholds
from frame_ros.confidence.fingerprint import Fingerprint
from frame_ros.core.time import stamp_ns
from frame_ros.msg import (
    ConfidenceMetrics,
    ContactState,
    EpisodeEvent,
    MonitorState,
    PolicyInference,
    Proximity,
)
from frame_ros.nodes.monitor.node import MonitorNode
from frame_ros.nodes.runtime.spinning import spin_until_stopped

LATCHED = QoSProfile(depth=50, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
TOPICS = {
    'confidence_metrics': ConfidenceMetrics,
    'proximity': Proximity,
    'contact': ContactState,
    'policy_inference': PolicyInference,
    'episode_events': EpisodeEvent,
    'task_progress': Float64,
}
FIXED = {'threshold_from': 'fixed', 'thresholds': [0.5]}


def calibration(duration=10.0, **fingerprint):
    """Thresholds that fall from 0.6 to 0.4 over the task."""
    thresholds = HorizonThresholds(quantile=0.1, thresholds=np.linspace(0.6, 0.4, 100), episodes=20)
    return CalibrationFile(
        horizon_thresholds={'confidence': thresholds},
        expected_duration=duration,
        fingerprint=Fingerprint(**fingerprint),
    )


class Cell(Node):
    """Publishes the inputs of a monitor, and keeps all that is published."""

    def __init__(self):
        super().__init__('cell')
        self.said = {name: [] for name in (*TOPICS, 'monitor_state', 'monitor_config')}
        self._senders = {
            name: self.create_publisher(kind, name, LATCHED if name == 'episode_events' else 1000)
            for name, kind in TOPICS.items()
        }
        kinds = {'monitor_state': (MonitorState, 500), 'monitor_config': (String, LATCHED)}
        for name, (kind, qos) in kinds.items():
            self.create_subscription(kind, name, self.said[name].append, qos)
        self.events = self.said['episode_events']
        self.create_subscription(EpisodeEvent, 'episode_events', self.events.append, LATCHED)

    def matched(self):
        return all(
            self._senders[name].get_subscription_count()
            for name in ('confidence_metrics', 'proximity', 'contact')
        )

    def send(self, name, stamp=None, **values):
        message = TOPICS[name](**values)
        if hasattr(message, 'header'):
            message.header.stamp = stamp or self.get_clock().now().to_msg()
        self._senders[name].publish(message)
        if name != 'episode_events':
            self.said[name].append(message)

    def event(self, kind, episode_id='e1', **values):
        self.send('episode_events', type=kind, episode_id=episode_id, source='recorder', **values)

    def infer(self, confidence, **values):
        self.send('confidence_metrics', confidence=confidence, **values)

    def sense(self, distance=math.nan, contact=False):
        self.send('proximity', distance=distance)
        self.send('contact', in_contact=contact)


def act(cell, confidence, distance=1.0, contact=False):
    """Returns what sends an inference, and what is sensed then."""

    def say():
        cell.infer(confidence)
        cell.sense(distance, contact)

    return say


class Bench:
    """Monitors, and nodes around them, each in a thread of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.cell, self._nodes = Cell(), []
        self._stop, self._threads = threading.Event(), []
        self.add(self.cell)

    def add(self, node):
        self._nodes.append(node)
        thread = threading.Thread(target=spin_until_stopped, args=(node, self._stop))
        self._threads.append(thread)
        thread.start()
        return node

    def monitor(self, file=None, **parameters):
        given = {'directory': str(self.folder), 'snapshot.before': 0.0, **parameters}
        if file is not None:
            path = self.folder / 'calibration.json'
            file.save(path)
            given['calibration_file'] = str(path)
        overrides = [Parameter(name, value=value) for name, value in given.items()]
        node = self.add(MonitorNode(parameter_overrides=overrides))
        self.wait(self.cell.matched)
        return node

    def wait(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, [state.reasons for state in self.states[-3:]]
            time.sleep(0.01)

    @property
    def states(self):
        return self.cell.said['monitor_state']

    def until(self, level, act=lambda: None, **fields):
        """Repeats an act until a verdict that is newer has this level, and these values of fields;
        returns it.
        """
        count = len(self.states)

        def found():
            wanted = {'level': level, **fields}
            return [
                state
                for state in self.states[count:]
                if all(getattr(state, name) == value for name, value in wanted.items())
            ]

        def is_reached():
            act()
            return found()

        self.wait(is_reached)
        return found()[0]

    def bag(self):
        """A bag of all that was published."""
        writer = BagWriter(self.folder / 'bag', {'frame_ros_version': '0'})
        kinds = {**TOPICS, 'monitor_state': MonitorState, 'monitor_config': String}
        for name, heard in self.cell.said.items():
            package = 'std_msgs' if kinds[name] in (String, Float64) else 'frame_ros'
            channel = writer.add_topic(f'/{name}', f'{package}/msg/{kinds[name].__name__}')
            for message in list(heard):
                stamp = stamp_ns(message.header.stamp) if hasattr(message, 'header') else 1
                writer.write(channel, stamp, serialize_message(message))
        return writer.finish()

    def close(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()
        for node in self._nodes:
            node.destroy_node()
