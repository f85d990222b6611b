# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Interventions of an operator and of the command gate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from frame_ros.bags.reader import Bag
from frame_ros.core.events import Event
from frame_ros.core.plain_text import counted
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.interventions import (
    MOMENTS,
    GateAction,
    GateRun,
    interventions_of,
)
from frame_ros.reports.model.numbers import readable
from frame_ros.reports.sections.section import EpisodeSection, as_row

INCLUDED = 'Metrics are over whole episodes: the stretches in which an operator drove are in them.'


def help_text(episode: Episode) -> str:
    """'with 2 interventions, 8.1 s'; '' if no operator took over."""
    found = interventions_of(episode)
    if not found.count:
        return ''
    return f'with {counted(found.count, "intervention")}, {readable(found.seconds, 2)} s'


def is_helped_success(episode: Episode) -> bool:
    """Returns whether an episode succeeded in which an operator had taken over."""
    return episode.is_success and interventions_of(episode).count > 0


def intervention_sentence(episodes: Sequence[Episode]) -> str:
    """The verdict's sentence about interventions; '' if there were none."""
    total = total_data(episodes)
    if not total['count']:
        return ''
    helped, autonomy = total['successes_with'], total['autonomy']
    share = '' if autonomy is None else f'; the policy drove {100 * autonomy:.0f} % of the time'
    return (
        f'An operator took over in {total["episodes"]} of {counted(len(episodes), "episode")} '
        f'({counted(total["count"], "intervention")}, {readable(total["seconds"], 2)} s{share}); '
        f'{helped} of {helped + total["successes_without"]} successes had such help. {INCLUDED}'
    )


def total_data(episodes: Sequence[Episode]) -> dict[str, Any]:
    """All episodes together: episodes with interventions, count, seconds, autonomy (share of the
    time; null without duration), successes_with (help) and successes_without.
    """
    found = [interventions_of(episode) for episode in episodes]
    duration = sum((f.end - f.begin) / SECOND for f in found)
    seconds = sum(f.seconds for f in found)
    helped = sum(is_helped_success(episode) for episode in episodes)
    successes = sum(episode.is_success for episode in episodes)
    return {
        'episodes': sum(f.count > 0 for f in found),
        'count': sum(f.count for f in found),
        'seconds': seconds,
        'autonomy': 1.0 - seconds / duration if duration > 0 else None,
        'successes_with': helped,
        'successes_without': successes - helped,
        'note': INCLUDED if seconds else '',
    }


class InterventionSection(EpisodeSection):
    """Drivers of one episode and actions of the gate; times in s since START."""

    key = 'interventions'

    def __init__(self, episode: Episode, bag: Bag | None) -> None:
        super().__init__(episode, bag)
        self.found = interventions_of(episode, bag)
        found = self.found
        self.is_shown = bool(found.segments or found.runs or found.notes or found.stops)

    @cached_property
    def data(self) -> dict[str, Any]:
        """count, seconds, share and autonomy of the operator's stretches; segments, gate (null: not
        recorded), stops and notes.
        """
        found = self.found
        return {
            'count': found.count,
            'seconds': found.seconds,
            'share': found.share,
            'autonomy': found.autonomy,
            'metrics_include_them': found.count > 0,
            'segments': [
                as_row(segment, found.begin, 'begin', 'end', 'source', 'text', 'is_open')
                for segment in found.segments
            ],
            'gate': None if found.runs is None else _gate_data(found.runs, found.begin),
            'stops': [_event_row(event, found.begin) for event in found.stops],
            'notes': [_event_row(event, found.begin) for event in found.notes],
        }

    @property
    def duration(self) -> float:
        """Of the episode, s."""
        return max(self.found.end - self.found.begin, 1) / SECOND

    @property
    def drawn_runs(self) -> list[dict[str, Any]]:
        """Runs of the gate that the page has room for, each with its class in the stylesheet."""
        kinds = {'held': 'held', 'limited': 'limited', 'refused': 'limited', 'stopped': 'stop'}
        runs = self.data['gate']['runs'] if self.data['gate'] else ()
        drawn = ({**run, 'kind': kinds.get(run['action'])} for run in runs[: self.most_rows])
        return [run for run in drawn if run['kind']]


def _gate_data(runs: Sequence[GateRun], start: int) -> dict[str, Any]:
    actions = [run.action for run in runs]
    own = ('cause', 'joint', 'count', 'value', 'limit', 'unit', 'text', 'is_open')
    return {
        'stops': actions.count(GateAction.STOPPED),
        'resets': actions.count(GateAction.RESET),
        'by_cause': by_cause(runs),
        'runs': [
            as_row(run, start, 'begin', 'end')
            | {'action': run.action.name.lower()}
            | as_row(run, start, *own)
            for run in runs
        ],
    }


def by_cause(runs: Sequence[GateRun]) -> list[dict[str, Any]]:
    """Runs brought together by action and cause: how many, commands or ticks, s (null for what has
    no duration), joints, the first text; the longest first.
    """
    groups: dict[tuple[GateAction, str], list[GateRun]] = {}
    for run in runs:
        groups.setdefault((run.action, run.cause), []).append(run)
    rows = [
        {
            'action': action.name.lower(),
            'cause': cause,
            'runs': len(own),
            'count': sum(run.count for run in own),
            'seconds': None if action in MOMENTS else sum(run.duration for run in own),
            'joints': sorted({run.joint for run in own if run.joint}),
            'text': next((run.text for run in own if run.text), ''),
        }
        for (action, cause), own in groups.items()
    ]
    return sorted(rows, key=lambda row: (-(row['seconds'] or 0.0), -int(row['count'])))


def _event_row(event: Event, start: int) -> dict[str, Any]:
    return {
        'time': (event.stamp - start) / SECOND,
        'kind': event.type.name.lower(),
        'source': event.source,
        'text': event.text,
    }
