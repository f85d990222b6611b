# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The report's verdict: what came of the episodes, in words that a number backs, by question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from frame_ros.core.events import Outcome
from frame_ros.core.plain_text import counted
from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.policy_labels import counted_policies
from frame_ros.reports.model.episode_check import FindingCounts
from frame_ros.reports.model.metric_table import MetricRow, SuccessCount, success_count
from frame_ros.reports.model.numbers import measured, readable_unit, shortened
from frame_ros.reports.model.series import collisions, contact_sensing
from frame_ros.reports.model.watching import (
    PARTIAL,
    Watching,
    foresight_sentence,
    gate_sentence,
    partial_share,
)
from frame_ros.reports.parity.verdict import ParityVerdict
from frame_ros.reports.sections.interventions import intervention_sentence

MOST_NAMED = 6
LONGEST_COUNT = 80  # of the policies, one of which may be named


@dataclass(frozen=True)
class Answer:
    """The sentences that answer one question about the policy; question: '' of the headline."""

    question: str
    sentences: list[str] = field(default_factory=list)


def answers(
    episodes: Sequence[Episode],
    rows: Sequence[MetricRow],
    parity: ParityVerdict,
    findings: FindingCounts,
    unread: str = '',
    watching: Sequence[Watching] = (),
) -> list[Answer]:
    """Returns the headline, then the answers to the questions of those who trained the policy.

    findings: how many there are of each level. unread: which bags could not be read or are copies;
    '' without. watching: of each episode.
    """
    if not episodes:
        return [Answer('', ['No episodes.', *filter(None, [unread])])]
    by_id = {row.id: row for row in rows}
    asked = {
        '': [success_sentence(success_count(episodes))],
        'Good?': [
            intervention_sentence(episodes),
            _other_outcomes(episodes),
            _smoothest(episodes, by_id.get('ti')),
        ],
        'Safe?': [
            _collisions(episodes),
            _nearest(by_id.get('op'), watching),
            gate_sentence(watching),
        ],
        'Foresees failures?': [foresight_sentence(episodes, watching)],
        'Better than another?': [_comparison(episodes)],
        'Data good?': [
            unread,
            _quality(episodes, findings),
            parity.text[0].upper() + parity.text[1:] + '.',
        ],
    }
    return [
        Answer(question, [text for text in texts if text])
        for question, texts in asked.items()
        if any(texts)
    ]


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
    found = {i: collisions(episode) for i, episode in enumerate(episodes, 1)}
    known = [count for count in found.values() if count is not None]
    if not known:
        return 'Collisions were not sensed.'
    total, missing = sum(known), len(episodes) - len(known)
    hit = [str(i) for i, count in found.items() if count]
    shown = ', '.join(hit[:MOST_NAMED]) + (' …' if len(hit) > MOST_NAMED else '')
    named = [f'episode{"s" if len(hit) > 1 else ""} {shown}'] * bool(hit and len(episodes) > 1)
    partial = sum(contact_sensing(episode).lost > 0 for episode in episodes)
    notes = named + [f'not sensed in {missing}'] * bool(missing)
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
        f'Smoothest: episode {best} (RMS jerk {measured(low, 3)} m/s³); '
        f'roughest: episode {worst} ({measured(high, 3)} m/s³).'
    )


def _nearest(row: MetricRow | None, watching: Sequence[Watching]) -> str:
    """The least distance, with what it leaves out."""
    if row is None or row.least is None:
        return 'Distances were not measured.'
    factor, unit = readable_unit([row.least], row.unit)
    seen = partial_share(watching)
    remark = (
        f' that the cameras saw; in {100 * seen:.0f} % of the distances a place that they did not '
        'see was nearer'
        if seen >= PARTIAL
        else ''
    )
    return f'Nearest obstacle: {measured(row.least, 3, factor)} {unit}{remark}.'


def _comparison(episodes: Sequence[Episode]) -> str:
    """Says which policies and robots the figures are over, and what compares policies."""
    policies = shortened(counted_policies(e.attributes for e in episodes), LONGEST_COUNT)
    robots = sorted({str(e.attributes.get('robot') or '') for e in episodes} - {''})
    together = [policies] * bool(policies)
    together += [f'{len(robots)} robots ({", ".join(robots)})'] * (len(robots) > 1)
    mixed = f'The figures above are over {" and ".join(together)} together. ' if together else ''
    return f'{mixed}frame-ros compare A=BAGS B=BAGS tests whether one policy is better.'


def _quality(episodes: Sequence[Episode], findings: FindingCounts) -> str:
    truncated = sum(e.is_truncated for e in episodes)
    if truncated:
        return f'{counted(truncated, "TRUNCATED bag")}: see the data-quality section.'
    return findings.text
