# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration of many episodes: the time of a full run; action-wise against global Platt scaling.

The episodes are generated, with action dimensions that are biased against each other
(`frame_ros.evaluation.calibration.generated`). Splits are those of VLA calibration, section 4.4:
20 % of the episodes to fit on, 80 % to judge by, at the first inference, in 10 bins of equal mass.

Two rows: from episodes in memory to file and page; and `frame-ros calibrate` with bags of the same
episodes, from its start to its end. An inference in a bag has a token for each of 7 dimensions, at
4 temperatures; the bags hold nothing else but START and END, and writing them does not count.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from parts.bars import Bars, parse

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'test' / 'episodes'))
from bag_making import T0, event, message, stamp, write_bag

from frame_ros.confidence import (
    ActionWisePlattScaling,
    PlattScaling,
    brier_score,
    expected_calibration_error,
    negative_log_likelihood,
)
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.evaluation.calibration.calibration_set import calibration_set
from frame_ros.evaluation.calibration.comparison import Samples, samples_of
from frame_ros.evaluation.calibration.fitting import fitted_file
from frame_ros.evaluation.calibration.generated import generated_episodes
from frame_ros.evaluation.calibration.options import FIRST, CalibrationOptions
from frame_ros.evaluation.calibration.study import CONFIDENCE, study
from frame_ros.reports.calibration_page import calibration_page
from frame_ros.reports.html.study_page import write_study_page

BINS = 10
SHARE = 0.2
MOST_SECONDS = 30.0
METRICS = {
    'ECE_1': lambda found, outcomes: expected_calibration_error(found, outcomes, BINS),
    'ECE_2': lambda found, outcomes: expected_calibration_error(found, outcomes, BINS, 2),
    'Brier': brier_score,
    'NLL': negative_log_likelihood,
}
METHODS = {'raw': None, 'platt': PlattScaling, 'action_wise_platt': ActionWisePlattScaling}


def main() -> int:
    """Runs both parts; returns 1 if a bar was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--episodes', type=int, default=500)
    parser.add_argument('--steps', type=int, default=300)
    parser.add_argument('--resamples', type=int, default=1000)
    parser.add_argument('--splits', type=int, default=100)
    options = parse(parser, episodes=60, steps=30, resamples=50, splits=10)
    bars = Bars(options)
    episodes = generated_episodes(options.episodes, options.steps)
    bars.at_most('episodes in memory, s', full_run(episodes, options.resamples), MOST_SECONDS)
    bars.at_most('with reading, s', run_on_bags(episodes, options.resamples), MOST_SECONDS)
    errors = split_errors(samples_of(calibration_set(episodes), CONFIDENCE, FIRST), options.splits)
    print(f'\nmedian of {options.splits} splits')
    print(f'{"":20}' + ''.join(f'{name:>10}' for name in METRICS))
    for method, rows in errors.items():
        medians = np.median(rows, axis=0)
        print(f'{method:20}' + ''.join(f'{value:10.4f}' for value in medians))
    ours, globally = (np.median(errors[m][:, 0]) for m in ('action_wise_platt', 'platt'))
    bars.at_least('median ECE_1, global over action-wise Platt', float(globally / ours), 1.0)
    return bars.exit_status()


def full_run(episodes: list[ScoreEpisode], resamples: int) -> float:
    """Returns the seconds from episodes to a calibration file and a page."""
    with tempfile.TemporaryDirectory() as folder:
        begun, cpu = time.perf_counter(), time.process_time()
        found = study(episodes, CalibrationOptions(resamples=resamples))
        saved = fitted_file(found)
        saved.save(Path(folder) / 'calibration.json')
        write_study_page(calibration_page(found, saved), Path(folder) / 'calibration.html')
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
        size = (Path(folder) / 'calibration.json').stat().st_size
    count = sum(map(len, episodes)) / len(episodes)
    print(f'{len(episodes)} episodes of {count:.0f} inferences, {resamples} resamples')
    print(f'{seconds:.1f} s, {cpu:.1f} s of CPU; a file of {size / 1e3:.0f} kB', flush=True)
    return seconds


def run_on_bags(episodes: list[ScoreEpisode], resamples: int) -> float:
    """Returns the seconds of the command, with bags of these episodes."""
    with tempfile.TemporaryDirectory() as folder:
        bags = Path(folder) / 'bags'
        for number, episode in enumerate(episodes):
            write_episode(bags / f'{number:04d}', episode)
        command = ['frame-ros', 'calibrate', bags, '-o', f'{folder}/calibration.json']
        command += ['--report', folder, '--resamples', str(resamples), '--quiet']
        begun, cpu = time.perf_counter(), cpu_of_children()
        result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        seconds, cpu = time.perf_counter() - begun, cpu_of_children() - cpu
    assert f'{len(episodes)} episodes' in result.stdout, result.stdout
    print(f'frame-ros calibrate: {seconds:.1f} s, {cpu:.1f} s of CPU', flush=True)
    return seconds


def cpu_of_children() -> float:
    """CPU time of the processes that have ended, and of theirs, s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write_episode(path: Path, episode: ScoreEpisode) -> None:
    """Writes a bag of an episode's inferences, its start and its end."""
    end = T0 + round(episode.duration * SECOND)
    outcome = int(Outcome.SUCCESS if episode.outcome else Outcome.FAILURE)
    rows = [
        ('/policy_inference', T0 + round(at * SECOND), inference(episode, row))
        for row, at in enumerate(episode.times.tolist())
    ]
    start = event(T0, EventType.START, episode.name)
    stop = event(end, EventType.END, episode.name, outcome=outcome)
    write_bag(path, [('/episode_events', T0, start), *rows, ('/episode_events', end, stop)])


def inference(episode: ScoreEpisode, row: int) -> object:
    """A PolicyInference with one token for each action dimension."""
    p = np.ascontiguousarray(episode.dimensions[row])
    return message(
        'frame_ros/msg/PolicyInference',
        header__stamp=stamp(T0 + round(float(episode.times[row]) * SECOND)),
        sequence=row,
        latency=0.1,
        vocabulary_size=256,
        token_max_probability=p,
        token_second_probability=np.zeros(len(p)),
        token_sum_of_squares=p**2,
        token_entropy=np.zeros(len(p)),
        token_chosen_probability=p,
        token_step=np.zeros(len(p), np.int32),
        token_dimension=np.arange(len(p), dtype=np.int32),
        temperatures=episode.temperatures,
        token_max_at_temperature=episode.dimensions_at_temperature[row].ravel(),
    )


def split_errors(samples: Samples, splits: int) -> dict[str, np.ndarray]:
    """Returns method -> (splits, METRICS) on the episodes that it was not fitted on."""
    found: dict[str, list[list[float]]] = {method: [] for method in METHODS}
    count = len(samples.outcomes)
    for seed in range(splits):
        is_fitted = np.random.default_rng(seed).permutation(count) < SHARE * count
        rest, judged = samples.select(is_fitted), samples.select(~is_fitted)
        for method, kind in METHODS.items():
            if kind is None:
                values = judged.inputs.confidence
            else:
                values = judged.inputs.predict(rest.inputs.fit(kind, rest.outcomes))
            found[method].append([each(values, judged.outcomes) for each in METRICS.values()])
    return {method: np.array(rows) for method, rows in found.items()}


if __name__ == '__main__':
    sys.exit(main())
