# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Findings about an episode's numbers, gathered once for page, JSON and terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from frame_ros.bags.findings import (
    MOST_PAUSED,
    Finding,
    Level,
    count_text,
    finding_of,
    findings_of_counts,
    of_level,
)
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.table import FED_ROLES
from frame_ros.core.plain_text import counted
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of, within
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.episode_errors import EpisodeErrors, episode_errors
from frame_ros.episodes.reading import NO_MESSAGES
from frame_ros.episodes.topic_statistics import GAP_FACTOR, TopicFaults, topic_faults
from frame_ros.evaluation.contact_comparison import ContactComparison, compared_contacts
from frame_ros.metrics.error_options import ErrorOptions
from frame_ros.reports.model.numbers import readable
from frame_ros.reports.model.rates import RateRow, stream_rates
from frame_ros.reports.parity.comparison import (
    EpisodeParity,
    compare_live,
    definition_problems,
    field_problems,
    restart_problems,
)
from frame_ros.reports.parity.verdict import parity_verdict
from frame_ros.reports.sections.episode_sections import EPISODE_SECTIONS
from frame_ros.reports.sections.section import EpisodeSection
from frame_ros.reports.sections.truth import TruthSection, truth_findings

# Streams on which numbers rest at every moment, and what a pause is, s.
CONTINUOUS = frozenset({'pose', 'contact', 'proximity'})
PAUSE = 0.5
# The order of the usual counters; others follow as they come.
MOST_NAMED = 5
USUAL = ('gap', 'late', 'backward', 'duplicate', 'zero', 'invalid', 'jump', 'reset')
TRUNCATED = 'the bag is truncated: values cover what was saved'


@dataclass(frozen=True)
class EpisodeCheck:
    """counts: all counters of the data quality, of streams by role and of topics by name. findings:
    all that was found out, what matters most first.
    """

    parity: EpisodeParity = field(default_factory=EpisodeParity)
    rates: list[RateRow] = field(default_factory=list)
    faults: TopicFaults = field(default_factory=TopicFaults)
    counts: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def texts(self, level: Level) -> list[str]:
        """The texts of the findings of one level."""
        return [finding.text for finding in of_level(self.findings, level)]

    @property
    def text(self) -> str:
        """'2 findings of doubt, 1 worth knowing, 14 counted', or 'good'."""
        doubtful, known = len(self.doubtful), len(self.texts(Level.WORTH_KNOWING))
        total = sum(self.counts.values())
        parts = [f'{counted(doubtful, "finding")} of doubt'] * bool(doubtful)
        parts += [f'{known:,} worth knowing'] * bool(known) + [f'{total:,} counted'] * bool(total)
        return ', '.join(parts) or 'good'

    @property
    def doubtful(self) -> list[str]:
        """Texts of what makes a number of the episode doubtful."""
        return self.texts(Level.DOUBTFUL)


def check_episode(
    episode: Episode, sections: Sequence[EpisodeSection] | None = None
) -> EpisodeCheck:
    """Compares live with bag, and looks at the stamps of every topic of the bag.

    sections: those of the episode, where they are made already.
    """
    bag, parity = episode.open_bag(), compare_live(episode)
    contacts = _contacts_in(sections) if sections is not None else compared_contacts(episode, bag)
    faults = topic_faults(episode, bag)
    counts = {**{name: int(n) for name, n in episode.data_quality.items()}, **faults.counts}
    found = [
        *([Finding(Level.DOUBTFUL, TRUNCATED)] * episode.is_truncated),
        *map(finding_of, problems_of(episode)),
        *_of_parity(parity),
        *truth_findings(contacts),
        *_of_pauses(episode),
        *_of_stops(episode, faults),
        *_of_counts(episode, faults),
    ]
    found.sort(key=lambda finding: finding.level)
    return EpisodeCheck(parity, stream_rates(episode, bag), faults, counts, found)


def _contacts_in(sections: Sequence[EpisodeSection]) -> ContactComparison | None:
    return next((each.contacts for each in sections if isinstance(each, TruthSection)), None)


