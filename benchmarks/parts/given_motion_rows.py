# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of distances in worlds that others made, moved by a LeRobot policy or by a recording."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from parts.bars import Bars
from parts.depth_world_rows import (
    EMPTY_HEADING,
    FRAMES,
    NEAR_HEADING,
    SEEDS,
    SILENT,
    empty_line,
    near_line,
)

from frame_ros.bags.recording_options import RecordedUnits
from frame_ros.evaluation.recorded_motion.motion import PERIOD, Motion, draw_stretch
from frame_ros.evaluation.recorded_motion.reading import read_motion
from frame_ros.evaluation.trials import kinds
from frame_ros.evaluation.trials.campaign import Outcome, Trial

POLICY_KIND, RECORDED_KIND = 'depth_policy', 'depth_recorded'
KINDS = (POLICY_KIND, RECORDED_KIND)
ALIKE = 'depth_motion'  # the kind of trials whose function and version these share
FUNCTIONS = dict.fromkeys(KINDS, kinds.FUNCTIONS[ALIKE])
SCENES = {'empty': 50, 'clutter': 50}  # trials
FALSE = 0.001  # bar on the share of empty frames with a false distance
CLEAR = ', of these frames those in which the arm touches nothing'
STILL = 0.01  # rad/s, below which an arm stands
DIGITS = 6  # of positions, so that a trial's settings stay short


@dataclass(frozen=True)
class Given:
    """Motions of one source.

    Attributes:
        kind: of trials.
        robot: that they move.
        name: in the tables.
        motions: pieces without gaps.
        remarks: on them.
    """

    kind: str
    robot: str
    name: str
    motions: tuple[Motion, ...]
    remarks: tuple[str, ...] = ()


def versions() -> dict[str, str]:
    """Kind -> version of what its trials judge."""
    return dict.fromkeys(KINDS, kinds.sensing_versions()[ALIKE])


def recorded(path: Path, units: RecordedUnits) -> Given:
    """Reads a recording; raises as `read_motion`, and ValueRangeError if it is too short."""
    read = read_motion(path, units)
    draw_stretch(read.motions, FRAMES, 0)
    used = sum(len(motion.times) for motion in read.motions)
    left = ', '.join(f'{count:,} {reason}' for reason, count in read.left_out.items())
    return Given(
        RECORDED_KIND, read.robot, f'recorded: {path.resolve().name}', read.motions,
        (
            f'{path.name}: {read.seconds:.0f} s, {read.samples:,} joint states in '
            f'{len(read.motions)} pieces without gaps; {used:,} used, left out: {left or "none"}.',
            *(f'{path.name}: {note}.' for note in read.notes),
        ),
    )  # fmt: skip


def trials(given: Given, share: float) -> Iterator[Trial]:
    """Those of a source; share: of each row, the first ones, at least one."""
    for scene, count in SCENES.items():
        for seed in range(SEEDS, SEEDS + math.ceil(share * count)):
            stretch = draw_stretch(given.motions, FRAMES, seed)
            settings = {
                'scene': scene, 'positions': np.round(stretch.positions, DIGITS).tolist(),
                'source': f'{given.name}, {stretch.name}, from {stretch.start:.2f} s',
            }  # fmt: skip
            yield Trial(given.kind, given.robot, seed, settings)


def lines(outcomes: Sequence[Outcome], sources: Sequence[Given], bars: Bars) -> list[str]:
    """The tables as Markdown, with what they are of; each bar is judged."""
    empty, near, remarks = list(EMPTY_HEADING), list(NEAR_HEADING), []
    for given in sources:
        own = [o for o in outcomes if o.trial.kind == given.kind and not o.problem]
        of = {s: [o.result for o in own if o.trial.settings['scene'] == s] for s in SCENES}
        name = f'{given.name}: 1 to 3 primitives'
        if of['empty']:
            empty.append(empty_line(given.robot, given.name, of['empty'], FALSE, bars))
        if of['clutter']:
            near.append(near_line(given.robot, name, of['clutter'], SILENT, bars))
        if any(each for o in own for each in o.result['is_touching']):
            apart = {scene: [_clear(result) for result in found] for scene, found in of.items()}
            empty.append(empty_line(given.robot, given.name + CLEAR, apart['empty'], None, bars))
            near.append(near_line(given.robot, name + CLEAR, apart['clutter'], None, bars))
        remarks += [*given.remarks, *([_moved(given.name, own)] if own else [])]
    return [*empty, '', *near, '', *remarks]


def _clear(result: dict[str, Any]) -> dict[str, Any]:
    """Returns a result without the frames in which the arm touches the table or itself."""
    kept = [i for i, each in enumerate(result['is_touching']) if not each]
    return {n: v if n == 'links' else [v[i] for i in kept] for n, v in result.items()}


def _moved(name: str, outcomes: Sequence[Outcome]) -> str:
    """How the arm moved in the trials: nothing of it is left out of the figures."""
    paths = [np.array(o.trial.settings['positions']) for o in outcomes]
    speeds = np.concatenate([np.abs(np.diff(p, axis=0)).max(axis=1) / PERIOD for p in paths])
    touching = [each for o in outcomes for each in o.result['is_touching']]
    return (
        f'{name}: fastest joint {np.median(speeds):.2f} rad/s in the median, at most '
        f'{speeds.max():.2f}; the arm stood in {100 * np.mean(speeds < STILL):.0f} % of the steps; '
        f'in {sum(touching)} of {len(touching)} frames it was within 10 mm of the table or '
        f'touched itself. The bars count all frames.'
    )
