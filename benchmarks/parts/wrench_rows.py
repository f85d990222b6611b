# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the wrist sensor's hard set, of streams that lie, and of repeated states: trials, tables
and bars.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from parts.bars import Bars
from parts.row_groups import Asked, RowGroup

from frame_ros.evaluation.detection_scores import (
    detection_score,
    match_detections,
    poisson_rate_interval,
)
from frame_ros.evaluation.trials import lying_streams, wrench_hard
from frame_ros.evaluation.trials.campaign import Outcome, Trial
from frame_ros.evaluation.trials.worlds.wrench_faults import ALL_AT_ONCE, FAULTS, HARD, WEIGHTS
from frame_ros.metrics import wilson_interval

HARD_KIND, STREAM_KIND, REPEAT_KIND = 'wrench_hard', 'streams', 'repeated_states'
KINDS = (HARD_KIND, STREAM_KIND, REPEAT_KIND)
ROBOT = 'fr3'
SLOW = wrench_hard.SLOW_PUSH
# Those that are added to the same motion, and those that change it.
STREAMS = tuple(fault for fault in FAULTS if fault not in WEIGHTS)
TOGETHER = (STREAMS, *((fault,) for fault in WEIGHTS))
ALL_FAULTS = (*FAULTS, SLOW)
FREE_SECONDS, PUSHED_SECONDS, FREE_SEEDS, PUSHED_SEEDS = 120.0, 120.0, 1000, 0
# Of each fault: 2 h of free motion (of which none is false where at most 1.84 per hour are, with
# 95 % confidence), and about 400 pushes.
FREE_TRIALS, PUSHED_TRIALS, AFTER = 60, 5, 0.1  # s behind a push
RECALL, PER_HOUR, FOUND = 0.99, 2.0, 1.0  # bars; s
STREAM_SECONDS, STREAM_BEGIN, STREAM_SEEDS = 30.0, 15.0, 5
STREAM_ROBOTS = {'fr3': lying_streams.FAULTS, 'so101': lying_streams.FAULTS_WITHOUT_WRENCH}
REPEAT_SECONDS, REPEAT_SEEDS = 300.0, 6
# Whether streams are checked, and whether the motors are the shipped ones, of another arm.
REPEAT_ROWS = ((True, False), (False, False), (True, True), (False, True))
WEIGHT = 'a weight of about'
STRENGTHS = (5.0, 8.0, 12.0, 18.0, 25.0)  # N


def trials(share: float, chosen: Sequence[str] = ALL_FAULTS) -> Iterator[Trial]:
    """Those of all rows; share: of each, the first ones, at least one. chosen: faults of the hard
    set, whose wrenches are the same whichever others share their motion.
    """
    groups = (tuple(fault for fault in group if fault in chosen) for group in TOGETHER)
    for faults in filter(None, groups):
        for seed in range(FREE_SEEDS, FREE_SEEDS + math.ceil(share * FREE_TRIALS)):
            yield _hard(faults, seed, FREE_SECONDS, False)
        for seed in range(PUSHED_SEEDS, PUSHED_SEEDS + math.ceil(share * PUSHED_TRIALS)):
            yield _hard(faults, seed, PUSHED_SECONDS, True)
    if SLOW in chosen:
        yield _hard([SLOW], 0, SLOW_SECONDS, False)
    for robot, faults in STREAM_ROBOTS.items():
        for fault in faults:
            for seed in range(math.ceil(share * STREAM_SEEDS)):
                yield _stream(robot, fault, seed, STREAM_SECONDS, STREAM_BEGIN)
    for is_checked, has_shipped in REPEAT_ROWS:
        for seed in range(math.ceil(share * REPEAT_SEEDS)):
            yield _repeat(is_checked, has_shipped, seed, REPEAT_SECONDS)
    for seed in range(PUSHED_SEEDS, PUSHED_SEEDS + math.ceil(share * PUSHED_TRIALS)):
        yield _repeat(True, True, seed, PUSHED_SECONDS, True)


