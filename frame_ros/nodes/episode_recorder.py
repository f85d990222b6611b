# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The episode recorder: services that begin, mark and end episodes; one bag per episode."""

from __future__ import annotations

import glob
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import KeyValue
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message

from frame_ros.episodes import conversion
from frame_ros.episodes.bag_writer import BagWriter, TopicQos
from frame_ros.episodes.data import EventType, Outcome
from frame_ros.episodes.definitions import find_definition, parse_fields
from frame_ros.episodes.layout import trace
from frame_ros.episodes.mcap_writer import check_level
from frame_ros.errors import BagError, FrameRosError, SetupError
from frame_ros.msg import EpisodeEvent
from frame_ros.nodes.node_readiness import Readiness
from frame_ros.nodes.parameters import declare
from frame_ros.nodes.readiness_watch import ReadinessWatch
from frame_ros.nodes.recording_clock import RecordingClock
from frame_ros.nodes.recording_images import image_conversion
from frame_ros.nodes.recording_session import (
    BagSession,
    Limits,
    MessageRing,
    ReceivedMessage,
    RecordedTopic,
    refuse_full_disk,
)
from frame_ros.nodes.recording_settings import DEFAULTS, SETTABLE
from frame_ros.nodes.recording_streams import EpisodeStreams
from frame_ros.nodes.recording_topics import TopicFilter, TopicSubscriptions, absolute_names
from frame_ros.nodes.recording_video import start_video
from frame_ros.nodes.repeated_warnings import RepeatedWarnings
from frame_ros.nodes.spinning import run_node
from frame_ros.srv import EndEpisode, MarkEpisode, StartEpisode
from frame_ros.version import package_version

EVENT_TYPE = 'frame_ros/msg/EpisodeEvent'
READY_PERIOD = 0.1  # s between two looks at what is not ready
EVENTS_QOS = QoSProfile(
    depth=50, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)


