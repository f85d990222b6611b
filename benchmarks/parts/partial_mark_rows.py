# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What rules for the mark of a partial distance would do, from the trials of depth worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from parts import depth_world_rows
from parts.row_groups import RowGroup

from frame_ros.evaluation.trials.campaign import Outcome, Trial
from frame_ros.evaluation.trials.depth_mark import RULES, MarkedFrames, marked_frames, trade_off
from frame_ros.evaluation.trials.worlds.robots import WORLD_ROBOTS

KIND = 'partial_mark'
KEPT = (1.0, 0.95, 0.8)
# What a rule must hold to be the default, with all wrong frames kept where it was chosen.
SILENT, HALF = 0.01, 0.5


def is_of(trial: Trial) -> bool:
    """Returns whether a trial counts: of the rows with one front camera and something to see."""
    scene = trial.settings.get('scene', 'empty')
    return trial.kind == depth_world_rows.KIND and scene not in ('empty', 'transparent')


def lines(outcomes: Sequence[Outcome]) -> list[str]:
    """The table as Markdown: thresholds are chosen on even seeds and taken to odd ones."""
    own = [o for o in outcomes if is_of(o.trial) and not o.problem]
    head = ' | '.join(
        f'{100 * kept:g} % of the wrong ones kept: right ones marked | on odd seeds: right ones '
        'marked; wrong ones not; silent of all'
        for kept in KEPT
    )
    table = [
        f'| rule: marked from a threshold on | robot | frames | {head} |',
        '| --- | --- | --- |' + ' --- |' * (2 * len(KEPT)),
    ]
    holding: dict[str, list[bool]] = {rule: [] for rule in RULES}
    for rule in RULES:
        for robot in WORLD_ROBOTS:
            even, odd = (_frames(own, robot, rest) for rest in (0, 1))
            if not len(even.wrong) or not len(odd.wrong):
                continue
            cells = f'{len(even.wrong)} and {len(odd.wrong)}'
            for kept in KEPT:
                found = trade_off(rule, kept, even, odd)
                cells += (
                    f' | {100 * found.right_chosen.value:.0f} % | {found.right.count} of '
                    f'{found.right.frames}; {found.unmarked.count} of {found.unmarked.frames}; '
                    f'{found.silent}'
                )
                if kept == 1.0:
                    is_rare = found.right.value <= HALF
                    holding[rule].append(is_rare and found.silent.value <= SILENT)
            table.append(f'| {rule} | {robot} | {cells} |')
    fit = [rule for rule, each in holding.items() if each and all(each)]
    remark = (
        'Rules that leave half of the right frames unmarked and at most 1 % of all silently wrong'
    )
    return [*table, '', f'{remark}, on odd seeds, for each robot: {", ".join(fit) or "none"}.']


def _frames(outcomes: Sequence[Outcome], robot: str, rest: int) -> MarkedFrames:
    found: list[dict[str, Any]] = [
        o.result for o in outcomes if o.trial.robot == robot and o.trial.seed % 2 == rest
    ]
    return marked_frames(found)


GROUP = RowGroup((KIND,), lambda outcomes, *_: lines(outcomes), long_kinds=(KIND,))
