# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The monitor node: `confidence.monitor` on topics. It recommends a halt; it is no certified safety
function.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
from std_msgs.msg import String

from frame_ros.bags.streams.events import event_of
from frame_ros.confidence.monitor import HaltMonitor, Level, MonitorVerdict
from frame_ros.core import health
from frame_ros.core.errors import CalibrationError, FrameRosError, UnsetError
from frame_ros.core.events import Event, EventType
from frame_ros.core.health import Status
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.time import SECOND
from frame_ros.episodes.monitoring.settings import INPUTS, MonitorSettings
from frame_ros.msg import EpisodeEvent
from frame_ros.nodes.monitor import topics
from frame_ros.nodes.monitor.gate_stop import GateStop
from frame_ros.nodes.monitor.inputs import MonitorSubscriptions, NewestInputs
from frame_ros.nodes.monitor.messages import drift_status, event_message, state_message
from frame_ros.nodes.monitor.options import MonitorOptions
from frame_ros.nodes.monitor.setup_check import SetupCheck
from frame_ros.nodes.monitor.snapshot_thread import SnapshotThread
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.managed import ManagedNode, run_managed
from frame_ros.nodes.runtime.parameters import declare_options, unconfigured
from frame_ros.robots import load_robot

POLL_PERIOD = 0.01  # s between two looks at the inputs
SILENCE = 1.0  # s beyond a period of the rate, after which verdicts are missed
BOUNDARIES = (EventType.START, EventType.END)
LEVELS = {
    Level.OK: health.Level.OK,
    Level.CAUTION: health.Level.WARN,
    Level.HALT: health.Level.ERROR,
    Level.STALE: health.Level.WARN,
}


