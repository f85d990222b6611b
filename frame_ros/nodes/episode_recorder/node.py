# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The episode recorder: services that begin, mark and end episodes; one bag per episode."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from frame_ros.bags.recording.episode import EpisodeNames, EpisodeRecording
from frame_ros.bags.recording.images import image_conversion
from frame_ros.bags.recording.session import ReceivedMessage, refuse_full_disk
from frame_ros.bags.recording_lock import RecordingLock
from frame_ros.core.errors import BagError, FrameRosError, SetupError
from frame_ros.core.events import EventType, Outcome
from frame_ros.core.machine_lock import MachineLock
from frame_ros.core.output_files import make_folder
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.core.version import package_version
from frame_ros.msg import EpisodeEvent
from frame_ros.nodes.episode_recorder import events
from frame_ros.nodes.episode_recorder.clock import RecordingClock, pause
from frame_ros.nodes.episode_recorder.options import EpisodeRecorderOptions
from frame_ros.nodes.episode_recorder.topics import END, MARK, START
from frame_ros.nodes.episode_recorder.video import EpisodeVideos
from frame_ros.nodes.runtime import recorded_topics
from frame_ros.nodes.runtime.endpoints import endpoint
from frame_ros.nodes.runtime.message_parts import time_message
from frame_ros.nodes.runtime.node_readiness import Readiness
from frame_ros.nodes.runtime.parameters import declare_options
from frame_ros.nodes.runtime.readiness_watch import ReadinessWatch
from frame_ros.nodes.runtime.spinning import run_node
from frame_ros.srv import EndEpisode, MarkEpisode, StartEpisode

READY_PERIOD = 0.1  # s between two looks at what is not ready
OF_EPISODES = (EventType.START, EventType.END)


