# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The metrics of the registry with their values: per episode, and over all episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from frame_ros.core.events import Outcome
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.episode_errors import EpisodeErrors
from frame_ros.episodes.processing import settings_of
from frame_ros.metrics import REGISTRY, Metric, wilson_interval
from frame_ros.reports.model.numbers import finite
from frame_ros.reports.model.options import ReportOptions

LEFT_OUT = 'static episode: not comparable, left out of the aggregates'


@dataclass(frozen=True)
class MetricRow:
    """One metric over E episodes.

    Attributes:
        unit: of the values as they were recorded.
        values: E numbers in `unit` (SI), None where unavailable.
        reasons: E texts, '' if available.
        is_left_out: E booleans, True where an episode was static and the value is therefore no part
            of the aggregates.
    """

    metric: Metric
    unit: str
    values: list[float | None]
    reasons: list[str]
    is_left_out: list[bool]

    @property
    def id(self) -> str:
        """The metric's id."""
        return self.metric.id

    @property
    def counting(self) -> list[float | None]:
        """The values, None also where they do not count in aggregates."""
        return [None if out else value for value, out in zip(self.values, self.is_left_out)]

    @property
    def known(self) -> list[float]:
        """The values that count in aggregates."""
        return [value for value in self.counting if value is not None]

    @property
    def median(self) -> float | None:
        """Median over episodes; None if no episode has a value."""
        return median(self.known) if self.known else None

    @property
    def least(self) -> float | None:
        """Smallest value over episodes."""
        return min(self.known, default=None)

    @property
    def greatest(self) -> float | None:
        """Largest value over episodes."""
        return max(self.known, default=None)

    @property
    def is_available(self) -> bool:
        """True if any episode has a value."""
        return any(v is not None for v in self.values)

    def remark(self, index: int) -> str:
        """Returns why an episode has no value, or why its value does not count; '' otherwise."""
        is_left_out = self.is_left_out[index] and self.values[index] is not None
        return LEFT_OUT if is_left_out else self.reasons[index]

    @property
    def reason(self) -> str:
        """The different reasons for having no aggregate, joined; '' if there is one."""
        if self.known:
            return ''
        reasons = [*self.reasons, LEFT_OUT] if self.is_available else self.reasons
        return '; '.join(dict.fromkeys(r for r in reasons if r))


@dataclass(frozen=True)
class SuccessCount:
    """successes of trials episodes, with a Wilson interval of 95 %; `unknown` episodes have no
    outcome and are no trials.
    """

    successes: int
    trials: int
    unknown: int

    @property
    def rate(self) -> float | None:
        """successes / trials; None without trials."""
        return self.successes / self.trials if self.trials else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson score interval at 95 %; None without trials."""
        if not self.trials:
            return None
        low, high = wilson_interval(self.successes, self.trials)
        return float(low), float(high)


def metric_rows(
    episodes: Sequence[Episode],
    errors: Sequence[EpisodeErrors] = (),
    options: ReportOptions | None = None,
) -> list[MetricRow]:
    """One row per metric of the registry, in its order.

    errors: those of each episode against its references; of them DTW is taken, and ATE and RTE if
    the options are not those of the live metrics, the live ones are against the episode itself, or
    it has no steps.
    """
    is_raw = any(map(has_raw_actions, episodes))
    rows = [_row(entry, episodes, is_raw) for entry in REGISTRY.values()]
    is_new = bool(options and options.changes_errors)
    has_steps = [episode.steps > 0 for episode in episodes]
    return [_with_errors(row, errors, has_steps, is_new) if errors else row for row in rows]


def _with_errors(
    row: MetricRow, errors: Sequence[EpisodeErrors], has_steps: Sequence[bool], is_new: bool
) -> MetricRow:
    if row.id not in ('ate', 'rte', 'dtw'):
        return row
    values, reasons = list(row.values), list(row.reasons)
    for i, error in enumerate(errors):
        # Live metrics are those of steps: of poses alone there are none.
        if is_new or error.is_own or row.id == 'dtw' or not has_steps[i]:
            own = {'dtw': error.dtw_reason, 'rte': error.rte_reason}.get(row.id)
            why = own or error.reason
            values[i] = finite(getattr(error, row.id))
            reasons[i] = '' if values[i] is not None else why or row.metric.unavailable
    return replace(row, values=values, reasons=reasons)


def success_count(episodes: Sequence[Episode]) -> SuccessCount:
    """Counts successes. A timeout or a stop is a trial that did not succeed; an unknown outcome is
    no trial.
    """
    outcomes = [episode.outcome for episode in episodes]
    unknown = outcomes.count(Outcome.UNKNOWN)
    return SuccessCount(outcomes.count(Outcome.SUCCESS), len(outcomes) - unknown, unknown)


def value_name(field: str) -> str:
    """The name of what a field of a metric message holds; the field itself if it is no metric."""
    for suffix, form in (
        ('', ''),
        ('_step', ', newest step'),
        ('_mean', ', mean over the episode'),
    ):
        entry = REGISTRY.get(field.removesuffix(suffix)) if field.endswith(suffix) else None
        if entry is not None:
            return f'{entry.name}{form}'
    return field.replace('_', ' ')


def has_raw_actions(episode: Episode) -> bool:
    """Returns whether the episode has steps whose actions were not scaled to [0, 1]."""
    return episode.steps > 0 and settings_of(episode).bounds is None


def _row(entry: Metric, episodes: Sequence[Episode], is_raw: bool) -> MetricRow:
    unit = '' if entry.unit == '1' else entry.unit
    return MetricRow(
        entry,
        entry.raw_unit if is_raw and entry.raw_unit else unit,
        [episode.value(entry.id) for episode in episodes],
        [episode.reason(entry.id) for episode in episodes],
        [episode.is_static and not entry.counts_when_static for episode in episodes],
    )
