# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Uncertainty of the policy so far in an episode: each inference, the last few, all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import numpy as np

from frame_ros.confidence.inference_uncertainty import (
    ENSEMBLE_METRICS,
    TOKEN_METRICS,
    sample_values,
)
from frame_ros.confidence.scores import SCORES, missing_scores
from frame_ros.core.errors import ShapeError
from frame_ros.core.turns import continuous_among, nearest_turn
from frame_ros.episodes.metric_pipeline.calibrated_scores import CalibratedScores
from frame_ros.episodes.metric_pipeline.live_metrics import LiveMetrics
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.metrics import (
    ActionStep,
    EpisodeConfidence,
    RunningMean,
    Stagnation,
    StatisticalConsistency,
    WindowMean,
)
from frame_ros.metrics.message_fields import FIELDS, metrics_of
from frame_ros.metrics.record import Lack

NAN = float('nan')
METRICS = (*TOKEN_METRICS, 'ev')
CONFIDENCE_METRICS = (
    'confidence', 'confidence_episode', 'confidence_token_mean', 'confidence_geometric',
    'confidence_min', 'confidence_max', 'confidence_calibrated',
)  # fmt: skip
# Field -> value of the inference that it holds.
COPIED = {
    'chunk_overlap': 'chunk_overlap',
    'chunk_consistency': 'chunk_consistency',
    'chunk_entropy': 'chunk_entropy',
    'confidence_token_mean': 'confidence_mean',
    'confidence_geometric': 'confidence_geometric',
    'confidence_min': 'confidence_min',
    'confidence_max': 'confidence_max',
    **dict(zip(ENSEMBLE_METRICS, ENSEMBLE_METRICS)),
}
COPIED_PAIRS = tuple(COPIED.items())
# The same that are whole numbers, of every inference.
COUNTS = ('sequence', 'token_count', 'sample_count', 'vocabulary_size')
# What says why values cannot be used -> its counter in the data quality, and the metrics.
PROBLEMS = {
    'tokens_problem': ('inference.tokens_invalid', TOKEN_METRICS),
    'samples_problem': ('inference.samples_invalid', ('ev', 'chunk_entropy', 'stac')),
    'confidence_problem': ('inference.confidence_invalid', CONFIDENCE_METRICS),
    'ensemble_problem': ('inference.rephrasings_invalid', ENSEMBLE_METRICS),
}
# Instabilities of the executed actions, as of the control step before the inference.
OF_ACTIONS = tuple(
    f for m in metrics_of('confidence', ActionStep) for f in m.fields_of('confidence')
)
ACTION_VALUES = attrgetter(*OF_ACTIONS)
UNKNOWN = dict.fromkeys(FIELDS['confidence'], NAN)
# Lack -> the field that is NaN then.
SHOWN_BY = {
    Lack.CHOSEN_TOKENS: 'confidence',
    Lack.REPHRASINGS: 'ensemble_spread',
    Lack.SAMPLED_CHUNKS: 'ev_step',
    Lack.OVERLAP: 'chunk_consistency',
    Lack.ACTIONS: 'reversals',
}


