# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Thresholds fitted to successful episodes, for a rate of false alarms.

They hold for an episode that is exchangeable with the calibration episodes: same policy, robot,
task and scenes, in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from frame_ros.confidence.guarantees.alarm_rate import FalseAlarmRate
from frame_ros.confidence.guarantees.guarantee import (
    BAND,
    BONFERRONI,
    CONSTANT,
    FORMS,
    SHARINGS,
    AlarmThreshold,
    Guarantee,
)
from frame_ros.confidence.guarantees.risk_episode import (
    RiskCurve,
    RiskEpisode,
    available,
    curves_of,
    worst_of,
)
from frame_ros.confidence.samples import Array
from frame_ros.confidence.thresholds import points_at
from frame_ros.core.errors import CalibrationError, ValueRangeError
from frame_ros.core.plain_text import counted

POINTS = 100
# A spread below this share of the largest one is taken as this share, so that points at which the
# episodes agree do not decide alone.
_LEAST_SPREAD = 0.1
# Upper ends of thresholds are rounded up by so much, relatively.
_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Shape:
    """Centre and spread of a risk over the time since an episode's start.

    Attributes:
        centre: (points,) at equal steps of time.
        scale: (points,) the spread.
        span: s that the points cover.
        episodes: that gave it.
    """

    centre: Array
    scale: Array
    span: float
    episodes: int

    def excess(self, curve: RiskCurve) -> Array:
        """Returns the (T,) risks of a curve in spreads above the centre."""
        chosen = points_at(curve.times / self.span, len(self.centre))
        return (curve.risks - self.centre[chosen]) / self.scale[chosen]

    def upper(self, width: float) -> tuple[float, ...]:
        """Returns the risks that lie `width` spreads above the centre."""
        above = width * self.scale
        # Rounded up, so that a risk that is equal to that of a calibration episode is none above.
        rounding = _ROUNDING * (np.abs(self.centre) + np.abs(above)) * (self.episodes > 0)
        return tuple((self.centre + above + rounding).tolist())


def fit_guarantee(
    episodes: Sequence[RiskEpisode],
    scores: Sequence[str],
    rate: FalseAlarmRate,
    form: str = CONSTANT,
    sharing: str = BONFERRONI,
    shares: Mapping[str, float] | None = None,
    share_for_shape: float = 0.5,
    seed: int = 0,
) -> Guarantee:
    """Returns thresholds with which all scores together keep a rate of false alarms.

    One level per score is split conformal on the episodes' worst risks. A band follows the time
    since the start: a part of the episodes gives its centre and spread, the others' largest
    standardised excess its width (as the functional bands of FAIL-Detect, Xu et al. 2025), which
    holds for the whole horizon at once. Of several scores each has a share of the rate
    (Bonferroni), or the worst of the standardised scores is one statistic, for which a part of the
    episodes gives each score's centre and spread; this needs fewer episodes per score.

    Args:
        episodes: successful ones.
        scores: names of their risks; those that cannot be fitted are in `refused`.
        rate: of all scores together.
        form: CONSTANT or BAND.
        sharing: BONFERRONI or WORST.
        shares: score -> share of the rate, of Bonferroni; they add up to 1 at most. None: equal.
        share_for_shape: share of the episodes that give centres and spreads, in (0, 1).
        seed: of the draw of these episodes.

    Raises:
        CalibrationError: no score can be fitted; the message says why, and what would be needed.
        ValueRangeError: an argument is out of its range.
    """
    found = attempt_guarantee(episodes, scores, rate, form, sharing, shares, share_for_shape, seed)
    if not found.thresholds:
        raise CalibrationError(
            'no score can have a threshold: '
            + '; '.join(f'{name}: {why}' for name, why in found.refused.items())
        )
    return found


def attempt_guarantee(
    episodes: Sequence[RiskEpisode],
    scores: Sequence[str],
    rate: FalseAlarmRate,
    form: str = CONSTANT,
    sharing: str = BONFERRONI,
    shares: Mapping[str, float] | None = None,
    share_for_shape: float = 0.5,
    seed: int = 0,
) -> Guarantee:
    """Does as `fit_guarantee`, but where no score can be fitted the result says so in `refused`.

    Raises:
        ValueRangeError: an argument is out of its range.
    """
    _check(scores, form, sharing, share_for_shape)
    arguments = form, share_for_shape, seed
    if sharing == BONFERRONI:
        part = _shares(scores, shares)
        fitted = [
            _attempt(episodes, [score], rate.shared(part[score]), *arguments, part[score])
            for score in scores
        ]
    else:
        fitted = [_attempt(episodes, scores, rate, *arguments)]
    thresholds = {name: each for found, _ in fitted for name, each in found.items()}
    refused = {name: why for _, whys in fitted for name, why in whys.items()}
    return Guarantee(rate, form, sharing, thresholds, refused)


Fitted = tuple[dict[str, AlarmThreshold], dict[str, str]]


