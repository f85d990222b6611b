# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Actions and inferences to efficiency: the side of the pipeline that can wait for inferences."""

from __future__ import annotations

import math

from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.action_order import ActionOrder
from frame_ros.episodes.metric_pipeline.efficiency_state import EfficiencyState
from frame_ros.episodes.metric_pipeline.merge import StampMerge
from frame_ros.episodes.metric_pipeline.metric_sample import MetricSample
from frame_ros.episodes.metric_pipeline.summary import EpisodeSummaries
from frame_ros.metrics.message_fields import FIELDS

NAN = math.nan
# EfficiencyMetrics comes at the first step of each such period, ns.
PERIOD = SECOND // 10
# Percentiles keep every latency of an episode; outside of one they begin again after so many.
MOST_OUTSIDE = 10_000


class ControlTickMetrics:
    """Control ticks and inferences in stamp order, each held for a fixed time."""

    def __init__(
        self,
        hold: float,
        action_names: tuple[str, ...],
        account: EpisodeSummaries,
        samples: list[MetricSample],
    ) -> None:
        """`hold` in s; `action_names` are the joints of actions, empty: those of the first; samples
        are appended to `samples`."""
        self.merge = StampMerge(
            {'event': self._on_event, 'inference': self._on_inference, 'action': self._on_tick},
            waits_for=(),
            hold=hold,
        )
        self._account = account
        self._samples = samples
        self._efficiency = EfficiencyState()
        self._order = ActionOrder(action_names)
        self._begin('', None)

    def reset_clock(self, stream: str, stamp: int) -> None:
        """The clock of a stream was reset, to `stamp`: rates begin again.

        Samples that are held are of the old clock, and would come between those of the new one. An
        event is of the clock of whoever published it, and waits for its stamp.
        """
        self.merge.flush(keep='event')
        self.merge.forget(stream, stamp)
        if stream == 'action':
            self._efficiency.reset_rate()
            self._period = self._begun = 0

    def _begin(self, episode_id: str, start: int | None) -> None:
        self._efficiency.reset()
        self._order.begin()
        self._episode_id, self._start = episode_id, start
        # Samples of before the start that come late belong to no episode.
        self._begun = start or 0
        self._ticks = self._period = 0

    def _on_event(self, stamp: int, event: Event) -> None:
        if event.type is EventType.START:
            self._account.start(event, 'ticks')
            self._begin(event.episode_id, stamp)
        elif event.type is EventType.END and self._account.is_of(event, 'ticks'):
            self._account.end(event, 'ticks', self._row(stamp) if self._ticks else None)
            self._begin('', None)

    def _on_inference(self, stamp: int, values: dict[str, float]) -> None:
        if stamp < self._begun:
            return
        if self._start is None and self._efficiency.inferences >= MOST_OUTSIDE:
            self._efficiency.reset()
        self._efficiency.update_inference(values)

    def _on_tick(self, stamp: int, action: tuple) -> None:
        if stamp < self._begun:
            return
        before = self._order.names
        if self._order.order(*action) is None and self._order.names:
            return  # a part of the joints, as of a gripper that is not sent with its arm
        if self._order.names != before:  # what came before was of other joints
            self._efficiency.reset_rate()
            self._ticks = 0
        self._efficiency.update_step(stamp)
        self._ticks += 1
        # The first step of each period, if it came in time: of a late one nobody knows any more
        # what inferences there were before it.
        period = stamp // PERIOD
        if period == self._period:
            return
        self._period = period
        if stamp < self.merge.released:
            return
        row = self._row(stamp)
        self._samples.append(
            MetricSample('efficiency', stamp, self._episode_id, FIELDS['efficiency'], row)
        )

    def _row(self, stamp: int) -> tuple:
        start = self._start
        time = (stamp - start) / SECOND if start is not None else NAN
        return (self._ticks - 1, time) + self._efficiency.values()
