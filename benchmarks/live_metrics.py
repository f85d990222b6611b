# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of all live metrics per control step, against recomputing them over a window of 8 samples in
numpy.

    python benchmarks/live_metrics.py [--steps 3000] [--runs 5] [--bag 30000 120000] [--json]

A control step is one pose, one action of 6 joints, one contact, one distance, the positions of
object and goal and whether the object is held. Of it come

- trajectory: pl, ps, cc, ti, tcp_pi, tcp_vi, tcp_ai (step, window, mean), TCP speed, acceleration,
  jerk, the static guard; ot; ate and rte against one reference (FRAME's: the mean of the
  demonstrations);
- actions: a_pi, a_vi, a_ai (step, window, mean);
- safety: cr (per step, second, metre), op, rf, near-zone time, closing speed, time to collision,
  least distance while moving, peak and RMS force;
- efficiency: control rate (all, last second, worst second).

An inference is a message as rclpy gives it, of 60 tokens (their four statistics) and 8 sampled
chunks of 10 steps, checked and reduced as the metrics node does. Of it come tb_tp, tb_pcs, tb_d,
tb_e and ev (step, window, mean), spread and entropy of the samples, mean chunk overlap (each is in
the message), latency (mean,
percentiles, jitter, parts), computation time, memory. sr, tcr, mse, amse and namse need an outcome
or ground truth, which a running episode does not have.

Rows: control steps with an inference at every 30th (the median is of a step without one; below it
the mean, with the share of those), the same against 3 references, with poses through the low-pass
first, and with an inference at every step. The numpy rows compute the very same metrics of 8
samples and 8 inferences, against one reference. The pipeline row adds checking, ordering by stamps
and joining, and the rows of the messages; it is without a task for ot, references, tokens and
samples.

Then the same metrics from a bag: what `frame-ros report` needs for joint states at 1 kHz, of which
each is a step, and how much of that for each further step.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from parts.bars import Bars, parse
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from frame_ros.bags.streams.inference import INFERENCE_FIELDS, LARGE_FIELDS, inference_values
from frame_ros.confidence.inference_uncertainty import TOKEN_FIELDS
from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.confidence_state import ConfidenceState
from frame_ros.episodes.metric_pipeline.efficiency_state import EfficiencyState
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.episodes.metric_pipeline.safety_state import ContactSample, SafetyState
from frame_ros.metrics import (
    ActionStep,
    OptimalTrajectoryDifference,
    PoseLowPass,
    ReferenceTracker,
    TrajectoryStep,
)

WINDOW = 8
NAMES = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
RATE = 30
HORIZON, TOKENS, SAMPLES, CLASSES = 10, 60, 8, 256
# These take turns: like what has just been received, they are warm in the cache.
INFERENCES = 16
CUTOFF = 5.0
GOAL = (0.1, -0.2, 0.05)
COUNTS = ('queue_depth', 'stalls', 'sequence', 'token_count', 'sample_count', 'vocabulary_size')
INFERENCE = dict.fromkeys((*INFERENCE_FIELDS, 'observation_age'), 0.05) | dict.fromkeys(COUNTS, 0)
Run = dict[str, Any]


def make_run(steps: int) -> Run:
    """A smooth random motion at 30 Hz and what goes with it, and some inferences."""
    random = np.random.default_rng(0)
    t = np.arange(steps) / RATE
    phase, size = random.uniform(0, 6, (1, 6)), (INFERENCES, TOKENS, 4)
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
        'objects': positions + random.normal(0, 0.01, (steps, 3)),
        'held': (t // 5) % 2 == 1,
        'references': [(t, positions + random.normal(0, 0.01, (steps, 3))) for _ in range(3)],
        'tokens': random.uniform((0.5, 0.1, 0.1, 0.1), (0.9, 0.5, 0.9, 0.9), size).swapaxes(1, 2),
        'samples': random.normal(size=(INFERENCES, SAMPLES, HORIZON, 6)),
    }