def _attempt(
    episodes: Sequence[RiskEpisode],
    scores: Sequence[str],
    rate: FalseAlarmRate,
    form: str,
    share_for_shape: float,
    seed: int,
    share: float = 1.0,
) -> Fitted:
    """Returns the thresholds of scores that share one statistic, and the reasons of the others."""
    refused: dict[str, str] = {}
    shaping: list[RiskEpisode] = []
    having = [each for each in episodes if any((~np.isnan(each.risk(s))).any() for s in scores)]
    try:
        if form == CONSTANT and len(scores) == 1:
            curves = curves_of(having, scores[0])
            span = max((each.duration for each in curves), default=1.0)
            shapes = {scores[0]: Shape(np.zeros(1), np.ones(1), span, 0)}
        else:
            order = np.random.default_rng(seed).permutation(len(having))
            count = _shape_count(len(having), rate, share_for_shape)
            shaping = [having[place] for place in order[:count]]
            having = [having[place] for place in order[count:]]
            shapes, refused = _shapes(shaping, scores, form)
        if not shapes:
            return {}, refused
        curves = available(_worst_excess(each, shapes) for each in having)
        width = rate.threshold(curves)
    except CalibrationError as error:
        besides = f', besides {len(shaping)} that give the shape' if shaping else ''
        return {}, dict.fromkeys(scores, f'{error}{besides}')
    return {
        name: AlarmThreshold(each.upper(width), each.span, share, each.episodes, len(curves))
        for name, each in shapes.items()
    }, refused


def _check(scores: Sequence[str], form: str, sharing: str, share_for_shape: float) -> None:
    if not scores or len(set(scores)) < len(scores):
        raise ValueRangeError(f'scores are {list(scores)}; one or more, each once, are expected')
    for name, value, known in (('form', form, FORMS), ('sharing', sharing, SHARINGS)):
        if value not in known:
            raise ValueRangeError(f'{name} is {value!r}; {" or ".join(known)} is expected')
    if not 0.0 < share_for_shape < 1.0:
        raise ValueRangeError(f'share_for_shape is {share_for_shape}; between 0 and 1 is expected')


def _shares(scores: Sequence[str], shares: Mapping[str, float] | None) -> dict[str, float]:
    if shares is None:
        return {score: 1.0 / len(scores) for score in scores}
    if set(shares) != set(scores) or min(shares.values()) <= 0.0:
        raise ValueRangeError(
            f'shares are {dict(shares)}; one above 0 for each of {list(scores)} is expected'
        )
    if (total := sum(shares.values())) > 1.0 + 1e-9:
        raise ValueRangeError(f'shares add up to {total:g}; at most 1 is expected')
    return dict(shares)


def _shape_count(episodes: int, rate: FalseAlarmRate, share: float) -> int:
    """Returns how many episodes give the shape; the others give the level."""
    least = rate.least_episodes
    count = min(round(share * episodes), episodes - least)
    if count < 2:
        raise CalibrationError(
            f'{counted(episodes, "episode")} {"allows" if episodes == 1 else "allow"} no shape and '
            f'level for {rate}; it needs {least + 2}: 2 '
            f'for the shape and {least} for the level'
        )
    return count


def _shapes(
    episodes: Sequence[RiskEpisode], scores: Sequence[str], form: str
) -> tuple[dict[str, Shape], dict[str, str]]:
    """Returns the shape of each score, and why others have none."""
    shapes, refused = {}, {}
    for score in scores:
        curves = curves_of(episodes, score)
        if len(curves) < 2:
            refused[score] = (
                f'{len(curves)} of {len(episodes)} episodes for the shape have it; 2 are needed'
            )
            continue
        shape = _band_shape(curves) if form == BAND else _level_shape(curves)
        if not shape.scale.max() and len(scores) > 1:
            refused[score] = (
                f'it is the same, {shape.centre[0]:g}, in all {len(curves)} episodes for the '
                f"shape, and cannot be standardised; it can with the sharing '{BONFERRONI}'"
            )
            continue
        least = _LEAST_SPREAD * float(shape.scale.max()) or 1.0
        shapes[score] = replace(shape, scale=np.maximum(shape.scale, least))
    return shapes, refused


def _level_shape(curves: Sequence[RiskCurve]) -> Shape:
    """The mean and spread of the worst risks."""
    span = max(each.duration for each in curves)
    return _shape_of(worst_of(curves)[:, None], span)


def _band_shape(curves: Sequence[RiskCurve], points: int = POINTS) -> Shape:
    """The mean and spread at each step of time, over the episodes that still run.

    Where few run any longer, the last values that more gave stay.
    """
    span = max(each.duration for each in curves)
    instants = span * np.arange(1, points + 1) / points
    rows = np.full((len(curves), points), np.nan)
    for row, (times, risks, duration) in zip(rows, curves):
        newest = np.maximum(np.searchsorted(times, instants, side='right') - 1, 0)
        # An episode counts up to the step in which it ends.
        is_running = instants - span / points < duration
        row[is_running] = risks[newest[is_running]]
    running = (~np.isnan(rows)).sum(axis=0)
    last = int(np.flatnonzero(running >= max(2, len(curves) / 4))[-1])
    return _shape_of(rows[:, np.minimum(np.arange(points), last)], span)


def _shape_of(rows: Array, span: float) -> Shape:
    """The mean and spread of (episodes, points) risks; NaN counts for none."""
    # Of equal values the spread is 0, and not the rounding of their mean.
    is_varied = np.nanmax(rows, axis=0) > np.nanmin(rows, axis=0)
    spread = np.where(is_varied, np.nanstd(rows, axis=0, ddof=1), 0.0)
    return Shape(np.nanmean(rows, axis=0), spread, span, len(rows))


def _worst_excess(episode: RiskEpisode, shapes: Mapping[str, Shape]) -> RiskCurve:
    """Returns the largest standardised risk of each inference."""
    curves = [RiskCurve(episode.times, episode.risk(score), episode.duration) for score in shapes]
    excesses = [shape.excess(curve) for shape, curve in zip(shapes.values(), curves)]
    return RiskCurve(episode.times, np.fmax.reduce(excesses), episode.duration)
