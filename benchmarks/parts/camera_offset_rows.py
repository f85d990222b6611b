# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of how well a camera's offset is estimated in worlds that others made."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from parts.bars import Bars
from parts.row_groups import RowGroup

from frame_ros.evaluation.trials.campaign import Outcome, Trial
from frame_ros.evaluation.trials.worlds.camera_faults import FAULTS, LATE
from frame_ros.evaluation.trials.worlds.depth_world import CAMERAS, FRONT
from frame_ros.evaluation.trials.worlds.robots import WORLD_ROBOTS

KIND, FAULT_KIND = 'depth_camera', 'depth_camera_faults'
SEEDS, TRIALS, POSTURES = 6000, 60, 3
SCENE = {'scene': 'empty', 'postures': POSTURES}
ROWS = {
    'where it is said to be': {**SCENE, 'shift_mm': 0.0, 'turn_degrees': 0.0},
    'up to 5 mm and 0.5 degrees off': {**SCENE, 'shift_mm': 5.0, 'turn_degrees': 0.5},
    'up to 20 mm and 2 degrees off': {**SCENE, 'shift_mm': 20.0, 'turn_degrees': 2.0},
}
# What a check might take for an offset: a row for cameras that are right and one for those that are
# off, checks from the third posture on, on seeds that no change was made with.
FAULT_SEEDS = 9500
FAULT_TRIALS, FAULT_POSTURES, FIRST = 20, 6, 2
OFFSETS = {'right': (0.0, 0.0), '5 mm and 0.5 degrees off': (5.0, 0.5)}
UNSAFE = 0.05  # bar: share of checks whose correction is worse than none and not covered
COVERED = 0.95  # bar: share of bounds that are no smaller than the true displacement


def trials(share: float) -> Iterator[Trial]:
    """Those of all rows; share: of each, the first ones, at least one."""
    for robot in WORLD_ROBOTS:
        for settings in ROWS.values():
            for seed in range(SEEDS, SEEDS + math.ceil(share * TRIALS)):
                yield Trial(KIND, robot, seed, settings)
        for fault in FAULTS:
            for offset in OFFSETS.values():
                for seed in range(FAULT_SEEDS, FAULT_SEEDS + math.ceil(share * FAULT_TRIALS)):
                    yield Trial(FAULT_KIND, robot, seed, fault_settings(fault, offset))


def fault_settings(fault: str, offset: tuple[float, float]) -> dict[str, Any]:
    """Returns the settings of trials with a fault; offset: mm, degrees."""
    return {
        'scene': 'empty', 'postures': FAULT_POSTURES, 'fault': fault, 'is_full': True,
        'shift_mm': offset[0], 'turn_degrees': offset[1],
    }  # fmt: skip


def short_trials() -> Iterator[Trial]:
    """Of a few seconds."""
    for robot in WORLD_ROBOTS:
        yield Trial(KIND, robot, SEEDS, {**list(ROWS.values())[1], 'postures': 1})
        yield Trial(FAULT_KIND, robot, FAULT_SEEDS, fault_settings(LATE, (5.0, 0.5)))


