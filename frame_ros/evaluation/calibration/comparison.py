# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recalibrators compared on held-out episodes, and the recommended one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.confidence.calibration import (
    Estimate,
    ReliabilityBin,
    calibration_metrics,
    reliability_diagram,
)
from frame_ros.confidence.recalibration.inputs import RecalibrationInputs
from frame_ros.confidence.recalibration.recalibrator import Recalibrator, kinds
from frame_ros.confidence.samples import Array, episode_resamples
from frame_ros.confidence.weighted_samples import CLIP
from frame_ros.core.errors import CalibrationError
from frame_ros.core.plain_text import counted
from frame_ros.evaluation.calibration.calibration_set import CalibrationSet
from frame_ros.evaluation.calibration.horizon import newest_at
from frame_ros.evaluation.calibration.options import FIRST, RAW, STATISTICS, CalibrationOptions

# Completions at which an episode counts where it counts over its horizon.
STEPS: Array = np.arange(20) / 20.0
# Held-out likelihoods closer than this are a tie, nats.
TIE = 1e-3
NAN = float('nan')


@dataclass(frozen=True)
class Samples:
    """Moments of the episodes: N inferences, as many of each episode.

    Attributes:
        inputs: what recalibrators take, N of them.
        outcomes: (N,) 1.0 or 0.0.
        episodes: (N,) number of the episode.
    """

    inputs: RecalibrationInputs
    outcomes: Array
    episodes: NDArray[np.intp]

    def select(self, chosen: NDArray[np.bool_]) -> Samples:
        """Returns some of the samples, (N,) booleans."""
        return Samples(self.inputs.select(chosen), self.outcomes[chosen], self.episodes[chosen])


def samples_of(given: CalibrationSet, score: str, moments: str) -> Samples:
    """Returns the samples of episodes in which a score has values.

    Args:
        given: the episodes.
        score: that takes the place of the confidence.
        moments: FIRST: the first inference with a value; else the newest at STEPS.
    """
    levels = STEPS[:1] if moments == FIRST else STEPS
    rows = [_rows(each, score, levels) for each in given.episodes]
    names = ('dimensions', 'at_temperature', 'dimensions_at_temperature')
    parts = {name: _stacked([row[name] for row in rows]) for name in names}
    grids = [each.temperatures for each in given.episodes]
    known = [each for each in grids if each is not None]
    is_same = len(known) == len(grids) and all(np.array_equal(each, known[0]) for each in known)
    inputs = RecalibrationInputs(
        np.concatenate([row['confidence'] for row in rows]),
        temperatures=known[0] if is_same else None,
        **parts,
    )
    count = len(levels)
    return Samples(
        inputs, np.repeat(given.outcomes, count), np.repeat(np.arange(len(given)), count)
    )


def _rows(episode: Any, score: str, levels: Array) -> dict[str, Array | None]:
    values = episode.scores[score]
    is_known = np.isfinite(values)
    completion = episode.completion[is_known]
    parts = {
        'confidence': values,
        'dimensions': episode.dimensions,
        'at_temperature': episode.at_temperature,
        'dimensions_at_temperature': episode.dimensions_at_temperature,
    }
    return {
        name: None if part is None else newest_at(completion, part[is_known], levels)
        for name, part in parts.items()
    }


def _stacked(parts: Sequence[Array | None]) -> Array | None:
    """Returns the parts of all episodes as one; None unless all have them in one shape."""
    there = [part for part in parts if part is not None]
    if len(there) != len(parts) or len({part.shape[1:] for part in there}) != 1:
        return None
    return np.concatenate(there)


def episode_folds(outcomes: Array, folds: int, seed: int) -> NDArray[np.intp]:
    """Returns the fold of each episode (n,), from 0: as many of each outcome in each as can be.

    There are no more folds than episodes of the rarer outcome.

    Raises:
        CalibrationError: there are fewer than 2 successes or failures.
    """
    successes = int(outcomes.sum())
    fewer = min(successes, len(outcomes) - successes)
    if fewer < 2:
        raise CalibrationError(
            f'{counted(successes, "success")} and {counted(len(outcomes) - successes, "failure")} '
            'cannot be split for a '
            'cross-validation; it needs 2 episodes of each, better 20'
        )
    count, random = min(folds, fewer), np.random.default_rng(seed)
    found = np.zeros(len(outcomes), np.intp)
    for outcome in (0.0, 1.0):
        places = random.permutation(np.flatnonzero(outcomes == outcome))
        found[places] = np.arange(len(places)) % count
    return found


