#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of scores, calibration and monitor per inference, beside the guard of robotruth.

    python benchmarks/monitor.py [--inferences 2000] [--runs 5] [--json]

An inference is a chunk of 50 actions of 7 joints and 64 features of the observation, without tokens
and samples; one action is executed between two of them. Measured is all that the package computes
of it, from the chunk to the verdict:

- comparison: the chunk beside the one before it (policy node);
- action: reversals, stagnation and instabilities of the executed action (metrics node);
- message: the numbers of the PolicyInference, as rclpy gives it, checked (metrics node);
- scores: all fields of ConfidenceMetrics, with a calibration file of 1,000 rows of features:
  z-scores, Mahalanobis distance, nearest neighbours and a combination of the scores with time,
  distance and contact; and the reasons of what is unavailable;
- monitor: four scores (reversals, stagnation, chunk consistency, Mahalanobis distance) against
  conformal thresholds, near or in contact, to the verdict.

Not in it: DDS, serialisation, and putting the streams into the order of their stamps.

The guard of robotruth 0.1.6, as its `calibrate_guard` makes it (Mahalanobis distance, chunk
consistency, action statistics and stagnation, conformal thresholds, hysteresis), takes the same
chunks and features in the same process, in turns with ours by episode; it has no row if it is not
installed: `pip install robotruth==0.1.6`, in an environment of its own. Medians over inferences,
then over runs. No token statistics are computed, and no matrix of them is held.
"""

from __future__ import annotations

import os

os.environ['OMP_NUM_THREADS'] = os.environ['OPENBLAS_NUM_THREADS'] = '1'

import argparse
import json
import statistics
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np
from parts.bars import Bars, parse

from frame_ros.bags.streams.inference import INFERENCE_FIELDS, LARGE_FIELDS, inference_values
from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.calibration_parts import ScoreStatistics
from frame_ros.confidence.combination import ScoreCombination
from frame_ros.confidence.feature_reference import fit_features
from frame_ros.confidence.monitor import HaltMonitor, Level, MonitorOptions, MonitorSample
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.confidence_state import ConfidenceState
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.metrics import ActionStep
from frame_ros.policies.execution.chunk import Chunk, compare_chunks

BAR = 150.0  # us
STEPS, JOINTS, FEATURES = 50, 7, 64
EPISODE = 200  # inferences
CALIBRATION = 60  # episodes
COMBINED = 12  # of them, for the combination of scores
PERIOD = SECOND // 30
SCORES = ('reversals', 'stagnation', 'chunk_consistency', 'feature_mahalanobis')
SOURCE = 'benchmark'
NAMES = [f'joint{number}' for number in range(1, JOINTS + 1)]
PARTS = ('comparison', 'action', 'message', 'scores', 'monitor')


def make_episode(random: np.random.Generator) -> dict[str, np.ndarray]:
    """Chunks of a smooth random motion, each a little revised, and features that wander."""
    path = np.cumsum(random.normal(0.0, 0.01, (EPISODE + STEPS, JOINTS)), axis=0)
    windows = np.lib.stride_tricks.sliding_window_view(path, STEPS, axis=0)[:EPISODE]
    chunks = windows.swapaxes(1, 2) + random.normal(0.0, 0.002, (EPISODE, STEPS, JOINTS))
    mix = np.random.default_rng(1).normal(size=(FEATURES, FEATURES))
    return {
        'actions': np.ascontiguousarray(chunks),
        'features': random.normal(size=(EPISODE, FEATURES)) @ mix,
        'positions': 0.3 * path[:EPISODE, :3],
        'distances': random.uniform(0.05, 0.5, EPISODE),
    }


def make_calibration(episodes: list[dict[str, np.ndarray]]) -> CalibrationFile:
    """A calibration of these episodes, with what a token-free policy has."""
    statistics_of_chunks = ScoreStatistics(mean=0.005, standard_deviation=0.001)
    return CalibrationFile(
        statistics={'chunk_consistency': statistics_of_chunks},
        features=fit_features([each['features'] for each in episodes], SOURCE),
        expected_duration=EPISODE / 30,
    )


def message_of(features: np.ndarray) -> SimpleNamespace:
    """A PolicyInference without tokens and samples."""
    stamp = SimpleNamespace(sec=1, nanosec=0)
    fields = dict.fromkeys(INFERENCE_FIELDS, 0.05) | dict.fromkeys(LARGE_FIELDS, array('d'))
    counts = {'sample_count': 0, 'vocabulary_size': 0, 'horizon': STEPS}
    texts = {'action_space': 'joint_position', 'feature_source': SOURCE}
    texts |= {'instruction': 'benchmark', 'policy_fingerprint': ''}
    times = {'request_stamp': stamp, 'observation_stamp': stamp}
    given = {'features': array('d', features), 'action_dimension': JOINTS, 'action_names': NAMES}
    return SimpleNamespace(**fields | counts | texts | times | given)


class Ours:
    """What the nodes compute of an inference."""

    def __init__(self, calibration: CalibrationFile, limits: tuple[float, ...]) -> None:
        self._config = PipelineOptions(calibration=calibration)
        options = MonitorOptions(scores=SCORES, threshold_from='fixed', thresholds=limits)
        self.monitor = HaltMonitor(options, calibration)

    def start(self) -> None:
        """Starts an episode."""
        self._chunk: Chunk | None = None
        self._confidence = ConfidenceState(self._refuse, self._config)
        self._action = ActionStep(JOINTS, ((-2.0,) * JOINTS, (2.0,) * JOINTS))
        self.monitor.start(0)
        self.values: dict[str, Any] = {}

    def infer(self, episode: dict[str, Any], index: int) -> Iterator[Callable[[], object]]:
        """The parts of one inference, one after the other."""
        stamp = (index + 1) * PERIOD
        chunk = Chunk(episode['actions'][index], PERIOD, stamp, PERIOD)
        message, action = episode['messages'][index], episode['executed'][index]
        position, distance = episode['tips'][index], episode['near'][index]
        message.sequence = index
        found: dict[str, Any] = {}

        def compare() -> None:
            compared = compare_chunks(self._chunk, chunk)
            message.chunk_consistency, message.chunk_shift = compared.consistency, compared.shift
            message.chunk_overlap = compared.overlap

        def execute() -> None:
            self._action.update(action)
            self._confidence.update_action(action, position)

        def read() -> None:
            found['values'] = inference_values(message)

        def score() -> None:
            around = {'distance': distance, 'contact': 0.0}
            self.values = self._confidence.update(
                found['values'], stamp / SECOND, self._action, around
            )

        def judge() -> None:
            sample = MonitorSample(stamp, self.values, stamp, distance, stamp, False, stamp)
            self.verdict = self.monitor.update(sample)

        yield from (compare, execute, read, score, judge)
        self._chunk = chunk

    def _refuse(self, counter: str) -> None:
        raise AssertionError(f'{counter}: {self._confidence.problem}')


def scored(ours: Ours, episodes: list[dict[str, Any]]) -> list[ScoreEpisode]:
    """The scores of episodes, as of successes."""
    found = []
    times = (np.arange(EPISODE) + 1) * PERIOD / SECOND
    for number, episode in enumerate(episodes):
        ours.start()
        rows = []
        for index in range(EPISODE):
            for part in ours.infer(episode, index):
                part()
            rows.append([ours.values[name] for name in SCORES])
        scores = dict(zip(SCORES, np.array(rows).T))
        none = np.zeros(EPISODE, bool)
        found.append(
            ScoreEpisode(str(number), True, times[-1], times, scores, episode['distances'], none)
        )
    return found


def thresholds(episodes: list[ScoreEpisode]) -> tuple[float, ...]:
    """The 99 % quantile of each score over episodes, so that some of the verdicts are cautions."""
    every = (np.concatenate([each.scores[name] for each in episodes]) for name in SCORES)
    return tuple(float(np.nanquantile(values, 0.99)) for values in every)


def prepared(episode: dict[str, np.ndarray]) -> dict[str, Any]:
    """An episode as nodes receive it: messages, and lists of plain numbers."""
    return episode | {
        'messages': [message_of(features) for features in episode['features']],
        'executed': episode['actions'][:, 0].tolist(),
        'tips': [tuple(each) for each in episode['positions'].tolist()],
        'near': episode['distances'].tolist(),
    }


def guard_of(episodes: list[dict[str, np.ndarray]]) -> Any:
    """The guard of robotruth, calibrated on the same episodes; None if it is not installed."""
    try:
        from robotruth.guard import calibrate_guard
    except ImportError:
        return None
    return calibrate_guard(episodes, alpha=0.1, dt=PERIOD / SECOND)[0]


def measure(ours: Ours, guard: Any, episodes: list[dict[str, Any]]) -> dict[str, float]:
    """us per inference, medians: the parts, all of ours, and the guard."""
    costs: dict[str, list[float]] = {name: [] for name in (*PARTS, 'all')}
    costs |= {'robotruth': []} if guard is not None else {}
    levels = set()
    for episode in episodes:
        ours.start()
        for index in range(EPISODE):
            parts = []
            for part in ours.infer(episode, index):
                begin = time.perf_counter_ns()
                part()
                parts.append((time.perf_counter_ns() - begin) / 1e3)
            for name, cost in zip((*PARTS, 'all'), (*parts, sum(parts))):
                costs[name].append(cost)
            levels.add(ours.verdict.level)
        if guard is not None:
            costs['robotruth'] += guard_costs(guard, episode)
    assert {Level.OK, Level.CAUTION} <= levels, levels
    expected = (*SCORES, 'combined_risk')
    assert all(np.isfinite(ours.values[name]) for name in expected), ours.values['unavailable']
    return {name: statistics.median(values) for name, values in costs.items()}


def guard_costs(guard: Any, episode: dict[str, Any]) -> list[float]:
    """us per inference of robotruth's guard."""
    guard.start_episode()
    costs = []
    for index, (features, chunk) in enumerate(zip(episode['features'], episode['actions'])):
        begin = time.perf_counter_ns()
        guard.step(features=features, action_chunk=chunk, t=index * PERIOD / SECOND)
        costs.append((time.perf_counter_ns() - begin) / 1e3)
    return costs


