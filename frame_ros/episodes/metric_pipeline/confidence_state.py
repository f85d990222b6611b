# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Uncertainty of the policy so far in an episode: each inference, the last few, all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from frame_ros.confidence.inference_uncertainty import ENSEMBLE_METRICS, TOKEN_METRICS
from frame_ros.episodes.metric_pipeline.live_metrics import LiveMetrics
from frame_ros.metrics import EpisodeConfidence, RunningMean, WindowMean

NAN = float('nan')
METRICS = (*TOKEN_METRICS, 'ev')
CONFIDENCE_METRICS = ('confidence', 'confidence_episode')
# What says why values cannot be used -> its counter in the data quality, and the metrics.
PROBLEMS = {
    'tokens_problem': ('inference.tokens_invalid', TOKEN_METRICS),
    'samples_problem': ('inference.samples_invalid', ('ev',)),
    'confidence_problem': ('inference.confidence_invalid', CONFIDENCE_METRICS),
    'ensemble_problem': ('inference.rephrasings_invalid', ENSEMBLE_METRICS),
}


class ConfidenceState:
    """Takes inferences, and gives the values of ConfidenceMetrics.

    An inference without a usable value leaves `step` and `window` NaN and the others as they were:
    windows and means are over the inferences that had one. Token values depend on the number of
    classes: when it changes, their windows and means begin again (`inference.vocabulary_changed`).

    problem: what was wrong with the newest unusable tokens, samples or confidences, in words.
    problems: metric -> what was wrong with its values in the newest inference of the episode.
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
        self._live = LiveMetrics('confidence')
        self._windows = {name: WindowMean() for name in METRICS}
        self._means = {name: RunningMean() for name in METRICS}
        self.problem = ''
        self.reset()

    def reset(self) -> None:
        """Starts a new episode."""
        self._vocabulary_size = 0
        self.problems: dict[str, str] = {}
        self._live.reset()
        self._forget(METRICS)
        self._episode.reset()

    def _forget(self, names: tuple[str, ...]) -> None:
        for name in names:
            self._windows[name].reset()
            self._means[name].reset()

    def update(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Returns field of ConfidenceMetrics -> value, those of the metrics but chunk_overlap.

        values: as `inference_values` gives them; what they lack is unavailable.
        """
        self.problems = {}
        for name, (counter, metrics) in PROBLEMS.items():
            problem = values.get(name)
            if problem:
                self.problem = problem
                self._count(counter)
                self.problems.update(dict.fromkeys(metrics, problem))
        steps = {name: float(values.get(name, NAN)) for name in METRICS}
        if steps[METRICS[0]] == steps[METRICS[0]]:
            self._follow_vocabulary(int(values.get('vocabulary_size', 0)))
        found = self._confidences(values)
        for name, step in steps.items():
            if step == step:
                self._windows[name].update(step)
                self._means[name].update(step)
            found[name] = self._windows[name].value if step == step else NAN
            found[f'{name}_step'], found[f'{name}_mean'] = step, self._means[name].value
        self._live.update('inference', values)
        found.update(zip(self._live.fields, self._live.values()))
        return found

    def _confidences(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Those of the inference; confidence_episode is over the inferences that had one."""
        confidence = float(values.get(self._confidence, NAN))
        if confidence == confidence:
            self._episode.update(confidence)
        return {
            'confidence': confidence,
            'confidence_calibrated': NAN,
            'confidence_episode': self._episode.value,
            **{name: float(values.get(name, NAN)) for name in ENSEMBLE_METRICS},
        }

    def _follow_vocabulary(self, size: int) -> None:
        if self._vocabulary_size not in (0, size):
            self._count('inference.vocabulary_changed')
            self._forget(TOKEN_METRICS)
        self._vocabulary_size = size
