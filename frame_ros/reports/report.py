# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The model of a report: what the page and the JSON show, computed once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from frame_ros.bags.findings import LEVEL_WORDS, MEANINGS, Level
from frame_ros.core.version import package_version
from frame_ros.episodes.copies import copies_among, recording_key
from frame_ros.episodes.episode import Episode
from frame_ros.metrics.constants import VERSION
from frame_ros.reports.model.episode_check import (
    EpisodeCheck,
    EpisodeChecks,
    QualityCounts,
    copies_text,
    finding_counts,
    has_data,
    quality_counts,
    unread_text,
    without_data,
)
from frame_ros.reports.model.metric_table import MetricRow, metric_rows, success_count, value_name
from frame_ros.reports.model.numbers import json_safe
from frame_ros.reports.model.options import ReportOptions
from frame_ros.reports.model.rates import MetricRate, metric_rates, sampling_sentence
from frame_ros.reports.model.verdict import answers
from frame_ros.reports.model.watching import Watching
from frame_ros.reports.parity.comparison import BAR, live_definitions
from frame_ros.reports.parity.verdict import ParityVerdict, parity_verdict
from frame_ros.reports.sections.fingerprint import FingerprintSection
from frame_ros.reports.sections.halts import HaltSection
from frame_ros.reports.sections.interventions import InterventionSection, help_text, total_data
from frame_ros.reports.sections.references import ReferenceSection
from frame_ros.reports.sections.section import Basis, EpisodeSection, ReportSection, as_row
from frame_ros.reports.sections.sensing import SensingSection

FORMAT = 'frame_ros report 1'
# The sections about all episodes, in their order on the page; those about one: EPISODE_SECTIONS. To
# add one, add its class here, or append it.
REPORT_SECTIONS: list[type[ReportSection]] = [ReferenceSection, FingerprintSection]


class Report:
    """A report over the episodes that have data, in their order.

    Attributes:
        unread: (bag, reason) of bags that could not be read or held no messages.
        copies: (bag, bag that is shown) of recordings of an episode that is shown already.
        rows: one per metric, with the values of all episodes.
        checks, parity, findings: of each episode; over all of them.
        success: how many succeeded.
        sections: those about all episodes.
        parts: the report on each episode; watching: what watched over it.
        answers: the headline, and the verdict by question.
    """

    def __init__(
        self,
        episodes: Sequence[Episode],
        options: ReportOptions | None = None,
        checks: EpisodeChecks | None = None,
    ) -> None:
        """checks: those made already."""
        options, checks = options or ReportOptions(), checks or EpisodeChecks()
        self.unread = without_data(episodes)
        found = [episode for episode in episodes if has_data(episode)]
        copies = copies_among(map(recording_key, found))
        self.copies = [(found[i].path.name, found[kept].path.name) for i, kept in copies.items()]
        self.episodes = [episode for i, episode in enumerate(found) if i not in copies]
        errors = [checks.errors(episode, options) for episode in self.episodes]
        self.rows = metric_rows(self.episodes, errors, options)
        self.checks = [checks.of(episode) for episode in self.episodes]
        self.parity = parity_verdict(check.parity for check in self.checks)
        self.findings = finding_counts(self.checks)
        self.success = success_count(self.episodes)
        basis = Basis(self.episodes, self.rows, errors, options)
        self.sections = [section(basis) for section in REPORT_SECTIONS]
        self.parts = [
            EpisodeReport(episode, i, self.rows, check, checks.sections(episode))
            for i, (episode, check) in enumerate(zip(self.episodes, self.checks))
        ]
        self.watching = [part.watching for part in self.parts]
        self.answers = answers(
            self.episodes,
            self.rows,
            self.parity,
            self.findings,
            ' '.join(filter(None, [unread_text(self.unread), copies_text(self.copies)])),
            self.watching,
        )
        self.sampling = sampling_sentence(self.episodes)

    @property
    def verdict(self) -> list[str]:
        """Its sentences, most important first."""
        return [sentence for answer in self.answers for sentence in answer.sentences]

    @property
    def data(self) -> dict[str, Any]:
        """The report as plain JSON types.

        Keys: format, version, definitions, verdict (sentences), success (successes, trials, rate,
        interval), interventions (see `total_data`), metrics (per id: unit, direction, median,
        least, greatest), sampling (a sentence), each section's key, parity, findings (how many of
        each level), episodes (see `EpisodeReport`), unreadable (bag, reason): no episodes;
        copies (bag, shown): left out.
        """
        success = self.success
        data = {
            'format': FORMAT,
            'version': package_version(),
            'definitions': VERSION,
            'verdict': self.verdict,
            'success': {**vars(success), 'rate': success.rate, 'interval': success.interval},
            'interventions': total_data(self.episodes),
            'metrics': {row.id: _aggregate(row) for row in self.rows},
            'sampling': self.sampling,
            **{section.key: section.data for section in self.sections},
            'parity': {**vars(self.parity), 'text': self.parity.text, 'bar': BAR},
            'findings': self.findings,
            'episodes': [part.data for part in self.parts],
            'unreadable': [{'bag': name, 'reason': reason} for name, reason in self.unread],
            'copies': [{'bag': name, 'shown': kept} for name, kept in self.copies],
        }
        safe: dict[str, Any] = json_safe(data)
        return safe


