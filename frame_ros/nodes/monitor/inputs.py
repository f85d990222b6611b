# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The newest inputs of the monitor, and the topics that bring them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Float64

from frame_ros.bags.streams.contacts import CONTACT as CONTACT_STREAM
from frame_ros.bags.streams.contacts import PROXIMITY as PROXIMITY_STREAM
from frame_ros.confidence.monitor import MonitorSample
from frame_ros.confidence.monitor.options import (
    CONTACT,
    DURATION_TOPIC,
    NEAR,
    NEAR_OR_CONTACT,
    PROGRESS,
    MonitorOptions,
)
from frame_ros.confidence.monitor.records import is_of_future
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.core.topics import Topic
from frame_ros.metrics.distance_bounds import NEAREST_SEEN, bounded
from frame_ros.msg import ConfidenceMetrics, ContactState, Proximity
from frame_ros.nodes.monitor import topics
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription

NAN = float('nan')


class NewestInputs:
    """The newest messages, as samples of the monitor take them.

    Attributes:
        scores_stamp, distance_stamp, contact_stamp: ns, of the newest; 0: none has come.
        progress: at the last sample; NaN: none has come, or none for too long.
        expected_duration: the newest, of whichever episode; NaN: none has come.
    """

    def __init__(self, scores: Sequence[str], distance_bound: str = NEAREST_SEEN) -> None:
        """scores: fields of ConfidenceMetrics. distance_bound: one of `distance_bounds.BOUNDS`."""
        self._bound = distance_bound
        self._names = tuple(scores)
        self.expected_duration = NAN
        self.reset()

    def reset(self) -> None:
        """Forgets all that has a time, as of another clock."""
        self._distance, self.distance_stamp = NAN, 0
        self._contact: bool | None = None
        self.contact_stamp = self.scores_stamp = 0
        self.begin_episode(0)

    def begin_episode(self, stamp: int) -> None:
        """Forgets what was of the episode before, which ended at a stamp (ns) or before. What is
        of the new one, and came with its START, stays.
        """
        self._since = stamp
        if self.scores_stamp <= stamp:
            self._scores: dict[str, float] | None = None
            self.scores_stamp = 0
        self.progress = self._progress = NAN
        self._progress_received = 0

    def take_scores(self, message: ConfidenceMetrics) -> bool:
        """Takes the scores of an inference; returns whether they are newer than those before,
        and of this episode.
        """
        stamp = stamp_ns(message.header.stamp)
        if stamp <= max(self.scores_stamp, self._since):  # late, and of the episode before
            return False
        self._scores = {name: float(getattr(message, name)) for name in self._names}
        self.scores_stamp = stamp
        return True

    def take_distance(self, message: Proximity) -> bool:
        """Takes a distance; returns whether it is newer than the one before."""
        stamp = stamp_ns(message.header.stamp)
        if stamp <= self.distance_stamp:
            return False
        distance, unobserved = PROXIMITY_STREAM.from_message(message)[:2]
        self._distance = bounded(distance, unobserved, self._bound)
        self.distance_stamp = stamp
        return True

    def take_contact(self, message: ContactState) -> bool:
        """Takes a contact state; returns whether it says something else than the one before."""
        stamp = stamp_ns(message.header.stamp)
        if stamp <= self.contact_stamp:
            return False
        before, self._contact = self._contact, CONTACT_STREAM.from_message(message)[0]
        is_first, self.contact_stamp = not self.contact_stamp, stamp
        return is_first or self._contact is not before

    def take_progress(self, value: float, received: int) -> None:
        """Takes a progress, which has no stamp: it is of when it was received, ns."""
        self._progress, self._progress_received = value, received

    def sample(self, stamp: int, progress_timeout: float = math.inf) -> MonitorSample:
        """Returns what there is at a moment, ns; the scores of an inference once. progress_timeout:
        s after which a progress is not known any more.
        """
        scores, self._scores = self._scores, None
        is_known = stamp - self._progress_received <= progress_timeout * SECOND
        self.progress = self._progress if is_known else NAN
        return MonitorSample(
            stamp=stamp,
            scores=scores,
            scores_stamp=self.scores_stamp if scores is not None else 0,
            distance=self._distance,
            distance_stamp=self.distance_stamp,
            contact=self._contact,
            contact_stamp=self.contact_stamp,
            progress=self.progress,
            expected_duration=self.expected_duration,
        )