def make_messages(run: Run) -> list[SimpleNamespace]:
    """The inferences of a run as PolicyInference."""
    stamp = SimpleNamespace(sec=1, nanosec=0)
    shape = {'sample_count': SAMPLES, 'horizon': HORIZON, 'action_dimension': 6}
    fields = INFERENCE | dict.fromkeys(LARGE_FIELDS, array('d')) | shape
    fields |= {'action_space': 'joint_position', 'vocabulary_size': CLASSES}
    fields |= {'request_stamp': stamp, 'observation_stamp': stamp}
    return [
        SimpleNamespace(
            **fields
            | {name: array('d', values) for name, values in zip(TOKEN_FIELDS, tokens)}
            | {'samples': array('d', samples.ravel())}
        )
        for tokens, samples in zip(run['tokens'], run['samples'])
    ]


class LiveMetrics:
    """The objects of all live metrics."""

    def __init__(self, run: Run, references: int) -> None:
        self.trajectory = TrajectoryStep()
        self.action = ActionStep(6, ((-2.0,) * 6, (2.0,) * 6))
        self.progress = OptimalTrajectoryDifference()
        self.tracker = ReferenceTracker(run['references'][:references])
        self.safety, self.efficiency = SafetyState(PipelineOptions()), EfficiencyState()
        self.confidence = ConfidenceState(self._refuse)

    def infer(self, message: SimpleNamespace) -> dict[str, float]:
        """Takes one inference; returns the values of ConfidenceMetrics."""
        values = inference_values(message)
        self.efficiency.update_inference(values)
        return self.confidence.update(values)

    def _refuse(self, counter: str) -> None:
        raise AssertionError(f'{counter}: {self.confidence.problem}')


def contact_sample(collides: bool) -> ContactSample:
    """A contact of 1 N that is not expected, or none."""
    force = 1.0 if collides else 0.0
    return collides, collides, force, force, force, force


def time_metrics(run: Run, every: int, low_pass: bool, references: int = 1) -> list[float]:
    """us per step of the metrics alone, with an inference at every so many steps."""
    live = LiveMetrics(run, references)
    trajectory, progress, safety = live.trajectory, live.progress, live.safety
    update_action, update_tracker = live.action.update, live.tracker.update
    filtered = PoseLowPass(CUTOFF).update if low_pass else None
    columns = zip(
        run['stamps'].tolist(),
        map(tuple, np.concatenate([run['positions'], run['orientations']], axis=1).tolist()),
        *(run[name].tolist() for name in ('actions', 'collisions', 'distances', 'held')),
        map(tuple, run['objects'].tolist()),
    )
    messages, costs = make_messages(run), []
    for i, (stamp, pose, action, collides, distance, held, target) in enumerate(columns):
        begin = time.perf_counter_ns()
        if filtered is not None:
            pose = filtered(stamp, *pose)
        safety.update_contact(stamp, contact_sample(collides))
        safety.update_distance(stamp, distance)
        trajectory.update(stamp, *pose)
        update_tracker((stamp - SECOND) * 1e-9, trajectory.pl, pose[0], pose[1], pose[2])
        progress.update(pose[:3], target, GOAL, held)
        update_action(action)
        safety.values(stamp, 1.0, trajectory.pl, True, 0)
        live.efficiency.update_step(stamp)
        if i % every == 0:
            live.infer(messages[i % INFERENCES])
        costs.append((time.perf_counter_ns() - begin) / 1e3)
    return costs


