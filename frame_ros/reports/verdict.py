# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The report's first line: what came of the episodes, in words that a number backs."""

from __future__ import annotations

from collections.abc import Sequence

from frame_ros.episodes.data import Episode, Outcome
from frame_ros.reports.metric_table import MetricRow, SuccessCount, outcome_of, success_count
from frame_ros.reports.numbers import readable
from frame_ros.reports.parity import ParityVerdict
from frame_ros.reports.quality_counts import count_warnings

OUTCOME_WORDS = {
    Outcome.SUCCESS: 'success',
    Outcome.FAILURE: 'failure',
    Outcome.TIMEOUT: 'timeout',
    Outcome.STOPPED: 'stopped',
    Outcome.UNKNOWN: 'unknown',
}


def verdict(
    episodes: Sequence[Episode], rows: Sequence[MetricRow], parity: ParityVerdict
) -> list[str]:
    """Returns the sentences of the verdict, most important first."""
    if not episodes:
        return ['No episodes.']
    by_id = {row.id: row for row in rows}
    sentences = [
        success_sentence(success_count(episodes)),
        _other_outcomes(episodes),
        _collisions(episodes),
        _smoothest(episodes, by_id.get('ti')),
        _quality(episodes),
        parity.text[0].upper() + parity.text[1:] + '.',
    ]
    return [sentence for sentence in sentences if sentence]


def success_sentence(count: SuccessCount) -> str:
    """'4 of 5 episodes succeeded (80 %, 95 % Wilson interval 38–96 %).'"""
    rate, interval = count.rate, count.interval
    unknown = f' {count.unknown} without a recorded outcome.' if count.unknown else ''
    if rate is None or interval is None:
        return f'No episode has a recorded outcome ({count.unknown} episodes).'
    low, high = (round(100 * bound) for bound in interval)
    noun = 'episode' if count.trials == 1 else 'episodes'
    return (
        f'{count.successes} of {count.trials} {noun} succeeded '
        f'({100 * rate:.0f} %, 95 % Wilson interval {low}–{high} %).{unknown}'
    )


def _other_outcomes(episodes: Sequence[Episode]) -> str:
    outcomes = [outcome_of(e) for e in episodes]
    named = (
        (Outcome.FAILURE, 'failed'),
        (Outcome.TIMEOUT, 'ran out of time'),
        (Outcome.STOPPED, 'stopped by hand or by a safety function'),
    )
    parts = [f'{outcomes.count(kind)} {words}' for kind, words in named if outcomes.count(kind)]
    return ', '.join(parts) + '.' if parts else ''


def _collisions(episodes: Sequence[Episode]) -> str:
    sensed = [e.summary.get('safety', {}) for e in episodes]
    counted = [
        int(s['collisions'])
        for s in sensed
        if s.get('collisions') is not None and s.get('cr') == s.get('cr')
    ]
    if not counted:
        return 'Collisions were not sensed.'
    total = sum(counted)
    missing = len(episodes) - len(counted)
    unsensed = f' (not sensed in {missing})' if missing else ''
    return f'{total or "No"} collision{"" if total == 1 else "s"}{unsensed}.'


def _smoothest(episodes: Sequence[Episode], row: MetricRow | None) -> str:
    """Names the smoothest and the roughest episode by RMS jerk, if there are at least two to
    compare.
    """
    if row is None:
        return ''
    known = [
        (value, i + 1)
        for i, (value, out) in enumerate(zip(row.values, row.is_left_out))
        if value is not None and not out
    ]
    if len(known) < 2:
        return ''
    (low, best), (high, worst) = min(known), max(known)
    return (
        f'Smoothest: episode {best} (RMS jerk {readable(low, 3)} m/s³); '
        f'roughest: episode {worst} ({readable(high, 3)} m/s³).'
    )


def _quality(episodes: Sequence[Episode]) -> str:
    truncated = sum(e.is_truncated for e in episodes)
    warnings = count_warnings(episodes)
    if truncated:
        noun = 'bag' if truncated == 1 else 'bags'
        return f'{truncated} TRUNCATED {noun}: see the data-quality section.'
    if not warnings:
        return 'Data quality: good.'
    return f'Data quality: {warnings} warning{"" if warnings == 1 else "s"}.'
