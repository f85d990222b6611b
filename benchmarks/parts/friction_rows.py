# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of contact by motor current with measured friction in the gears: trials, tables and bars."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from parts.bars import Bars
from parts.row_groups import RowGroup

from frame_ros.evaluation.detection_scores import match_detections, poisson_rate_interval
from frame_ros.evaluation.trials.campaign import Outcome, Trial
from frame_ros.evaluation.trials.friction_effort import GENERIC, OWN
from frame_ros.metrics import wilson_interval
from frame_ros.scenes.simulation.gear_friction import FRICTION_SETS

KINDS = EFFORT, POLICY = 'friction_effort', 'friction_policy'
ROBOT = 'so101'
SEEDS, FREE_SEEDS = 6000, 7000
PUSHED_TRIALS, PUSHED_SECONDS, FREE_SECONDS = 15, 120.0, 600.0
POLICY_SEEDS, POLICY_SECONDS = 20, 20.0
QUALITIES, TIMINGS = (1.0, 0.5), ('idle', 'busy', 'overloaded')
AFTER = 0.1  # s after a push in which a detection still belongs to it
OF_CEILING, PER_HOUR = 0.9, 1.0  # bars
GENERIC_HOURS = 0.1  # share of --hours


def sets(only: str = '') -> tuple[str, ...]:
    """The sets of friction that are judged: one, or all."""
    return (only,) if only else tuple(FRICTION_SETS)


def trials(hours: float, share: float, only: str = '') -> Iterator[Trial]:
    """Those of all rows; share: of each, the first ones, at least one; only: of this set."""
    for friction in sets(only):
        for stands in (False, True):
            for seed in range(SEEDS, SEEDS + math.ceil(share * PUSHED_TRIALS)):
                yield _effort(friction, seed, PUSHED_SECONDS, True, stands)
        for motors, part in ((OWN, 1.0), (GENERIC, GENERIC_HOURS)):
            count = math.ceil(part * share * hours * 3600.0 / FREE_SECONDS)
            for seed in range(FREE_SEEDS, FREE_SEEDS + count):
                yield _effort(friction, seed, FREE_SECONDS, False, False, motors)
        for timing in TIMINGS:
            for quality in QUALITIES:
                settings = {
                    'quality': quality, 'timing': timing, 'seconds': POLICY_SECONDS,
                    'friction': friction,
                }  # fmt: skip
                for seed in range(math.ceil(share * POLICY_SEEDS)):
                    yield Trial(POLICY, ROBOT, seed, settings)


def short_trials() -> Iterator[Trial]:
    """Of a few seconds."""
    for has_pushes in (True, False):
        yield _effort('id004', SEEDS, 10.0, has_pushes, has_pushes, GENERIC)


def _effort(
    friction: str, seed: int, seconds: float, has_pushes: bool, stands: bool, motors: str = OWN
) -> Trial:
    settings = {
        'friction': friction, 'seconds': seconds, 'has_pushes': has_pushes, 'stands': stands,
        'motors': motors,
    }  # fmt: skip
    return Trial(EFFORT, ROBOT, seed, settings)


def lines(
    outcomes: Sequence[Outcome], kinds: Sequence[str], bars: Bars, only: str = ''
) -> list[str]:  # fmt: skip
    """The tables as Markdown; each bar is judged. only: this set of friction."""
    found: list[str] = []
    if EFFORT in kinds:
        own = [o for o in outcomes if o.trial.kind == EFFORT and not o.problem]
        found += ['', *_push_lines(own, bars, sets(only)), '', *_free_lines(own, bars, sets(only))]
    if POLICY in kinds:
        own = [o for o in outcomes if o.trial.kind == POLICY and not o.problem]
        found += ['', *_policy_lines(own, bars, sets(only))]
    return found


def _of(outcomes: Sequence[Outcome], **settings: Any) -> list[dict[str, Any]]:
    return [
        o.result
        for o in outcomes
        if all(o.trial.settings[name] == value for name, value in settings.items())
    ]


