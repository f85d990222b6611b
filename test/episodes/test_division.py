# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags that hold several episodes, and ones whose events are missing, nameless or repeated."""

import pytest
from bag_making import T0, episode_messages, event, message, stamp, write_bag

from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.reading import read_episodes


def only(path):
    (episode,) = read_episodes(path)
    return episode


def said(episode, text):
    return any(text in problem for problem in episode.problems)


def test_events_divide_a_bag(tmp_path):
    sent = episode_messages(20) + episode_messages(30, T0 + 10 * SECOND, 'e2')
    first, second = read_episodes(write_bag(tmp_path / 'bag', sent))
    assert (first.episode_id, second.episode_id) == ('e1', 'e2')
    assert (len(first.streams['pose']), len(second.streams['pose'])) == (20, 30)
    assert [e.episode_id for e in second.events] == ['e2', 'e2']


def test_a_recorders_bag_is_its_own_episode_only(tmp_path):
    before = ('/episode_events', T0 - 5, event(T0 - SECOND, EventType.END, 'e0'))
    after = ('/episode_events', T0 + 5, event(T0 + 9 * SECOND, EventType.START, 'e2'))
    path = write_bag(tmp_path / 'bag', [before, *episode_messages(5), after], {'episode_id': 'e1'})
    episode = only(path)
    assert episode.episode_id == 'e1' and {e.episode_id for e in episode.events} == {'e1'}


def test_episodes_without_id_are_told_apart(tmp_path):
    sent = episode_messages(20, episode_id='') + episode_messages(30, T0 + 10 * SECOND, '')
    first, second = read_episodes(write_bag(tmp_path / 'run', sent))
    assert (first.episode_id, second.episode_id) == ('run', 'run_2')
    assert said(first, 'called run here') and said(second, 'called run_2 here')
    for episode, steps in ((first, 20), (second, 30)):
        assert [e.type for e in episode.events] == [EventType.START, EventType.END]
        assert len(episode.streams['action']) == steps
        assert episode.metrics['quality']['step'].tolist() == list(range(steps))
        assert episode.summary['steps'] == steps


def test_the_same_id_twice_gives_two_episodes(tmp_path):
    sent = episode_messages(20) + episode_messages(30, T0 + 10 * SECOND)
    for metadata in ({}, {'episode_id': 'e1'}):
        path = write_bag(tmp_path / f'bag{len(metadata)}', sent, metadata)
        first, second = read_episodes(path)
        assert (first.episode_id, second.episode_id) == ('e1', 'e1_2')
        assert said(second, 'several episodes of the bag are called e1')
        assert not said(first, 'several episodes')
        assert first.metrics['quality']['step'].tolist() == list(range(20))
        assert second.metrics['quality']['step'].tolist() == list(range(30))
        assert [e.stamp for e in second.events][0] == T0 + 10 * SECOND


def test_a_made_up_id_is_no_other_episodes(tmp_path):
    sent = [
        m
        for n, name in enumerate(('a', 'a', 'a_2', '', 'bag'))
        for m in episode_messages(3, T0 + n * SECOND, name)
    ]
    episodes = list(read_episodes(write_bag(tmp_path / 'bag', sent)))
    assert [e.episode_id for e in episodes] == ['a', 'a_3', 'a_2', 'bag_2', 'bag']
    assert [len(e.metrics['quality']['step']) for e in episodes] == [3] * 5


def test_an_event_sent_twice_divides_nothing(tmp_path):
    sent = episode_messages(5)
    episode = only(write_bag(tmp_path / 'bag', [sent[0], *sent, sent[-1]]))
    assert [e.type for e in episode.events] == [EventType.START, EventType.END]


def test_live_metrics_of_a_renamed_episode_are_its_own(tmp_path):
    later = T0 + 10 * SECOND
    live = [
        ('/quality_metrics', at, message(
            'frame_ros/msg/QualityMetrics', header__stamp=stamp(at), episode_id=episode_id
        ))
        for at, episode_id in ((T0, 'e1'), (later - 1, ''), (later, 'e1'), (later + SECOND, ''))
    ]  # fmt: skip
    sent = episode_messages(10) + episode_messages(10, later) + live
    first, second = read_episodes(write_bag(tmp_path / 'bag', sent))
    # What is between the two is behind the first and leads to the second.
    assert first.live['quality'].values['episode_id'].tolist() == ['e1', '']
    assert second.live['quality'].values['episode_id'].tolist() == ['', 'e1_2', '']


def test_a_start_without_id_leaves_out_what_is_before_and_after(tmp_path):
    steps = [m for m in episode_messages(100) if m[0] != '/episode_events']
    begin, end = T0 + SECOND // 2, T0 + SECOND
    events = [
        ('/episode_events', at - 1, event(at, kind, ''))
        for at, kind in ((begin, EventType.START), (end, EventType.END))
    ]
    episode = only(write_bag(tmp_path / 'bag', events + steps))
    quality = episode.metrics['quality']
    assert len(quality['stamp']) == episode.summary['steps'] == 25
    assert quality['stamp'][0] == begin and quality['stamp'][-1] < end
    assert episode.summary['start'] == begin and episode.summary['end'] == end


@pytest.mark.parametrize('episode_id', ['e7', ''])
def test_an_end_without_start_ends_the_episode(tmp_path, episode_id):
    sent = [m for m in episode_messages(50) if m[0] != '/episode_events']
    end = T0 + SECOND // 2
    sent.append(('/episode_events', end, event(end, EventType.END, episode_id, outcome=2)))
    episode = only(write_bag(tmp_path / 'bag', sent))
    assert episode.episode_id == (episode_id or 'bag') and said(episode, 'no START event')
    assert episode.summary['steps'] == 25 and episode.summary['end'] == end
    assert episode.summary['outcome'] == Outcome.FAILURE


def test_an_end_of_an_episode_that_began_before_the_bag_is_said(tmp_path):
    end = ('/episode_events', T0 - SECOND, event(T0 - SECOND, EventType.END, 'e0'))
    episode = only(write_bag(tmp_path / 'bag', [end, *episode_messages(5)]))
    assert episode.episode_id == 'e1' and said(episode, "END of 'e0' without its START")
    assert len(episode.metrics['quality']['stamp']) == 5


def test_events_of_another_type_or_without_stamp_are_said(tmp_path):
    steps = [m for m in episode_messages(5) if m[0] != '/episode_events']
    wrong = ('/episode_events', T0, message('std_msgs/msg/String'))
    episode = only(write_bag(tmp_path / 'a', [*steps, wrong]))
    assert said(episode, 'as event it should be') and episode.summary['steps'] == 5
    unset = ('/episode_events', T0, event(0, EventType.START, 'e1'))
    episode = only(write_bag(tmp_path / 'b', [*steps, unset]))
    assert said(episode, 'START without a stamp') and episode.summary['steps'] == 5


def test_without_events_the_whole_bag_is_one_episode(tmp_path):
    sent = [m for m in episode_messages(10) if m[0] != '/episode_events']
    episode = only(write_bag(tmp_path / 'bag', sent))
    assert said(episode, 'no START event') and len(episode.metrics['quality']['stamp']) == 10


def test_a_cut_episode_says_so_and_has_its_metrics(tmp_path):
    partial = write_bag(
        tmp_path / 'bag', episode_messages(30)[:-1], {'episode_id': 'e1'}, finish=False
    )
    episode = only(partial)
    assert episode.is_truncated and said(episode, 'was cut') and said(episode, 'no END event')
    assert len(episode.metrics['quality']['stamp']) == 30
