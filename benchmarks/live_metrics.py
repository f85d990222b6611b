# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the live metrics cost per control step: the whole pipeline, beside recomputing an 8-sample
window in numpy.

    python benchmarks/live_metrics.py [--steps 3000] [--json]

One step is one pose, one contact, one distance and one action (and every 30th an inference), fed,
ordered by stamps, joined, and turned into the rows of QualityMetrics, SafetyMetrics and
EfficiencyMetrics.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import numpy as np

from frame_ros.episodes.conversion import INFERENCE_FIELDS
from frame_ros.episodes.data import Event, EventType
from frame_ros.episodes.efficiency_state import EfficiencyState
from frame_ros.episodes.pipeline import MetricPipeline
from frame_ros.episodes.pipeline_config import PipelineConfig
from frame_ros.episodes.safety_state import SafetyState
from frame_ros.episodes.stamps import SECOND
from frame_ros.metrics import ActionStep, TrajectoryStep

WINDOW = 8
NAMES = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
RATE = 30


def make_run(steps: int) -> dict[str, np.ndarray]:
    """A smooth random motion at 30 Hz: positions (T, 3), orientations (T, 4), actions (T, 6),
    distances (T,).
    """
    random = np.random.default_rng(0)
    t = np.arange(steps) / RATE
    phase = random.uniform(0, 6, (1, 6))
    actions = np.sin(t[:, None] * random.uniform(0.3, 1.0, (1, 6)) + phase)
    positions = 0.2 * actions[:, :3] + random.normal(0, 1e-4, (steps, 3))
    orientations = np.concatenate([0.3 * actions[:, 3:], np.ones((steps, 1))], axis=1)
    orientations /= np.linalg.norm(orientations, axis=1, keepdims=True)
    return {
        'positions': positions,
        'orientations': orientations,
        'actions': actions,
        'distances': random.uniform(0.02, 0.3, steps),
        'collisions': random.random(steps) < 0.02,
        'stamps': (t * SECOND).astype(np.int64) + SECOND,
    }


COUNTS = ('queue_depth', 'stalls', 'sequence', 'token_count', 'sample_count')
INFERENCE = dict.fromkeys((*INFERENCE_FIELDS, 'observation_age'), 0.05) | dict.fromkeys(COUNTS, 0)


def time_pipeline(run: dict[str, np.ndarray]) -> list[float]:
    """us per step of the whole pipeline."""
    config = PipelineConfig(action_names=NAMES, action_lower=(-2.0,) * 6, action_upper=(2.0,) * 6)
    pipeline = MetricPipeline(config)
    poses = [
        tuple(p) + tuple(q) for p, q in zip(run['positions'].tolist(), run['orientations'].tolist())
    ]
    actions, distances = run['actions'].tolist(), run['distances'].tolist()
    collisions, stamps = run['collisions'].tolist(), run['stamps'].tolist()
    start = Event(stamps[0], EventType.START, 'benchmark')
    pipeline.feed('event', start.stamp, start)
    feed, costs, emitted = pipeline.feed, [], 0
    for i, stamp in enumerate(stamps):
        begin = time.perf_counter_ns()
        feed('contact', stamp, (collisions[i], collisions[i], 1.0), stamp)
        feed('proximity', stamp, (distances[i],), stamp)
        feed('pose', stamp, poses[i], stamp)
        if i % RATE == 0:
            feed('inference', stamp, INFERENCE, stamp)
        feed('action', stamp, (NAMES, actions[i]), stamp)
        emitted += len(pipeline.advance(stamp))
        costs.append((time.perf_counter_ns() - begin) / 1e3)
    assert emitted > 2 * len(stamps)
    return costs


def time_formulas(run: dict[str, np.ndarray]) -> list[float]:
    """us per step of the metric updates alone, without checking, ordering and joining."""
    trajectory, action = TrajectoryStep(), ActionStep(6, ((-2.0,) * 6, (2.0,) * 6))
    safety, efficiency = SafetyState(PipelineConfig()), EfficiencyState()
    poses = [
        tuple(p) + tuple(q) for p, q in zip(run['positions'].tolist(), run['orientations'].tolist())
    ]
    distances, collisions = run['distances'].tolist(), run['collisions'].tolist()
    costs = []
    for i, (stamp, pose, values) in enumerate(
        zip(run['stamps'].tolist(), poses, run['actions'].tolist())
    ):
        begin = time.perf_counter_ns()
        safety.update_contact(stamp, (collisions[i], collisions[i], 1.0))
        safety.update_distance(stamp, distances[i])
        trajectory.update(stamp, *pose)
        action.update(values)
        safety.values(stamp, 1.0, 1.0, True, 0)
        efficiency.update_step(stamp)
        if i % RATE == 0:
            efficiency.update_inference(INFERENCE)
        costs.append((time.perf_counter_ns() - begin) / 1e3)
    return costs