def short_trials() -> Iterator[Trial]:
    """One of each kind, of a few seconds."""
    yield _hard(['vibration', 'stamps 20 ms late'], PUSHED_SEEDS, 6.0, True)
    yield _hard(['vibration'], FREE_SEEDS, 6.0, False)
    yield _stream('so101', 'frozen efforts', 0, 8.0, 6.0)
    for has_shipped in (False, True):
        yield _repeat(True, has_shipped, 0, 6.0)


SLOW_SECONDS = wrench_hard.SLOW_BEGIN + wrench_hard.SLOW_SECONDS + 10.0


def free_trial(faults: Sequence[str], seed: int, seconds: float = FREE_SECONDS) -> Trial:
    """Returns that of faults that share a motion, in which nothing pushes."""
    return _hard(faults, seed, seconds, False)


def _hard(faults: Sequence[str], seed: int, seconds: float, has_pushes: bool) -> Trial:
    settings = {'faults': list(faults), 'seconds': seconds, 'has_pushes': has_pushes}
    return Trial(HARD_KIND, ROBOT, seed, settings)


def _stream(robot: str, fault: str, seed: int, seconds: float, begin: float) -> Trial:
    settings = {'fault': fault, 'seconds': seconds, 'begin': begin}
    return Trial(STREAM_KIND, robot, seed, settings)


def _repeat(
    is_checked: bool, has_shipped: bool, seed: int, seconds: float, has_pushes: bool = False
) -> Trial:
    settings = {
        'is_checked': is_checked, 'has_shipped_motors': has_shipped, 'seconds': seconds,
        'has_pushes': has_pushes,
    }  # fmt: skip
    return Trial(REPEAT_KIND, ROBOT, seed, settings)


def lines(
    kind: str, outcomes: Sequence[Outcome], bars: Bars, chosen: Sequence[str] = ALL_FAULTS
) -> list[str]:
    """Returns the table of a kind; judges its bars. chosen: faults of the hard set."""
    own = [o for o in outcomes if o.trial.kind == kind and not o.problem]
    if kind == HARD_KIND:
        return ['', *_hard_lines(own, bars, chosen)]
    made = {STREAM_KIND: _stream_lines, REPEAT_KIND: _repeat_lines}
    return ['', *made[kind](own, bars)]


