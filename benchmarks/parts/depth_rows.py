# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of distances from depth cameras in the simulator that shares the detector's shapes: trials,
table and bars.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from parts.bars import Bars
from parts.row_groups import NO_RESULTS, Asked, RowGroup, percent_text

from frame_ros.evaluation.detection_scores import DistanceScore, distance_score
from frame_ros.evaluation.trials.campaign import Outcome, Trial

FRAMES = 10
SCENE_SEEDS = 3000  # other arms than those that are pushed
SCENES = {'so101': 100, 'fr3': 100}


def _depth_trials(asked: Asked) -> Iterator[Trial]:
    for robot, scenes in SCENES.items():
        for seed in range(SCENE_SEEDS, SCENE_SEEDS + math.ceil(asked.share * scenes)):
            yield Trial('depth', robot, seed, {'frames': FRAMES})


def _short_depth_trials() -> Iterator[Trial]:
    for robot in SCENES:
        yield Trial('depth', robot, SCENE_SEEDS, {'frames': 2})


def _depth_table(outcomes: Sequence[Outcome], _: Asked, bars: Bars) -> list[str]:
    lines = [
        '| robot | distance | frames | median error | 99th percentile | further than the '
        'truth by more than 10 mm | worst | not measured |',
        '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ]
    for robot in SCENES:
        own = [o for o in outcomes if (o.trial.kind, o.trial.robot) == ('depth', robot)]
        lines += _depth_lines(robot, [o for o in own if not o.problem], bars)
    return lines


def _depth_lines(robot: str, outcomes: Sequence[Outcome], bars: Bars) -> list[str]:
    bars.at_least(f'{robot}, distance, trials', len(outcomes), 1)
    if not outcomes:
        return [f'| {robot} | {NO_RESULTS} | | | | | | |']

    def column(name: str) -> np.ndarray:
        rows = [value for o in outcomes for value in o.result[name]]
        return np.array(
            [[np.nan if v is None else v for v in np.ravel(row)] for row in rows], float
        )

    truth, measured = column('truth')[:, 0], column('measured')[:, 0]
    seen = column('is_visible')[:, 0] > 0
    links, link_measured = column('link_truth'), column('link_measured')
    link_seen = column('link_visible') > 0
    least = distance_score(measured[seen], truth[seen])
    hidden = distance_score(measured[~seen], truth[~seen])
    each = distance_score(link_measured[link_seen], links[link_seen])
    rows = (
        ('least of all links, nearest point visible', least),
        ('least of all links, nearest point hidden', hidden),
        ('each link, its nearest point visible', each),
    )
    bars.at_most(f'{robot}, distance, median error, m', least.median, 0.005)
    bars.at_most(f'{robot}, distance, 99th percentile, m', least.percentile_99, 0.02)
    bars.at_most(f'{robot}, share of frames too far by 10 mm', least.too_far, 0.001)
    return [_depth_line(robot, name, score) for name, score in rows]


def _depth_line(robot: str, name: str, score: DistanceScore) -> str:
    return (
        f'| {robot} | {name} | {score.frames} | {1e3 * score.median:.1f} mm | '
        f'{1e3 * score.percentile_99:.1f} mm | '
        f'{percent_text(score.too_far, score.too_far_interval, 2)} | '
        f'{1e3 * score.worst_too_far:+.1f} mm | {score.unavailable} |'
    )


GROUP = RowGroup(('depth',), _depth_table, _depth_trials, _short_depth_trials)