class EpisodeChecks:
    """Checks, sections, errors and pictures of episodes, each made once, with one opening of the
    bag; they outlast the arrays of the episode.
    """

    def __init__(self) -> None:
        self._made: dict[int, tuple[Episode, EpisodeCheck, list[EpisodeSection]]] = {}
        self._errors: dict[int, tuple[Episode, ErrorOptions, EpisodeErrors]] = {}
        self._drawn: dict[int, tuple[Episode, dict[str, Any]]] = {}

    def of(self, episode: Episode) -> EpisodeCheck:
        """Returns the check of an episode that has data."""
        return self._of(episode)[1]

    def sections(self, episode: Episode) -> list[EpisodeSection]:
        """Returns its EPISODE_SECTIONS."""
        return self._of(episode)[2]

    def errors(self, episode: Episode, options: ErrorOptions) -> EpisodeErrors:
        """Returns its errors against references."""
        known = self._errors.get(id(episode))
        if known is None or known[1] != options:
            known = episode, options, episode_errors(episode, options)
            self._errors[id(episode)] = known
        return known[2]

    def drawn(self, episode: Episode, draw: Callable[[Episode], dict[str, Any]]) -> dict[str, Any]:
        """Returns its pictures, as `draw` makes them."""
        if id(episode) not in self._drawn:
            self._drawn[id(episode)] = episode, draw(episode)
        return self._drawn[id(episode)][1]

    def _of(self, episode: Episode) -> tuple[Episode, EpisodeCheck, list[EpisodeSection]]:
        if id(episode) not in self._made:
            bag = episode.open_bag()
            sections = [kind(episode, bag) for kind in EPISODE_SECTIONS]
            self._made[id(episode)] = episode, check_episode(episode, sections), sections
        return self._made[id(episode)]


def _of_parity(parity: EpisodeParity) -> list[Finding]:
    """A disagreement is a fault of a number, and so are messages that the bag lacks or the live
    node lost; a late stream was one of the live values only.
    """
    verdict = parity_verdict([parity])
    late = [Finding(Level.WORTH_KNOWING, text, 'live') for text in parity.late_inputs]
    if verdict.live_losses:
        text = f'{verdict.live_losses}: its live values are doubtful; this report has all of them'
        late.insert(0, Finding(Level.DOUBTFUL, text, 'live'))
    if verdict.losses or verdict.holds is False:
        return [Finding(Level.DOUBTFUL, verdict.bag_text, 'live'), *late]
    if not parity.lagging_steps:
        return late
    text = (
        f'at {parity.lagging_steps:,} of {counted(parity.steps, "step")} a stream came too late to '
        f'be used live: {verdict.final_text}; this report uses all of it'
    )
    return [Finding(Level.WORTH_KNOWING, text, 'live'), *late]


def _of_pauses(episode: Episode) -> list[Finding]:
    """'nothing on ee_pose for 1.3 of 8 s', per stream that numbers rest on at every moment."""
    start, end = bounds_of(episode)
    findings = []
    for role in CONTINUOUS.intersection(episode.streams):
        stream = within(episode, episode.streams[role])
        stamps = np.unique(stream.stamps)
        steps = np.diff(stamps, prepend=start) / SECOND
        usual = float(np.median(steps)) if len(steps) else 0.0
        paused = float(steps[steps > max(PAUSE, GAP_FACTOR * usual)].sum())
        if paused > MOST_PAUSED * (end - start) / SECOND:
            topic, whole = stream.topic.lstrip('/'), readable((end - start) / SECOND, 2)
            text = f'nothing on {topic} for {readable(paused, 2)} of {whole} s'
            text += f': what the {role} was meanwhile is not known'
            findings.append(Finding(Level.DOUBTFUL, text, topic))
    return findings


def _of_stops(episode: Episode, faults: TopicFaults) -> list[Finding]:
    """'front/image_raw stopped 6.8 s before the end', per topic that did; doubtful where metrics
    are computed from it.
    """
    used = {stream.topic.lstrip('/') for role, stream in _used_streams(episode)}
    return [
        Finding(
            Level.DOUBTFUL if topic in used else Level.WORTH_KNOWING,
            f'{topic} stopped {readable(silence, 2)} s before the end',
            topic,
        )
        for topic, silence in faults.stopped.items()
    ]


def _of_counts(episode: Episode, faults: TopicFaults) -> list[Finding]:
    """Counters of streams that metrics use, judged; of all other topics, and what the recorder says
    in words already, only counted.
    """
    own: dict[str, int] = {}
    reported: dict[str, int] = {}
    for name, count in episode.data_quality.items():
        (reported if name.startswith('recorder.') else own)[name] = int(count)
    samples = {role: len(stream) for role, stream in _used_streams(episode)}
    samples |= {'event': len(episode.events), 'ot': episode.steps}
    if 'joint_states' in episode.streams:
        samples['joint_states'] = len(episode.streams['joint_states'])
    counting = {**reported, **faults.counts}
    return findings_of_counts(own, samples) + [
        Finding(Level.COUNTING, count_text(name, count), name)
        for name, count in counting.items()
        if count
    ]


def _used_streams(episode: Episode) -> list[tuple[str, Stream]]:
    return [(role, stream) for role, stream in episode.streams.items() if role in FED_ROLES]


def problems_of(episode: Episode) -> list[str]:
    """Returns the episode's problems and those of its live topics, once."""
    fields = (text for kind in episode.live for text in field_problems(episode, kind))
    others = definition_problems(episode) + restart_problems(episode) if episode.live else []
    return list(dict.fromkeys([*episode.problems, *fields, *others]))