def _hard_lines(outcomes: Sequence[Outcome], bars: Bars, chosen: Sequence[str]) -> list[str]:
    found = [
        '| robot | wrist force-torque in default settings, with | pushes | recall '
        '| felt by the true time | free motion | false alarms per hour | unavailable '
        '| least force felt, mean (95 %) |',
        '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ]
    together: list[tuple[float, int]] = []
    for fault in chosen:
        own = [o for o in outcomes if fault in o.result['faults']]
        results = [(o.result['faults'][fault], o.trial.settings['has_pushes']) for o in own]
        pushed = [result for result, has_pushes in results if has_pushes or fault == SLOW]
        free = [result for result, has_pushes in results if not has_pushes]
        bars.at_least(f'{HARD_KIND}, {fault}, trials', len(own), 1)
        if own:
            found.append(_hard_line(fault, pushed, free, bars))
        if free and fault in HARD:
            together.append(_false_in(fault, free))
    hours, false = sum(each[0] for each in together), sum(each[1] for each in together)
    if hours:
        # No interval: the faults share motion and noise, so their hours are not independent.
        found.append(
            f'| {ROBOT} | all of the hard set together | | | | {hours:.2f} h of shared motion '
            f'| {false}: {false / hours:.2f} | | |'
        )
    return found


def _false_in(fault: str, free: Sequence[dict]) -> tuple[float, int]:
    """Returns the hours in which something was known, and the false alarms in them. A weight that
    nobody announced is reported once; what is wrong is what is reported behind it.
    """
    since = [_reported(r) if fault in WEIGHTS else 0.0 for r in free]
    known = sum(r['seconds'] - r['unavailable'] for r in free)
    false = [
        int((_matches(r).false_alarms > begin).sum()) for r, begin in zip(free, since, strict=True)
    ]
    return (known - sum(since)) / 3600.0, sum(false)


def _hard_line(fault: str, pushed: Sequence[dict], free: Sequence[dict], bars: Bars) -> str:
    felt = detection_score([_matches(r) for r in pushed], sum(r['seconds'] for r in pushed))
    hours, false = _false_in(fault, free)
    low, high = poisson_rate_interval(false, hours)
    rate = false / hours if hours > 0 else math.nan
    name = f'{HARD_KIND}, {fault}'
    if pushed and fault != ALL_AT_ONCE:  # beyond the set for which the bars are
        bars.at_least(f'{name}, recall', felt.recall, RECALL)
    if fault in HARD or fault == 'none':
        bars.at_most(f'{name}, false alarms per hour', rate, PER_HOUR)
    force = [r['threshold'] for r in free if r['threshold'] is not None]
    most = [r['threshold_95'] for r in free if r['threshold_95'] is not None]
    share = sum(r['unavailable'] for r in free) / max(sum(r['seconds'] for r in free), 1e-9)
    low_recall, high_recall = felt.recall_interval
    before = sum(len(_matches(r).false_alarms) for r in free) - false
    reported = f'; {before} before it was reported' if fault in WEIGHTS else ''
    wrong = 0 if fault in WEIGHTS else sum(_reported(r) < r['seconds'] for r in free)
    reported += f'; a weight that is not there in {wrong} of {len(free)} trials' if wrong else ''
    besides = _false_in(fault, pushed)[1]
    between = f'; {besides} false' if besides else ''
    return (
        f'| {ROBOT} | {fault} | {felt.trials} | {100 * felt.recall:.1f} % ({100 * low_recall:.1f} '
        f'to {100 * high_recall:.1f}){between} | {_felt_truly(pushed)} | {hours:.2f} h '
        f'| {false}: {rate:.2f} ({low:.2f} to {high:.2f}){reported} | {100 * share:.1f} % '
        f'| {_mean(force):.2f} ({_mean(most):.2f}) N |'
    )


def _matches(result: dict, begins: str = 'begins') -> Any:
    return match_detections([t[:2] for t in result['truth']], result[begins], late=AFTER)


def _felt_truly(pushed: Sequence[dict]) -> str:
    """Returns of how many pushes a contact begins with a sample that was measured in them, whatever
    its stamp is: where more are felt than by stamps, stamps are wrong, and not the contact.
    """
    matches = [_matches(result, 'true_begins') for result in pushed]
    felt = sum(int(np.isfinite(each.latencies).sum()) for each in matches)
    return f'{felt} of {sum(len(each.latencies) for each in matches)}'


def _reported(result: dict) -> float:
    """Returns s at which a weight was reported; the whole time if it never was."""
    said = [since for since, text in result['warnings'] if text.startswith(WEIGHT)]
    return min(said, default=result['seconds'])


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def _stream_lines(outcomes: Sequence[Outcome], bars: Bars) -> list[str]:
    found = [
        '| robot | stream that lies | trials | found within 1 s | s until it was found, largest '
        '| false alarms |',
        '| --- | --- | --- | --- | --- | --- |',
    ]
    for robot, faults in STREAM_ROBOTS.items():
        for fault in faults:
            own = [
                o.result
                for o in outcomes
                if (o.trial.robot, o.trial.settings['fault']) == (robot, fault)
            ]
            bars.at_least(f'{robot}, {fault}, trials', len(own), 1)
            if own:
                found.append(_stream_line(robot, fault, own, bars))
    return found


def _stream_line(robot: str, fault: str, results: Sequence[dict], bars: Bars) -> str:
    name, false = f'{robot}, {fault}', sum(len(r['false']) for r in results)
    bars.at_most(f'{name}, false alarms', false, 0)
    if fault in lying_streams.NO_LIES:
        return f'| {robot} | {fault} (no lie) | {len(results)} | | | {false} |'
    if fault.startswith('repeated'):
        share = sum(r['repeats'] for r in results) / max(sum(r['sent'] for r in results), 1)
        left_out = f'{100 * share:.1f} % of the repeats left out'
        return f'| {robot} | {fault} | {len(results)} | {left_out} | | {false} |'
    times = [math.inf if r['found'] is None else r['found'] for r in results]
    soon = sum(time <= FOUND for time in times)
    bars.at_least(f'{name}, share found within 1 s', soon / len(times), 1.0)
    most = 'not found' if math.isinf(max(times)) else f'{max(times):.2f}'
    return f'| {robot} | {fault} | {len(times)} | {soon} of {len(times)} | {most} | {false} |'


def _repeat_lines(outcomes: Sequence[Outcome], bars: Bars) -> list[str]:
    found = [
        '| robot | joint torque, states repeated up to 30 ms under fresh stamps | motors | free '
        'motion | repeats left out | false contacts per hour |',
        '| --- | --- | --- | --- | --- | --- |',
    ]
    for row in REPEAT_ROWS:
        is_checked, has_shipped = row
        keys = 'is_checked', 'has_shipped_motors'
        free = [o for o in outcomes if not o.trial.settings['has_pushes']]
        own = [o.result for o in free if tuple(o.trial.settings[k] for k in keys) == row]
        name = 'streams checked' if is_checked else 'not checked'
        motors = 'shipped ones, of another arm' if has_shipped else 'its own'
        if is_checked:
            bars.at_least(f'{REPEAT_KIND}, motors: {motors}, trials', len(own), 1)
        if not own:
            continue
        hours = sum(r['seconds'] - r['unavailable'] for r in own) / 3600.0
        false = sum(len(r['begins']) for r in own)
        low, high = poisson_rate_interval(false, hours)
        rate = false / hours if hours > 0 else math.nan
        if is_checked:
            bars.at_most(
                f'{REPEAT_KIND}, motors: {motors}, false contacts per hour', rate, PER_HOUR
            )
        found.append(
            f'| {ROBOT} | {name} | {motors} | {hours:.2f} h | {sum(r["repeats"] for r in own)} of '
            f'{sum(r["sent"] for r in own)} | {false}: {rate:.2f} ({low:.2f} to {high:.2f}) |'
        )
    return found + _by_strength([o.result for o in outcomes if o.trial.settings['has_pushes']])


def _by_strength(results: Sequence[dict]) -> list[str]:
    """Returns how many pushes the shipped motors of another arm show, by their strength."""
    pushes = [
        (strength, math.isfinite(latency))
        for result in results
        for (_, _, strength, _), latency in zip(
            result['truth'], _matches(result).latencies, strict=True
        )
    ]
    if not pushes:
        return []
    found = [
        '',
        '| robot | joint torque, motors of another arm, pushes on any link behind the first '
        '| pushes | felt |',
        '| --- | --- | --- | --- |',
    ]
    for low, high in zip(STRENGTHS, STRENGTHS[1:], strict=False):
        own = [is_felt for strength, is_felt in pushes if low <= strength < high]
        if own:
            least, most = wilson_interval(sum(own), len(own))
            found.append(
                f'| {ROBOT} | {low:g} to {high:g} N | {len(own)} | {100 * np.mean(own):.1f} % '
                f'({100 * least:.1f} to {100 * most:.1f}) |'
            )
    return found


def _all_lines(outcomes: Sequence[Outcome], asked: Asked, bars: Bars) -> list[str]:
    kinds = [kind for kind in KINDS if kind in asked.kinds]
    return [line for kind in kinds for line in lines(kind, outcomes, bars, asked.faults)]


GROUP = RowGroup(KINDS, _all_lines, lambda asked: trials(asked.share, asked.faults), short_trials)
