# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Halts of the monitor in page and JSON."""

import json

import pytest
from monitor_bags import watched_bag, watched_messages
from synthetic_episodes import synthetic_episode
from test_report_page import HOSTILE, Page

from frame_ros.episodes.reading import read_episodes
from frame_ros.reports import build_report, report_json


@pytest.fixture(scope='module')
def episodes(tmp_path_factory):
    sent = watched_messages()
    for name, _, content in sent:
        if name == '/monitor_state' and content.level == 2:
            object.__setattr__(content, 'reasons', [HOSTILE])
    return list(read_episodes(watched_bag(tmp_path_factory.mktemp('halts') / 'bag', sent)))


def test_an_episode_shows_its_halts_their_causes_and_the_lead(episodes):
    page = Page(build_report(episodes))
    assert page.faults == [] and not any(a.get('src') == 'x' for a in page.all('img'))
    assert (
        'It recommended a halt 1 time, first 0.602 s after the start, 0.598 s before' in page.words
    )
    assert 'alert(1)' in page.words
    assert 'score, near, in_contact' in page.words
    assert '4 of 10 verdicts differ when computed again from this bag' in page.words
    kinds = [a.get('class') for a in page.all('rect')]
    assert [kinds.count(kind) for kind in ('limited', 'stop')] == [1, 1]


def test_the_halts_in_json(episodes):
    (episode,) = json.loads(report_json(episodes))['episodes']
    found = episode['monitor']
    assert found['verdicts'] == 10 and len(found['halts']) == 1
    assert found['first'] == pytest.approx(0.602, abs=1e-3)
    assert found['lead'] == pytest.approx(found['failed'] - found['first'])
    assert found['recomputed']['compared'] == 10


def test_nothing_is_said_where_no_monitor_ran():
    page = Page(build_report([synthetic_episode(1)]))
    assert 'What the monitor recommended' not in page.words
    data = json.loads(report_json([synthetic_episode(1)]))
    assert data['episodes'][0]['monitor'] is None