def recompute_trajectory(run: dict[str, np.ndarray], window: slice) -> tuple:
    """pl, ps, cc, ti, the TCP instabilities and rates of one window in bare numpy."""
    p, q, stamps = run['positions'][window], run['orientations'][window], run['stamps'][window]
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    dt = np.diff(stamps) * 1e-9
    d1, d2, d3 = np.diff(p, axis=0), np.diff(p, 2, axis=0), np.diff(p, 3, axis=0)
    n1, n2, n3 = (np.linalg.norm(d, axis=1) for d in (d1, d2, d3))
    length = n1.sum()
    turn = 2.0 * np.arccos(np.minimum(1.0, np.abs((q[1:] * q[:-1]).sum(axis=1))))
    curvature = turn[n1 >= 1e-6] / n1[n1 >= 1e-6]
    velocity = d1 / dt[:, None]
    acceleration = np.diff(velocity, axis=0) / (0.5 * (dt[1:] + dt[:-1]))[:, None]
    jerk = np.diff(acceleration, axis=0) / ((dt[2:] + dt[1:-1] + dt[:-2]) / 3.0)[:, None]
    rates = [np.linalg.norm(rate, axis=1) for rate in (velocity, acceleration, jerk)]
    return (
        *(length, n2.sum() / length, np.abs(np.diff(curvature)).mean()),
        np.sqrt((rates[2] ** 2).mean()),
        *((n.mean(), n[-1]) for n in (n1, n2, n3)),
        *(rate[-1] for rate in rates),
        np.linalg.norm(p - p[0], axis=1).max() < 5e-3,
    )


def recompute_actions(run: dict[str, np.ndarray], window: slice) -> list[tuple]:
    """The action instabilities of one window in bare numpy."""
    lower, upper = np.full(6, -2.0), np.full(6, 2.0)
    a = (run['actions'][window] - lower) / (upper - lower)
    steps = [np.abs(np.diff(a, order, axis=0)).mean(axis=1) for order in (1, 2, 3)]
    return [(step.mean(), step[-1]) for step in steps]


def recompute_safety(run: dict[str, np.ndarray], window: slice) -> tuple:
    """Contact and distance metrics of one window in bare numpy."""
    collisions, distances = run['collisions'][window], run['distances'][window]
    dt, force = np.diff(run['stamps'][window]) * 1e-9, np.ones(WINDOW)
    edges = np.count_nonzero(collisions[1:] & ~collisions[:-1]) + int(collisions[0])
    closing = (distances[-2] - distances[-1]) / dt[-1]
    touched = force[collisions]
    return (
        *(edges / WINDOW, edges / dt.sum(), edges, distances.min(), distances[-1]),
        (1.0 / np.maximum(distances, 1e-3)).mean(),
        *(dt[distances[1:] < 0.05].sum(), closing, distances[-1] / closing if closing > 0 else 0),
        *(force.max(), np.sqrt((touched**2).mean()) if len(touched) else 0),
    )


def recompute_efficiency(run: dict[str, np.ndarray], window: slice, calls: np.ndarray) -> tuple:
    """Control rate and latency of one window in bare numpy; calls: (8, 6) s, whole, parts, CPU."""
    dt = np.diff(run['stamps'][window]) * 1e-9
    whole = calls[:, 0]
    return (
        *(1.0 / dt.mean(), 1.0 / dt[-1], 1.0 / dt.max()),
        *(whole.std(), np.percentile(whole, (50, 95, 99)), calls.mean(axis=0)),
    )


def time_recomputing(run: dict[str, np.ndarray], steps: int) -> list[float]:
    """us per step when an 8-sample window is computed anew in numpy for the same metrics."""
    calls = np.full((WINDOW, 6), 0.05)
    costs = []
    for end in range(WINDOW, min(steps, len(run['stamps']))):
        begin = time.perf_counter_ns()
        window = slice(end - WINDOW, end)
        recompute_trajectory(run, window)
        recompute_actions(run, window)
        recompute_safety(run, window)
        recompute_efficiency(run, window, calls)
        costs.append((time.perf_counter_ns() - begin) / 1e3)
    return costs


def main() -> None:
    """Runs all three five times and prints the median of the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--steps', type=int, default=3000)
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--json', action='store_true')
    options = parser.parse_args()
    run = make_run(options.steps)
    rows: dict[str, list[float]] = {'metrics': [], 'pipeline': [], 'numpy window': []}
    for _ in range(options.runs):
        rows['pipeline'].append(statistics.median(time_pipeline(run)))
        rows['metrics'].append(statistics.median(time_formulas(run)))
        rows['numpy window'].append(statistics.median(time_recomputing(run, 500)))
    result = {name: statistics.median(values) for name, values in rows.items()}
    for name in ('metrics', 'pipeline'):
        ratios = [slow / fast for slow, fast in zip(rows['numpy window'], rows[name])]
        result[f'numpy / {name}'] = statistics.median(ratios)
    if options.json:
        print(json.dumps(result))
        return
    print(f'all live metrics, per control step                 {result["metrics"]:8.1f} us')
    print(f'8-sample window of the same anew in numpy          {result["numpy window"]:8.1f} us')
    print(f'numpy / live metrics                               {result["numpy / metrics"]:8.1f}')
    print(f'whole pipeline (4 samples checked, ordered, joined) {result["pipeline"]:7.1f} us')
    print(f'numpy / whole pipeline                             {result["numpy / pipeline"]:8.1f}')


if __name__ == '__main__':
    main()
