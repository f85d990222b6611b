# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of contact by the joint torques of real Pandas that were recorded: trials, table, bars.

Their motors are not identified: the generic ones of a simulated arm, with wide thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from parts.bars import Bars

from frame_ros.core.errors import BagError
from frame_ros.core.version import source_version
from frame_ros.evaluation.detection_scores import (
    Matches,
    match_detections,
    poisson_rate_interval,
)
from frame_ros.evaluation.recorded_motion.panda_torques import (
    ROBOT,
    digest_of,
    read_torques,
    torque_files,
)
from frame_ros.evaluation.trials import kinds
from frame_ros.evaluation.trials.campaign import Outcome, Trial
from frame_ros.metrics import wilson_interval
from frame_ros.sensing.contact.joints.motor_choices import GENERIC

KIND = 'torque_recorded'
FUNCTIONS = {KIND: 'frame_ros.evaluation.trials.recorded_torque:run'}
PER_HOUR = 1.0  # bar
AFTER = 0.1  # s from a touch, before or after, in which a contact still is of it


def versions() -> dict[str, str]:
    """Kind -> version of what its trials judge."""
    return {KIND: source_version((*kinds.CONTACTS, 'frame_ros/evaluation/recorded_motion'))}


def recorded(path: Path) -> list[Path]:
    """Returns the files of the recordings in a folder; raises BagError if there are none."""
    found = torque_files(path)
    if not found:
        raise BagError(f'{path} has no recording of joint torques of a Panda that is known')
    return found


def trials(files: Sequence[Path], share: float) -> Iterator[Trial]:
    """Trials of the first share of the recordings, at least one."""
    for file in files[: math.ceil(share * len(files))]:
        settings = {
            'file': str(file.resolve()), 'place': read_torques(file).place,
            'digest': digest_of(file), 'motors_file': GENERIC,
        }  # fmt: skip
        yield Trial(KIND, ROBOT, 0, settings)


def lines(outcomes: Sequence[Outcome], bars: Bars) -> list[str]:
    """The table as Markdown, a row of each place that was touched; the bar is judged on all."""
    own = sorted(
        (o for o in outcomes if o.trial.kind == KIND and not o.problem),
        key=_place,
    )
    bars.at_least("recorded Pandas' torques, recordings", len(own), 1)
    if not own:
        return []
    results = [outcome.result for outcome in own]
    false, hours = _false(results)
    bars.at_most("recorded Pandas' torques, false contacts per hour", false / hours, PER_HOUR)
    rows = [
        '| recordings of real Pandas, generic motors | touches felt | latency, median | free of '
        'touch | false contacts per hour | not available |',
        '| --- | --- | --- | --- | --- | --- |',
    ]
    for place, group in groupby(own, key=_place):
        rows.append(_row(place, [each.result for each in group]))
    return [*rows, _row('all', results)]


def _place(outcome: Outcome) -> str:
    return str(outcome.trial.settings['place'])


def _matches(result: dict[str, Any]) -> Matches:
    return match_detections(result['touched'], result['begins'], early=AFTER, late=AFTER)


def _false(results: Sequence[dict[str, Any]]) -> tuple[int, float]:
    """Returns contacts of no touch, and hours without one."""
    touched = sum(end - begin for result in results for begin, end in result['touched'])
    seconds = sum(result['seconds'] - result['unavailable'] for result in results) - touched
    return sum(len(_matches(r).false_alarms) for r in results), max(seconds, 1e-6) / 3600.0


def _row(name: str, results: Sequence[dict[str, Any]]) -> str:
    latencies = np.concatenate([_matches(result).latencies for result in results])
    felt = latencies[np.isfinite(latencies)]
    count, hours = _false(results)
    low, high = poisson_rate_interval(count, hours)
    missing = sum(result['unavailable'] for result in results)
    return (
        f'| {name} ({len(results)}) | {_share(len(felt), len(latencies))} | '
        f'{f"{1e3 * np.median(felt):.0f} ms" if len(felt) else ""} | {3600.0 * hours:.0f} s | '
        f'{count}: {count / hours:.1f} ({low:.1f} to {high:.1f}) | {missing:.0f} s |'
    )


def _share(felt: int, count: int) -> str:
    if not count:
        return 'none touched'
    low, high = wilson_interval(felt, count)
    return f'{felt} of {count}: {100 * felt / count:.0f} % ({100 * low:.0f} to {100 * high:.0f})'
