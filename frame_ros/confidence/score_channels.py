# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Running measure of how unusual the scores of an episode are among those of successful ones.

Each input (a score, the elapsed time, the distance, contact) is looked at in four ways, its
channels: as it is and smoothed, its risk (how bad) and its deviation from what successes show at
that time (how unlike). A channel keeps the worst value so far, and compares it with the successes'
own worst values: it is 0 up to their median, 1 at their 90 % quantile, and grows with the logarithm
of the distance from the median. So inputs of any scale compare, and none needs a failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from frame_ros.confidence.samples import Array
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.confidence.scores import SCORES
from frame_ros.core.errors import CalibrationError, ValueRangeError

ELAPSED, DISTANCE, CONTACT = 'elapsed', 'distance', 'contact'
# Inputs that are no scores -> sign of their risk.
OTHER_INPUTS = {ELAPSED: 1.0, DISTANCE: -1.0, CONTACT: 1.0}
SMOOTHING = (1.0, 0.25)  # weights of the newest value
_WEIGHTS = np.array(SMOOTHING)[:, None]
FORMS = ('level', 'deviation')
LARGEST = 10.0  # of a channel, about 1000 times as far from the median as the 90 % quantile
BIN = 0.5  # s
STILL_RUNNING = 0.2  # share of the successes that a bin of time needs
LEAST_EPISODES = 10


def sign_of(name: str) -> float:
    """Returns 1.0 if larger values of an input are worse, else -1.0.

    Raises:
        ValueRangeError: it is no input.
    """
    if name in OTHER_INPUTS:
        return OTHER_INPUTS[name]
    if name not in SCORES:
        known = ', '.join((*OTHER_INPUTS, *SCORES))
        raise ValueRangeError(f'{name!r} is neither a score nor one of the others: {known}')
    return -1.0 if SCORES[name].higher_is_better else 1.0


def input_rows(episode: ScoreEpisode, inputs: Sequence[str]) -> Array:
    """Returns (n, I) values of the inputs at each inference; NaN where unavailable."""
    others = {ELAPSED: episode.times, DISTANCE: episode.distance, CONTACT: episode.contact}
    nothing = np.full(len(episode), np.nan)
    columns = [others.get(name, episode.scores.get(name, nothing)) for name in inputs]
    return np.stack(columns, axis=1).astype(np.float64) if columns else np.empty((len(episode), 0))


