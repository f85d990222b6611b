# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of the batch metrics on 100,000 poses, against robometric-frame, evo and bare numpy.

    python benchmarks/metrics_batch.py [--poses 100000] [--runs 15] [--only RTE] [--json]

The bars: no slower than robometric-frame's class (tensors in, update and compute), path length, ATE
and RTE at least 10 times faster than evo (arrays in), nothing slower than hand-vectorised numpy,
which checks nothing, by more than 1.5 times. float64, one thread, its CPU time. Times are medians
of runs in which the columns take turns, ratios the medians of the runs' ratios. evo runs in a
process of its own.
"""

from __future__ import annotations

import os

os.environ['OMP_NUM_THREADS'] = os.environ['OPENBLAS_NUM_THREADS'] = '1'

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import parts.metrics_by_hand as hand
from parts.bars import Bars, parse
from parts.metrics_by_hand import Floats

from frame_ros import metrics

HAND, LIBRARY, EVO = 'hand numpy', 'robometric-frame', 'evo'
# The most that ours may take, as a share of the other's time.
BARS = {HAND: 1.5, LIBRARY: 1.0, EVO: 0.1}
MISSING = 'not installed'
DT = 0.02


@dataclass
class Case:
    """One metric: ours, and the same by others. `evo` is evo's name of it."""

    name: str
    ours: Callable[[], Any]
    hand: Callable[[], Any]
    library: Callable[[], Any] | None = None
    evo: str = ''
    times: dict[str, list[float]] = field(default_factory=dict)

    def others(self) -> dict[str, Callable[[], Any]]:
        found = {'ours': self.ours, HAND: self.hand}
        return found if self.library is None else {**found, LIBRARY: self.library}


