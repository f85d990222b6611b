# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the halt monitor: what is compared with what, where, and for how long."""

from __future__ import annotations

import math

from frame_ros.confidence.guarantees.alarm_rate import HOUR, FalseAlarmRate
from frame_ros.core.options import UNCONFIGURED, option, options, rule
from frame_ros.metrics.distance_bounds import BOUNDS, MEANING, NEAREST_SEEN

HORIZON, CONFORMAL, BAND, FIXED = THRESHOLD_SOURCES = ('horizon', 'conformal', 'band', 'fixed')
NEAR_OR_CONTACT, NEAR, CONTACT, ANYWHERE = CONTEXTS = (
    'near_or_contact', 'near', 'contact', 'anywhere',
)  # fmt: skip
DURATION, DURATION_TOPIC, PROGRESS = COMPLETION_SOURCES = (
    'duration', 'duration_topic', 'progress',
)  # fmt: skip
CURRENT, WINDOW, ALL, SHARE = AGGREGATIONS = ('current', 'window', 'all', 'share')


@options
class MonitorOptions:
    """The rule of the halt monitor. By default that of VLA calibration, section 4.2: confidence is
    below the threshold for this point of the task, and the robot is near something or touches it.
    """

    scores: tuple[str, ...] = option(
        ('confidence',),
        'fields of ConfidenceMetrics; one of them beyond its threshold is enough',
        live=UNCONFIGURED,
    )
    threshold_from: str = option(
        HORIZON,
        'horizon: quantile at this percent of the task; conformal: one for the whole episode, with '
        'a false-alarm rate; band: the same over the horizon (all from the calibration file); '
        'fixed: thresholds',
        choices=THRESHOLD_SOURCES,
        live=UNCONFIGURED,
    )
    alpha: float = option(
        0.1,
        'false alarms per episode that the conformal thresholds, or bands, of all scores keep',
        above=0.0,
        below=1.0,
        live=UNCONFIGURED,
    )
    alarms_per_hour: float = option(
        0.0,
        'false alarms per hour of episodes that they keep; 0: alpha counts',
        unit='1/h',
        at_least=0.0,
        live=UNCONFIGURED,
    )
    drift_alpha: float = option(
        0.01,
        'probability that the martingales ever report a drift of the scores that is none',
        above=0.0,
        below=1.0,
        live=UNCONFIGURED,
    )
    drift_episodes: float = option(
        1000.0,
        'episodes between two such reports of their restarted form (CUSUM), on average at least',
        above=1.0,
        live=UNCONFIGURED,
    )
    thresholds: tuple[float, ...] = option(
        (math.inf,),
        'with threshold_from fixed: one for each score, in its unit; .inf: none is given',
        is_finite=False,
        live=UNCONFIGURED,
    )
    completion_from: str = option(
        DURATION,
        'what gives the completion of the task: time since START over expected_duration, over a '
        'duration received on a topic, or a progress received on a topic',
        choices=COMPLETION_SOURCES,
        live=UNCONFIGURED,
    )
    expected_duration: float = option(
        0.0,
        'expected duration of an episode; 0: that of the calibration file',
        unit='s',
        at_least=0.0,
        live=UNCONFIGURED,
    )
    aggregation: str = option(
        CURRENT,
        'what must be beyond the threshold: the score of this inference, the mean of the last '
        'window, the mean of all in the episode, or a share of the last window',
        choices=AGGREGATIONS,
        live=UNCONFIGURED,
    )
    window: int = option(5, 'inferences of the window', at_least=1, at_most=1000, live=UNCONFIGURED)
    share: float = option(
        0.6,
        'share of a whole window, with aggregation share',
        above=0.0,
        at_most=1.0,
        live=UNCONFIGURED,
    )
    context: str = option(
        NEAR_OR_CONTACT,
        'where a score beyond its threshold means a halt; elsewhere it means caution',
        choices=CONTEXTS,
        live=UNCONFIGURED,
    )
    halt_distance: float = option(
        0.08, 'distance from an obstacle that counts as near', unit='m', at_least=0.0, live=True
    )
    distance_bound: str = option(
        NEAREST_SEEN,
        f'distance that counts as near or not: {MEANING}',
        choices=BOUNDS,
        live=UNCONFIGURED,
    )
    distance_hysteresis: float = option(
        0.0, 'so much farther away it counts as near no more', unit='m', at_least=0.0, live=True
    )
    score_hysteresis: tuple[float, ...] = option(
        (0.0,),
        'so far on the good side of its threshold a score must be again to end an alarm, in its '
        'unit; one for all scores, or one for each',
        at_least=0.0,
        live=True,
    )
    warm_up: float = option(
        0.0, 'time from START without a halt', unit='s', at_least=0.0, live=True
    )
    minimum_duration: float = option(
        0.0, 'time for which the rule must hold before a halt', unit='s', at_least=0.0, live=True
    )
    cool_down: float = option(
        0.0, 'time from the end of a halt to the next one', unit='s', at_least=0.0, live=True
    )
    score_timeout: float = option(
        5.0,
        'age of a score, or progress, that is too old; more than a chunk lasts',
        unit='s',
        above=0.0,
        live=True,
    )
    distance_timeout: float = option(
        0.5, 'age of a distance that is too old', unit='s', above=0.0, live=True
    )
    contact_timeout: float = option(
        0.5, 'age of a contact state that is too old', unit='s', above=0.0, live=True
    )

    @rule('scores', 'one name or more, each once')
    def _has_scores(self) -> bool:
        return 0 < len(self.scores) == len(set(self.scores))

    @rule('thresholds', 'one for each of the {self.score_count} scores, with threshold_from fixed')
    def _has_thresholds(self) -> bool:
        is_given = all(map(math.isfinite, self.thresholds))
        return self.threshold_from != FIXED or (
            is_given and len(self.thresholds) == self.score_count
        )

    @rule('score_hysteresis', 'one for all scores, or one for each of the {self.score_count}')
    def _has_hysteresis(self) -> bool:
        return len(self.score_hysteresis) in (1, self.score_count)

    @property
    def false_alarm_rate(self) -> FalseAlarmRate:
        """The rate that the thresholds of all scores keep together."""
        if self.alarms_per_hour > 0.0:
            return FalseAlarmRate(self.alarms_per_hour, HOUR)
        return FalseAlarmRate(self.alpha)

    @property
    def score_count(self) -> int:
        """Number of scores."""
        return len(self.scores)

    @property
    def needed_of_window(self) -> int:
        """Inferences of the window that must be beyond, with aggregation share."""
        # Rounded, so that 0.6 of 5 is 3.
        return math.ceil(round(self.share * self.window, 9))
