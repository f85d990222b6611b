# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of contact by each sensor of simulated robots, and by joint efforts while a policy acts:
trials, tables and bars.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from parts import friction_rows
from parts.bars import Bars
from parts.row_groups import NO_RESULTS, Asked, RowGroup, percent_text

from frame_ros.evaluation.detection_scores import (
    DetectionScore,
    detection_score,
    match_detections,
    poisson_rate_interval,
)
from frame_ros.evaluation.trials.campaign import Outcome, Trial
from frame_ros.scenes.simulation.noise.joint_friction import DAHL, GAZ

FREE_SECONDS, PUSHED_SECONDS = 600.0, 120.0
AFTER = 0.1  # s after a push in which a detection still belongs to it: the arm swings back
FREE_SEEDS = 1000  # other arms than those that are pushed


@dataclass(frozen=True)
class Row:
    """One sensor on one robot."""

    kind: str
    robot: str
    sensor: str
    pushed: int  # trials with pushes
    recall: float | None = None  # bars, or None
    per_hour: float | None = None  # bars, or None
    share: float = 1.0  # of --hours, where no bar stands on them
    friction: str = ''  # in the readings of torque sensors

    def settings(self, seconds: float, has_pushes: bool) -> dict[str, Any]:
        """Returns those of a trial."""
        friction = {'friction': self.friction} if self.friction else {}
        return {'seconds': seconds, 'has_pushes': has_pushes, **friction}

    def of(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Returns those of this row."""
        return [
            o
            for o in outcomes
            if (o.trial.kind, o.trial.robot) == (self.kind, self.robot)
            and o.trial.settings.get('friction', '') == self.friction
        ]


WRENCH = 'wrist force-torque, 2 to 12 N for 20 to 300 ms on the hand'
ROBOT = "Franka's estimate and flags, 5 to 25 N for 0.2 to 0.6 s on the hand"
TORQUE = 'joint torque, 5 to 12 N for 0.2 to 1 s on any link behind the first'
PUBLISHED = f"{TORQUE}; a Panda's published friction in the readings"
DRY = f'{TORQUE}; dry friction of twice that size in the readings'
CURRENT = 'motor current, 5 to 12 N for 0.2 to 1 s on any link behind the first'
ROWS = (
    Row('wrench', 'fr3', WRENCH, 20, 0.99, 1.0),
    Row('robot', 'fr3', ROBOT, 4, share=0.06),
    Row('joint_effort', 'fr3', TORQUE, 4, share=0.06),
    Row('joint_effort', 'fr3', PUBLISHED, 4, share=0.06, friction=GAZ),
    Row('joint_effort', 'fr3', DRY, 4, share=0.06, friction=DAHL),
    Row('joint_effort', 'so101', CURRENT, 40, 0.9, 2.0),
)
# The demo's policy on the robot whose contacts come from joint efforts: seeds of each combination.
POLICY_KIND = 'policy_effort'
POLICY_ROBOT, POLICY_SEEDS, POLICY_SECONDS = 'so101', 40, 20.0
QUALITIES, POLICY_TIMINGS = (1.0, 0.9, 0.5, 0.2), ('idle', 'busy', 'overloaded')
POLICY_PER_HOUR = {'idle': 2.0, 'busy': 2.0}  # bars; a machine that loses joint states has none


def _contact_trials(asked: Asked) -> Iterator[Trial]:
    for row in ROWS:
        free = math.ceil(asked.share * row.share * asked.hours * 3600.0 / FREE_SECONDS)
        for seed in range(math.ceil(asked.share * row.pushed)):
            yield Trial(row.kind, row.robot, seed, row.settings(PUSHED_SECONDS, True))
        for seed in range(FREE_SEEDS, FREE_SEEDS + free):
            yield Trial(row.kind, row.robot, seed, row.settings(FREE_SECONDS, False))


def _short_contact_trials() -> Iterator[Trial]:
    for row in ROWS:
        yield Trial(row.kind, row.robot, 0, row.settings(10.0, True))
        yield Trial(row.kind, row.robot, FREE_SEEDS, row.settings(10.0, False))


def _contact_lines(outcomes: Sequence[Outcome], asked: Asked, bars: Bars) -> list[str]:
    lines = [
        '| robot | sensor | pushes | recall | precision | latency, median (95 %) | filter '
        '| free motion | false alarms per hour |',
        '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ]
    rows = [row for row in ROWS if row.kind in asked.kinds]
    for row in rows:
        lines.append(_contact_line(row, [o for o in row.of(outcomes) if not o.problem], bars))
    for row in rows:
        results = [o.result for o in row.of(outcomes)]
        lines += friction_rows.ceiling_lines(row.robot, results, bars)
    return lines


def _contact_line(row: Row, outcomes: Sequence[Outcome], bars: Bars) -> str:
    pushed = [o.result for o in outcomes if o.trial.settings['has_pushes']]
    free = [o.result for o in outcomes if not o.trial.settings['has_pushes']]
    bars.at_least(f'{row.robot}, {row.kind}, trials of both kinds', min(len(pushed), len(free)), 1)
    if not pushed or not free:
        return f'| {row.robot} | {row.sensor} | {NO_RESULTS} | | | | | | |'
    matches = [
        match_detections([t[:2] for t in r['truth']], r['begins'], late=AFTER) for r in pushed
    ]
    contact = detection_score(matches, sum(r['seconds'] for r in pushed))
    quiet = [match_detections([], r['begins']) for r in free]
    known = sum(r['seconds'] - r['unavailable'] for r in free)
    alarms = detection_score(quiet, known)
    late = sum(
        int((m.latencies > np.diff([t[:2] for t in r['truth']], axis=1).ravel()).sum())
        for m, r in zip(matches, pushed, strict=True)
        if r['truth']
    )
    delay, period = pushed[0]['delay'], pushed[0]['period']
    _judge_contact(bars, row, contact, alarms, delay + 2 * period)
    return (
        f'| {row.robot} | {row.sensor} | {contact.trials} | '
        f'{percent_text(contact.recall, contact.recall_interval)} | '
        f'{percent_text(contact.precision, contact.precision_interval)} | '
        f'{1e3 * contact.latency:.1f} ({1e3 * contact.latency_95:.1f}) ms; {late} after its end | '
        f'{1e3 * delay:.1f} ms + {1e3 * period:.0f} ms per sample | {alarms.free_hours:.2f} h | '
        f'{alarms.false_alarms}: {alarms.per_hour:.2f} ({alarms.per_hour_interval[0]:.2f} to '
        f'{alarms.per_hour_interval[1]:.2f}){_duration(free, known)} |'
    )


def _duration(free: Sequence[dict], known: float) -> str:
    """Returns how much of free motion was reported as contact: one alarm may last."""
    if not all('in_contact' in r for r in free):
        return ''
    return f', {100 * sum(r["in_contact"] for r in free) / known:.3f} % of the time'


def _policy_trials(asked: Asked) -> Iterator[Trial]:
    for timing in POLICY_TIMINGS:
        for quality in QUALITIES:
            settings = {'quality': quality, 'timing': timing, 'seconds': POLICY_SECONDS}
            for seed in range(math.ceil(asked.share * POLICY_SEEDS)):
                yield Trial(POLICY_KIND, POLICY_ROBOT, seed, settings)


def _policy_lines(every: Sequence[Outcome], _: Asked, bars: Bars) -> list[str]:
    """Per timing, all qualities together."""
    outcomes = [o for o in every if o.trial.kind == POLICY_KIND]
    lines = [
        '',
        "| robot | joint effort while the demo's policy acts, machine | episodes | time | contacts "
        'reported | false contacts per hour |',
        '| --- | --- | --- | --- | --- | --- |',
    ]
    for timing in POLICY_TIMINGS:
        own = [o.result for o in outcomes if o.trial.settings['timing'] == timing and not o.problem]
        if not own:
            lines.append(f'| {POLICY_ROBOT} | {timing} | {NO_RESULTS} | | | |')
            bars.at_least(f'{timing}, trials', 0, 1)
            continue
        hours = sum(r['seconds'] for r in own) / 3600.0
        false = sum(len(r['false']) for r in own)
        low, high = poisson_rate_interval(false, hours)
        lines.append(
            f'| {POLICY_ROBOT} | {timing} | {len(own)} | {hours:.2f} h | '
            f'{sum(r["sensed"] for r in own)} | '
            f'{false}: {false / hours:.2f} ({low:.2f} to {high:.2f}) |'
        )
        if timing in POLICY_PER_HOUR:
            bars.at_most(
                f'{timing}, false contacts per hour', false / hours, POLICY_PER_HOUR[timing]
            )
    return lines


def _judge_contact(
    bars: Bars, row: Row, contact: DetectionScore, alarms: DetectionScore, soon: float
) -> None:
    name = f'{row.robot}, {row.kind}'
    if row.recall is not None:
        bars.at_least(f'{name}, recall', contact.recall, row.recall)
    if row.per_hour is not None:
        bars.at_most(f'{name}, false alarms per hour', alarms.per_hour, row.per_hour)
    if row.kind == 'wrench':
        bars.at_most(f'{name}, median latency, s', contact.latency, soon)


GROUP = RowGroup(
    tuple(dict.fromkeys(row.kind for row in ROWS)),
    _contact_lines, _contact_trials, _short_contact_trials, ('robot', 'joint_effort'),
)  # fmt: skip
POLICY_GROUP = RowGroup((POLICY_KIND,), _policy_lines, _policy_trials, long_kinds=(POLICY_KIND,))
