# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of frames of depth worlds: all frames count, whether their nearest point is seen or not.

A frame is silently wrong if its distance is more than `MARGIN` too far, or nothing was found near,
and it was not marked partial. One without a distance for another reason (a misaligned camera, no
link in view) gives that reason, and is counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.metrics import wilson_interval
from frame_ros.sensing.proximity.depth.detector import NOTHING_NEAR

Array = NDArray[np.float64]
MARGIN = 0.01  # m
NEAR = 0.3  # m, of the nearest obstacle from a link, in the frames that are judged
FALSE_BELOW = 0.1  # m


@dataclass(frozen=True)
class Share:
    """A share of frames, with its 95 % interval (Wilson)."""

    count: int
    frames: int

    @property
    def value(self) -> float:
        """NaN without frames."""
        return self.count / self.frames if self.frames else float('nan')

    def __str__(self) -> str:
        if not self.frames:
            return 'none'
        low, high = wilson_interval(self.count, self.frames)
        return f'{100 * self.value:.2f} % ({100 * low:.2f} to {100 * high:.2f})'


@dataclass(frozen=True)
class EmptyScore:
    """Frames without an obstacle.

    Attributes:
        frames: all.
        false: those with a distance below FALSE_BELOW.
        false_50, false_20: below 50 and 20 mm.
        withheld: those without a distance because a camera was taken for misaligned.
        partial: those marked partial.
    """

    frames: int
    false: Share
    false_50: Share
    false_20: Share
    withheld: Share
    partial: Share


@dataclass(frozen=True)
class NearScore:
    """Frames with an obstacle within NEAR of a link; m.

    Attributes:
        frames: all of them.
        silent: silently wrong.
        too_far: by more than MARGIN, or nothing was found near, marked or not.
        cautious_too_far: the same of the lesser of the distance and the nearest place not seen.
        too_near: by more than MARGIN: something false is nearer.
        partial: marked partial.
        partial_right: marked, of those that are not too far: of a mark that says something few.
        partial_wrong: marked, of those that are too far.
        unmeasured: without a distance, whatever the reason.
        visible: whose nearest point clean geometry shows to a camera.
        visible_silent: of the visible ones, silently wrong.
        median_visible: error of the visible ones that were measured.
        median_interval: 95 % interval of it, by drawing whole trials again, as frames of one trial
            are alike.
        visible_measured: their number; visible_trials: of so many trials.
        median: of all that were measured.
        worst_silent: largest excess that was not marked.
    """

    frames: int
    silent: Share
    too_far: Share
    cautious_too_far: Share
    too_near: Share
    partial: Share
    partial_right: Share
    partial_wrong: Share
    unmeasured: Share
    visible: Share
    visible_silent: Share
    median_visible: float
    median_interval: tuple[float, float]
    visible_measured: int
    visible_trials: int
    median: float
    worst_silent: float


def empty_score(results: Sequence[Mapping[str, Any]]) -> EmptyScore:
    """Scores the results of trials with empty scenes, see `depth_worlds.run`."""
    measured, partial = column(results, 'measured'), column(results, 'is_partial') > 0
    reasons = [reason for result in results for reason in result['unavailable']]
    withheld = ['misaligned' in reason for reason in reasons]

    def below(distance: float) -> Share:
        return share(measured < distance)

    return EmptyScore(
        len(measured), below(FALSE_BELOW), below(0.05), below(0.02),
        share(np.array(withheld, bool)), share(partial),
    )  # fmt: skip


def near_score(results: Sequence[Mapping[str, Any]]) -> NearScore:
    """Scores the results of trials with obstacles, see `depth_worlds.run`."""
    truth = column(results, 'truth')
    reasons = np.array([reason for result in results for reason in result['unavailable']], object)
    is_near = truth <= NEAR
    trial = np.repeat(np.arange(len(results)), [len(result['truth']) for result in results])
    truth, reasons, trial = truth[is_near], reasons[is_near], trial[is_near]
    measured = column(results, 'measured')[is_near]
    unobserved = column(results, 'unobserved')[is_near]
    partial = (column(results, 'is_partial') > 0)[is_near]
    seen = (column(results, 'is_visible') > 0)[is_near]
    is_called_free = np.array([NOTHING_NEAR in reason for reason in reasons], bool)
    excess = measured - truth
    cautious = np.fmin(measured, unobserved) - truth
    far = (excess > MARGIN) | is_called_free
    silent = far & ~partial
    unmarked = excess[~partial & np.isfinite(excess)]
    error = np.abs(excess)
    known = seen & np.isfinite(error)
    return NearScore(
        len(truth), share(silent), share(far),
        share((cautious > MARGIN) | (is_called_free & ~np.isfinite(cautious))),
        share(excess < -MARGIN), share(partial),
        share(partial[np.isfinite(measured) & ~far]), share(partial[far]),
        share(~np.isfinite(measured)), share(seen),
        share(silent[seen]), _median(error[seen]),
        median_interval(error[known], trial[known]), int(known.sum()),
        len(np.unique(trial[known])), _median(error),
        float(unmarked.max()) if len(unmarked) else float('nan'),
    )  # fmt: skip


def column(results: Sequence[Mapping[str, Any]], name: str) -> Array:
    """Returns (F,) of all frames, NaN for what is None."""
    values = [value for result in results for value in result[name]]
    return np.array([np.nan if value is None else value for value in values], np.float64)


def share(chosen: NDArray[np.bool_]) -> Share:
    """Returns the share of frames that are chosen."""
    return Share(int(np.count_nonzero(chosen)), len(chosen))


def median_interval(
    values: Array, groups: NDArray[np.intp], draws: int = 2000
) -> tuple[float, float]:
    """Returns the 95 % interval of the median of values (F,), by drawing whole groups of them again
    (percentile bootstrap, from a fixed seed); NaN if there are fewer than two groups.

    groups: (F,) of each value.
    """
    parts = [values[groups == group] for group in np.unique(groups)]
    if len(parts) < 2:
        return float('nan'), float('nan')
    rng = np.random.default_rng(0)
    medians = [
        np.median(np.concatenate([parts[i] for i in rng.integers(len(parts), size=len(parts))]))
        for _ in range(draws)
    ]
    low, high = np.quantile(medians, (0.025, 0.975))
    return float(low), float(high)


def _median(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else float('nan')