def lines(outcomes: Sequence[Outcome], bars: Bars) -> list[str]:
    """The table as Markdown; each bar is judged."""
    own = [o for o in outcomes if o.trial.kind == KIND and not o.problem]
    table = [
        "| robot of others' meshes | camera | checks | conclusive | true displacement, "
        'median (95 %) | wrong by, median (95 %) | bound, median (95 %) | bound covers the truth '
        '| refused |',
        '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ]
    for robot in WORLD_ROBOTS:
        bounds: list[bool] = []
        for name, settings in ROWS.items():
            found = [
                o.result
                for o in own
                if o.trial.robot == robot and _offset(o.trial.settings) == _offset(settings)
            ]
            for camera in CAMERAS if found else ():
                line, covered = _line(f'| {robot} | {camera}, {name} |', found, camera)
                table.append(line)
                bounds += covered
        if bounds:
            title = f'{robot}, bounds of displacement that cover the truth, share'
            bars.at_least(title, float(np.mean(bounds)), COVERED)
    return table


def _offset(settings: Any) -> tuple[float, float]:
    return settings['shift_mm'], settings['turn_degrees']


def _line(begin: str, found: Sequence[dict[str, Any]], camera: str) -> tuple[str, list[bool]]:
    """Returns a row, and of each bound whether it covers the true displacement."""
    rows = [
        {name: values[index] for name, values in result.items()}
        for result in found
        for index, each in enumerate(result['camera'])
        if each == camera
    ]
    known = [row for row in rows if row['bound'] is not None]
    covered = [row['bound'] >= row['true'] for row in known]
    conclusive = [row for row in rows if not row['unavailable']]
    if not conclusive:
        return f'{begin} {len(rows)} | 0 | {_millimetres(rows, "true")} | | | | |', covered
    share = f'{100 * float(np.mean(covered)):.1f} %' if covered else ''
    refused = float(np.mean([row['refused'] for row in conclusive]))
    line = (
        f'{begin} {len(rows)} | {len(conclusive)} | {_millimetres(rows, "true")} | '
        f'{_millimetres(known, "wrong")} | {_millimetres(known, "bound")} | {share} | '
        f'{100 * refused:.1f} % |'
    )
    return line, covered


def _millimetres(rows: Sequence[dict[str, Any]], name: str) -> str:
    values = [row[name] for row in rows if row[name] is not None]
    if not values:
        return ''
    median, upper = np.percentile(values, (50, 95))
    return f'{1e3 * median:.1f} ({1e3 * upper:.1f}) mm'


def fault_lines(outcomes: Sequence[Outcome], bars: Bars) -> list[str]:
    """The table of faults as Markdown; the bar is judged for each robot and fault."""
    own = [o for o in outcomes if o.trial.kind == FAULT_KIND and not o.problem]
    table = [
        "| robot of others' meshes | fault | front camera | checks | corrected | of these error "
        'left, median (95 %), largest | padding grown by, median | error left above it '
        '| and larger than without a correction | refused |',
        '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ]
    for robot in WORLD_ROBOTS:
        for fault, text in FAULTS.items():
            for name, offset in OFFSETS.items():
                settings = fault_settings(fault, offset)
                found = [
                    o.result for o in own if (o.trial.robot, o.trial.settings) == (robot, settings)
                ]
                if found:
                    table.append(_fault_line(f'| {robot} | {text} | {name} |', found, bars))
    return table


def _fault_line(begin: str, found: Sequence[dict[str, Any]], bars: Bars) -> str:
    rows = [
        {name: values[index] for name, values in result.items()}
        for result in found
        for index, camera in enumerate(result['camera'])
        if camera == FRONT and result['check'][index] >= FIRST
    ]
    corrected = [row for row in rows if row['is_corrected'] and row['left'] is not None]
    above = [row for row in corrected if row['left'] > row['growth']]
    worse = sum(row['left'] > row['true'] for row in above)
    bars.at_most(
        f'{begin.strip("| ")}, corrections that are worse than none and not covered, share of '
        'checks', worse / len(rows), UNSAFE,
    )  # fmt: skip
    refused = float(np.mean([row['refused'] for row in rows]))
    left = ' | '
    if corrected:
        largest = 1e3 * max(row['left'] for row in corrected)
        growth = 1e3 * float(np.median([row['growth'] for row in corrected]))
        left = f'{_millimetres(corrected, "left")}, {largest:.1f} mm | {growth:.1f} mm'
    return (
        f'{begin} {len(rows)} | {len(corrected)} | {left} | {len(above)} | {worse} | '
        f'{100 * refused:.0f} % |'
    )


GROUP = RowGroup(
    (KIND,),
    lambda outcomes, _, bars: lines(outcomes, bars),
    lambda asked: trials(asked.share),
    short_trials,
)
FAULT_GROUP = RowGroup((FAULT_KIND,), lambda outcomes, _, bars: fault_lines(outcomes, bars))