class ScoreChannels:
    """Channels of some inputs, and their state in the running episode.

    Attributes:
        inputs: I names.
        names: C = 4 I of the channels: by smoothing, then form, then input.
        mean: (bins, smoothings, I), of the successes at each BIN of elapsed time.
        spread: (bins, smoothings, I), their standard deviation.
        median: (C,) of the successes' worst values; NaN where too few had any.
        scale: (C,) from there to their 90 % quantile.
        of_input: (C,) place of each channel's input among `inputs`.
    """

    def __init__(
        self, inputs: Sequence[str], mean: Array, spread: Array, median: Array, scale: Array
    ) -> None:
        """See `fit`."""
        self.inputs = tuple(inputs)
        self.names = tuple(
            f'{name} {form}{", smoothed" if weight < 1.0 else ""}'
            for weight in SMOOTHING
            for form in FORMS
            for name in inputs
        )
        self.mean, self.spread, self.median, self.scale = mean, spread, median, scale
        self.of_input = np.tile(np.arange(len(inputs)), len(SMOOTHING) * len(FORMS))
        self._signs = np.array([sign_of(name) for name in inputs])
        # At an elapsed time there is but one: no deviation from it.
        is_elapsed = np.array([name == ELAPSED for name in inputs], dtype=bool)
        self._centre = np.where(is_elapsed, np.nan, mean)
        self.reset()

    @classmethod
    def fit(cls, episodes: Sequence[ScoreEpisode], inputs: Sequence[str]) -> ScoreChannels:
        """Fits the channels on successful episodes.

        Raises:
            CalibrationError: fewer than LEAST_EPISODES of them succeeded.
            ValueRangeError: an input is unknown.
        """
        rows = [(e.times, input_rows(e, inputs)) for e in episodes if e.outcome is True and len(e)]
        if len(rows) < LEAST_EPISODES:
            raise CalibrationError(
                f'{len(rows)} successful episodes do not show what scores are usual; '
                f'{LEAST_EPISODES} or more are needed'
            )
        all_times = [times for times, _ in rows]
        smooth = _smoothed([values for _, values in rows])
        mean, spread = _by_time(list(zip(all_times, smooth)))
        size = len(SMOOTHING) * len(FORMS) * len(inputs)
        found = cls(inputs, mean, spread, np.zeros(size), np.ones(size))
        worst = np.array([found._worst_so_far(*each)[-1] for each in zip(all_times, smooth)])
        found.median, found.scale = _units(worst)
        found.reset()
        return found

    def reset(self) -> None:
        """Starts an episode."""
        self._smooth: Array = np.full((len(SMOOTHING), len(self.inputs)), np.nan)
        self._has_all = False  # whether all of it is known
        self._worst = np.full(len(self.names), -np.inf)

    def update(self, elapsed: float, values: Array) -> Array:
        """Takes one inference; returns (C,) how unusual each channel has been so far, from 0 to
        LARGEST; 0 where nothing is known.

        Args:
            elapsed: s since the episode's start.
            values: (I,) of the inputs as they stand; NaN where unavailable.
        """
        self._advance(elapsed, values)
        return self._in_units(self._worst)

    def _worst_so_far(self, times: Array, now: Array) -> Array:
        """Returns (n, C), the worst value so far at each inference of an episode, as it stands, of
        its smoothed values (n, smoothings, I).
        """
        places = np.clip((times / BIN).astype(int), 0, len(self.mean) - 1)
        both = self._forms(now, self._centre[places], self.spread[places]).reshape(len(times), -1)
        return np.maximum.accumulate(np.where(np.isnan(both), -np.inf, both), axis=0)

    def of_episodes(self, episodes: Sequence[ScoreEpisode]) -> list[Array]:
        """Returns of each episode (n, C), `update` of every inference from its start. Many at once
        take far less time than one after the other.
        """
        smooth = _smoothed([input_rows(each, self.inputs) for each in episodes])
        return [
            self._in_units(self._worst_so_far(each.times, now))
            for each, now in zip(episodes, smooth)
        ]

    def of_episode(self, episode: ScoreEpisode) -> Array:
        """Returns (n, C), `of_episodes` of one."""
        return self.of_episodes([episode])[0]

    def _advance(self, elapsed: float, values: Array) -> None:
        now = self._smoothed_now(values)
        place = min(max(int(elapsed / BIN), 0), len(self._centre) - 1)
        both = self._forms(now, self._centre[place], self.spread[place])
        np.fmax(self._worst, both.ravel(), out=self._worst)

    def _smoothed_now(self, values: Array) -> Array:
        """Takes the values of one inference; returns them smoothed, as `_next_smooth` does, which
        takes twice as long.
        """
        total = float(np.add.reduce(values))
        if not self._has_all or total - total != 0.0:  # something was or is not finite
            now, self._smooth = _next_smooth(self._smooth, values)
            self._has_all = not np.isnan(self._smooth).any()
            return now
        change = values - self._smooth
        change *= _WEIGHTS
        change += self._smooth
        self._smooth = change
        return change

    def _forms(self, now: Array, centre: Array, spread: Array) -> Array:
        """Returns the forms (..., smoothings, FORMS, I) of smoothed values (..., smoothings, I)."""
        both = np.empty((*now.shape[:-1], len(FORMS), now.shape[-1]))
        np.multiply(now, self._signs, out=both[..., 0, :])
        deviation = both[..., 1, :]
        np.subtract(now, centre, out=deviation)
        np.abs(deviation, out=deviation)
        np.divide(deviation, spread, out=deviation)
        return both

    def _in_units(self, worst: Array) -> Array:
        units = (worst - self.median) / self.scale
        known = np.minimum(np.fmax(units, 0.0), 2.0**LARGEST - 1.0)  # 0 of NaN
        return np.asarray(np.log2(1.0 + known))

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON values; None stands for NaN."""
        arrays = {'mean': self.mean, 'spread': self.spread, 'median': self.median,
                  'scale': self.scale}  # fmt: skip
        return {'inputs': list(self.inputs), **{n: _plain(a) for n, a in arrays.items()}}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ScoreChannels:
        """Returns what `to_dict` described.

        Raises:
            CalibrationError: a part is missing or of the wrong shape.
        """
        try:
            inputs = [str(name) for name in content['inputs']]
            mean, spread, median, scale = (
                np.array(content[name], dtype=np.float64)
                for name in ('mean', 'spread', 'median', 'scale')
            )
            channels = len(SMOOTHING) * len(FORMS) * len(inputs)
            by_time = (len(mean), len(SMOOTHING), len(inputs))
            if not len(mean) or mean.shape != by_time or spread.shape != by_time:
                raise ValueError(f'mean and spread have shapes {mean.shape} and {spread.shape}')
            if median.shape != (channels,) or scale.shape != (channels,):
                raise ValueError(f'median and scale must have {channels} values')
            if not all((each > 0.0).all() and np.isfinite(each).all() for each in (spread, scale)):
                raise ValueError('a spread or scale is not a positive number')
            if len(set(inputs)) != len(inputs):
                raise ValueError(f'an input is named twice: {inputs}')
            return cls(inputs, mean, spread, median, scale)
        except (KeyError, TypeError, ValueError) as error:
            raise CalibrationError(f'the channels of a combination are damaged: {error!r}') from (
                error
            )


def _next_smooth(state: Array, values: Array) -> tuple[Array, Array]:
    """Returns the smoothed values (..., smoothings, I) with those of now, (..., 1, I) or (I,), and
    the state after it. What is not available now says nothing now.
    """
    before = np.where(np.isnan(state), values, state)
    now = before + _WEIGHTS * (values - before)
    return now, np.where(np.isnan(values), state, now)


def _smoothed(episodes: Sequence[Array]) -> list[Array]:
    """(n, smoothings, I) of each episode, as `ScoreChannels` smooths its (n, I); NaN where a value
    is. Inference after inference, of all episodes that are as long.
    """
    if not episodes:
        return []
    lengths = np.array([len(rows) for rows in episodes])
    ends = np.cumsum(lengths)
    longest_first = np.argsort(-lengths, kind='stable')
    starts = (ends - lengths)[longest_first]
    values = np.concatenate(episodes)[:, None, :]
    found = np.empty((len(values), len(SMOOTHING), values.shape[-1]))
    state: Array = np.full((len(episodes), *found.shape[1:]), np.nan)
    for step in range(int(lengths.max())):
        running = int(np.count_nonzero(lengths > step))
        places = starts[:running] + step
        found[places], state = _next_smooth(state[:running], values[places])
    return np.split(found, ends[:-1])


def _by_time(episodes: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Mean and standard deviation, (bins, smoothings, I), of all inferences in a bin of time. Bins
    end where fewer than STILL_RUNNING of the episodes run; the last one is of all that is behind
    its beginning.
    """
    last = np.array([times[-1] for times, _ in episodes])
    end = float(np.quantile(last, 1.0 - STILL_RUNNING))
    bins = max(int(end / BIN), 0) + 1
    place = np.concatenate([np.minimum((t / BIN).astype(int), bins - 1) for t, _ in episodes])
    rows = np.concatenate([values for _, values in episodes])
    overall = _spread(rows)
    mean, spread = np.empty((2, bins, *rows.shape[1:]))
    for number in range(bins):
        inside = rows[place == number]
        known = np.isfinite(inside)
        count = np.maximum(known.sum(axis=0), 1)
        mean[number] = np.where(
            known.any(axis=0), np.where(known, inside, 0.0).sum(axis=0) / count, np.nan
        )
        spread[number] = _spread(inside)
    # Where successes hardly differ, a tenth of their spread over all times is the least.
    floor = np.where(overall > 0.0, 0.1 * overall, 1e-9)
    return mean, np.fmax(spread, floor)


def _spread(rows: Array) -> Array:
    """Standard deviation over the first axis of what is finite; 0 without."""
    known = np.isfinite(rows)
    count = np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, rows, 0.0)
    centred = np.where(known, rows - filled.sum(axis=0) / count, 0.0)
    return np.asarray(np.sqrt((centred**2).sum(axis=0) / count))


def _units(worst: Array) -> tuple[Array, Array]:
    """Median and scale (C,) of the successes' worst values (n, C); NaN where none is known."""
    size = worst.shape[1]
    median, scale = np.full(size, np.nan), np.ones(size)
    for channel in range(size):
        known = worst[np.isfinite(worst[:, channel]), channel]
        if len(known) < LEAST_EPISODES:
            continue
        median[channel], upper = np.quantile(known, (0.5, 0.9))
        # Successes that agree to the 90 % quantile: their range, or else any difference, counts.
        width = upper - median[channel] or float(known.max()) - median[channel]
        scale[channel] = width if width > 0.0 else 1e-9 * max(1.0, abs(median[channel]))
    return median, scale


def _plain(values: Array) -> Any:
    if values.ndim > 1:
        return [_plain(row) for row in values]
    return [value if np.isfinite(value) else None for value in values.tolist()]
