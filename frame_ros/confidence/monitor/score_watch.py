# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One score over the inferences of an episode: is it beyond its threshold?"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from operator import add

from frame_ros.confidence.monitor.options import ALL, CURRENT, SHARE, WINDOW, MonitorOptions
from frame_ros.confidence.monitor.records import Cause, Reason
from frame_ros.confidence.monitor.score_limits import ScoreLimit

NAN = float('nan')
LARGEST = 1e300


class ScoreWatch:
    """Takes a score per inference, and compares it with its threshold.

    Means are of the values and of the thresholds that held for them. So a mean is beyond only if
    one of its values was, and no aggregation has more false alarms than the threshold promises.

    Attributes:
        limit: the threshold.
        stamp: ns, of the newest inference that had the score; None: none yet.
        value: the score, aggregated; NaN: none yet.
        threshold: for it, aggregated likewise.
        excess: how far the value is beyond it, aggregated likewise; negative on the good side.
        is_beyond: the comparison, with its hysteresis.
        lacks_completion: the newest value had no threshold, for want of the completion or time.
    """

    def __init__(self, limit: ScoreLimit, options: MonitorOptions, hysteresis: float) -> None:
        self.limit = limit
        self.change(options, hysteresis)
        self.reset()

    def change(self, options: MonitorOptions, hysteresis: float) -> None:
        """Takes other values of the options that are live."""
        self._options = options
        self._hysteresis = hysteresis

    def reset(self) -> None:
        """Starts a new episode."""
        self.stamp: int | None = None
        self.value = self.threshold = self.excess = NAN
        self.is_beyond = self.lacks_completion = False
        self._last: deque[tuple[float, ...]] = deque(maxlen=self._options.window)
        self._count = 0
        self._sums: tuple[float, ...] = (0.0, 0.0, 0.0)

    def update(self, stamp: int, value: float, threshold: float) -> None:
        """Takes the value of an inference and the threshold for it; NaN: it had none. Without a
        value nothing changes; an infinite one counts as LARGEST, so that sums stay numbers.
        """
        if value != value:
            return
        self.lacks_completion = threshold != threshold
        if self.lacks_completion:
            return
        self.stamp = stamp
        value = min(max(value, -LARGEST), LARGEST)
        excess = self.limit.excess(value, threshold)
        self.value, self.threshold, self.excess = self._aggregated((value, threshold, excess))
        least = -self._hysteresis if self.is_beyond else 0.0
        if self._options.aggregation == SHARE:
            count = sum(excess > least for _, _, excess in self._last)
            self.is_beyond = count >= self._options.needed_of_window
        else:
            self.is_beyond = self.excess > least

    def reason(self) -> Reason:
        """Returns in words how the score is beyond its threshold."""
        options, limit = self._options, self.limit
        side = 'below' if limit.is_higher_better else 'above'
        value, threshold = f'{self.value:.3g}', f'{self.threshold:.3g}'
        if options.aggregation == SHARE:
            count = sum(excess > 0.0 for _, _, excess in self._last)
            text = (
                f'{limit.score} was {side} its threshold in {count} of the last '
                f'{len(self._last)} inferences (newest {value}, threshold {threshold})'
            )
        else:
            mean = {WINDOW: f', mean of the last {len(self._last)},', ALL: ', mean so far,'}
            name = f'{limit.score}{mean.get(options.aggregation, "")}'
            text = f'{name} {value} is {side} its threshold {threshold}'
            if not self.excess > 0.0:
                text = f'{name} {value} is back at its threshold {threshold}, not yet by enough'
        return Reason(Cause.SCORE, text)

    def _aggregated(self, newest: tuple[float, ...]) -> Sequence[float]:
        """Takes a value, its threshold and excess, and returns them as the options have it."""
        aggregation = self._options.aggregation
        if aggregation == CURRENT:
            return newest
        if aggregation == ALL:
            self._count += 1
            self._sums = tuple(map(add, self._sums, newest))
            return [each / self._count for each in self._sums]
        self._last.append(newest)
        if aggregation == SHARE:
            return newest
        # Summed again each time: running sums of a window would keep the rounding of all before.
        return [math.fsum(column) / len(self._last) for column in zip(*self._last)]