LINES = {
    'comparison': '  chunk beside the one before it',
    'action': '  one executed action',
    'message': '  numbers of the message',
    'scores': '  scores and calibration',
    'monitor': '  monitor',
    'all': 'ours, scores to verdict',
    'robotruth': 'robotruth 0.1.6, guard.step',
}


def main() -> int:
    """Measures everything several times and prints the median of the medians, and their range."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--inferences', type=int, default=2000, help='of each run')
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--json', action='store_true', help='one JSON object on stdout')
    options = parse(parser, inferences=EPISODE, runs=1)
    random = np.random.default_rng(0)
    past = [make_episode(random) for _ in range(CALIBRATION)]
    calibration, guard = make_calibration(past), guard_of(past)
    seen = scored(Ours(calibration, (0.0,) * len(SCORES)), [prepared(e) for e in past[:COMBINED]])
    combination = ScoreCombination.fit(seen, method='mean').to_dict()
    ours = Ours(attrs.evolve(calibration, combination=combination), thresholds(seen))
    count = max(1, round(options.inferences / EPISODE))
    episodes = [prepared(make_episode(random)) for _ in range(count)]
    runs = [measure(ours, guard, episodes) for _ in range(options.runs)]
    result = {name: statistics.median(each[name] for each in runs) for name in runs[0]}
    if options.json:
        print(json.dumps({'unit': 'us', 'runs': options.runs, 'median': result, 'each': runs}))
    for name in () if options.json else LINES:
        if name not in result:
            print(f'{LINES[name]:36s}not installed')
            continue
        low, high = min(each[name] for each in runs), max(each[name] for each in runs)
        print(f'{LINES[name]:36s}{result[name]:8.1f} us ({low:.1f} to {high:.1f})')
    bars = Bars(options)
    bars.at_most('scores, calibration and monitor of an inference, us', result['all'], BAR)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