def make_data(poses: int) -> dict[str, Any]:
    """A smooth random motion at 50 Hz and what is measured along it."""
    random = np.random.default_rng(0)
    t = np.arange(poses) * DT
    phase, rate = random.uniform(0, 6, 6), random.uniform(0.3, 1.0, 6)
    actions = np.sin(t[:, None] * rate + phase)
    positions = 0.3 * actions[:, :3] + random.normal(0, 1e-4, (poses, 3))
    distances = random.uniform(0.02, 0.3, poses)
    return {
        't': t,
        'actions': actions,
        'predicted': actions + random.normal(0, 0.01, actions.shape),
        'positions': positions,
        'reference': positions + random.normal(0, 0.01, positions.shape),
        'target': positions + random.normal(0, 0.1, positions.shape),
        'goal': np.broadcast_to([0.5, 0.0, 0.2], positions.shape).copy(),
        'quaternions': np.concatenate([0.3 * actions[:, 3:], np.ones((poses, 1))], axis=1),
        'headings': random.uniform(-3.0, 3.0, poses),
        'dt': random.uniform(0.9, 1.1, poses - 1) * DT,
        'distances': distances,
        'sometimes': np.where(random.random(poses) < 0.1, np.nan, distances),
        'contact': random.random(poses) < 0.02,
        'grasped': t > t[-1] / 2,
        'p': random.dirichlet(np.ones(256), (max(poses // 50, 1), 7)),
        'samples': random.normal(size=(max(poses // 8, 1), 8, 6)),
    }


def path_cases(data: dict[str, Any], library: Library) -> list[Case]:
    """Trajectory quality."""
    p, headings, q = data['positions'], data['headings'], data['quaternions']
    cc, by_hand = metrics.curvature_change, hand.curvature_change
    return [
        Case('path length', lambda: metrics.path_length(p), lambda: hand.path_length(p),
             library('PathLength', p), 'path_length'),
        Case('path smoothness', lambda: metrics.path_smoothness(p), lambda: hand.smoothness(p)),
        Case('path smoothness (published)', lambda: metrics.path_smoothness(p, 'authors'),
             lambda: hand.mean_second_difference(p), library('PathSmoothness', p)),
        Case('curvature, headings', lambda: cc(p, headings),
             lambda: by_hand(p, hand.heading_turns(headings))),
        Case('curvature, headings (published)', lambda: cc(p, headings, wrap=False),
             lambda: by_hand(p, np.diff(headings)), library('CurvatureChange', p, headings)),
        Case('curvature, orientations', lambda: cc(p, orientations=q),
             lambda: by_hand(p, hand.rotation_turns(q))),
        Case('curvature, path', lambda: cc(p), lambda: hand.path_curvature_change(p)),
        Case('static', lambda: metrics.is_static(p), lambda: hand.is_static(p)),
    ]  # fmt: skip


def reference_cases(data: dict[str, Any], library: Library) -> list[Case]:
    """Errors against a reference, and progress."""
    p, r, t, dt = data['positions'], data['reference'], data['t'], data['dt']
    ate, rte = metrics.absolute_trajectory_error, metrics.relative_trajectory_error
    placing = p, data['target'], data['goal'], data['grasped']
    later = t + 0.3 * DT
    return [
        Case('ATE', lambda: ate(p, r), lambda: hand.absolute_error(p, r),
             library('AbsoluteTrajectoryError', p, r), 'ate'),
        Case('ATE, SE(3)', lambda: ate(p, r, 'se3'),
             lambda: hand.absolute_error(hand.align(p, r), r), None, 'ate_se3'),
        Case('RTE', lambda: rte(p, r), lambda: hand.relative_error(p, r, 1),
             library('RelativeTrajectoryError', p, r), 'rte'),
        Case('RTE, delta 10', lambda: rte(p, r, 10), lambda: hand.relative_error(p, r, 10)),
        Case('resample', lambda: metrics.resample(p, t, later),
             lambda: hand.resample(p, t, later)),
        Case('progress', lambda: metrics.optimal_trajectory_difference(*placing),
             lambda: hand.progress(*placing)),
        Case('RMS jerk, one dt', lambda: metrics.rms_jerk(p, DT), lambda: hand.even_jerk(p, DT)),
        Case('RMS jerk, dt of each step', lambda: metrics.rms_jerk(p, dt),
             lambda: hand.jerk(p, dt)),
        Case('RMS jerk (authors)', lambda: metrics.rms_jerk(p, DT, 'authors'),
             lambda: hand.gradients(p)),
    ]  # fmt: skip


def difference_cases(data: dict[str, Any], library: Library) -> list[Case]:
    """Instabilities of TCP and actions."""
    p, a = data['positions'], data['actions']
    width = np.full(a.shape[1], 2.0)
    bounds = (np.full(a.shape[1], -1.0), np.full(a.shape[1], 1.0))
    cases = []
    for n in (1, 2, 3):
        cases += [
            Case(f'TCP differences, order {n}', lambda n=n: metrics.tcp_instability(p, n),
                 lambda n=n: hand.tcp_steps(p, n)),
            Case(f'action differences, order {n}',
                 lambda n=n: metrics.action_instability(a, n, bounds),
                 lambda n=n: hand.action_steps(a, n, width)),
        ]  # fmt: skip
    steps = metrics.tcp_instability(p, 2)
    cases.append(
        Case('window mean', lambda: metrics.window_mean(steps, 2), lambda: hand.windows(steps, 2))
    )
    return cases


def other_cases(data: dict[str, Any], library: Library) -> list[Case]:
    """Task, safety and uncertainty metrics."""
    a, b, d, gaps = (data[name] for name in ('actions', 'predicted', 'distances', 'sometimes'))
    p, contact, samples, held = data['p'], data['contact'], data['samples'], data['grasped']
    position = data['positions']
    one = [(a, b)]
    return [
        Case('MSE', lambda: metrics.mse(a, b), lambda: hand.squared_error(a, b),
             library('ActionAccuracy', a, b)),
        Case('NAMSE', lambda: metrics.namse(one), lambda: hand.squared_error(a, b) / a.var(),
             library('ActionAccuracy', a, b, normalize=True)),
        Case('success rate', lambda: metrics.success_rate(held), lambda: held.mean(),
             library('SuccessRate', held)),
        Case('collisions', lambda: metrics.count_collisions(contact),
             lambda: np.count_nonzero(np.diff(contact, prepend=False) & contact),
             library('CollisionRate', position, distances=d)),
        Case('proximity', lambda: metrics.obstacle_proximity(d), lambda: np.nanmin(d),
             library('ObstacleProximity', position, distances=d)),
        Case('proximity, some NaN', lambda: metrics.obstacle_proximity(gaps),
             lambda: np.nanmin(gaps)),
        Case('risk', lambda: metrics.risk_factor(d), lambda: hand.risk(d),
             library('RiskFactor', position, distances=d)),
        Case('risk, some NaN', lambda: metrics.risk_factor(gaps), lambda: hand.risk_if_known(gaps)),
        # As of a softmax: numpy by hand does not check that p are probabilities either.
        Case('token probability', lambda: metrics.token_probability_uncertainty(p, validate=False),
             lambda: 1.0 - p.max(axis=-1).mean(axis=-1)),
        Case('prediction confidence',
             lambda: metrics.prediction_confidence_uncertainty(p, validate=False),
             lambda: hand.confidence_scores(p)),
        Case('DeepGini', lambda: metrics.deepgini(p, validate=False), lambda: hand.gini(p)),
        Case('token entropy', lambda: metrics.token_entropy(p, validate=False),
             lambda: hand.entropy(p)),
        Case('execution variability', lambda: metrics.execution_variability(samples),
             lambda: samples.std(axis=1).mean(axis=-1)),
    ]  # fmt: skip


class Library:
    """robometric-frame's classes as calls from tensors to a number; none if not installed."""

    def __init__(self) -> None:
        try:
            import torch

            from frame_ros.core.torchvision_import import import_torchvision

            with contextlib.suppress(ImportError):
                import_torchvision()
            import robometric_frame
        except ImportError:
            self.is_installed = False
            return
        torch.set_num_threads(1)
        self.is_installed = True
        self._torch, self._module = torch, robometric_frame

    def __call__(
        self, name: str, *arrays: Floats, distances: Floats | None = None, **options: Any
    ) -> Callable[[], Any] | None:
        """A call that updates the class with the arrays and computes it."""
        if not self.is_installed:
            return None
        tensors = [self._torch.from_numpy(array) for array in arrays]
        if distances is not None:
            measured = self._torch.from_numpy(distances)
            options['distance_fn'] = lambda trajectory, environment: measured
        metric = getattr(self._module, name)(**options)

        def call() -> Any:
            metric.reset()
            metric.update(*tensors)
            return metric.compute()

        return call


def measure(cases: list[Case], runs: int) -> None:
    """Times all columns of each case in turn, `runs` times. Each call follows one like it, so that
    what ran before does not matter.
    """
    for case in cases:
        check_same(case)
        for _ in range(runs):
            for column, call in case.others().items():
                call()
                case.times.setdefault(column, []).append(milliseconds(call))


def check_same(case: Case) -> None:
    """Checks that the compared results are equal, apart from NaN at the beginning."""
    ours, by_hand = np.asarray(case.ours()), np.asarray(case.hand())
    if ours.ndim:
        ours = ours[ours.shape[0] - by_hand.shape[0] :]
    np.testing.assert_allclose(ours, by_hand, rtol=1e-6, err_msg=case.name)


def milliseconds(call: Callable[[], Any]) -> float:
    """CPU time of this thread: what others do on the machine counts less than by the clock."""
    begin = time.thread_time_ns()
    call()
    return 1e-6 * (time.thread_time_ns() - begin)


def measure_evo(data: dict[str, Any], runs: int) -> dict[str, list[float]] | None:
    """ms of evo's metrics in a process of its own; None: not installed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, 'data.npz')
        np.savez(path, **{name: data[name] for name in ('t', 'positions', 'reference')})
        # evo writes settings to the home folder at first import.
        environment = {**os.environ, 'HOME': folder}
        command = [sys.executable, __file__, '--evo', str(path), '--runs', str(runs)]
        ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(ran.stdout.splitlines()[-1])


def time_evo(path: str, runs: int) -> dict[str, list[float]] | None:
    """In the child process: from arrays to the mean, by evo's own classes."""
    try:
        from evo.core.metrics import APE, RPE, PoseRelation, StatisticsType, Unit
        from evo.core.trajectory import PoseTrajectory3D
    except ImportError:
        return None
    with np.load(path) as data:
        t, p, r = data['t'], data['positions'], data['reference']
    turned = np.tile([1.0, 0.0, 0.0, 0.0], (len(t), 1))

    def mean(metric: Any, align: bool = False) -> float:
        found = PoseTrajectory3D(p, turned, t)
        wanted = PoseTrajectory3D(r, turned, t)
        if align:
            found.align(wanted)
        metric.process_data((wanted, found))
        return metric.get_statistic(StatisticsType.mean)

    part = PoseRelation.translation_part
    calls: dict[str, Callable[[], Any]] = {
        'path_length': lambda: PoseTrajectory3D(p, turned, t).path_length,
        'ate': lambda: mean(APE(part)),
        'ate_se3': lambda: mean(APE(part), align=True),
        'rte': lambda: mean(RPE(part, 1, Unit.frames)),
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            times[name].append(milliseconds(call))
    return times


def rows_of(cases: list[Case], evo: dict[str, list[float]] | None) -> list[dict[str, Any]]:
    """Medians in ms, ratios to ours, and whether the bars are kept."""
    rows = []
    for case in cases:
        if case.evo and evo is not None:
            case.times[EVO] = evo[case.evo]
        ours = case.times.pop('ours')
        row: dict[str, Any] = {'metric': case.name, 'ours_ms': statistics.median(ours)}
        for column, times in case.times.items():
            if column == EVO:
                ratio = statistics.median(ours) / statistics.median(times)
            else:
                ratio = statistics.median(a / b for a, b in zip(ours, times, strict=True))
            kept = ratio <= BARS[column]
            row[column] = {'ms': statistics.median(times), 'ratio': ratio, 'kept': kept}
        rows.append(row)
    return rows


def print_table(rows: list[dict[str, Any]], missing: list[str]) -> None:
    """Per metric ms of each column and, after it, ours over it; `!` marks a bar that is missed."""
    print(f'{"ms; ours / other":33}{"ours":>9}' + ''.join(f'{name:>22}' for name in BARS))
    for row in rows:
        cells = []
        for column in BARS:
            cell = row.get(column)
            if cell is None:
                cells.append(f'{MISSING if column in missing else "-":>22}')
            else:
                mark = ' ' if cell['kept'] else '!'
                cells.append(f'{cell["ms"]:14.3f} {cell["ratio"]:6.3f}{mark}')
        print(f'{row["metric"]:33}{row["ours_ms"]:9.3f}' + ''.join(cells))
    for column, bar in BARS.items():
        cells = [row[column] for row in rows if column in row]
        kept = sum(cell['kept'] for cell in cells)
        print(f'ours / {column} at most {bar}: kept by {kept} of {len(cells)}')


def main() -> int:
    """Measures and prints; with --evo, what the child process does."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--poses', type=int, default=100_000)
    parser.add_argument('--runs', type=int, default=15)
    parser.add_argument('--only', default='', help='metrics whose name contains this')
    parser.add_argument('--json', action='store_true')
    parser.add_argument('--evo', default='', help=argparse.SUPPRESS)
    options = parse(parser, poses=5_000, runs=2)
    if options.evo:
        print(json.dumps(time_evo(options.evo, options.runs)))
        return 0
    data, library = make_data(options.poses), Library()
    groups = (path_cases, reference_cases, difference_cases, other_cases)
    cases = [case for group in groups for case in group(data, library)]
    cases = [case for case in cases if options.only.lower() in case.name.lower()]
    measure(cases, options.runs)
    evo = measure_evo(data, 3) if any(case.evo for case in cases) else None
    rows = rows_of(cases, evo)
    if options.json:
        print(json.dumps({'poses': options.poses, 'rows': rows}))
    else:
        print_table(rows, [LIBRARY] * (not library.is_installed) + [EVO] * (evo is None))
    bars = Bars(options)
    for column, bar in BARS.items():
        ratios = {row['metric']: row[column]['ratio'] for row in rows if column in row}
        if ratios:
            worst = max(ratios, key=lambda metric: ratios[metric])
            bars.at_most(f'{worst}, ours / {column}', ratios[worst], bar)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