class ConfidenceState:
    """Takes inferences and executed actions, and gives the values of ConfidenceMetrics.

    An inference without a usable value leaves `step` and `window` NaN and the others as they were:
    windows and means are over the inferences that had one. Token values depend on the number of
    classes: when it changes, their windows and means begin again (`inference.vocabulary_changed`).

    problem: what was wrong with the newest unusable tokens, samples or confidences, in words.
    problems: metric -> what was wrong with its values in the newest inference of the episode.
    """

    def __init__(self, count: Callable[[str], None], config: PipelineOptions | None = None) -> None:
        """`count` adds one to a counter of the data quality."""
        config = config or PipelineOptions()
        self._count = count
        self._confidence = f'confidence_{config.confidence_aggregate}'
        self._episode = EpisodeConfidence(config.confidence_episode)
        self._live = LiveMetrics('confidence', config)
        self.calibrated = CalibratedScores(config)
        self._stagnation = Stagnation(config.static_threshold)
        self._consistency = StatisticalConsistency()
        self._continuous = config.continuous
        self._windows = {name: WindowMean() for name in METRICS}
        self._means = {name: RunningMean() for name in METRICS}
        self._tracked = [
            (name, f'{name}_step', f'{name}_mean', self._windows[name], self._means[name])
            for name in METRICS
        ]
        self.problem = ''
        self.reset()

    def reset(self) -> None:
        """Starts a new episode."""
        self._vocabulary_size = 0
        self._sequence: int | None = None
        self.problems: dict[str, str] = {}
        self._missing: Mapping[str, str] = {}
        self._live.reset()
        self.calibrated.start()
        self._stagnation.reset()
        self._consistency.reset()
        self._forget(METRICS)
        self._episode.reset()

    def reset_differences(self) -> None:
        """After a gap in the actions: nothing of them spans it."""
        self._live.reset_differences('action')
        self._stagnation.reset_differences()

    def _forget(self, names: tuple[str, ...]) -> None:
        for name in names:
            self._windows[name].reset()
            self._means[name].reset()

    def update_action(self, action: Sequence[float], position: Sequence[float] | None) -> None:
        """Takes the executed action of a control step, and where the TCP was then, m; None: it is
        not known.
        """
        self._live.update('action', action)
        self._stagnation.update(action, position)

    def update(
        self,
        values: Mapping[str, Any],
        time: float = NAN,
        actions: ActionStep | None = None,
        around: Mapping[str, float] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Returns field of ConfidenceMetrics -> value.

        Args:
            values: as `inference_values` gives them; what they lack is unavailable.
            time: s since the episode's start.
            actions: instabilities of the actions executed before the inference; None: there were
                none.
            around: distance and contact at the inference, as a combination of scores takes them.
        """
        values = self._by_nearest_turns(values)
        self._note_problems(values)
        self._check_setup(values)
        get = values.get
        first = get(METRICS[0], NAN)
        if first == first:
            self._follow_vocabulary(int(get('vocabulary_size', 0)))
        found: dict[str, Any] = {**UNKNOWN, **self._confidences(values)}
        for name in COUNTS:
            found[name] = int(get(name, 0))
        for field, name in COPIED_PAIRS:
            found[field] = float(get(name, NAN))
        if actions is not None:
            found.update(zip(OF_ACTIONS, ACTION_VALUES(actions)))
        found['time'] = time
        found['stagnation'] = self._stagnation.value
        found['stac'] = self._compare_samples(values)
        found['sample_spread'] = tuple(map(float, get('sample_spread', ())))
        for name, step_field, mean_field, window, mean in self._tracked:
            step = float(get(name, NAN))
            if step == step:
                window.update(step)
                mean.update(step)
                found[name], found[step_field] = window.value, step
            found[mean_field] = mean.value
        self._live.update('inference', values)
        found.update(zip(self._live.fields, self._live.values()))
        found.update(self._calibrate(values, found, around))
        self._missing, found['unavailable'] = missing_scores(
            found, self._lacks(values, found), self.problems
        )
        return found

    @property
    def reasons(self) -> dict[str, str]:
        """Metric -> why it is NaN in the newest inference of the episode."""
        missing = {SCORES[name].metric.id: why for name, why in self._missing.items()}
        return missing | self.problems

    def _note_problems(self, values: Mapping[str, Any]) -> None:
        self.problems = {}
        for name, (counter, metrics) in PROBLEMS.items():
            problem = values.get(name)
            if problem:
                self.problem = problem
                self._count(counter)
                self.problems.update(dict.fromkeys(metrics, problem))

    def _check_setup(self, values: Mapping[str, Any]) -> None:
        problem = self.calibrated.check(values)
        if problem:
            self.problem = problem
            self._count('inference.calibration_refused')
        self._consistency.bandwidth = self.calibrated.stac_bandwidth

    def _calibrate(
        self, values: Mapping[str, Any], found: Mapping[str, Any], around: Mapping[str, float]
    ) -> dict[str, float]:
        """The scores of the calibration. What is wrong with what they are made of is their reason
        too, and takes precedence.
        """
        scores = self.calibrated.update(values, found, around)
        self.problems = self.calibrated.problems | self.problems
        return scores

    def _confidences(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Those of the inference; confidence_episode is over the inferences that had one."""
        confidence = float(values.get(self._confidence, NAN))
        if confidence == confidence:
            self._episode.update(confidence)
        return {'confidence': confidence, 'confidence_episode': self._episode.value}

    def _compare_samples(self, values: Mapping[str, Any]) -> float:
        """STAC against the inference before, if it is known how many steps lie between them."""
        sequence, samples = int(values['sequence']), values.get('samples', ())
        shift = float(values.get('chunk_shift', 0.0))
        has_followed = self._sequence is not None and sequence == self._sequence + 1
        self._sequence = sequence
        if not len(samples) or values.get('is_delta'):
            self._consistency.reset_differences()
            return NAN
        if not has_followed or not shift > 0:
            self._consistency.reset_differences()
        try:
            self._consistency.update(samples, round(shift))
        except ShapeError:  # another number of dimensions than before
            self._consistency.reset_differences()
            self._consistency.update(samples)
        return self._consistency.value

    def _by_nearest_turns(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the values with samples, and what is computed of them, by their turns nearest the
        first one, of joints that turn without end.
        """
        self._consistency.is_continuous = None
        samples = values.get('samples', ())
        if not self._continuous or not len(samples) or values.get('is_delta'):
            return values
        turning = continuous_among(values.get('action_names', ()), self._continuous)
        units = np.asarray(values.get('action_units', ()))
        if not len(turning) == len(units) == samples.shape[-1]:
            return values
        turning &= units == 'rad'  # policies may have units of their own
        self._consistency.is_continuous = turning
        nearest = nearest_turn(samples, samples[0], turning)
        if nearest is samples:
            return values
        return {**values, **sample_values(nearest.ravel(), *samples.shape)}

    def _follow_vocabulary(self, size: int) -> None:
        if self._vocabulary_size not in (0, size):
            self._count('inference.vocabulary_changed')
            self._forget(TOKEN_METRICS)
        self._vocabulary_size = size

    def _lacks(self, values: Mapping[str, Any], found: Mapping[str, Any]) -> set[str]:
        """Returns what an inference lacks, by its values."""
        lacks = {lack for lack, field in SHOWN_BY.items() if found[field] != found[field]}
        if not found['token_count']:
            lacks.add(Lack.TOKENS)
        if not len(values.get('features', ())):
            lacks.add(Lack.FEATURES)
        if self.calibrated.applied is None:
            lacks.add(Lack.CALIBRATION)
        return lacks
