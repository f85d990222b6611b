# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact sensing as a whole: streams -> judged inputs -> sensors -> tracked contacts -> states.

It knows no ROS: the contact node feeds it from subscriptions, `frame-ros sense` from a recording.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from math import inf, nan
from typing import Any, Protocol

from frame_ros.core.health import Level, Status
from frame_ros.core.options import evolved
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.stamps import RateLimit
from frame_ros.core.time import SECOND
from frame_ros.robots.profiles import find_profile
from frame_ros.sensing.contact.belief import ContactBeliefs
from frame_ros.sensing.contact.composition.context import ContextKeeper
from frame_ros.sensing.contact.composition.inputs import (
    Sample,
    SensorStream,
    Waiting,
    in_order,
    silence_of,
)
from frame_ros.sensing.contact.composition.state import ContactRecord, contact_record, name_of
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.grasp import GraspHistory
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.joint_effort_sensor import EffortSensor
from frame_ros.sensing.contact.options import ContactSensingOptions
from frame_ros.sensing.contact.robot_sensor import RobotSensor
from frame_ros.sensing.contact.sensitivity import best_of
from frame_ros.sensing.contact.tracker import ContactEventRecord, ContactTracker
from frame_ros.sensing.contact.trusted_inputs import TrustedInputs
from frame_ros.sensing.contact.wrench_sensor import WrenchSensor

REASON_PERIOD = 1.0  # s between two looks at why a source is silent
BACKWARD = SECOND // 10  # ns by which a sample may be late and still get a stamp of its own
COMMANDS, JOINTS, WRENCH = 'joint_commands', 'joint_states', 'wrench'
FLAGS, ROBOT_WRENCH = 'robot_flags', 'robot_wrench'
# Of a source, by its name.
STREAMS_OF = {'wrench': (WRENCH,), 'joint_effort': (JOINTS,), 'robot': (ROBOT_WRENCH, FLAGS)}


class Outputs(Protocol):
    """Takes what is found, in the robot's base frame."""

    def state(self, record: ContactRecord) -> None: ...
    def event(self, record: ContactEventRecord) -> None: ...


