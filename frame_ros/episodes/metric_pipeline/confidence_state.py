# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How uncertain the policy is so far in an episode: each inference, the last few, all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from frame_ros.confidence.inference_uncertainty import ENSEMBLE_METRICS, TOKEN_METRICS
from frame_ros.metrics import EpisodeConfidence, RunningMean, WindowMean

NAN = float('nan')
METRICS = (*TOKEN_METRICS, 'ev')
CONFIDENCE_METRICS = ('confidence', 'confidence_episode')
NO_INFERENCE = 'no inference in this episode'
NO_RECALIBRATOR = 'no recalibrator is loaded'
NO_TOKENS = 'no tokens: this policy yields no token probabilities'
# What says why values cannot be used -> its counter in the data quality, the metrics, and why they
# are unavailable where nothing is wrong.
PROBLEMS = {
    'tokens_problem': (
        'inference.tokens_invalid',
        TOKEN_METRICS,
        NO_TOKENS,
    ),
    'samples_problem': (
        'inference.samples_invalid',
        ('ev',),
        'one chunk per inference, no samples',
    ),
    'confidence_problem': (
        'inference.confidence_invalid',
        CONFIDENCE_METRICS,
        'the probabilities of the chosen tokens are not known '
        '(or, for dimension_mean, their action dimensions)',
    ),
    'ensemble_problem': (
        'inference.rephrasings_invalid',
        ENSEMBLE_METRICS,
        'no rephrasings of the instruction',
    ),
}


class ConfidenceState:
    """Takes inferences, and gives the three forms of each uncertainty of ConfidenceMetrics, and the
    confidences.

    An inference without a usable value leaves `step` and `window` NaN and the others as they were:
    windows and means are over the inferences that had one. Token values depend on the number of
    classes: when it changes, their windows and means begin anew (`inference.vocabulary_changed`).

    problem: what was wrong with the newest unusable tokens, samples or confidences, in words.
    reasons: metric -> why the newest inference of the episode gives no value.
    """

    def __init__(
        self,
        count: Callable[[str], None],
        token_aggregate: str = 'mean',
        episode_aggregate: str = 'first',
    ) -> None:
        """`count` adds one to a counter of the data quality. token_aggregate: one of
        CONFIDENCE_AGGREGATES. episode_aggregate: one of EPISODE_AGGREGATES.
        """
        self._count = count
        self._confidence = f'confidence_{token_aggregate}'
        self._episode = EpisodeConfidence(episode_aggregate)
        self._windows = {name: WindowMean() for name in METRICS}
        self._means = {name: RunningMean() for name in METRICS}
        self.problem = ''
        self.reset()

    def reset(self) -> None:
        """Starts a new episode."""
        self._vocabulary_size = 0
        names = (*METRICS, *CONFIDENCE_METRICS, *ENSEMBLE_METRICS)
        self.reasons = dict.fromkeys(names, NO_INFERENCE)
        self.reasons['confidence_calibrated'] = NO_RECALIBRATOR
        self._forget(METRICS)
        self._episode.reset()

    def _forget(self, names: tuple[str, ...]) -> None:
        for name in names:
            self._windows[name].reset()
            self._means[name].reset()

    def update(self, values: Mapping[str, Any]) -> tuple[float, ...]:
        """Returns the window's mean of each of METRICS, then each step, then each mean so far.

        values: as `conversion.inference_values` gives them; what they lack is unavailable.
        """
        for name, (counter, metrics, absent) in PROBLEMS.items():
            problem = values.get(name)
            if problem:
                self.problem = problem
                self._count(counter)
            self.reasons.update(dict.fromkeys(metrics, problem or absent))
        if not values.get('token_count'):
            self.reasons.update(dict.fromkeys(CONFIDENCE_METRICS, NO_TOKENS))
        steps = [float(values.get(name, NAN)) for name in METRICS]
        if steps[0] == steps[0]:
            self._follow_vocabulary(int(values.get('vocabulary_size', 0)))
        windows = []
        for name, step in zip(METRICS, steps):
            if step != step:
                windows.append(NAN)
                continue
            self._windows[name].update(step)
            self._means[name].update(step)
            windows.append(self._windows[name].value)
        return (*windows, *steps, *(self._means[name].value for name in METRICS))

    def confidences(self, values: Mapping[str, Any]) -> tuple[float, float, float, float, float]:
        """Returns confidence, confidence_calibrated, confidence_episode, ensemble_mean and
        ensemble_spread of the inference that `update` took.

        confidence_episode is over the inferences that had a confidence.
        """
        confidence = float(values.get(self._confidence, NAN))
        if confidence == confidence:
            self._episode.update(confidence)
        mean, spread = (float(values.get(name, NAN)) for name in ENSEMBLE_METRICS)
        return confidence, NAN, self._episode.value, mean, spread

    def _follow_vocabulary(self, size: int) -> None:
        if self._vocabulary_size not in (0, size):
            self._count('inference.vocabulary_changed')
            self._forget(TOKEN_METRICS)
        self._vocabulary_size = size
