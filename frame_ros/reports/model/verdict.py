# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The report's first line: what came of the episodes, in words that a number backs."""

from __future__ import annotations

from collections.abc import Sequence

from frame_ros.core.events import Outcome
from frame_ros.episodes.episode import Episode
from frame_ros.reports.model.episode_check import FindingCounts
from frame_ros.reports.model.metric_table import MetricRow, SuccessCount, success_count
from frame_ros.reports.model.numbers import counted, readable
from frame_ros.reports.model.series import collisions, contact_sensing
from frame_ros.reports.parity.verdict import ParityVerdict
from frame_ros.reports.sections.interventions import intervention_sentence


def verdict(
    episodes: Sequence[Episode],
    rows: Sequence[MetricRow],
    parity: ParityVerdict,
    findings: FindingCounts,
    unread: str = '',
) -> list[str]:
    """Returns the sentences of the verdict, most important first.

    findings: how many there are of each level. unread: which bags could not be read; '' if all
    could.
    """
    if not episodes:
        return ['No episodes.', unread] if unread else ['No episodes.']
    by_id = {row.id: row for row in rows}
    sentences = [
        success_sentence(success_count(episodes)),
        intervention_sentence(episodes),
        unread,
        _other_outcomes(episodes),
        _collisions(episodes),
        _smoothest(episodes, by_id.get('ti')),
        _quality(episodes, findings),
        parity.text[0].upper() + parity.text[1:] + '.',
    ]
    return [sentence for sentence in sentences if sentence]


def success_sentence(count: SuccessCount) -> str:
    """'4 of 5 episodes succeeded (80 %, 95 % Wilson interval 38–96 %).'"""
    rate, interval = count.rate, count.interval
    unknown = f' {count.unknown} without a recorded outcome.' if count.unknown else ''
    if rate is None or interval is None:
        return f'No episode has a recorded outcome ({counted(count.unknown, "episode")}).'
    low, high = (round(100 * bound) for bound in interval)
    return (
        f'{count.successes} of {counted(count.trials, "episode")} succeeded '
        f'({100 * rate:.0f} %, 95 % Wilson interval {low}–{high} %).{unknown}'
    )


def _other_outcomes(episodes: Sequence[Episode]) -> str:
    outcomes = [e.outcome for e in episodes]
    named = (
        (Outcome.FAILURE, 'failed'),
        (Outcome.TIMEOUT, 'ran out of time'),
        (Outcome.STOPPED, 'stopped by hand or by a safety function'),
    )
    parts = [f'{outcomes.count(kind)} {words}' for kind, words in named if outcomes.count(kind)]
    return ', '.join(parts) + '.' if parts else ''


def _collisions(episodes: Sequence[Episode]) -> str:
    known = [count for count in map(collisions, episodes) if count is not None]
    if not known:
        return 'Collisions were not sensed.'
    total, missing = sum(known), len(episodes) - len(known)
    partial = sum(contact_sensing(episode).lost > 0 for episode in episodes)
    notes = [f'not sensed in {missing}'] * bool(missing)
    notes += [f'not sensed all the time in {partial}'] * bool(partial)
    remark = f' ({", ".join(notes)})' if notes else ''
    return f'{total or "No"} collision{"" if total == 1 else "s"}{remark}.'


def _smoothest(episodes: Sequence[Episode], row: MetricRow | None) -> str:
    """Names the smoothest and the roughest episode by RMS jerk, if there are at least two to
    compare.
    """
    if row is None:
        return ''
    known = [(value, i) for i, value in enumerate(row.counting, 1) if value is not None]
    if len(known) < 2:
        return ''
    (low, best), (high, worst) = min(known), max(known)
    return (
        f'Smoothest: episode {best} (RMS jerk {readable(low, 3)} m/s³); '
        f'roughest: episode {worst} ({readable(high, 3)} m/s³).'
    )


def _quality(episodes: Sequence[Episode], findings: FindingCounts) -> str:
    truncated = sum(e.is_truncated for e in episodes)
    if truncated:
        return f'{counted(truncated, "TRUNCATED bag")}: see the data-quality section.'
    return findings.text