class MonitorNode(ManagedNode):
    """Judges the scores of the policy where the robot is, and recommends a halt.

    Subscribes: confidence_metrics, proximity, contact, policy_inference, episode_events, and where
    the options ask for it task_progress or expected_duration. Publishes: monitor_state,
    monitor_config, events on episode_events. Calls the gate's stop if it `halts_gate`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__('monitor', **options)
        self._warnings = RepeatedWarnings(self.get_logger())
        self.options = declare_options(self, MonitorOptions, self._change)
        self.fix_while_configured(unconfigured(MonitorOptions))
        self._settings: MonitorSettings | None = None
        self._monitor: HaltMonitor | None = None
        self._setup = SetupCheck()
        self._inputs = NewestInputs(self.options.scores, self.options.distance_bound)
        self._listening: MonitorSubscriptions | None = None
        self._gate_stop: GateStop | None = None
        self._snapshots: SnapshotThread | None = None
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._lock = threading.RLock()  # of the monitor: its options are set in the executor
        self._outputs: tuple[Any, ...] = ()
        self._failure = ''  # why the thread could not judge
        self._judged = 0.0  # time.monotonic() of the newest verdict
        self._forget_episode()
        self.halts = 0
        self.autostart(self.options.autostart)

    def _change(self, options: MonitorOptions) -> None:
        with self._lock:
            if options.halts_gate and not self.options.halts_gate:
                self._level = Level.STALE  # a halt that holds already is news to the gate
            self.options = options
            if self._monitor is not None and self._settings is not None:
                rule = options.rule_options
                self._settings = attrs.evolve(self._settings, options=rule)
                self._monitor.change(rule)
                self._publish_settings()

    # -- lifecycle ---------------------------------------------------------------------

    def _configure(self) -> None:
        """Raises UnsetError without calibration and thresholds, CalibrationError if they do not fit
        the rule or the robot.
        """
        options = self.options
        settings = options.settings()
        calibration = settings.calibration
        robot = load_robot(options.robot)
        self.readiness.hardware_id = robot.name
        self._setup = SetupCheck(calibration, robot.name)
        if self._setup.problem:
            raise CalibrationError(f'{options.calibration_file}: {self._setup.problem}')
        try:
            self._monitor, self._settings = settings.make(), settings
        except CalibrationError as error:
            if options.calibration_file:
                raise
            raise UnsetError(str(error)) from error
        self._change(self.options)  # what was set meanwhile, too
        self.get_logger().info(
            f'it judges {", ".join(options.scores)} with thresholds from {options.threshold_from}'
            + (f' of {options.calibration_file}' if calibration is not None else '')
            + '; it recommends a halt, and is no certified safety function'
        )

    def _start(self) -> None:
        assert self._settings is not None
        begun = self.get_clock().now().nanoseconds
        self._settings = attrs.evolve(self._settings, begun=begun)
        self._monitor = self._settings.make()
        self._inputs = NewestInputs(self.options.scores, self.options.distance_bound)
        self._forget_episode()
        self._gate_stop = GateStop(self)
        self._outputs = tuple(
            self.create_publisher(*published(topic))
            for topic in (topics.STATE, topics.CONFIG, topics.EPISODE_EVENTS)
        )
        self._listening = MonitorSubscriptions(
            self,
            self.options,
            self._inputs,
            self._judge,
            {topics.EPISODE_EVENTS: self._on_event, topics.INFERENCE: self._setup.on_inference},
        )
        if self.options.snapshot.before > 0.0:
            folder = Path(self.options.directory).expanduser().absolute()
            self._snapshots = SnapshotThread(self, folder, self.options.snapshot)
        self._publish_settings()
        self._judged = time.monotonic()
        self._ending.clear()
        self._thread = threading.Thread(target=self._run, name='monitor', daemon=True)
        self._thread.start()

    def _stop(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._ending.set()
            thread.join()
        for name in ('_listening', '_snapshots', '_gate_stop'):
            part = getattr(self, name)
            setattr(self, name, None)
            if part is not None:
                part.close()
        outputs, self._outputs = self._outputs, ()
        for publisher in outputs:
            self.destroy_publisher(publisher)
        self._forget_episode()

    def _release(self) -> None:
        self._monitor = self._settings = None

    def _publish_settings(self) -> None:
        """Publishes what is judged with, for readers of the bag."""
        assert self._settings is not None
        if not self._outputs or self._listening is None:
            return
        found = {role: self._listening.topic_of(role) for role in INPUTS}
        since = max(self.get_clock().now().nanoseconds, self._newest + 1)
        self._settings = attrs.evolve(self._settings, topics=found, since=since)
        self._outputs[1].publish(String(data=self._settings.to_json()))

    # -- episodes ----------------------------------------------------------------------

    def _forget_episode(self) -> None:
        self._episode_id = ''
        self._boundaries: list[Event] = []  # announced ahead
        self._newest = 0  # ns, the moment judged last
        self._level = Level.STALE

    def _on_event(self, message: EpisodeEvent) -> None:
        try:
            event = event_of(message)
        except FrameRosError as error:
            self._warnings.warn('event', str(error))
            return
        if event.type in BOUNDARIES:
            self._boundaries = sorted([*self._boundaries, event], key=lambda each: each.stamp)

    def _follow_episode(self, now: int) -> None:
        """Begins and ends the episodes whose boundaries have been reached."""
        assert self._monitor is not None
        while self._boundaries and self._boundaries[0].stamp <= now:
            event = self._boundaries.pop(0)
            if event.type is EventType.START:
                self._monitor.start(event.stamp)
                self._episode_id = event.episode_id
            elif event.episode_id in ('', self._episode_id):
                self._monitor.end()
                self._episode_id = ''
            else:
                continue
            self._inputs.begin_episode(event.stamp)
            self._level = Level.STALE

    # -- judgement ---------------------------------------------------------------------

    def _run(self) -> None:
        """Runs in a plain thread, which keeps up with the inputs whatever the executor does."""
        while not self._ending.wait(POLL_PERIOD):
            try:
                with self._lock:
                    self._tick()
                self._failure = ''
            except Exception:  # this thread must live
                text = traceback.format_exc()
                self._failure = text.strip().splitlines()[-1]
                self._warnings.fail('monitor', text)

    def _tick(self) -> None:
        """Takes what has come, and judges the present if nothing has made it be judged."""
        if self._listening is not None:
            self._listening.poll()
        if self._gate_stop is not None:
            self._gate_stop.look()
        now = self.get_clock().now().nanoseconds
        if now - self._newest >= SECOND / self.options.rate or now < self._newest - SECOND:
            self._judge()

    def _judge(self) -> None:
        now = self.get_clock().now().nanoseconds
        if self._monitor is None or not self._outputs or now <= 0:
            return
        if now < self._newest - SECOND:
            self._restart()
        now = max(now, self._newest + 1)  # every verdict has a stamp of its own
        self._newest = now
        self._follow_episode(now)
        sample = self._inputs.sample(now, self.options.score_timeout)
        verdict = self._monitor.update(sample)
        unavailable = self._setup.problem
        message = state_message(
            verdict,
            self._monitor.drift.verdict,
            self._episode_id,
            self._inputs,
            self.options.halt_distance,
            unavailable,
        )
        self._outputs[0].publish(message)
        self._judged = time.monotonic()
        level = Level(message.level)
        before, self._level = self._level, level
        if level is Level.HALT and before is not Level.HALT:
            self._on_halt(verdict)

    def _restart(self) -> None:
        """The clock was set back: all that came is of another time."""
        assert self._settings is not None
        self._warnings.warn('clock', 'the clock was set back; the monitor starts again')
        self._monitor = self._settings.make()
        self._inputs.reset()
        self._forget_episode()
        self._publish_settings()

    def _on_halt(self, verdict: MonitorVerdict) -> None:
        """Makes a halt known, and where it is to, the gate stop."""
        if self.options.halts_gate and self._gate_stop is not None:
            self._gate_stop.ask()  # first, so that nothing that fails below keeps the arm moving
        self.halts += 1
        text = '; '.join(reason.text for reason in verdict.reasons)
        causes = [str(reason.cause.value) for reason in verdict.reasons]
        self.get_logger().warning(f'halt: {text}')
        kind = EpisodeEvent.STOP if self.options.halts_gate else EpisodeEvent.NOTE
        event = event_message(kind, self._episode_id, verdict.stamp, f'halt: {text}', causes)
        self._outputs[2].publish(event)
        if self._snapshots is not None:
            facts = {'reasons': text, 'causes': ', '.join(causes)}
            self._snapshots.ask(verdict.stamp, self._episode_id, facts)

    def problem(self) -> str:
        """Returns why nothing can be judged, apart from inputs that are missing; else ''."""
        return super().problem() or self._failure or self._setup.problem

    def _silence(self) -> str:
        """Returns for how long there was no verdict, if that is too long; else ''."""
        silent = time.monotonic() - self._judged
        if self._thread is None or silent <= SILENCE + 1.0 / self.options.rate:
            return ''
        return f'no verdict for {silent:.0f} s: its clock stands still, or it hangs'

    def health(self) -> Iterator[Status]:
        """Yields the newest verdict, the calibration, drift, and the stop of the gate."""
        if self._monitor is None:
            return
        level = self._level
        values = {'episode': self._episode_id, 'halts': str(self.halts)}
        if problem := self._failure or self._silence():
            yield Status('judgement', health.Level.ERROR, problem, values)
        else:
            yield Status('judgement', LEVELS[level], level.title, values)
        yield self._setup.status()
        yield drift_status(self._monitor.drift)
        if self._gate_stop is not None and self.options.halts_gate:
            yield self._gate_stop.status()


def main() -> None:
    """Runs the node until it is stopped."""
    sys.exit(run_managed(MonitorNode))
