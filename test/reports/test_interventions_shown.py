# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Takeovers, the gate and success with help in page and JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from synthetic_episodes import synthetic_episode
from test_report_page import HOSTILE, Page

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'episodes'))

from robot_bags import gate, robot_bag, takeover

from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.reading import read_episodes
from frame_ros.reports import build_report, report_json
from frame_ros.reports.model.series import operator_spans
from frame_ros.reports.sections.fingerprint import policy_groups
from frame_ros.reports.sections.interventions import help_text


def helped(seed: int = 0, outcome: Outcome = Outcome.SUCCESS, text: str = '') -> Episode:
    """A synthetic episode of 8 s in which an operator drove from 2 to 3 s and from 5 to 6.5 s."""
    episode = synthetic_episode(seed, outcome)
    begin = episode.events[0].stamp
    for at, kind in ((2, 9), (3, 10), (5, 9), (6.5, 10)):
        stamp = begin + int(at * SECOND)
        episode.events.append(Event(stamp, EventType(kind), '', source='gate', text=text))
    episode.events.sort(key=lambda event: event.stamp)
    return episode


@pytest.fixture(scope='module')
def episodes() -> list[Episode]:
    return [helped(0), synthetic_episode(1), helped(2, Outcome.FAILURE), synthetic_episode(3)]


@pytest.fixture(scope='module')
def page(episodes: list[Episode]) -> Page:
    return Page(build_report(episodes))


def test_the_verdict_says_how_much_help_there_was(page: Page):
    assert (
        'An operator took over in 2 of 4 episodes (4 interventions, 5 s; the policy drove 84 % of '
        'the time); 1 of 3 successes had such help.'
    ) in page.words
    assert 'the stretches in which an operator drove are in them' in page.words
    assert '; 1 with interventions' in page.words


def test_an_episode_shows_its_stretches(page: Page, episodes: list[Episode]):
    assert page.words.count('with 2 interventions, 2.5 s') == 4  # table and heading, two episodes
    assert 'An operator took over 2 times, 2.5 s in all; the policy drove 69 % of the time.' in (
        page.words
    )
    assert sum(a.get('class') == 'drivers' for a in page.all('svg')) == 2
    assert sum(a.get('class') == 'operator' for a in page.all('rect')) == 4
    spans = [(round(s.begin, 6), round(s.end, 6)) for s in operator_spans(episodes[0])]
    assert spans == [(2.0, 3.0), (5.0, 6.5)]
    series = page.figures[1]['layout']['shapes']
    assert [(s['x0'], s['x1']) for s in series if s.get('fillcolor') == '#0072B2'] == spans
    assert page.faults == []


def test_json_counts_them(episodes: list[Episode]):
    data = json.loads(report_json(episodes))
    total = data['interventions']
    assert (total['episodes'], total['count'], total['seconds']) == (2, 4, 5.0)
    assert total['successes_with'] == 1 and total['successes_without'] == 2
    assert total['autonomy'] == pytest.approx(1 - 5 / 32)
    first, second = (episode['interventions'] for episode in data['episodes'][:2])
    assert first['share'] == pytest.approx(2.5 / 8) and first['metrics_include_them']
    assert [(s['begin'], s['end']) for s in first['segments']] == [(2.0, 3.0), (5.0, 6.5)]
    assert first['gate'] is None
    assert second['count'] == 0 and second['autonomy'] == 1.0 and second['segments'] == []


def test_nothing_is_said_where_nobody_intervened():
    page = Page(build_report([synthetic_episode(1)]))
    assert 'took over' not in page.words and 'Who drove' not in page.words
    assert help_text(synthetic_episode(1)) == ''
    data = json.loads(report_json([synthetic_episode(1)]))
    assert data['interventions']['count'] == 0 and data['interventions']['note'] == ''


def test_policies_with_help_are_told_apart(episodes: list[Episode]):
    (group,) = policy_groups(episodes)
    assert group.helped == 1
    episodes = [helped(0), synthetic_episode(1, policy='other')]
    words = Page(build_report(episodes)).words
    assert '%), 1 with interventions' in words.replace('\u00a0', ' ').replace(' %', '%')


def test_texts_of_a_takeover_stay_texts():
    page = Page(build_report([helped(0, text=HOSTILE)]))
    assert page.faults == [] and not any(a.get('src') == 'x' for a in page.all('img'))
    assert 'alert(1)' in page.words


@pytest.fixture(scope='module')
def gated(tmp_path_factory) -> list[Episode]:
    sent = [
        gate(0.1, 1, 'velocity_limit', joint='elbow_flex', text='elbow_flex asked for 3 rad/s'),
        gate(0.3, 1, 'velocity_limit', 7, True),
        gate(0.4, 3, 'stale_command'),
        gate(0.6, 3, 'stale_command', 6, True),
        gate(0.7, 4, 'heartbeat', text=HOSTILE),
        *takeover(10, 16),
    ]
    path = robot_bag(tmp_path_factory.mktemp('bags') / 'bag', sent, count=40)
    return list(read_episodes(path))


def test_the_gate_is_shown_by_cause(gated: list[Episode]):
    page = Page(build_report(gated))
    assert page.faults == []
    assert 'stopped 1 time, held the arm 0.2 s and limited 7 commands.' in page.words
    assert 'elbow_flex asked for 3 rad/s' in page.words and 'stale_command' in page.words
    kinds = [a.get('class') for a in page.all('rect')]
    assert [kinds.count(k) for k in ('held', 'limited', 'stop', 'operator')] == [1, 1, 1, 1]


def test_the_gate_in_json(gated: list[Episode]):
    (episode,) = json.loads(report_json(gated))['episodes']
    found = episode['interventions']['gate']
    assert found['stops'] == 1 and found['resets'] == 0 and len(found['runs']) == 3
    causes = {row['cause']: row for row in found['by_cause']}
    assert causes['velocity_limit']['count'] == 7 and causes['heartbeat']['seconds'] is None
    assert causes['velocity_limit']['joints'] == ['elbow_flex']
    assert causes['stale_command']['seconds'] == pytest.approx(0.2, abs=1e-6)