def time_pipeline(run: Run) -> list[float]:
    """us per step of the whole pipeline: pose, action, contact, distance; inference every 30th."""
    config = PipelineOptions(action_names=NAMES, action_lower=(-2.0,) * 6, action_upper=(2.0,) * 6)
    pipeline = MetricPipeline(config)
    poses = np.concatenate([run['positions'], run['orientations']], axis=1).tolist()
    actions, distances = run['actions'].tolist(), run['distances'].tolist()
    collisions, stamps = run['collisions'].tolist(), run['stamps'].tolist()
    start = Event(stamps[0], EventType.START, 'benchmark')
    pipeline.feed('event', start.stamp, start)
    feed, costs, emitted = pipeline.feed, [], 0
    for i, stamp in enumerate(stamps):
        begin = time.perf_counter_ns()
        feed('contact', stamp, contact_sample(collisions[i]), stamp)
        feed('proximity', stamp, (distances[i],), stamp)
        feed('pose', stamp, tuple(poses[i]), stamp)
        if i % RATE == 0:
            feed('inference', stamp, INFERENCE, stamp)
        feed('action', stamp, (NAMES, actions[i]), stamp)
        emitted += len(pipeline.advance(stamp))
        costs.append((time.perf_counter_ns() - begin) / 1e3)
    assert emitted > 2 * len(stamps)
    return costs


def recompute_trajectory(run: Run, window: slice) -> tuple:
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


def recompute_references(run: Run, window: slice) -> tuple:
    """ate and rte of one window against each reference, resampled at its stamps, in bare numpy."""
    p, t = run['positions'][window], (run['stamps'][window] - SECOND) * 1e-9
    errors = []
    for stamps, positions in run['references'][:1]:
        wanted = np.stack([np.interp(t, stamps, positions[:, i]) for i in range(3)], axis=1)
        apart = np.linalg.norm(p - wanted, axis=1).mean()
        moved = np.diff(p, axis=0) - np.diff(wanted, axis=0)
        errors.append((apart, np.linalg.norm(moved, axis=1).mean()))
    return min(errors)


def recompute_progress(run: Run, window: slice) -> tuple:
    """ot of one window in bare numpy."""
    p, thing = run['positions'][window], run['objects'][window]
    to_goal = np.linalg.norm(p - np.array(GOAL), axis=1)
    carry = np.linalg.norm(thing - np.array(GOAL), axis=1)
    reach = np.linalg.norm(p - thing, axis=1)
    left = np.where(run['held'][window], to_goal, reach + carry)
    steps = 0.5 * (1.0 + np.diff(left / left[0]))
    return steps.mean(), steps[-1]


def recompute_actions(run: Run, window: slice) -> list[tuple]:
    """The action instabilities of one window in bare numpy."""
    lower, upper = np.full(6, -2.0), np.full(6, 2.0)
    a = (run['actions'][window] - lower) / (upper - lower)
    steps = [np.abs(np.diff(a, order, axis=0)).mean(axis=1) for order in (1, 2, 3)]
    return [(step.mean(), step[-1]) for step in steps]


def recompute_safety(run: Run, window: slice) -> tuple:
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


def recompute_rate(run: Run, window: slice) -> tuple:
    """Control rate of one window in bare numpy."""
    dt = np.diff(run['stamps'][window]) * 1e-9
    return 1.0 / dt.mean(), 1.0 / dt[-1], 1.0 / dt.max()


def recompute_entropy(samples: np.ndarray) -> np.ndarray:
    """Entropy of a Gaussian over the samples (8, N, H, D) of each inference, in bare numpy."""
    count, dimension = SAMPLES, samples.shape[-1]
    x = (samples - samples.mean(axis=1, keepdims=True)).swapaxes(1, 2)
    covariance = x.swapaxes(-1, -2) @ x / count
    squares, norm = (x**2).sum(axis=-1), (covariance**2).sum(axis=(-2, -1))
    scale = squares.mean(axis=-1) / dimension
    error = ((squares**2).mean(axis=-1) - norm) / count
    share = np.minimum(error / (norm - dimension * scale**2), 1.0)[..., None, None]
    shrunk = (1 - share) * covariance + share * scale[..., None, None] * np.eye(dimension)
    constant = dimension * np.log(2 * np.pi * np.e)
    return 0.5 * (np.linalg.slogdet(shrunk)[1].mean(axis=1) + constant)