class ContactSensing:
    """Detects whether the robot touches something, and whether that was meant.

    Attributes:
        robot: the robot. base_frame: of its base in tf.
        wrench, efforts, own: the sensors, None where it is not among the sources; sensors: all.
        trusted, joints, keeper, tracker: what judges streams, keeps joints, follows the task,
            and tracks contacts.
        streams: name -> stream, see `stream_names` and `connect`.
        grasp: what was decided on what the gripper holds, and when.
        unavailable: why contact is not known; '' if it is.
        published, events: counts of states and events so far.
    """

    def __init__(
        self,
        settings: ContactSensingOptions,
        outputs: Outputs,
        warnings: RepeatedWarnings,
        grasp: GraspHistory,
        now: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises FrameRosError for a robot, a sensor or an option that cannot be used.

        now: ns, the present by the clock of the stamps. clock: s of a steady clock.
        """
        self._settings, self._outputs, self._warnings = settings, outputs, warnings
        self.grasp, self._now, self._clock = grasp, now, clock
        self.robot = robot = settings.load_robot()
        self.base_frame = settings.frames.of(robot.base_link)
        names = tuple(robot.joint_limits)
        gripper = find_profile(settings.robot).gripper
        joint = gripper.joint if gripper else ''
        others = (joint,) if joint and joint not in names else ()
        self.joints, self._commands = JointArrays((*names, *others)), JointArrays(names)
        self.keeper = ContextKeeper(joint, robot, self.joints, grasp)
        self._make_sensors()
        efforts = self.efforts
        beside = efforts.bodies_of(settings.fingers) if efforts is not None else ()
        self._beliefs = ContactBeliefs(efforts.groups if efforts is not None else None)
        self._expectations = expectations = settings.expectations(robot, beside)
        self.is_phased = expectations.grasp_phases or any(r.phases for r in expectations.regions)
        self.tracker = ContactTracker(expectations, settings.max_sensor_age)
        self.trusted = TrustedInputs(robot, settings.streams)
        self.streams: Mapping[str, SensorStream] = {}
        self._newest: dict[int, Detection] = {}
        self._heard: dict[int, float] = {}  # source -> by the clock, of its newest detection
        self._silent: dict[str, str] = {}
        self._collisions = 0
        self._limit = RateLimit(settings.publish_rate)
        self._last_stamp = 0  # of the last state
        self._newest_sample = (0, 0.0)  # stamp, and by the clock when it was taken
        self._next_silent_state = self._next_reason = 0.0
        self.unavailable = 'it has published no contact yet'
        self.published = self.events = 0

    def _make_sensors(self) -> None:
        settings, robot, joints = self._settings, self.robot, self.joints
        wanted = settings.chosen_sources
        self.wrench = WrenchSensor(settings, robot, joints) if 'wrench' in wanted else None
        self.efforts = (
            EffortSensor(settings, robot, joints, self._commands)
            if 'joint_effort' in wanted
            else None
        )
        self.own = RobotSensor(settings, robot, joints) if 'robot' in wanted else None
        everything = (self.wrench, self.efforts, self.own)
        self.sensors = [sensor for sensor in everything if sensor is not None]

    @property
    def stream_names(self) -> tuple[str, ...]:
        """The streams that it needs, in the order in which samples of one stamp are handled."""
        return (
            *((COMMANDS,) if self.efforts is not None else ()),
            JOINTS,
            *((WRENCH,) if self.wrench is not None else ()),
            *((FLAGS, ROBOT_WRENCH) if self.own is not None else ()),
        )

    def trusted_of(self, stream: str) -> TrustedInputs | None:
        """Returns the judge that a stream gives its messages to as they arrive; None: none."""
        return self.trusted if stream in (JOINTS, WRENCH, ROBOT_WRENCH) else None

    def connect(self, streams: Mapping[str, SensorStream]) -> None:
        """Takes the streams, those of `stream_names` in this order."""
        self.streams = streams
        self._waiting = Waiting(streams, JOINTS, self._settings.joint_wait)

    def change(self, options: ContactSensingOptions) -> None:
        """Takes other values of the options that are live, from the next sample on."""
        self._settings = options
        self._limit = RateLimit(options.publish_rate)
        self._next_silent_state = 0.0
        for sensor in self.sensors:
            sensor.change(options)
        self._expectations = evolved(self._expectations, **options.expected.shared)
        self.tracker.expect(self._expectations)

    def take(self) -> int:
        """Handles what the streams have; returns how many samples that was."""
        samples = self._samples()
        self._judge(samples)
        self._watch_silence()
        return len(samples)

    def end(self, why: str) -> None:
        """Judges what still waits, and ends the contacts that last. why: nothing follows."""
        self._judge(self._waiting.rest())
        stamp = self._present(self._clock())
        self._publish_events(self.tracker.close(stamp, why))

    def _judge(self, samples: list[Sample]) -> None:
        for stamp, group in groupby(samples, key=lambda sample: sample.stamp):
            detections = [found for sample in group for found in self._handle(sample)]
            if detections:
                self._take(stamp, detections)
        if samples:
            self._newest_sample = (samples[-1].stamp, self._clock())

    def _samples(self) -> list[Sample]:
        """Samples that have arrived, in the order of time."""
        streams = self.streams.values()
        batches = [stream.take() for stream in streams]
        if any(stream.is_reset for stream in streams):
            # Input of the others may be from before the reset.
            pairs = zip(streams, batches, strict=True)
            batches = [batch for stream, batch in pairs if stream.is_reset]
            self._restart()
        return self._waiting.take(in_order(batches), self._clock())

    def _handle(self, sample: Sample) -> list[Detection]:
        """Detections by one sample: none, or one."""
        stamp, stream, value = sample
        holding = self.grasp.at(stamp)
        if stream == JOINTS:
            return self._on_joints(stamp, value, holding)
        if stream == COMMANDS:
            self._commands.take(value)
            return []
        sensor = {WRENCH: self.wrench, ROBOT_WRENCH: self.own}.get(stream)
        if sensor is not None:
            return self.trusted.detections(sensor, stream, value, holding)
        assert self.own is not None
        found = self.own.on_flags(value, holding)
        return [] if found is None else [found]

    def _on_joints(self, stamp: int, state: Any, holding: bool | None) -> list[Detection]:
        joints = self.joints.take(state)
        if not joints:
            self._warnings.warn('joint state', f'dropped: a joint state: {self.joints.problem}')
            return []
        self.keeper.on_joints()
        trust = self.trusted.joints(state)
        if not trust.is_used:
            return []
        if not trust.unavailable:
            for each in (self.wrench, self.own):
                if each is not None:
                    each.on_joints(stamp, joints)
        if self.efforts is None:
            return []
        if why := trust.unavailable or self.trusted.efforts:
            return [Detection(stamp, self.efforts.source, None, unavailable=why)]
        found = self.efforts.on_joints(stamp, joints, holding)
        return [] if found is None else [found]

    def _take(self, stamp: int, detections: list[Detection]) -> None:
        """Tracks, and publishes what is due."""
        now = self._clock()
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
                source = name_of(detection.source)
                text = f'{source} is unavailable: {detection.unavailable}'
                self._warnings.warn_once_started(source, text)
        is_contact = any(detection.is_contact for detection in detections)
        weight = self.wrench.held_weight if self.wrench is not None else nan
        context = self.keeper.at(stamp, is_contact, weight)
        _, events = self.tracker.update(detections, context)
        self._publish_events(events)
        is_news |= bool(events) or self.tracker.collisions != self._collisions
        self._collisions = self.tracker.collisions
        return is_news

    def _publish_events(self, events: list[ContactEventRecord]) -> None:
        for record in events:
            self._outputs.event(record)
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
        newest = self._newest
        sensitivity = best_of(
            sensor.sensitivity
            for sensor in self.sensors
            if sensor.source in newest and newest[sensor.source].is_contact is not None
        )
        beliefs = self._beliefs.rows(self.sensors, newest)
        warnings = [text for sensor in self.sensors for text in sensor.warnings]
        warnings += self.trusted.warnings
        record = contact_record(
            stamp, list(newest.values()), self.tracker.contacts, sensitivity, beliefs, warnings
        )
        self.unavailable = record.unavailable
        self._outputs.state(record)
        self.published += 1

    def _watch_silence(self) -> None:
        """Makes a source unavailable that has been silent for long."""
        now = self._clock()
        for sensor in self.sensors:
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
        if len(self._silent) == len(self.sensors) and now >= self._next_silent_state:
            self._next_silent_state = now + 1.0 / self._settings.publish_rate
            self._publish(self._present(now))

    def _silence(self, source: str, age: float, now: float) -> str:
        """Returns why a source is silent, in words. age: s for which it has been."""
        unused = self.joints.problem or f'it has none of the joints of {self.robot.name}'
        most = self._settings.max_sensor_age
        return silence_of(self._streams_of(source), age, now, most, unused)

    def silence(self, source: str) -> str:
        """Returns why a source is silent; '' if it is not."""
        return self._silent.get(source, '')

    def _streams_of(self, source: str) -> Sequence[SensorStream]:
        return [self.streams[name] for name in STREAMS_OF[source]]

    def _present(self, now: float) -> int:
        """ns, the stamp that a sample would have now; now: by the clock."""
        stamp, taken = self._newest_sample
        return stamp + int((now - taken) * SECOND) if stamp else self._now()

    def _restart(self) -> None:
        """The clock was reset: earlier messages are of another time."""
        self._warnings.warn('clock', 'the stamps jumped to another time and go on from there')
        for stream in self.streams.values():
            stream.is_reset = False
        self._waiting.reset()
        self.trusted.reset()
        for sensor in self.sensors:
            sensor.reset()
        for arrays in (self.joints, self._commands):
            arrays.forget()
        self.keeper.reset()
        self._publish_events(self.tracker.close(self._newest_sample[0], 'the clock was reset'))
        self.tracker.reset()
        self._newest.clear()
        self._silent.clear()
        self._limit.reset()
        self._collisions = self._last_stamp = 0

    def look(self) -> str:
        """Warns of what need not be said at once; returns what a tare did that has succeeded since,
        '' if none has.
        """
        for stream in self.streams.values():
            self._warnings.warn(f'{stream.name} stamp', stream.new_problem())
        for text in self.trusted.shared:
            self._warnings.warn('publishers', text)
        for sensor in self.sensors:
            self._warnings.inform_news(sensor.name, sensor.warnings)
        if self.wrench is None or not self.wrench.has_new_tare():
            return ''
        assert self.wrench.detector is not None
        is_done, text = self.wrench.outcome_of(self.wrench.detector)
        self._warnings.warn_once_started('tare', '' if is_done else text)
        return text if is_done else ''

    def statuses(self) -> list[Status]:
        """One of each sensor and stream, for diagnostics."""
        return [*map(self._status_of, self.sensors), *self.trusted.statuses()]

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
        for stream in self.streams.values():
            counts |= {f'{stream.name}_{key}': count for key, count in stream.counts().items()}
        counts |= {f'joint_states_{key}': count for key, count in self.joints.counts.items()}
        return ', '.join(f'{key} {count}' for key, count in counts.items())