class EpisodeReport:
    """The report on one episode. index: its place in the values of the rows."""

    def __init__(
        self,
        episode: Episode,
        index: int,
        rows: Sequence[MetricRow],
        check: EpisodeCheck,
        sections: Sequence[EpisodeSection],
    ) -> None:
        self.episode, self.index, self.rows, self.check = episode, index, rows, check
        self.sections = sections
        self.outcome = episode.outcome.name.lower()
        self.help = help_text(episode)
        self.number = index + 1
        self.id = episode.episode_id or episode.path.name

    @property
    def watching(self) -> Watching:
        """The gate, the monitor and the cameras in this episode."""
        found = {type(section): section for section in self.sections}
        driven, halts, sensing = (
            found.get(kind) for kind in (InterventionSection, HaltSection, SensingSection)
        )
        return Watching(
            driven.found.runs if isinstance(driven, InterventionSection) else None,
            halts.found if isinstance(halts, HaltSection) else None,
            sensing.partial if isinstance(sensing, SensingSection) else None,
        )

    @property
    def data(self) -> dict[str, Any]:
        """The episode's part of the JSON.

        Keys: episode_id, bag, outcome, each section's key, attributes, is_truncated, summary,
        metrics (value, unit, reason), live_definitions (version by which live values were
        computed), parity, rates, metric_rates, data_quality (counters by stream or topic), stopped
        (topic -> s before the end), findings (level, text, about; see `bags.findings`).
        """
        episode, check = self.episode, self.check
        return {
            'episode_id': episode.episode_id,
            'bag': episode.path,
            'outcome': self.outcome,
            **{section.key: section.data for section in self.sections},
            'attributes': episode.attributes,
            'is_truncated': episode.is_truncated,
            'summary': episode.summary,
            'metrics': {
                row.id: {
                    'value': row.values[self.index],
                    'unit': row.unit,
                    'reason': row.reasons[self.index] or None,
                }
                for row in self.rows
            },
            'live_definitions': live_definitions(episode),
            'parity': {
                **vars(self.parity),
                'text': self.parity.text,
                'problems': check.parity.problems,
                'rows': [{**vars(row), 'holds': row.holds} for row in check.parity],
            },
            'rates': check.rates,
            'metric_rates': self.metric_rates,
            'data_quality': check.counts,
            'stopped': check.faults.stopped,
            'findings': [
                {'level': LEVEL_WORDS[found.level], 'text': found.text, 'about': found.about}
                for found in check.findings
            ],
        }

    @cached_property
    def parity(self) -> ParityVerdict:
        """The comparison of live with bag, summed up."""
        return parity_verdict([self.check.parity])

    @cached_property
    def metric_rates(self) -> list[MetricRate]:
        """The rates that the difference-based metrics saw."""
        return metric_rates(self.episode)

    @cached_property
    def counts(self) -> QualityCounts:
        """The counters of the data quality as a table."""
        return quality_counts(self.check.counts)

    @property
    def meanings(self) -> dict[str, str]:
        """Counter -> what it counts."""
        return {name: MEANINGS[name] for name in self.counts.columns if name in MEANINGS}

    @property
    def worth_knowing(self) -> list[str]:
        """Texts of the findings that are worth knowing."""
        return self.check.texts(Level.WORTH_KNOWING)

    @property
    def unavailable(self) -> dict[str, list[tuple[str, str]]]:
        """Reason -> (id, name) of the values that are unavailable for it."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name, reason in self.episode.unavailable:
            found.setdefault(reason, []).append((name, value_name(name)))
        return found


def report_data(
    episodes: Sequence[Episode],
    options: ReportOptions | None = None,
    checks: EpisodeChecks | None = None,
) -> dict[str, Any]:
    """Returns the report as plain JSON types: see `Report.data`. checks: those made already."""
    return Report(episodes, options, checks).data


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
        'name': row.metric.name,
        'unit': row.unit,
        **as_row(row.metric, 0, 'category', 'higher_is_better', 'source'),
        'episodes': len(row.known),
        'median': row.median,
        'least': row.least,
        'greatest': row.greatest,
        'reason': row.reason or None,
    }