def recompute_inferences(run: Run, calls: np.ndarray) -> tuple:
    """Tokens, samples, overlap and latency of 8 inferences; calls: (8, 7), s: whole, parts, CPU;
    and overlap.
    """
    window = slice(0, WINDOW)
    largest, second, squares, entropy = np.moveaxis(run['tokens'][window], 1, 0)
    tokens = (
        1.0 - largest.mean(axis=1), 1.0 - (largest - second).mean(axis=1),
        (1.0 - squares).mean(axis=1), entropy.mean(axis=1),
    )  # fmt: skip
    samples = run['samples'][window]
    variability = samples.std(axis=1).mean(axis=(1, 2))
    whole = calls[:, 0]
    return (
        *(samples.std(axis=1).mean(axis=2), recompute_entropy(samples)),
        *((values.mean(), values[-1]) for values in (*tokens, variability)),
        *(whole.std(), np.percentile(whole, (50, 95, 99)), calls.mean(axis=0)),
    )


def time_recomputing(run: Run, with_inference: bool) -> list[float]:
    """Returns us per step when an 8-sample window is recomputed in numpy for the same metrics."""
    calls = np.full((WINDOW, 7), 0.05)
    parts: list[Callable[[Run, slice], Any]] = [
        recompute_trajectory, recompute_references, recompute_progress, recompute_actions,
        recompute_safety, recompute_rate,
    ]  # fmt: skip
    costs = []
    for end in range(WINDOW, min(500, len(run['stamps']))):
        begin = time.perf_counter_ns()
        window = slice(end - WINDOW, end)
        for part in parts:
            part(run, window)
        if with_inference:
            recompute_inferences(run, calls)
        costs.append((time.perf_counter_ns() - begin) / 1e3)
    return costs


LINES = {
    'metrics': 'all live metrics, per control step',
    'metrics_mean': '  mean, an inference at every 30th step',
    'metrics_references': '  against 3 references',
    'metrics_low_pass': '  poses through the low-pass first',
    'metrics_inference': '  with an inference at every step',
    'numpy': '8-sample window of the same recomputed in numpy',
    'numpy_inference': '  with an inference at every step',
    'pipeline': 'whole pipeline (4 samples checked, ordered, joined)',
}
RATIOS = {
    'numpy / metrics': ('numpy', 'metrics'),
    'numpy / metrics, inference at every step': ('numpy_inference', 'metrics_inference'),
    'numpy / whole pipeline': ('numpy', 'pipeline'),
}
BARS = {'numpy / metrics': 10.0, 'numpy / metrics, inference at every step': 1.5}
MOST_PER_STEP = 1700  # bytes: one and a half times what it takes


def measure(run: Run) -> dict[str, float]:
    """us per control step, medians over the steps; metrics_mean: the mean of the medians of those
    without and with an inference, in their shares.
    """
    plain = time_metrics(run, RATE, False)
    costs = {
        'metrics': plain,
        'metrics_references': time_metrics(run, RATE, False, references=3),
        'metrics_low_pass': time_metrics(run, RATE, True),
        'metrics_inference': time_metrics(run, 1, False),
        'numpy': time_recomputing(run, False),
        'numpy_inference': time_recomputing(run, True),
        'pipeline': time_pipeline(run),
    }
    result = {name: statistics.median(values) for name, values in costs.items()}
    inferring = statistics.median(plain[::RATE])
    return result | {'metrics_mean': result['metrics'] + (inferring - result['metrics']) / RATE}


BAG_RATE = 1000  # Hz
BAG_START = 1_700_000_000 * SECOND
ROBOT = 'so101'
JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
TYPE = 'sensor_msgs/msg/JointState'
REPORT = ('frame-ros', 'report', '-q', '--robot', ROBOT, '--topic', 'action=/joint_states')


@dataclass(frozen=True)
class Need:
    """What one report took. memory: bytes, at most at once; cpu: s; size: bytes of the bag."""

    steps: int
    memory: int
    cpu: float
    size: int