class MonitorSubscriptions:
    """Subscribes what the rule needs, for one thread that polls: of what has waited only the newest
    distance counts, but every inference and every change of contact.
    """

    def __init__(
        self,
        node: Node,
        options: MonitorOptions,
        inputs: NewestInputs,
        judge: Callable[[], object],
        others: dict[Topic, Callable[[Any], object]],
    ) -> None:
        """judge: is called when something that counts has come. others: further topics -> what
        takes their messages.
        """
        self._inputs, self._judge = inputs, judge
        self._clock = node.get_clock()
        self._warnings = RepeatedWarnings(node.get_logger())
        self._is_nearer_or_farther = False
        self._subscriptions: dict[str, FittingSubscription] = {}

        def subscribe(
            role: str,
            topic: Topic,
            take: Callable[[Any], object],
            is_required: bool = False,
            is_steady: bool = False,
        ) -> None:
            self._subscriptions[role] = FittingSubscription(
                node, topic, take, is_required=is_required, is_steady=is_steady
            )

        for topic, take in others.items():
            subscribe(topic.name, topic, take)
        # Distance and contact are shown in any case, and judged where the rule asks for them.
        is_near = options.context in (NEAR_OR_CONTACT, NEAR)
        is_contact = options.context in (NEAR_OR_CONTACT, CONTACT)
        subscribe('proximity', topics.PROXIMITY, self._on_distance, is_near, True)
        subscribe('contact', topics.CONTACT, self._on_contact, is_contact, True)
        if options.completion_from == PROGRESS:
            subscribe('progress', topics.PROGRESS, self._on_progress)
        if options.completion_from == DURATION_TOPIC:
            subscribe('duration', topics.DURATION, self._on_duration)
        subscribe('confidence', topics.CONFIDENCE, self._on_scores, True)

    def topic_of(self, role: str) -> str:
        """The absolute name of a role's topic."""
        return self._subscriptions[role].topic_name

    def poll(self) -> None:
        """Takes all that has arrived, the inferences last."""
        for subscription in self._subscriptions.values():
            subscription.poll()
        if self._is_nearer_or_farther:
            self._is_nearer_or_farther = False
            self._judge()

    def _is_usable(self, role: str, message: Any) -> bool:
        """Returns whether a message is not of the future, and warns if it is."""
        stamp, now = stamp_ns(message.header.stamp), self._now()
        if not is_of_future(stamp, now):
            return True
        ahead = (stamp - now) / SECOND
        name = self.topic_of(role)
        self._warnings.warn(
            'future',
            f'left out: {name} is stamped {ahead:.1f} s ahead of the clock; a clock is wrong',
        )
        return False

    def _now(self) -> int:
        return int(self._clock.now().nanoseconds)

    def _on_scores(self, message: ConfidenceMetrics) -> None:
        if self._is_usable('confidence', message) and self._inputs.take_scores(message):
            self._judge()

    def _on_distance(self, message: Proximity) -> None:
        if self._is_usable('proximity', message):
            self._is_nearer_or_farther |= self._inputs.take_distance(message)

    def _on_contact(self, message: ContactState) -> None:
        if self._is_usable('contact', message) and self._inputs.take_contact(message):
            self._judge()

    def _on_progress(self, message: Float64) -> None:
        self._inputs.take_progress(message.data, self._now())

    def _on_duration(self, message: Float64) -> None:
        self._inputs.expected_duration = message.data

    def close(self) -> None:
        """Ends the subscriptions."""
        for subscription in self._subscriptions.values():
            subscription.destroy()
