# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The questions that the head of a report answers: good, safe, foresees failures, better, data."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from monitor_bags import watched_bag, watched_messages
from robot_bags import gate, message, robot_bag
from synthetic_episodes import synthetic_episode
from test_report_page import Page

from frame_ros.confidence.monitor import Level
from frame_ros.core.events import Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.interventions import GateAction, GateRun
from frame_ros.episodes.monitoring.halts import EpisodeHalts, Stretch
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.unseen_shares import PartialDistances
from frame_ros.reports import build_report, report_json
from frame_ros.reports.html.tables import dot_strip
from frame_ros.reports.html.tiles import tiles
from frame_ros.reports.model.watching import (
    Watching,
    foresight_sentence,
    gate_sentence,
    partial_share,
)
from frame_ros.reports.report import Report


def halts(at: float | None, seconds: float = 10.0) -> Watching:
    """A monitor that recommends a halt at a time, s; None: never."""
    stretch = Stretch(int((at or 0) * SECOND), int(seconds * SECOND), Level.HALT)
    found = () if at is None else (stretch,)
    return Watching(halts=EpisodeHalts(0, int(seconds * SECOND), 0, 5, found, None))


def answered(report: Report, question: str) -> str:
    return ' '.join(next(a.sentences for a in report.answers if a.question == question))


def test_the_head_answers_the_questions_in_their_order():
    episodes = [synthetic_episode(0), synthetic_episode(1, Outcome.FAILURE, collides=True)]
    page = Page(build_report(episodes))
    report = Report(episodes)
    asked = ['', 'Good?', 'Safe?', 'Foresees failures?', 'Better than another?', 'Data good?']
    assert [answer.question for answer in report.answers] == asked
    places = [page.words.index(' '.join(answer.sentences)) for answer in report.answers]
    assert places == sorted(places)
    assert '1 collision (episode 2).' in answered(report, 'Safe?')
    assert 'No command gate was recorded.' in answered(report, 'Safe?')
    (tile,) = [tile for tile in tiles(report) if tile.label == 'Collisions']
    assert (tile.value, tile.tone) == ('1', 'bad') and tile.sub.startswith('nearest obstacle 2')


def test_policies_and_robots_that_are_mixed_are_named():
    alone = answered(Report([synthetic_episode(0)]), 'Better than another?')
    assert alone.startswith('frame-ros compare')
    mixed = [synthetic_episode(0), synthetic_episode(1, policy='act', robot='fr3')]
    text = answered(Report(mixed), 'Better than another?')
    assert 'over 2 policies and 2 robots (fr3, so101) together' in text


@pytest.mark.parametrize(
    ('of_act', 'counted'),
    [
        ([{'checkpoint': 'a/100'}, {'checkpoint': 'a/200'}], '2 checkpoints of act'),
        ([{'quality': '1.0'}, {'quality': '0.5'}, {'quality': '0.5'}], '2 qualities of act'),
        ([{'quality': '1.0'}, {'quality': '0.5', 'checkpoint': 'a'}], '2 variants of act'),
        ([{}, {'policy': 'pi0', 'quality': '0.5'}, {'policy': 'pi0'}], '2 policies in 3 variants'),
    ],
)
def test_variants_of_one_policy_are_no_policies(of_act, counted):
    """The head of the page has the names of the policies alone."""
    episodes = [
        synthetic_episode(i, **{'policy': 'act', 'checkpoint': '', **own})
        for i, own in enumerate(of_act)
    ]
    text = answered(Report(episodes), 'Better than another?')
    assert text.startswith(f'The figures above are over {counted} together.')


def test_interventions_of_the_gate_are_summed_up():
    limited = GateRun(0, 1, GateAction.LIMITED, 'joint_limit', count=7)
    stopped = GateRun(2, 2, GateAction.STOPPED, 'heartbeat')
    watching = [Watching((limited, stopped)), Watching((limited,)), Watching(()), Watching()]
    assert gate_sentence(watching) == (
        'The command gate stopped the arm 1 time in 1 of 3 episodes, limited 14 commands in 2 of '
        '3. None was recorded in 1 episode.'
    )
    nothing = gate_sentence([Watching(()), Watching(())])
    assert nothing == 'The command gate changed nothing in 2 episodes.'