def write_long_bag(folder: Path, steps: int) -> Path:
    """Writes an MCAP bag of so many steps with rosbags, uncompressed, and returns its folder."""
    store = get_typestore(Stores.ROS2_JAZZY)
    state, header, clock = (
        store.types[name] for name in (TYPE, 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time')
    )
    still = np.zeros(len(JOINTS))
    noise = np.random.default_rng(1).normal(size=(steps, len(JOINTS)))
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection('/joint_states', TYPE, typestore=store)
        for step in range(steps):
            at = BAG_START + step * SECOND // BAG_RATE
            swing = 0.3 * np.sin(0.7 * step / BAG_RATE * np.arange(1, len(JOINTS) + 1))
            stamped = header(clock(*divmod(at, SECOND)), 'base')
            message = state(stamped, list(JOINTS), swing + 1e-4 * noise[step], still, still)
            writer.write(topic, at + SECOND // 5000, store.serialize_cdr(message, TYPE))
    return folder


def need_of(steps: int) -> Need:
    """Returns what the report on a bag of so many steps takes, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix='frame_ros_long_bag_') as temporary:
        bag = write_long_bag(Path(temporary) / 'bag', steps)
        size = sum(file.stat().st_size for file in bag.iterdir())
        command = [*REPORT, str(bag), '-o', str(bag.parent / 'report.html')]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f'{" ".join(command)} ended with {process.returncode}')
    return Need(steps, used.ru_maxrss * 1024, used.ru_utime + used.ru_stime, size)


def print_needs(short: int, long: int) -> float:
    """Prints what two lengths need, in steps, and returns the memory in bytes per further step."""
    first, last = need_of(short), need_of(long)
    more = last.steps - first.steps
    each = (last.memory - first.memory) / more
    mapped = (last.size - first.size) / more
    for need in (first, last):
        print(
            f'report of {need.steps / BAG_RATE:.0f} s at {BAG_RATE} Hz, {need.size / 1e6:.0f} MB: '
            f'{need.memory / 1e6:.0f} MB of memory, {need.cpu:.1f} s of CPU',
            file=sys.stderr,
        )
    print(
        f'each further step: {each:.0f} bytes, {mapped:.0f} of which the mapped file, and '
        f'{(last.cpu - first.cpu) / more * 1e6:.0f} us of CPU; an hour at {BAG_RATE} Hz: '
        f'{(first.memory + each * (3600 * BAG_RATE - first.steps)) / 1e9:.1f} GB',
        file=sys.stderr,
    )
    return each


def main() -> int:
    """Measures everything five times and prints the median of the medians, and their range."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--steps', type=int, default=3000)
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument(
        '--bag', type=int, nargs=2, default=[30_000, 120_000], help='steps of a short, a long bag'
    )
    parser.add_argument('--json', action='store_true', help='one JSON object on stdout')
    options = parse(parser, steps=300, runs=1, bag=[3000, 6000])
    run = make_run(options.steps)
    runs = [measure(run) for _ in range(options.runs)]
    for each in runs:
        each.update({name: each[slow] / each[fast] for name, (slow, fast) in RATIOS.items()})
    result = {name: statistics.median(each[name] for each in runs) for name in runs[0]}
    if options.json:
        print(json.dumps({'unit': 'us', 'runs': options.runs, 'median': result, 'each': runs}))
    for name, line in [] if options.json else (LINES | dict.fromkeys(RATIOS)).items():
        low, high = min(each[name] for each in runs), max(each[name] for each in runs)
        unit = 'times' if name in RATIOS else 'us'
        print(f'{line or name:53s}{result[name]:8.1f} {unit} ({low:.1f} to {high:.1f})')
    bars = Bars(options)
    for name, bar in BARS.items():
        bars.at_least(name, result[name], bar)
    bars.at_most('report of a bag, bytes per step', print_needs(*options.bag), MOST_PER_STEP)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