class EpisodeRecorderNode(LifecycleNode):
    """Offers start_episode, mark_episode and end_episode; publishes episode_events; writes bags
    while active."""

    def __init__(self) -> None:
        super().__init__('episode_recorder')
        self._warnings = RepeatedWarnings(self.get_logger())
        self._recording: Any = None  # an EpisodeRecording, once active
        self.options = declare_options(self, EpisodeRecorderOptions, self._change)
        self._events = events.RecorderEvents(self)
        # A start waits for others to become ready, while everything else is served.
        self._starting = ReentrantCallbackGroup()
        on_start: Any = self._on_start  # rclpy's types know of no coroutine
        self.create_service(*endpoint(START), on_start, callback_group=self._starting)
        self.create_service(*endpoint(MARK), self._on_mark)
        self.create_service(*endpoint(END), self._on_end)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._discovery: Any = None
        self._recorded: Any = None  # of TopicSubscriptions, once configured
        self._time: Any = None  # a RecordingClock, once active
        self._folder_lock = RecordingLock()
        self._only = MachineLock('recorder', self.get_namespace())
        self._videos = EpisodeVideos(self)
        self._readiness = Readiness(
            self,
            self._folder_name(),
            problem=lambda: '' if self._is_active else f'it is not active {self._problem}'.strip(),
            inputs=lambda: self._recorded.states() if self._recorded and self._is_active else (),
        )
        self._watch = ReadinessWatch(self, self.options.nodes)
        self._is_active = self._is_beginning = False
        self._episode_id, self._start = '', 0  # of the episode that runs, ns
        self._names = EpisodeNames()
        self._problem = ''
        if self.options.autostart:
            self._start_up()

    # -- lifecycle ---------------------------------------------------------------------

    def _start_up(self) -> None:
        """Configures and activates: a recorder that cannot record ends, and a run with it."""
        for trigger in (self.trigger_configure, self.trigger_activate):
            if trigger() != TransitionCallbackReturn.SUCCESS:
                problem = self._problem or 'it could not start; see the message above'
                self.destroy_node()
                raise SetupError(problem)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Checks the parameters, the directory, and what writing needs."""
        try:
            self._events.check()
            chosen = self.options.topics
            also = recorded_topics.absolute_names(self, chosen.also)
            self._expected = recorded_topics.absolute_names(self, chosen.expected)
            topics = recorded_topics.TopicFilter(
                self.get_namespace(), chosen.include, chosen.exclude, also
            )
            image_conversion(self.options.camera_images)
            if self.options.enabled:
                make_folder(self._directory(), 'directory')
        except FrameRosError as error:
            return self._refuse(error)
        self._recorded = recorded_topics.TopicSubscriptions(self, topics, [self._events.topic])
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begins to listen; fails where another recorder is active in the namespace."""
        try:
            self._only.acquire()
        except SetupError as error:
            return self._refuse(error)
        self._problem = ''
        self._recording = EpisodeRecording(
            self._recorded,
            self.options,
            self._events.topic,
            self._expected,
            self.get_logger().error,
        )
        self._time = RecordingClock(self)
        if self.options.enabled:
            self._hold_folder()
            self._discover()
            self._discovery = self.create_timer(
                self.options.topics.discovery_period, self._discover
            )
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

    def _refuse(self, error: Exception) -> TransitionCallbackReturn:
        self._problem = str(error)
        self.get_logger().error(self._problem)
        return TransitionCallbackReturn.FAILURE

    def _deactivate(self) -> None:
        try:
            if self._episode_id:
                self._finish(int(Outcome.STOPPED), 'the recorder was stopped', is_stopped=True)
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
        self._folder_lock.release()
        self._only.release()

    # -- listening ---------------------------------------------------------------------

    def _discover(self) -> None:
        if self._recorded is not None:
            self._recorded.discover()
        self._videos.look()

    def _read(self) -> None:
        """Runs in a plain thread: takes messages and passes them on until stopped."""
        now = self._time.now if self._time.is_simulated else None
        period = self.options.poll_period
        while not self._stop.is_set():
            try:
                has_taken = self._recorded.poll(self._accept, now)
            except Exception as error:  # this thread must live; an episode must not look whole
                has_taken = False
                self._note_trouble(f'messages could not be taken: {type(error).__name__}: {error}')
            if not has_taken:
                self._stop.wait(period)

    def _note_trouble(self, text: str) -> None:
        if not self._recording.fail(text):
            self._warnings.fail('trouble', text)

    def _accept(self, message: ReceivedMessage) -> None:
        if not self._events.is_own(message):
            self._recording.accept(message)

    # -- services ----------------------------------------------------------------------

    async def _on_start(
        self, request: StartEpisode.Request, response: StartEpisode.Response
    ) -> StartEpisode.Response:
        problem = self._refusal(has_episode=False) or self._obstacle()
        if problem:
            response.message = problem
            return response
        self._is_beginning = True
        try:
            lacking = await self._wait_until_ready()
        finally:
            self._is_beginning = False
        problem = lacking if lacking and self.options.require_ready else ''
        problem = self._refusal(has_episode=False) or problem  # it may have been stopped meanwhile
        if problem:
            response.message = problem
            return response
        response.message = lacking
        return self._begin(request, response)

    def _begin(
        self, request: StartEpisode.Request, response: StartEpisode.Response
    ) -> StartEpisode.Response:
        """Opens the bag and announces the start; in the response, what the bag lacks by now."""
        lacking = response.message
        now = self._now()
        start = now + int(self.options.announce * SECOND)
        parts = [*filter(None, self.get_namespace().split('/')), self.options.prefix]
        episode_id, folder = self._names.new(self._directory(), parts)
        facts = {'robot': self.options.robot_name} if self.options.robot_name else {}
        facts |= {pair.key: pair.value for pair in request.attributes}
        facts |= {'frame_ros_version': package_version(), 'namespace': self.get_namespace()}
        if lacking:
            facts['not_ready'] = lacking
        event = events.start_event(request, start, episode_id, facts)
        if self.options.enabled:
            texts = events.texts_of(request, start, episode_id)
            try:
                self._recording.open(folder, {**facts, **texts}, now)
            except FrameRosError as error:
                response.message = str(error)
                return response
            response.bag = str(folder)
        self._episode_id, self._start = episode_id, start
        self._recording.streams.begin(start)
        self._publish(event)
        self.get_logger().info(f'episode {episode_id} begins')
        response.success, response.episode_id, response.start = (
            True,
            episode_id,
            time_message(start),
        )
        return response

    async def _wait_until_ready(self) -> str:
        """Waits for every node, at most `ready_timeout` s; what is still missing, in words."""
        end = time.monotonic() + self.options.ready_timeout
        while self._is_active and (missing := self._watch.missing()):
            if time.monotonic() >= end:
                text = f'not everything is ready: {"; ".join(missing)}'
                self.get_logger().warning(text)
                return text
            if self._recorded is not None and self.options.enabled:
                self._recorded.discover()
            self._readiness.look()
            await pause(self, READY_PERIOD, self._starting)
        return ''

    def _on_mark(
        self, request: MarkEpisode.Request, response: MarkEpisode.Response
    ) -> MarkEpisode.Response:
        allowed = [kind for kind in EventType if kind not in OF_EPISODES]
        problem = self._refusal(has_episode=True)
        if not problem and request.type not in allowed:
            names = ', '.join(f'{kind.name}={kind.value}' for kind in allowed)
            problem = f'type {request.type} is not one of {names}'
        if problem:
            response.message = problem
            return response
        now = max(self._now(), self._start)  # START is published before its stamp
        stamp = stamp_ns(request.stamp) or now
        if problem := events.outside(stamp, self._start, now):
            response.message = problem
            return response
        stamp, kind = min(stamp, now), EventType(request.type)
        event = events.make_event(
            kind, stamp, self._episode_id, source='operator', text=request.text
        )
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
            response.bag, response.message = self._finish(request.outcome, request.notes)
            response.success = True
        except BagError as error:
            response.message = str(error)
        return response

    def _refusal(self, has_episode: bool) -> str:
        if not self._is_active:
            return 'the recorder is not active; configure and activate it first'
        if has_episode and not self._episode_id:
            return 'no episode is running; start one first'
        if not has_episode and self._is_beginning:
            return 'an episode is about to begin: it waits until everything is ready'
        if not has_episode and self._episode_id:
            return f'episode {self._episode_id} is running; end it first'
        return ''

    # -- bags --------------------------------------------------------------------------

    def _obstacle(self) -> str:
        """Reason that keeps an episode from beginning, or ''; looks once more for all topics."""
        if not self._now():
            return 'use_sim_time is set and nothing came on /clock yet; start the simulation'
        if not self.options.enabled:
            return ''
        try:
            refuse_full_disk(self._directory(), self.options.limits.free)
        except BagError as error:
            return str(error)
        self._hold_folder()
        self._recorded.retry()
        return ''

    def _hold_folder(self) -> None:
        """Marks the folder as one that is recorded into, for `frame-ros clean`."""
        folder = self._directory()
        self._readiness.hardware_id = self._folder_name()
        try:
            self._folder_lock.hold(folder)
        except OSError as error:
            self._warnings.warn('lock', f'{folder} cannot be marked as recorded into: {error}')

    def _finish(self, outcome: int, notes: str, is_stopped: bool = False) -> tuple[str, str]:
        """Announces END, waits for it, and for what comes behind it unless the recorder is stopped,
        closes the bag; returns its folder, '' if recording is off, and what it lacks."""
        end = self._now() + int(self.options.announce * SECOND)
        event = events.make_event(EventType.END, end, self._episode_id, text=notes)
        event.outcome = outcome
        self._recording.streams.end(end)
        self._publish(event)
        # A simulation that is stopped with the recorder is not waited for long.
        post_roll = 0.0 if is_stopped else self.options.post_roll
        self._time.wait_until(end + int(post_roll * SECOND), 0.5 if is_stopped else 2.0)
        if not is_stopped:
            self._recording.wait_for_late(self.options.late_wait)
        session = self._recording.close()
        episode_id, self._episode_id = self._episode_id, ''
        self.get_logger().info(f'episode {episode_id} ends: {Outcome(outcome).name}')
        if session is None:
            return '', ''
        facts = {'outcome': Outcome(outcome).name, 'end': str(end), 'end_notes': notes}
        bag, lacks = self._recording.finish(session, facts, int(outcome))
        for lack in lacks:
            self.get_logger().warning(f'{bag.name}: {lack}')
        self._videos.make(bag, self.options.video_topic)
        return str(bag), '; '.join(lacks)

    def _publish(self, event: EpisodeEvent) -> None:
        """Publishes an event and writes it to the bag itself: a bag always has its own START and
        END."""
        self._recording.put(self._events.publish(event, self._now()))

    # -- small things ------------------------------------------------------------------

    def _change(self, options: EpisodeRecorderOptions) -> None:
        self.options = options
        if self._recording is not None:
            self._recording.options = options

    def _directory(self) -> Path:
        return Path(self.options.directory).expanduser().absolute()

    def _folder_name(self) -> str:
        """Returns the name of the folder itself, also where it is given as `..`."""
        return Path(os.path.realpath(self._directory())).name

    def _now(self) -> int:
        return self._time.now()


def main() -> None:
    """Runs the node."""
    sys.exit(run_node(EpisodeRecorderNode))