def _push_lines(outcomes: Sequence[Outcome], bars: Bars, of: Sequence[str]) -> list[str]:
    table = [
        '| friction in the gears | pushes of 5 to 12 N, arm | pushes | felt | can be felt: ceiling '
        '| felt of those that can be | false outside pushes |',
        '| --- | --- | --- | --- | --- | --- | --- |',
    ]
    for friction in of:
        rows = _of(outcomes, friction=friction, has_pushes=True)
        pushes, false = [], 0
        for result in rows:
            match = match_detections([t[:2] for t in result['truth']], result['begins'], late=AFTER)
            false += len(match.false_alarms)
            pushes += [
                (math.isfinite(latency), can, stands)
                for latency, (can, stands) in zip(match.latencies, result['judged'], strict=True)
            ]
        for name, stood in (('moves', False), ('stands', True)):
            own = [(is_felt, can) for is_felt, can, stands in pushes if stands == stood]
            title = f'{friction}, arm {name}, felt of the pushes that can be felt'
            can_be = sum(can for _, can in own)
            if not can_be:
                bars.at_least(f'{title}: pushes', 0, 1)
                continue
            felt = sum(is_felt for is_felt, _ in own)
            both = sum(is_felt and can for is_felt, can in own)
            bars.at_least(title, both / can_be, OF_CEILING)
            table.append(
                f'| {friction} | {name} | {len(own)} | {share_text(felt, len(own))} '
                f'| {share_text(can_be, len(own))} | {share_text(both, can_be)} | {false} in all |'
            )
    return table


def ceiling_lines(robot: str, results: Sequence[dict[str, Any]], bars: Bars) -> list[str]:
    """Returns a sentence on the ceiling of an arm whose friction is in the readings alone."""
    pushes = []
    for result in results:
        if result.get('judged'):
            match = match_detections([t[:2] for t in result['truth']], result['begins'], late=AFTER)
            felt = np.isfinite(match.latencies).tolist()
            pushes += list(zip(felt, (can for can, _ in result['judged']), strict=True))
    can_be = sum(can for _, can in pushes)
    if not can_be:
        return []
    both = sum(is_felt and can for is_felt, can in pushes)
    title = f'{robot}, friction in the readings alone, felt of the pushes that can be felt'
    bars.at_least(title, both / can_be, OF_CEILING)
    return [
        '',
        f'{robot}, friction in the readings alone: {can_be} of {len(pushes)} pushes can be felt '
        f'(ceiling {share_text(can_be, len(pushes))}), and {both} of these were: '
        f'{share_text(both, can_be)}.',
    ]


def _free_lines(outcomes: Sequence[Outcome], bars: Bars, of: Sequence[str]) -> list[str]:
    table = [
        '| friction in the gears | motors | free motion | false alarms per hour |',
        '| --- | --- | --- | --- |',
    ]
    for friction in of:
        for motors, name in ((OWN, 'identified'), (GENERIC, 'generic')):
            rows = _of(outcomes, friction=friction, has_pushes=False, motors=motors)
            title = f'{friction}, {name} motors, false alarms per hour'
            hours = sum(r['seconds'] - r['unavailable'] for r in rows) / 3600.0
            if not hours:
                bars.at_least(f'{title}: trials', 0, 1)
                continue
            false = sum(len(r['begins']) for r in rows)
            bars.at_most(title, false / hours, PER_HOUR)
            table.append(f'| {friction} | {name} | {hours:.2f} h | {rate_text(false, hours)} |')
    return table


def _policy_lines(outcomes: Sequence[Outcome], bars: Bars, of: Sequence[str]) -> list[str]:
    table = [
        "| friction in the gears | the demo's policy acts, machine | episodes | time | contacts "
        'reported | false contacts per hour |',
        '| --- | --- | --- | --- | --- | --- |',
    ]
    for friction in of:
        for timing in TIMINGS:
            rows = _of(outcomes, friction=friction, timing=timing)
            title = f'{friction}, policy, {timing}, false contacts per hour'
            hours = sum(r['seconds'] for r in rows) / 3600.0
            if not hours:
                bars.at_least(f'{title}: trials', 0, 1)
                continue
            false = sum(len(r['false']) for r in rows)
            bars.at_most(title, false / hours, PER_HOUR)
            table.append(
                f'| {friction} | {timing} | {len(rows)} | {hours:.2f} h | '
                f'{sum(r["sensed"] for r in rows)} | {rate_text(false, hours)} |'
            )
    return table


def rate_text(count: int, hours: float) -> str:
    """Returns a count, and its rate per hour with the interval of 95 %."""
    low, high = poisson_rate_interval(count, hours)
    return f'{count}: {count / hours:.2f} ({low:.2f} to {high:.2f})'


def share_text(part: int, whole: int) -> str:
    """Returns a share in percent with its interval of 95 %."""
    low, high = wilson_interval(part, whole)
    return f'{100 * part / whole:.1f} % ({100 * low:.1f} to {100 * high:.1f})'


GROUP = RowGroup(
    KINDS,
    lambda outcomes, asked, bars: lines(outcomes, asked.kinds, bars, asked.friction),
    lambda asked: trials(asked.hours, asked.share, asked.friction),
    short_trials,
    (POLICY,),
)