class EpisodeRecorder(LifecycleNode):
    """Offers start_episode, mark_episode and end_episode; publishes episode_events; writes bags
    while active."""

    def __init__(self) -> None:
        super().__init__('episode_recorder')
        self._warnings = RepeatedWarnings(self.get_logger())
        for name, default in DEFAULTS.items():
            declare(self, name, default, read_only=name not in SETTABLE)
        self._events = self.create_publisher(EpisodeEvent, 'episode_events', EVENTS_QOS)
        self.create_service(StartEpisode, 'start_episode', self._on_start)
        self.create_service(MarkEpisode, 'mark_episode', self._on_mark)
        self.create_service(EndEpisode, 'end_episode', self._on_end)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._discovery: Any = None
        self._recorded: TopicSubscriptions | None = None
        self._session: BagSession | None = None
        self._time: RecordingClock | None = None
        self._ring = MessageRing(0.0, 0)
        self._streams = EpisodeStreams(())
        self._event_topic = RecordedTopic(
            self._events.topic_name,
            find_definition(EVENT_TYPE),
            [TopicQos(durability='transient_local', depth=50)],
        )
        self._own_events: set[tuple[str, int, int]] = set()
        self._lost_before: dict[str, int] = {}
        self._videos: list[subprocess.Popen[bytes]] = []
        self._readiness = Readiness(
            self,
            problem=lambda: '' if self._is_active else f'it is not active {self._problem}'.strip(),
            inputs=lambda: self._recorded.states() if self._recorded and self._is_active else (),
        )
        self._watch = ReadinessWatch(self, self._value('nodes'))
        self._is_active = False
        self._episode_id = ''
        self._count = 0
        self._problem = ''
        if self._value('autostart'):
            if self.trigger_configure() != TransitionCallbackReturn.SUCCESS:
                raise SetupError(self._problem)
            self.trigger_activate()

    # -- lifecycle ---------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Checks the parameters, the directory, and what writing needs."""
        try:
            self._event_fields = parse_fields(EVENT_TYPE, self._event_topic.definition.text)
            also = absolute_names(self, self._value('also'))
            expected = absolute_names(self, self._value('expected'))
            topics = TopicFilter(
                self.get_namespace(), self._value('include'), self._value('exclude'), also
            )
            image_conversion(self._value('camera_images'))
            check_level(self._value('compression_level'))
            if self._value('enabled'):
                Path(self._value('directory')).expanduser().mkdir(parents=True, exist_ok=True)
        except (FrameRosError, OSError) as error:
            self._problem = str(error)
            self.get_logger().error(self._problem)
            return TransitionCallbackReturn.FAILURE
        self._recorded = TopicSubscriptions(self, topics, [self._event_topic])
        self._streams = EpisodeStreams(expected)
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begins to listen."""
        self._ring = MessageRing(self._value('pre_roll'), self._value('pre_roll_bytes'))
        self._time = RecordingClock(self)
        if self._value('enabled'):
            self._discover()
            self._discovery = self.create_timer(self._value('discovery_period'), self._discover)
            self._stop.clear()
            self._thread = threading.Thread(target=self._read, name='bag_reader', daemon=True)
            self._thread.start()
        self._is_active = True
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Ends a running episode as stopped, and listens no longer."""
        self._deactivate()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forgets the topics."""
        self._recorded = None
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Ends a running episode as stopped."""
        self._deactivate()
        return TransitionCallbackReturn.SUCCESS

    def destroy_node(self) -> None:
        """Ends a running episode as stopped; its bag is finished."""
        self._deactivate()
        super().destroy_node()

    def _deactivate(self) -> None:
        try:
            if self._episode_id:
                self._finish(int(Outcome.STOPPED), 'the recorder was stopped', post_roll=0.0)
        except BagError as error:
            self.get_logger().error(str(error))
        finally:
            self._stop_listening()

    def _stop_listening(self) -> None:
        self._is_active = False
        if self._discovery is not None:
            self.destroy_timer(self._discovery)
            self._discovery = None
        if self._thread is not None:
            self._stop.set()
            self._thread.join()
            self._thread = None
        if self._recorded is not None:
            self._recorded.destroy()
        if self._time is not None:
            self._time.close()
            self._time = None

    # -- listening ---------------------------------------------------------------------

    def _discover(self) -> None:
        if self._recorded is not None:
            self._recorded.discover()
        self._videos = [video for video in self._videos if video.poll() is None]

    def _read(self) -> None:
        """Runs in a plain thread: takes messages and passes them on until told to stop."""
        now = self._time.now if self._time.is_simulated else None
        period = self._value('poll_period')
        while not self._stop.is_set():
            try:
                has_taken = self._recorded.poll(self._accept, now)
            except Exception as error:  # this thread must live; an episode must not look whole
                has_taken = False
                self._note_trouble(f'messages could not be taken: {type(error).__name__}: {error}')
            if not has_taken:
                self._stop.wait(period)

    def _note_trouble(self, text: str) -> None:
        session = self._session
        if session is not None:
            session.fail(text)
        else:
            self._warnings.fail('trouble', text)

    def _accept(self, message: ReceivedMessage) -> None:
        if message.topic.name == self._event_topic.name and self._is_own(message.data):
            return
        self._streams.hear(message)
        with self._lock:
            if self._session is not None:
                self._session.put(message)
            else:
                self._ring.append(message)

    def _is_own(self, data: bytes) -> bool:
        """Whether an event is one that this node has published, and written, itself."""
        event = deserialize_message(data, EpisodeEvent)
        return (
            event.episode_id,
            event.type,
            conversion.stamp_ns(event.header.stamp),
        ) in self._own_events

    # -- services ----------------------------------------------------------------------

    def _on_start(
        self, request: StartEpisode.Request, response: StartEpisode.Response
    ) -> StartEpisode.Response:
        problem = self._refusal(has_episode=False) or self._obstacle()
        lacking = '' if problem else self._wait_until_ready()
        if lacking and self._value('require_ready'):
            problem = lacking
        if problem:
            response.message = problem
            return response
        response.message = lacking
        now = self._now()
        start = now + int(self._value('announce') * 1e9)
        episode_id, folder = self._new_name()
        facts = {pair.key: pair.value for pair in request.attributes}
        facts |= {'frame_ros_version': package_version(), 'namespace': self.get_namespace()}
        if lacking:
            facts['not_ready'] = lacking
        event = self._event(EventType.START, start, episode_id, text=request.notes)
        for name in conversion.EVENT_TEXT_FIELDS:
            setattr(event, name, getattr(request, name))
        event.attributes = [KeyValue(key=key, value=value) for key, value in facts.items()]
        if self._value('enabled'):
            texts = {name: getattr(request, name) for name in conversion.EVENT_TEXT_FIELDS}
            texts = {'episode_id': episode_id, **texts, 'notes': request.notes, 'start': str(start)}
            try:
                self._open(folder, {**facts, **texts}, now)
            except FrameRosError as error:
                response.message = str(error)
                return response
            response.bag = str(folder)
        self._episode_id = episode_id
        self._streams.begin(start)
        self._publish(event)
        self.get_logger().info(f'episode {episode_id} begins')
        response.success, response.episode_id, response.start = True, episode_id, _time(start)
        return response

    def _wait_until_ready(self) -> str:
        """Waits for every node, at most `ready_timeout` s; what is still missing, in words."""
        end = time.monotonic() + self._value('ready_timeout')
        while missing := self._watch.missing():
            if time.monotonic() >= end:
                text = f'not everything is ready: {"; ".join(missing)}'
                self.get_logger().warning(text)
                return text
            if self._recorded is not None and self._value('enabled'):
                self._recorded.discover()
            self._readiness.look()
            time.sleep(READY_PERIOD)
        return ''

    def _on_mark(
        self, request: MarkEpisode.Request, response: MarkEpisode.Response
    ) -> MarkEpisode.Response:
        allowed = [kind for kind in EventType if kind not in (EventType.START, EventType.END)]
        problem = self._refusal(has_episode=True)
        if not problem and request.type not in allowed:
            names = ', '.join(f'{kind.name}={kind.value}' for kind in allowed)
            problem = f'type {request.type} is not one of {names}'
        if problem:
            response.message = problem
            return response
        stamp = conversion.stamp_ns(request.stamp) or self._now()
        kind = EventType(request.type)
        event = self._event(kind, stamp, self._episode_id, source='operator', text=request.text)
        event.operation = request.operation
        self._publish(event)
        response.success = True
        return response

    def _on_end(
        self, request: EndEpisode.Request, response: EndEpisode.Response
    ) -> EndEpisode.Response:
        problem = self._refusal(has_episode=True)
        if not problem and request.outcome not in list(Outcome):
            names = ', '.join(f'{outcome.name}={outcome.value}' for outcome in Outcome)
            problem = f'outcome {request.outcome} is not one of {names}'
        if problem:
            response.message = problem
            return response
        response.episode_id = self._episode_id
        try:
            response.bag, response.message = self._finish(
                request.outcome, request.notes, self._value('post_roll')
            )
            response.success = True
        except BagError as error:
            response.message = str(error)
        return response

    def _refusal(self, has_episode: bool) -> str:
        if not self._is_active:
            return 'the recorder is not active; configure and activate it first'
        if has_episode and not self._episode_id:
            return 'no episode is running; start one first'
        if not has_episode and self._episode_id:
            return f'episode {self._episode_id} is running; end it first'
        return ''

    # -- bags --------------------------------------------------------------------------

    def _obstacle(self) -> str:
        """What keeps an episode from beginning, if anything; looks once more for all topics."""
        if not self._now():
            return 'use_sim_time is set and nothing came on /clock yet; start the simulation'
        if not self._value('enabled'):
            return ''
        try:
            folder = Path(self._value('directory')).expanduser()
            refuse_full_disk(folder, self._value('min_free_bytes'))
        except BagError as error:
            return str(error)
        self._recorded.retry()
        return ''

    def _open(self, folder: Path, metadata: dict[str, str], now: int) -> None:
        limits = Limits(
            self._value('queue_bytes'), self._value('max_bytes'), self._value('min_free_bytes')
        )
        convert = image_conversion(self._value('camera_images'))
        writer = BagWriter(folder, metadata, compression_level=self._value('compression_level'))
        session = BagSession(writer, limits, [self._event_topic], self.get_logger().error, convert)
        self._lost_before = self._recorded.lost()
        with self._lock:
            recent = self._ring.take(now)
            begin = recent[0].received if recent else now
            for topic in self._recorded.topics:
                # Said once, for all to come: every bag begins with it.
                for message in tuple(topic.latched or ()):
                    if message not in recent:
                        session.put(message._replace(received=begin))
            for message in recent:
                session.put(message)
            self._session = session

    def _finish(self, outcome: int, notes: str, post_roll: float) -> tuple[str, str]:
        """Announces END, waits for it, closes the bag; returns its folder, '' if recording is off,
        and what it lacks."""
        end = self._now() + int(self._value('announce') * 1e9)
        event = self._event(EventType.END, end, self._episode_id, text=notes)
        event.outcome = outcome
        self._streams.end(end)
        self._publish(event)
        # A simulation that is stopped with the recorder is not waited for long.
        self._time.wait_until(end + int(post_roll * 1e9), 2.0 if post_roll else 0.5)
        with self._lock:
            session, self._session = self._session, None
        episode_id, self._episode_id = self._episode_id, ''
        self.get_logger().info(f'episode {episode_id} ends: {Outcome(outcome).name}')
        if session is None:
            return '', ''
        lost = self._recorded.lost()
        lost = {name: n - self._lost_before.get(name, 0) for name, n in lost.items()}
        lost = {name: n for name, n in lost.items() if n}
        silent = self._streams.silent(self._recorded.why_silent)
        facts = {'outcome': Outcome(outcome).name, 'end': str(end), 'end_notes': notes}
        skipped = dict(self._recorded.skipped)
        bag = session.finish(facts, lost=lost, skipped=skipped, silent=silent, outcome=int(outcome))
        lacks = []
        if session.dropped or lost:
            lacks.append(f'dropped {dict(session.dropped)} {session.reasons}, lost {lost}')
        lacks += [f'{name} sent nothing in the episode: {why}' for name, why in silent.items()]
        for lack in lacks:
            self.get_logger().warning(f'{bag.name}: {lack}')
        self._make_video(bag)
        return str(bag), '; '.join(lacks)

    def _make_video(self, bag: Path) -> None:
        topic = self._value('video_topic')
        if not topic:
            return
        if not topic.startswith('/'):
            topic = self.get_namespace().rstrip('/') + '/' + topic
        try:
            self._videos.append(start_video(bag, topic))
        except OSError as error:
            self.get_logger().warning(f'no video of {bag}: {error}')

    # -- events ------------------------------------------------------------------------

    def _event(
        self, kind: EventType, stamp: int, episode_id: str, source: str = 'recorder', text: str = ''
    ) -> EpisodeEvent:
        event = EpisodeEvent(type=int(kind), episode_id=episode_id, source=source, text=text)
        event.header.stamp = _time(stamp)
        return event

    def _publish(self, event: EpisodeEvent) -> None:
        """Publishes an event and writes it to the bag itself: a bag always has its own START and
        END."""
        stamp = conversion.stamp_ns(event.header.stamp)
        self._own_events.add((event.episode_id, event.type, stamp))
        now = self._now()
        self._events.publish(event)
        data = serialize_message(event)
        # rclpy hands out up to 7 bytes behind the message; strict readers refuse them.
        data = data[: trace(self._event_fields, EVENT_TYPE, np.frombuffer(data, np.uint8)).size]
        with self._lock:
            if self._session is not None:
                self._session.put(ReceivedMessage(self._event_topic, now, now, data), keep=True)

    # -- small things ------------------------------------------------------------------

    def _value(self, name: str) -> Any:
        return self.get_parameter(name).value

    def _now(self) -> int:
        return self._time.now()

    def _new_name(self) -> tuple[str, Path]:
        parts = [part for part in self.get_namespace().split('/') if part]
        parts += [self._value('prefix'), time.strftime('%Y%m%d_%H%M%S')]
        directory = Path(self._value('directory')).expanduser()
        while True:
            name = '_'.join([*parts, f'{self._count:03d}'])
            self._count += 1
            if not any(directory.glob(f'{glob.escape(name)}*')):
                return name, directory / name


def _time(stamp: int) -> Time:
    return Time(sec=stamp // conversion.NANOSECONDS, nanosec=stamp % conversion.NANOSECONDS)


def main() -> None:
    """Runs the node."""
    sys.exit(run_node(EpisodeRecorder))


if __name__ == '__main__':
    main()
