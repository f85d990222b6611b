# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The key figures above the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from frame_ros.core.events import Outcome
from frame_ros.core.plain_text import counted
from frame_ros.episodes.episode import Episode
from frame_ros.reports.model.episode_check import FindingCounts
from frame_ros.reports.model.metric_table import MetricRow, SuccessCount
from frame_ros.reports.model.numbers import UNAVAILABLE, finite, measured, readable, readable_unit
from frame_ros.reports.model.series import collisions
from frame_ros.reports.parity.verdict import ParityVerdict
from frame_ros.reports.report import Report
from frame_ros.reports.sections.interventions import is_helped_success

MAY_HAVE_SUCCEEDED = (Outcome.SUCCESS, Outcome.UNKNOWN)


@dataclass(frozen=True)
class Tile:
    """One key figure; tone: '', 'good' or 'bad'."""

    label: str
    value: str
    sub: str = ''
    tone: str = ''


def tiles(report: Report) -> list[Tile]:
    """Success rate, time to success, smoothness, collisions, latency, control rate, parity, data
    quality.
    """
    by_id = {row.id: row for row in report.rows}
    episodes = report.episodes
    return [
        _success(report.success, sum(map(is_helped_success, episodes))),
        _time_to_success(episodes),
        _metric(by_id, 'ti', 'RMS jerk', 'lower is smoother'),
        _collisions(episodes, by_id.get('op')),
        _metric(by_id, 'il', 'Mean latency'),
        _control_rate(episodes),
        _parity(report.parity),
        _quality(episodes, report.findings),
    ]


def _success(count: SuccessCount, helped: int) -> Tile:
    rate, interval = count.rate, count.interval
    if rate is None or interval is None:
        return Tile('Success rate', UNAVAILABLE, 'no recorded outcome')
    low, high = interval
    sub = f'95 % interval {100 * low:.0f}–{100 * high:.0f} %, n = {count.trials}'
    return Tile(
        'Success rate',
        f'{100 * rate:.0f} %',
        f'{sub}; {helped} with interventions' if helped else sub,
    )


def _time_to_success(episodes: Sequence[Episode]) -> Tile:
    """Of episodes that did not end otherwise: END takes precedence over an earlier SUCCESS."""
    found = [e.summary.get('time_to_success') for e in episodes if e.outcome in MAY_HAVE_SUCCEEDED]
    times = [time for time in map(finite, found) if time is not None]
    if not times:
        has_success = any(episode.is_success for episode in episodes)
        why = 'no event SUCCESS marks when' if has_success else 'no episode succeeded'
        return Tile('Time to success', UNAVAILABLE, why)
    return Tile('Time to success', f'{readable(median(times), 3)} s', f'median of {len(times)}')


def _metric(by_id: dict[str, MetricRow], name: str, label: str, remark: str = '') -> Tile:
    """The median over episodes."""
    row = by_id.get(name)
    if row is None or row.median is None:
        return Tile(
            label, UNAVAILABLE, row.reason if row and len(row.reason) < 60 else 'not available'
        )
    factor, unit = readable_unit([row.median], row.unit)
    notes = ['median of episodes'] * (len(row.known) > 1) + [remark] * bool(remark)
    return Tile(label, f'{measured(row.median, 3, factor)} {unit}', '; '.join(notes))


def _collisions(episodes: Sequence[Episode], distances: MetricRow | None) -> Tile:
    """All collisions, and the least distance of all episodes."""
    known = [count for count in map(collisions, episodes) if count is not None]
    least = distances.least if distances else None
    factor, unit = readable_unit([least], 'm')
    near = UNAVAILABLE if least is None else f'{measured(least, 3, factor)} {unit}'
    sub = f'nearest obstacle {near}'
    if not known:
        return Tile('Collisions', UNAVAILABLE, f'not sensed; {sub}')
    return Tile('Collisions', f'{sum(known):,}', sub, 'bad' if sum(known) else '')


def _control_rate(episodes: Sequence[Episode]) -> Tile:
    rates, worst = (
        [rate for rate in (e.value(name) for e in episodes) if rate is not None]
        for name in ('control_rate', 'control_rate_worst')
    )
    if not rates:
        return Tile('Mean control rate', UNAVAILABLE, 'no executed actions')
    sub = f'worst second {readable(min(worst), 3)} Hz' if worst else 'no full second'
    sub = f'median of episodes; {sub}' if len(rates) > 1 else sub
    return Tile('Mean control rate', f'{readable(median(rates), 3)} Hz', sub)


def _parity(parity: ParityVerdict) -> Tile:
    if (parity.losses or parity.live_losses) and parity.holds is not False:
        others = counted(parity.compared + parity.compared_as_live, 'other value')
        what = 'bag lacks messages' if parity.losses else 'live lost messages'
        return Tile('Live = bag', what, f'{others} equal', 'bad')
    if parity.holds is None:
        return Tile('Live = bag', UNAVAILABLE, 'no live metrics')
    compared = parity.compared + parity.compared_as_live
    if not compared:
        return Tile('Live = bag', '✕ no match', 'no sample of equal stamp', 'bad')
    different = parity.different + parity.different_as_live
    if not parity.holds:
        return Tile('Live = bag', '✕ differs', f'{different:,} of {compared:,} values', 'bad')
    if parity.lagging_steps:
        late = f'{parity.lagging_steps:,} of {counted(parity.steps, "step")} late'
        agree = f'{counted(parity.compared, "value")} equal before'
        return Tile('Live = bag', late, f'{agree}; {parity.final_text}')
    return Tile('Live = bag', '✓ equal', counted(parity.compared, 'value'), 'good')


def _quality(episodes: Sequence[Episode], findings: FindingCounts) -> Tile:
    if any(e.is_truncated for e in episodes):
        return Tile('Data quality', '✕ truncated', 'a bag was cut', 'bad')
    if findings.doubtful:
        noun = 'finding' if findings.doubtful == 1 else 'findings'
        sub = f'{noun} that make a number doubtful' if findings.doubtful > 1 else 'doubtful number'
        return Tile('Data quality', f'{findings.doubtful:,}', sub, 'bad')
    known = f'{findings.worth_knowing:,} worth knowing' if findings.worth_knowing else 'no findings'
    return Tile('Data quality', '✓ good', known, 'good')