def test_a_gate_that_never_stepped_in_was_there(tmp_path):
    state = message('frame_ros/msg/GateState', state=1)
    path = robot_bag(tmp_path / 'quiet', [('/gate_state', gate(0.5, 1, '')[1], state)], count=30)
    (episode,) = json.loads(report_json(list(read_episodes(path))))['episodes']
    assert episode['interventions']['gate']['runs'] == []
    (episode,) = json.loads(report_json(list(read_episodes(robot_bag(tmp_path / 'none')))))[
        'episodes'
    ]
    assert episode['interventions']['gate'] is None


def ended(*outcomes: Outcome) -> list[Episode]:
    return [SimpleNamespace(outcome=outcome) for outcome in outcomes]


def test_halts_are_counted_in_failures_and_successes():
    episodes = ended(Outcome.FAILURE, Outcome.TIMEOUT, Outcome.SUCCESS, Outcome.SUCCESS)
    watching = [halts(4.0), halts(None), halts(9.0), halts(None)]
    assert foresight_sentence(episodes, watching) == (
        'The monitor recommended a halt in 1 of 2 episodes that did not succeed, in the median 6 s '
        'before their end, and in 1 of 2 that did (false alarms).'
    )
    text = foresight_sentence(episodes, [Watching()] * 4)
    assert text.startswith('No monitor ran.') and text.endswith('successes, here 2 and 2.')


def test_a_monitored_bag_says_whether_its_failure_was_foreseen(tmp_path):
    episodes = list(read_episodes(watched_bag(tmp_path / 'bag', watched_messages())))
    text = answered(Report(episodes), 'Foresees failures?')
    assert text.startswith('The monitor recommended a halt in 1 of 1 episode')


def test_the_nearest_distance_names_what_was_not_seen():
    shares = [PartialDistances(30, 1.0, 0.01), PartialDistances(10, 0.0, 0.01), None]
    watching = [Watching(partial=share) for share in shares]
    assert partial_share(watching) == pytest.approx(0.75)
    report = Report([synthetic_episode(0)])
    assert 'saw' not in answered(report, 'Safe?')
    report.parts[0].sections[2].partial = shares[0]
    assert report.parts[0].watching.partial is shares[0]


def test_values_that_read_the_same_are_drawn_at_one_place():
    report = Report([synthetic_episode(0), synthetic_episode(1)])
    (row,) = [row for row in report.rows if row.id == 'pl']
    outcomes = [Outcome.SUCCESS] * 2
    row.values[:] = [30.00001, 30.00002]
    assert dot_strip(row, outcomes).count('cx="60.0"') == 2
    row.values[:] = [30.0, 31.0]
    assert dot_strip(row, outcomes).count('cx="60.0"') == 0


def test_a_recording_of_an_episode_that_is_here_already_counts_once():
    whole, other = synthetic_episode(0), synthetic_episode(1)
    copy = synthetic_episode(0, path=Path('/nowhere/copy'))
    copy.events.pop()  # less complete, though it comes first
    report = Report([copy, whole, other])
    assert report.episodes == [whole, other] and report.copies == [('copy', 'episode')]
    assert report.success.trials == 2
    text = answered(report, 'Data good?')
    assert '1 recording of episodes that are here already is left out: copy (as episode).' in text
    assert report.data['copies'] == [{'bag': 'copy', 'shown': 'episode'}]
    assert 'left out' not in answered(Report([whole, other]), 'Data good?')


def test_long_texts_leave_room_for_the_verdict():
    long = 'pick up the cube ' * 200
    named = synthetic_episode(0, policy='p' * 500, instruction=long, checkpoint='/c' * 300)
    named.episode_id = 'e' * 300
    page = Page(build_report([named]))
    head = page.words[: page.words.index('Metrics over')]
    assert page.words.index('1 of 1 episode succeeded') < 700
    assert long.strip() in {a.get('title', '').strip() for a in page.all('span')}
    assert 'e' * 61 not in head
