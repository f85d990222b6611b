# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Drift of the scores that the monitor judges, over the episodes that it has seen."""

from __future__ import annotations

import math
from collections.abc import Mapping

from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.guarantees.drift import DriftDetector, DriftVerdict, episode_value
from frame_ros.confidence.monitor.options import MonitorOptions
from frame_ros.confidence.monitor.score_limits import ScoreLimit
from frame_ros.core.errors import CalibrationError


class DriftWatch:
    """Takes the scores of each inference, and tests an episode when it has ended.

    Attributes:
        problem: why drift is not watched; '' if it is.
    """

    def __init__(
        self,
        limits: tuple[ScoreLimit, ...],
        options: MonitorOptions,
        calibration: CalibrationFile | None,
    ) -> None:
        self._signs = {each.score: -1.0 if each.is_higher_better else 1.0 for each in limits}
        self._detector: DriftDetector | None = None
        self.problem = ''
        known = {} if calibration is None else calibration.drift
        reference = {name: known[name].tolist() for name in self._signs if name in known}
        try:
            self._detector = DriftDetector(reference, options.drift_alpha, options.drift_episodes)
        except CalibrationError as error:
            self.problem = str(error)
        self.start()

    def start(self) -> None:
        """Starts an episode, and forgets one that has not ended."""
        self._stamp = -1
        self._sums = dict.fromkeys(self._signs, (0.0, 0))

    def take(self, stamp: int, scores: Mapping[str, float]) -> None:
        """Takes the scores, as they stand, of an inference (ns); nothing if it is not newer, or if
        drift is not watched.
        """
        if self._detector is None or stamp <= self._stamp:
            return
        self._stamp = stamp
        for name, sign in self._signs.items():
            value = scores.get(name, math.nan)
            if value == value:
                total, count = self._sums[name]
                self._sums[name] = total + sign * value, count + 1

    def end(self) -> None:
        """Tests the episode that has ended."""
        if self._detector is not None:
            self._detector.update({name: episode_value(*sum_) for name, sum_ in self._sums.items()})
        self.start()

    @property
    def verdict(self) -> DriftVerdict | None:
        """Judgement of the episodes that have ended; None: drift is not watched."""
        return None if self._detector is None else self._detector.verdict
