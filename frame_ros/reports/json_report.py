# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The report for machines: the same facts as the page, as JSON, in SI units; what is unavailable is
null.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from frame_ros.bags.findings import LEVEL_WORDS, Finding
from frame_ros.core.version import package_version
from frame_ros.episodes.episode import Episode
from frame_ros.metrics.constants import VERSION
from frame_ros.reports.model.contact_view import contact_data
from frame_ros.reports.model.episode_check import (
    EpisodeCheck,
    EpisodeChecks,
    has_data,
    unread_text,
    without_data,
)
from frame_ros.reports.model.findings_view import finding_counts
from frame_ros.reports.model.fingerprint_view import compare_groups, comparison_data
from frame_ros.reports.model.intervention_view import intervention_data, total_data
from frame_ros.reports.model.metric_table import MetricRow, metric_rows, success_count
from frame_ros.reports.model.numbers import json_safe
from frame_ros.reports.model.options import ReportOptions
from frame_ros.reports.model.policy_groups import policy_groups
from frame_ros.reports.model.rates import metric_rates, sampling_sentence
from frame_ros.reports.model.reference_view import all_reference_errors, reference_data
from frame_ros.reports.model.truth_view import truth_data
from frame_ros.reports.model.verdict import OUTCOME_WORDS, verdict
from frame_ros.reports.parity.comparison import BAR, EpisodeParity, live_definitions
from frame_ros.reports.parity.verdict import parity_verdict

FORMAT = 'frame_ros report 1'


def report_data(
    episodes: Sequence[Episode],
    options: ReportOptions | None = None,
    checks: EpisodeChecks | None = None,
) -> dict[str, Any]:
    """Returns the report as plain JSON types.

    Keys: format, version, verdict (sentences), success (successes, trials, rate, interval),
    interventions (see `total_data`), metrics (per id: unit, direction, median, least, greatest),
    fingerprint (see `comparison_data`), sampling (a sentence), references (see `reference_data`;
    null without any), parity, findings (how many of each level), episodes (see `episode_data`),
    unreadable (bag, reason): bags that could not be read or held no messages; they are no episodes.

    checks: those made already.
    """
    unread = without_data(episodes)
    episodes = [episode for episode in episodes if has_data(episode)]
    options = options or ReportOptions()
    errors = all_reference_errors(episodes, options)
    rows = metric_rows(episodes, errors, options)
    checks = checks or EpisodeChecks()
    found = [checks.of(episode) for episode in episodes]
    total = parity_verdict(check.parity for check in found)
    findings = finding_counts(found)
    count = success_count(episodes)
    data = {
        'format': FORMAT,
        'version': package_version(),
        'definitions': VERSION,
        'verdict': verdict(episodes, rows, total, findings, unread_text(unread)),
        'success': {**asdict(count), 'rate': count.rate, 'interval': count.interval},
        'interventions': total_data(episodes),
        'metrics': {row.id: _aggregate(row) for row in rows},
        'sampling': sampling_sentence(episodes),
        'fingerprint': comparison_data(compare_groups(policy_groups(episodes), rows, options.axes)),
        'references': reference_data(episodes, errors),
        'parity': {**asdict(total), 'bar': BAR},
        'findings': asdict(findings),
        'episodes': [
            episode_data(episode, i, rows, found[i]) for i, episode in enumerate(episodes)
        ],
        'unreadable': [{'bag': name, 'reason': reason} for name, reason in unread],
    }
    safe: dict[str, Any] = json_safe(data)
    return safe


def episode_data(
    episode: Episode, index: int, rows: Sequence[MetricRow], check: EpisodeCheck
) -> dict[str, Any]:
    """One episode: id, bag, outcome, interventions (see `intervention_data`), sensing (see
    `contact_data`), truth (see `truth_data`; null where none was recorded), attributes, summary,
    metrics (value, reason), live_definitions (version by which live values were computed), parity,
    rates, data quality (counters by stream or topic), stopped
    (topic -> s before the end), findings (level, text, about; see `episodes.findings`).

    `index` is the episode's place in the values of `rows`.
    """
    return {
        'episode_id': episode.episode_id,
        'bag': episode.path,
        'outcome': OUTCOME_WORDS[episode.outcome],
        'interventions': intervention_data(episode, episode.open_bag()),
        'sensing': contact_data(episode, episode.open_bag()),
        'truth': truth_data(episode, episode.open_bag()),
        'attributes': episode.attributes,
        'is_truncated': episode.is_truncated,
        'summary': episode.summary,
        'metrics': {
            row.id: {
                'value': row.values[index],
                'unit': row.unit,
                'reason': row.reasons[index] or None,
            }
            for row in rows
        },
        'live_definitions': live_definitions(episode),
        'parity': _parity(check.parity),
        'rates': [asdict(row) for row in check.rates],
        'metric_rates': [asdict(row) for row in metric_rates(episode)],
        'data_quality': check.counts,
        'stopped': check.faults.stopped,
        'findings': [_finding(finding) for finding in check.findings],
    }


def report_json(
    episodes: Sequence[Episode],
    options: ReportOptions | None = None,
    checks: EpisodeChecks | None = None,
) -> str:
    """Returns `report_data` as JSON text: valid by RFC 8259, so without NaN."""
    data = report_data(episodes, options, checks)
    return json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False)


def _aggregate(row: MetricRow) -> dict[str, Any]:
    return {
        'name': row.name,
        'unit': row.unit,
        'category': row.category,
        'higher_is_better': row.higher_is_better,
        'source': row.source,
        'episodes': len(row.known),
        'median': row.median,
        'least': row.least,
        'greatest': row.greatest,
        'reason': row.reason or None,
    }


def _finding(finding: Finding) -> dict[str, str]:
    return {'level': LEVEL_WORDS[finding.level], 'text': finding.text, 'about': finding.about}


def _parity(parity: EpisodeParity) -> dict[str, Any]:
    rows = [{**asdict(row), 'holds': row.holds} for row in parity]
    return {**asdict(parity_verdict([parity])), 'problems': parity.problems, 'rows': rows}
