# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The contact node: wrench, joint efforts or the robot's own flags -> contact, contact_events,
external_wrench.
"""

from __future__ import annotations

import sys
import threading
import time
from itertools import groupby
from math import inf, nan
from typing import Any

from rclpy.node import Node

from frame_ros.bags.message_readers import JointStateReader, WrenchReader
from frame_ros.core.health import Level, Status
from frame_ros.core.options import evolved
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.stamps import RateLimit
from frame_ros.core.time import SECOND
from frame_ros.core.topics import Topic
from frame_ros.nodes.contact import inputs, messages, topics
from frame_ros.nodes.contact.context import ContextKeeper, PhaseInput
from frame_ros.nodes.contact.frames import FixedTransforms
from frame_ros.nodes.contact.franka import flag_input
from frame_ros.nodes.contact.options import ContactOptions
from frame_ros.nodes.contact.tare import TareService
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.grasp_input import GraspInput
from frame_ros.nodes.runtime.node_readiness import Readiness
from frame_ros.nodes.runtime.parameters import declare_options
from frame_ros.nodes.runtime.spinning import SERVICE_PERIOD, poll_with_services, run_node
from frame_ros.robots.profiles import find_profile
from frame_ros.sensing.contact.belief import ContactBeliefs
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.grasp import CONTACT
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.joint_effort_sensor import EffortSensor
from frame_ros.sensing.contact.robot_sensor import RobotSensor
from frame_ros.sensing.contact.sensitivity import best_of
from frame_ros.sensing.contact.tracker import ContactEventRecord, ContactTracker
from frame_ros.sensing.contact.trusted_inputs import TrustedInputs
from frame_ros.sensing.contact.wrench_sensor import WrenchSensor

LOOK_PERIOD = 1.0  # s between two looks for warnings, while a service waits
REASON_PERIOD = 1.0  # s between two looks at why a source is silent
BACKWARD = SECOND // 10  # ns by which a sample may be late and still get a stamp of its own
JOINTS, COMMANDS, WRENCH = (
    topic.name for topic in (topics.JOINT_STATES, topics.JOINT_COMMANDS, topics.WRENCH)
)
FLAGS, ROBOT_WRENCH = 'robot_flags', 'robot_wrench'


class ContactNode(Node):
    """Detects whether the robot touches something, and whether that was meant.

    Subscribes joint_states, joint_commands, grasp, and what its sources need: a wrench, and of
    Franka arms external_wrench_in_base_frame with robot_state or contact. Publishes contact at a
    rate, and at once when a contact begins, ends or is no longer expected; contact_events;
    external_wrench; diagnostics. The service ~/tare tares the force-torque sensor,
    ~/confirm_weight confirms a weight that it found on the hand.
    """

    def __init__(self) -> None:
        """Raises FrameRosError for a robot, a sensor or a parameter that cannot be used."""
        super().__init__('contact')
        self.stop = threading.Event()  # set when the node is to end
        self._settings = settings = declare_options(self, ContactOptions, self._change)
        self.poll_period = settings.inputs.poll_period
        self.robot = settings.load_robot()
        self._base_frame = settings.frames.of(self.robot.base_link)
        names = tuple(self.robot.joint_limits)
        gripper = find_profile(settings.robot).gripper
        joint = gripper.joint if gripper else ''
        others = (joint,) if joint and joint not in names else ()
        self._joints, self._commands = JointArrays((*names, *others)), JointArrays(names)
        self._grasp = GraspInput(self, ignored=CONTACT)
        self._keeper = ContextKeeper(joint, self.robot, self._joints, self._grasp.history)
        self._make_sensors()
        efforts = self._efforts
        self._beside = efforts.bodies_of(settings.fingers) if efforts is not None else ()
        self._beliefs = ContactBeliefs(efforts.groups if efforts is not None else None)
        self._expectations = expectations = settings.expectations(self.robot, self._beside)
        self._tracker = ContactTracker(expectations, settings.max_sensor_age)
        is_phased = expectations.grasp_phases or any(r.phases for r in expectations.regions)
        self._phase = PhaseInput(self) if is_phased else None
        self._trusted = TrustedInputs(self.robot, settings.streams)
        self._streams = self._subscribe()
        self._fixed = FixedTransforms(self, self._wrench.frames) if self._wrench else None
        self._state_publisher = self.create_publisher(*published(topics.STATE))
        self._event_publisher = self.create_publisher(*published(topics.EVENTS))
        self._wrench_publisher = self.create_publisher(*published(topics.EXTERNAL_WRENCH))
        self._tare = TareService(
            self, self._wrench, settings.tare.timeout, self._silence_of_wrench, self._go_on
        )
        self._waiting = inputs.Waiting(self._streams, JOINTS, settings.joint_wait)
        self._pause = inputs.Pause(
            self._streams, JOINTS, self.poll_period, self._sensors == [self._efforts]
        )
        self._newest: dict[int, Detection] = {}
        self._heard: dict[int, float] = {}  # source -> time.monotonic() of its newest detection
        self._silent: dict[str, str] = {}
        self._collisions = 0
        self._limit = RateLimit(settings.publish_rate)
        self._last_stamp = 0  # of the last state
        self._newest_sample = (0, 0.0)  # stamp, and time.monotonic() when it was taken
        self._next_silent_state = self._next_reason = 0.0
        self._next_look = 0.0
        self._unavailable = 'it has published no contact yet'
        self._warnings = RepeatedWarnings(self.get_logger())
        self.published = self.events = 0
        self._readiness = Readiness(
            self,
            self.robot.name,
            lambda: self._unavailable,
            lambda: [*map(self._status_of, self._sensors), *self._trusted.statuses()],
        )
        self.get_logger().info(
            f'{self.robot.name}: contact by {", ".join(settings.chosen_sources)}, reported at '
            f'{self.robot.tip_link} in {self.robot.base_link}'
        )

    def _change(self, options: ContactOptions) -> None:
        self._settings = options
        self._limit = RateLimit(options.publish_rate)
        self._next_silent_state = 0.0
        for sensor in self._sensors:
            sensor.change(options)
        self._expectations = evolved(self._expectations, **options.expected.shared)
        self._tracker.expect(self._expectations)

    def _make_sensors(self) -> None:
        settings, robot, joints = self._settings, self.robot, self._joints
        wanted = settings.chosen_sources
        self._wrench = WrenchSensor(settings, robot, joints) if 'wrench' in wanted else None
        self._efforts = (
            EffortSensor(settings, robot, joints, self._commands)
            if 'joint_effort' in wanted
            else None
        )
        self._own = RobotSensor(settings, robot, joints) if 'robot' in wanted else None
        everything = (self._wrench, self._efforts, self._own)
        self._sensors = [sensor for sensor in everything if sensor is not None]

    def _subscribe(self) -> dict[str, inputs.SensorStream]:
        """The streams, in the order in which samples of one stamp are handled."""
        settings = self._settings
        given = settings.inputs.reliability
        wanted: list[tuple[str, Topic, str, Any]] = [
            (COMMANDS, topics.JOINT_COMMANDS, given, JointStateReader().full),
            (JOINTS, topics.JOINT_STATES, given, JointStateReader().full),
        ]
        if self._wrench is not None:
            wrench = topics.WRENCH.at(settings.wrench.topic)
            wanted.append((WRENCH, wrench, given, WrenchReader().wrench))
        if self._own is not None:
            flags, read_flags = flag_input()
            wanted.append((FLAGS, flags, given, read_flags))
            wanted.append((ROBOT_WRENCH, topics.FRANKA_WRENCH, given, WrenchReader().wrench))
        if self._efforts is None:
            del wanted[0]
        return {
            name: inputs.SensorStream(
                self,
                name,
                topic.of(broadcaster=settings.robot_contact.topics),
                read,
                settings.inputs.queue_depth,
                reliability,
                is_measured=name != COMMANDS,
                trusted=self._trusted if name in (JOINTS, WRENCH, ROBOT_WRENCH) else None,
            )
            for name, topic, reliability, read in wanted
        }

    def poll(self) -> int:
        """Handles what has arrived; how many messages that was."""
        if self._fixed is not None and self._fixed.poll() and self._wrench is not None:
            self._wrench.look_again()
        if self._phase is not None:
            self._phase.poll()
            self._keeper.phase = self._phase.phase
        self._grasp.poll()
        samples = self._samples()
        self._judge(samples)
        self._watch_silence()
        return len(samples)

    def _judge(self, samples: list[inputs.Sample]) -> None:
        for stamp, group in groupby(samples, key=lambda sample: sample.stamp):
            detections = [found for sample in group for found in self._handle(sample)]
            if detections:
                self._take(stamp, detections)
        if samples:
            self._newest_sample = (samples[-1].stamp, time.monotonic())

    def _samples(self) -> list[inputs.Sample]:
        """Samples that have arrived, in the order of time."""
        streams = self._streams.values()
        batches = [stream.take() for stream in streams]
        if any(stream.is_reset for stream in streams):
            # Input of the others may be from before the reset.
            pairs = zip(streams, batches, strict=True)
            batches = [batch for stream, batch in pairs if stream.is_reset]
            self._restart()
        return self._waiting.take(inputs.in_order(batches), time.monotonic())

    def _handle(self, sample: inputs.Sample) -> list[Detection]:
        """Detections by one sample: none, or one."""
        stamp, stream, value = sample
        holding = self._grasp.history.at(stamp)
        if stream == JOINTS:
            return self._on_joints(stamp, value, holding)
        if stream == COMMANDS:
            self._commands.take(value)
            return []
        sensor = {WRENCH: self._wrench, ROBOT_WRENCH: self._own}.get(stream)
        if sensor is not None:
            return self._trusted.detections(sensor, stream, value, holding)
        assert self._own is not None
        found = self._own.on_flags(value, holding)
        return [] if found is None else [found]

    def _on_joints(self, stamp: int, state: Any, holding: bool | None) -> list[Detection]:
        joints = self._joints.take(state)
        if not joints:
            self._warnings.warn('joint state', f'dropped: a joint state: {self._joints.problem}')
            return []
        self._keeper.on_joints()
        trust = self._trusted.joints(state)
        if not trust.is_used:
            return []
        if not trust.unavailable:
            for each in (self._wrench, self._own):
                if each is not None:
                    each.on_joints(stamp, joints)
        if self._efforts is None:
            return []
        if why := trust.unavailable or self._trusted.efforts:
            return [Detection(stamp, self._efforts.source, None, unavailable=why)]
        found = self._efforts.on_joints(stamp, joints, holding)
        return [] if found is None else [found]

    def _take(self, stamp: int, detections: list[Detection]) -> None:
        """Tracks, and publishes what is due."""
        now = time.monotonic()
        for detection in detections:
            self._heard[detection.source] = now
        is_news = self._track(stamp, detections)
        if self._limit.is_due(stamp) or is_news:
            self._publish(stamp)

    def _track(self, stamp: int, detections: list[Detection]) -> bool:
        """Returns whether something began, ended, turned unexpected or (un)available."""
        is_news = False
        for detection in detections:
            before = self._newest.get(detection.source)
            is_news |= before is None or bool(before.unavailable) != bool(detection.unavailable)
            self._newest[detection.source] = detection
            self._beliefs.take(detection)
            if detection.unavailable:
                source = messages.name_of(detection.source)
                text = f'{source} is unavailable: {detection.unavailable}'
                self._warnings.warn_once_started(source, text)
        is_contact = any(detection.is_contact for detection in detections)
        weight = self._wrench.held_weight if self._wrench is not None else nan
        context = self._keeper.at(stamp, is_contact, weight)
        _, events = self._tracker.update(detections, context)
        self._publish_events(events)
        is_news |= bool(events) or self._tracker.collisions != self._collisions
        self._collisions = self._tracker.collisions
        return is_news

    def _publish_events(self, events: list[ContactEventRecord]) -> None:
        for record in events:
            self._event_publisher.publish(messages.event_message(record, self._base_frame))
        self.events += len(events)

    def _publish(self, stamp: int) -> None:
        # Each state has a stamp of its own, so that none counts as a repetition: samples of several
        # sources may share one, or come a little late.
        behind = self._last_stamp - stamp
        if 0 <= behind < BACKWARD:
            stamp = self._last_stamp + 1
        elif BACKWARD <= behind < SECOND:
            return  # was on its way when silence was stamped with the present: of no use to anyone
        self._last_stamp = stamp
        detections, contacts = list(self._newest.values()), self._tracker.contacts
        frame = self._base_frame
        newest = self._newest
        sensitivity = best_of(
            sensor.sensitivity
            for sensor in self._sensors
            if sensor.source in newest and newest[sensor.source].is_contact is not None
        )
        beliefs = self._beliefs.rows(self._sensors, newest)
        warnings = [text for sensor in self._sensors for text in sensor.warnings]
        warnings += self._trusted.warnings
        message = messages.state_message(
            stamp, frame, detections, contacts, sensitivity, beliefs, warnings
        )
        self._unavailable = message.unavailable
        self._state_publisher.publish(message)
        self.published += 1
        known = [detection for detection in detections if detection.is_contact is not None]
        if known:
            wrench = messages.strongest(known).wrench
            self._wrench_publisher.publish(messages.wrench_message(stamp, frame, wrench))

    def _watch_silence(self) -> None:
        """Makes a source unavailable that has been silent for long."""
        now = time.monotonic()
        for sensor in self._sensors:
            age = now - self._heard.get(sensor.source, -inf)
            if age <= self._settings.max_sensor_age:
                self._silent.pop(sensor.name, None)
            elif sensor.name not in self._silent:
                self._silent[sensor.name] = why = self._silence(sensor.name, age, now)
                # Just behind the last sample: whatever stamps follow are later than that.
                stamp = self._newest_sample[0] + 1
                self._track(stamp, [Detection(stamp, sensor.source, None, unavailable=why)])
                self._publish(self._present(now))
            elif now >= self._next_reason:
                self._silent[sensor.name] = why = self._silence(sensor.name, age, now)
                stamp = self._newest_sample[0] + 1
                self._newest[sensor.source] = Detection(stamp, sensor.source, None, unavailable=why)
        if now >= self._next_reason:
            self._next_reason = now + REASON_PERIOD
        if len(self._silent) == len(self._sensors) and now >= self._next_silent_state:
            self._next_silent_state = now + 1.0 / self._settings.publish_rate
            self._publish(self._present(now))

    def _silence(self, source: str, age: float, now: float) -> str:
        """Returns why a source is silent, in words. age: s for which it has been."""
        unused = self._joints.problem or f'it has none of the joints of {self.robot.name}'
        most = self._settings.max_sensor_age
        return inputs.silence_of(self._streams_of(source), age, now, most, unused)

    def _silence_of_wrench(self) -> str:
        return self._silent.get('wrench', '')

    def _streams_of(self, source: str) -> list[inputs.SensorStream]:
        names = {'wrench': (WRENCH,), 'joint_effort': (JOINTS,), 'robot': (ROBOT_WRENCH, FLAGS)}
        return [self._streams[name] for name in names[source]]

    def _present(self, now: float) -> int:
        """ns, the stamp that a sample would have now; now: time.monotonic()."""
        stamp, taken = self._newest_sample
        if not stamp:
            return self.get_clock().now().nanoseconds
        return stamp + int((now - taken) * SECOND)

    def _restart(self) -> None:
        """The clock was reset: earlier messages are of another time."""
        self._warnings.warn('clock', 'the stamps jumped to another time and go on from there')
        for stream in self._streams.values():
            stream.is_reset = False
        self._waiting.reset()
        self._trusted.reset()
        for sensor in self._sensors:
            sensor.reset()
        for arrays in (self._joints, self._commands):
            arrays.forget()
        self._keeper.reset()
        self._publish_events(self._tracker.close(self._newest_sample[0], 'the clock was reset'))
        self._tracker.reset()
        self._newest.clear()
        self._silent.clear()
        self._limit.reset()
        self._collisions = self._last_stamp = 0

    def _go_on(self) -> bool:
        """The node's work, once, while a service waits; whether it is to go on."""
        if self.stop.wait(self.poll_period):
            return False
        self.poll()
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + LOOK_PERIOD
            self.look()
            self._readiness.look()
        return True

    def look(self) -> None:
        """Warnings that need not be at once."""
        for stream in self._streams.values():
            self._warnings.warn(f'{stream.name} stamp', stream.new_problem())
        for text in self._trusted.shared:
            self._warnings.warn('publishers', text)
        for sensor in self._sensors:
            self._warnings.inform_news(sensor.name, sensor.warnings)
        if self._wrench is not None and self._wrench.has_new_tare():
            assert self._wrench.detector is not None
            is_done, text = self._wrench.outcome_of(self._wrench.detector)
            self._warnings.warn_once_started('tare', '' if is_done else text)
            if is_done:
                self.get_logger().info(text)

    def _status_of(self, sensor: Any) -> Status:
        newest = self._newest.get(sensor.source)
        problem = sensor.problem if newest is None else newest.unavailable
        values = {
            f'{stream.name} {key}': str(count)
            for stream in self._streams_of(sensor.name)
            for key, count in stream.counts().items()
            if count
        }
        doubts = '; '.join(sensor.warnings)
        state = 'in contact' if newest and newest.is_contact else 'free'
        text = problem or (f'{state}; {doubts}' if doubts else state)
        level = Level.WARN if problem or doubts else Level.OK
        return Status(sensor.name, level, text, values | sensor.facts())

    def report(self) -> str:
        """Counts of what was taken, published and dropped so far, in one line."""
        counts = {'states': self.published, 'events': self.events}
        for stream in self._streams.values():
            counts |= {f'{stream.name}_{key}': count for key, count in stream.counts().items()}
        counts |= {f'joint_states_{key}': count for key, count in self._joints.counts.items()}
        return ', '.join(f'{key} {count}' for key, count in counts.items())

    def wait(self) -> None:
        """Until the next look at the inputs."""
        period = 1.0 / min(self._settings.publish_rate, 50.0)
        self._pause.wait(min(period, SERVICE_PERIOD))

    def destroy_node(self) -> None:
        """Judges what still waits, ends the contacts that last, logs the counts, then closes."""
        self._judge(self._waiting.rest())
        stamp = self._present(time.monotonic())
        self._publish_events(self._tracker.close(stamp, 'the node has ended'))
        self.get_logger().info(self.report())
        for stream in self._streams.values():
            stream.subscription.destroy()
        super().destroy_node()


def poll_until_stopped(node: ContactNode, stop: threading.Event) -> None:
    """The node's loop: take the inputs often, look at services seldom."""
    node.stop = stop
    poll_with_services(node, stop, node.poll, node.wait, node.look)


def main() -> None:
    """Run the node."""
    sys.exit(run_node(ContactNode, spin=poll_until_stopped))
