# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distinct failures that a guided search finds, against random scenes of the same number.

In the simulation, of a scripted policy with three planted weaknesses, each a conjunction of two
factors that holds in 3 to 7 % of random scenes. A failure is distinct if it lies in another cell of
the operators' coverage grid. As nearly every scene has a cell of its own in a grid of so many
dimensions, failures are also counted in the grid with two bins for each range.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from parts.bars import Bars, parse
from parts.rare_weaknesses import NAMES, OPERATORS, planted, run

from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.search.search_options import SearchOptions
from frame_ros.evaluation.scene_trials.search.study import SearchFound, search
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.search.space import cell_of
from frame_ros.scenes.simulation.scene_robot import scene_robot

LEAST_RATIO = 2.0
HEAD = ('failures', 'distinct', 'distinct, 2 bins', *NAMES, 'invalid')


def main() -> int:
    """Runs all modes with all seeds; returns 1 if the bar was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--budget', type=int, default=120)
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--processes', type=int, default=2)
    parser.add_argument('--modes', nargs='*', default=['random', 'guided', 'coverage'])
    arguments = parse(parser, budget=24, seeds=1, modes=['random', 'guided'])
    bars = Bars(arguments)
    robot = scene_robot('so101')
    context = multiprocessing.get_context('spawn')
    counts: dict[str, list[list[int]]] = {mode: [] for mode in arguments.modes}
    with ProcessPoolExecutor(arguments.processes, context) as pool:

        def evaluate(scenes: Sequence[Scene]) -> list[TrialResult]:
            return list(pool.map(run, scenes))

        for seed in range(arguments.seeds):
            for mode in arguments.modes:
                begun = time.perf_counter()
                chosen = SearchOptions(
                    mode=mode, budget=arguments.budget, seed=seed, operators=OPERATORS
                )
                found = search(chosen, evaluate, robot=robot)
                counts[mode].append(counts_of(found))
                pairs = ', '.join(f'{n}: {c}' for n, c in zip(HEAD, counts[mode][-1]))
                spent = time.perf_counter() - begun
                print(f'{mode}, seed {seed}, {spent:.0f} s: {pairs}', flush=True)
    medians = {mode: np.median(each, axis=0) for mode, each in counts.items()}
    for mode, each in medians.items():
        print(f'{mode}, median: {", ".join(f"{n}: {c:g}" for n, c in zip(HEAD, each))}')
    for index in (1, 2) if {'guided', 'random'} <= medians.keys() else ():
        ratio = medians['guided'][index] / max(medians['random'][index], 1)
        text = f'{HEAD[index]} failures, guided to random, at {arguments.budget} scenes'
        bars.at_least(text, float(ratio), LEAST_RATIO)
    return bars.exit_status()


def counts_of(found: SearchFound) -> list[int]:
    """Numbers as of HEAD."""
    failed = [each.scene for each in found.failures]
    coarse = {cell_of(scene, bins=2) for scene in failed}
    causes = [sum(planted(scene)[name] for scene in failed) for name in NAMES]
    return [len(failed), len(found.failed_cells), len(coarse), *causes, found.invalid]


if __name__ == '__main__':
    sys.exit(main())