def doubtful_lines(episodes: Iterable[Episode], checks: EpisodeChecks) -> list[str]:
    """'<bag>: <what makes its numbers doubtful>', each once; and how many findings are worth
    knowing.
    """
    lines, others = [], 0
    for episode in episodes:
        found = findings_of(episode, checks)
        texts = (finding.text for finding in of_level(found, Level.DOUBTFUL))
        lines += [f'{episode.path.name}: {" ".join(text.split())}' for text in texts]
        others += len(of_level(found, Level.WORTH_KNOWING))
    lines = list(dict.fromkeys(lines))
    if others:
        lines.append(f'{counted(others, "finding")} worth knowing: see the report')
    return lines


def findings_of(episode: Episode, checks: EpisodeChecks) -> list[Finding]:
    """All findings of an episode; of one without data, why it has none."""
    if has_data(episode):
        return checks.of(episode).findings
    return list(map(finding_of, episode.problems))


def has_data(episode: Episode) -> bool:
    """Returns whether there is an episode at all: its bag was read and held messages."""
    was_read = bool(episode.metrics or episode.streams or episode.live or episode.events)
    return was_read and not _no_messages(episode)


def without_data(episodes: Iterable[Episode]) -> list[tuple[str, str]]:
    """(name of the bag, why) of those that could not be read or held no messages."""
    return [(e.path.name, _reason_without_data(e)) for e in episodes if not has_data(e)]


def copies_text(copies: Sequence[tuple[str, str]]) -> str:
    """'1 recording of an episode that is here already is left out: b (as a).'; '' without."""
    if not copies:
        return ''
    named = ', '.join(f'{copy} (as {kept})' for copy, kept in copies[:MOST_NAMED])
    more = f' and {len(copies) - MOST_NAMED} more' if len(copies) > MOST_NAMED else ''
    verb = 'is' if len(copies) == 1 else 'are'
    recordings = counted(len(copies), 'recording')
    return f'{recordings} of episodes that are here already {verb} left out: {named}{more}.'


def unread_text(unread: list[tuple[str, str]]) -> str:
    """'1 bag could not be read: cut_1 (...).'; '' if all could."""
    if not unread:
        return ''
    named = '; '.join(f'{name} ({reason})' for name, reason in unread)
    return f'{counted(len(unread), "bag")} could not be read: {named}.'


def _no_messages(episode: Episode) -> list[str]:
    return [problem for problem in episode.problems if problem.startswith(NO_MESSAGES)]


def _reason_without_data(episode: Episode) -> str:
    if said := _no_messages(episode):
        return said[0]
    return str(episode.problems[0]) if episode.problems else 'it holds nothing'


@dataclass(frozen=True)
class FindingCounts:
    """Numbers of findings of each level, over all episodes."""

    doubtful: int = 0
    worth_knowing: int = 0
    counting: int = 0

    @property
    def text(self) -> str:
        """'Nothing makes a number doubtful; 2 findings are worth knowing.'"""
        if self.doubtful == 1:
            text = '1 finding makes a number doubtful'
        elif self.doubtful:
            text = f'{self.doubtful:,} findings make numbers doubtful'
        else:
            text = 'Nothing makes a number doubtful'
        if self.worth_knowing:
            verb = 'is' if self.worth_knowing == 1 else 'are'
            text += f'; {counted(self.worth_knowing, "finding")} {verb} worth knowing'
        return text + '.'


def finding_counts(checks: Sequence[EpisodeCheck]) -> FindingCounts:
    """Counts the findings of all episodes by level."""
    return FindingCounts(*(sum(len(check.texts(level)) for check in checks) for level in Level))


def shared_findings(checks: Sequence[EpisodeCheck], level: Level) -> dict[str, list[int]]:
    """Text of each finding of one level -> the numbers, from 1, of the episodes that have it."""
    found: dict[str, list[int]] = {}
    for number, check in enumerate(checks, 1):
        for text in dict.fromkeys(check.texts(level)):
            found.setdefault(text, []).append(number)
    return found


@dataclass(frozen=True)
class QualityCounts:
    """columns: names of counters. rows: stream -> one count per column, None where the stream has
    no such counter.

    total: the sum of all counts.
    """

    columns: list[str] = field(default_factory=list)
    rows: dict[str, list[int | None]] = field(default_factory=dict)
    total: int = 0


def quality_counts(counts: Mapping[str, int]) -> QualityCounts:
    """Sorts counters named 'stream.counter' into a table; a name without a dot belongs to the
    stream 'episode'.
    """
    table: dict[str, dict[str, int]] = {}
    for name, count in counts.items():
        stream, _, counter = name.rpartition('.')
        table.setdefault(stream or 'episode', {})[counter] = int(count)
    found = dict.fromkeys(counter for row in table.values() for counter in row)
    columns = [c for c in USUAL if c in found] + [c for c in found if c not in USUAL]
    rows = {stream: [row.get(c) for c in columns] for stream, row in table.items()}
    return QualityCounts(columns, rows, sum(counts.values()))