@dataclass(frozen=True)
class Candidate:
    """A recalibrator, or RAW, on episodes that it was not fitted on.

    Attributes:
        kind: its name.
        parameters: how many numbers were fitted.
        metrics: statistic -> estimate; empty if it could not be fitted.
        gain: by how much its negative log-likelihood is lower than that of the raw confidence,
            nats; its interval is over resampled episodes, paired.
        diagram: its reliability diagram.
        problem: why it could not be fitted, in words.
        notes: what a reader of the fit must know.
    """

    kind: str
    parameters: int = 0
    metrics: dict[str, Estimate] = field(default_factory=dict)
    gain: Estimate = Estimate(NAN, NAN, NAN)
    diagram: list[ReliabilityBin] = field(default_factory=list)
    problem: str = ''
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Recalibrators compared by cross-validation that is split by episode.

    Attributes:
        moments: FIRST or HORIZON.
        candidates: RAW, then every kind.
        folds: number of parts.
        recommended: the kind of the lowest likelihood; of several within TIE the one with the
            fewest parameters. RAW: none is better.
        advice: the recommendation in words.
    """

    moments: str
    candidates: tuple[Candidate, ...]
    folds: int
    recommended: str
    advice: str

    def candidate(self, kind: str) -> Candidate:
        """Returns the candidate of a kind."""
        return next(each for each in self.candidates if each.kind == kind)


def compare(
    given: CalibrationSet, score: str, moments: str, options: CalibrationOptions
) -> Comparison:
    """Compares all recalibrators on held-out episodes.

    Args:
        given: episodes in which the score has values.
        score: in [0, 1].
        moments: FIRST or HORIZON.
        options: folds, bins, resamples and seed count.

    Raises:
        CalibrationError: there are fewer than 2 successes or failures.
    """
    folds = episode_folds(given.outcomes, options.folds, options.seed)
    samples = samples_of(given, score, moments)
    losses = _losses(samples.inputs.confidence, samples.outcomes)
    raw = _judged(Candidate(RAW), samples, samples.inputs.confidence, losses, options)
    others = [_candidate(kind, samples, folds, losses, options) for kind in kinds()]
    candidates = (raw, *others)
    recommended, advice = recommend(candidates)
    return Comparison(moments, candidates, int(folds.max()) + 1, recommended, advice)


def _candidate(
    kind: type[Recalibrator],
    samples: Samples,
    folds: NDArray[np.intp],
    raw_losses: Array,
    options: CalibrationOptions,
) -> Candidate:
    try:
        fitted = samples.inputs.fit(kind, samples.outcomes)
        found = held_out(kind, samples, folds)
    except CalibrationError as error:
        return Candidate(kind.kind, problem=str(error))
    if not np.isfinite(found).all():
        return Candidate(kind.kind, problem='some inferences lack what it takes')
    plain = Candidate(kind.kind, count_parameters(fitted.parameters()), notes=tuple(fitted.notes))
    return _judged(plain, samples, found, raw_losses, options)


def held_out(kind: type[Recalibrator], samples: Samples, folds: NDArray[np.intp]) -> Array:
    """Returns the probabilities (N,) of recalibrators that were fitted on the other folds.

    Raises:
        CalibrationError: one of them cannot be fitted.
    """
    found, fold = np.full(len(samples.outcomes), np.nan), folds[samples.episodes]
    for number in range(int(folds.max()) + 1):
        rest, own = samples.select(fold != number), samples.select(fold == number)
        found[fold == number] = own.inputs.predict(rest.inputs.fit(kind, rest.outcomes))
    return found


def _judged(
    plain: Candidate,
    samples: Samples,
    found: Array,
    raw_losses: Array,
    options: CalibrationOptions,
) -> Candidate:
    metrics = calibration_metrics(
        found, samples.outcomes, samples.episodes, options.bins, options.resamples, options.seed,
        STATISTICS,
    )  # fmt: skip
    gains = raw_losses - _losses(found, samples.outcomes)
    return Candidate(
        plain.kind, plain.parameters, metrics, _gain(gains, samples.episodes, options),
        reliability_diagram(found, samples.outcomes, options.bins), notes=plain.notes,
    )  # fmt: skip


def _losses(found: Array, outcomes: Array) -> Array:
    chance = np.where(outcomes > 0.0, found, 1.0 - found)
    return -np.log(np.maximum(chance, CLIP))


def _gain(gains: Array, episodes: NDArray[np.intp], options: CalibrationOptions) -> Estimate:
    """Returns the mean with its interval over resampled episodes, all of as many samples."""
    of_episodes = np.bincount(episodes, weights=gains) / np.bincount(episodes)
    drawn = episode_resamples(len(of_episodes), options.resamples, options.seed)
    if not len(drawn):
        return Estimate(float(gains.mean()), NAN, NAN)
    lower, upper = np.percentile(drawn @ of_episodes / len(of_episodes), (2.5, 97.5))
    return Estimate(float(gains.mean()), float(lower), float(upper))


def count_parameters(fitted: Any) -> int:
    """Returns how many numbers there are in what `Recalibrator.parameters` gave."""
    if isinstance(fitted, dict):
        return sum(map(count_parameters, fitted.values()))
    if isinstance(fitted, list):
        return sum(map(count_parameters, fitted))
    return int(isinstance(fitted, (int, float)))


def recommend(candidates: Sequence[Candidate]) -> tuple[str, str]:
    """Returns the kind of the lowest held-out negative log-likelihood, and why, in words.

    Args:
        candidates: with RAW; those that could not be fitted take no part. Of several within TIE of
            the lowest the one with the fewest parameters is recommended.
    """
    fitted = [each for each in candidates if each.metrics]
    lowest = min(each.metrics['nll'].value for each in fitted)
    near = [each for each in fitted if each.metrics['nll'].value <= lowest + TIE]
    best = min(near, key=lambda each: each.parameters)
    if best.kind == RAW:
        return RAW, (
            'No recalibrator is better than the raw confidence on held-out episodes; none is saved.'
        )
    gain, lowest_of = best.gain, f'{best.kind} has the lowest held-out negative log-likelihood'
    interval = f'95 % interval {gain.lower:.3g} to {gain.upper:.3g}'
    if gain.lower > 0.0:
        text = f'{gain.value:.3g} nats below that of the raw confidence ({interval})'
        return best.kind, f'{lowest_of}, {text}.'
    if not np.isfinite(gain.lower):
        return best.kind, f'{lowest_of}; without resamples its gain has no interval.'
    return best.kind, (
        f'{lowest_of}, but its gain over the raw confidence, {gain.value:.3g} nats, is not '
        f'distinguishable from none ({interval}): more episodes are needed.'
    )
