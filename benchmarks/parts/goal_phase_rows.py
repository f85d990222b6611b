# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of contact by motor current where goals come at another moment than in the identification:
trials, table and bars.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from parts import friction_rows
from parts.bars import Bars
from parts.friction_rows import AFTER, OF_CEILING, PER_HOUR
from parts.row_groups import RowGroup

from frame_ros.evaluation.detection_scores import match_detections
from frame_ros.evaluation.trials.campaign import Outcome, Trial
from frame_ros.evaluation.trials.friction_effort import GENERIC, OWN

KIND = 'goal_phase'
SETS = ('id004', 'sage')  # of friction, if none is named
DELAYS = (0.0, 0.004, 0.010, 0.016)  # s behind a joint state, of 0.02 s; 0 in the identification
SEEDS, FREE_SEEDS = 6100, 7100
PUSHED_TRIALS, PUSHED_SECONDS = 3, 120.0
FREE_TRIALS, FREE_SECONDS = 6, 300.0


def sets(only: str = '') -> tuple[str, ...]:
    """The sets of friction that are judged."""
    return (only,) if only else SETS


def trials(share: float, only: str = '') -> Iterator[Trial]:
    """Those of all rows; share: of each, the first ones, at least one; only: of this set."""
    pushed = range(SEEDS, SEEDS + math.ceil(share * PUSHED_TRIALS))
    free = range(FREE_SEEDS, FREE_SEEDS + math.ceil(share * FREE_TRIALS))
    for friction in sets(only):
        for delay in DELAYS:
            for follows in (True, False):
                for seed in pushed:
                    yield _trial(friction, delay, follows, seed, PUSHED_SECONDS, True)
                for seed in free:
                    yield _trial(friction, delay, follows, seed, FREE_SECONDS, False)


def short_trials() -> Iterator[Trial]:
    """Of a few seconds."""
    for has_pushes in (True, False):
        yield _trial('id004', 0.01, True, SEEDS, 10.0, has_pushes, GENERIC)


def _trial(
    friction: str, delay: float, follows: bool, seed: int, seconds: float, has_pushes: bool,
    motors: str = OWN,
) -> Trial:  # fmt: skip
    settings = {
        'friction': friction, 'seconds': seconds, 'has_pushes': has_pushes, 'stands': False,
        'motors': motors, 'goal_delay': delay, 'follows': follows,
    }  # fmt: skip
    return Trial(KIND, friction_rows.ROBOT, seed, settings)


def lines(outcomes: Sequence[Outcome], bars: Bars, only: str = '') -> list[str]:
    """The table as Markdown; bars are judged where the time is followed."""
    table = [
        '| friction in the gears | goals come behind a joint state | the time | pushes that can be '
        'felt: felt | false outside pushes | free motion | false alarms per hour |',
        '| --- | --- | --- | --- | --- | --- | --- |',
    ]
    for friction in sets(only):
        for delay in DELAYS:
            for follows in (True, False):
                own = [
                    outcome for outcome in outcomes
                    if outcome.trial.kind == KIND and not outcome.problem
                    and outcome.trial.settings['friction'] == friction
                    and outcome.trial.settings['goal_delay'] == delay
                    and outcome.trial.settings['follows'] == follows
                ]  # fmt: skip
                table.append(_line(friction, delay, follows, own, bars))
    return ['', *table]


def _line(
    friction: str, delay: float, follows: bool, outcomes: Sequence[Outcome], bars: Bars
) -> str:
    free = [o.result for o in outcomes if not o.trial.settings['has_pushes']]
    pushed = [o.result for o in outcomes if o.trial.settings['has_pushes']]
    hours = sum(r['seconds'] - r['unavailable'] for r in free) / 3600.0
    false = sum(len(r['begins']) for r in free)
    felt = can_be = outside = 0
    for result in pushed:
        match = match_detections([t[:2] for t in result['truth']], result['begins'], late=AFTER)
        outside += len(match.false_alarms)
        can = np.array([can for can, _ in result['judged']], bool)
        felt += int(np.isfinite(match.latencies)[can].sum())
        can_be += int(can.sum())
    title = f'{friction}, goals {1e3 * delay:g} ms behind joint states'
    bars.at_least(f'{title}: trials of both kinds', min(len(free), len(pushed)), 1)
    if not (hours and can_be):
        return f'| {friction} | {1e3 * delay:g} ms | no results | | | | |'
    if follows:
        bars.at_least(f'{title}, felt of the pushes that can be felt', felt / can_be, OF_CEILING)
        bars.at_most(f'{title}, false alarms per hour', false / hours, PER_HOUR)
    return (
        f'| {friction} | {1e3 * delay:g} ms | {"followed" if follows else "not"} | '
        f'{friction_rows.share_text(felt, can_be)} of {can_be} | {outside} in '
        f'{sum(r["seconds"] for r in pushed) / 60.0:g} min | {hours:.2f} h | '
        f'{friction_rows.rate_text(false, hours)} |'
    )


GROUP = RowGroup(
    (KIND,),
    lambda outcomes, asked, bars: lines(outcomes, bars, asked.friction),
    lambda asked: trials(asked.share, asked.friction),
    short_trials,
)
