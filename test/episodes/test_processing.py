# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded episodes through the pipeline: bounds that were not recorded, stamps that are wrong."""

from pathlib import Path

import numpy as np
import pytest
from bag_making import T0

from frame_ros.bags.streams.form import Stream
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import plausible_stamps
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.processing import process_episode

PERIOD = SECOND // 50
STEPS = 60


def stream(stamps, values, received=None):
    stamps = np.array(stamps, np.int64)
    received = T0 + 1000 + PERIOD * np.arange(len(stamps)) if received is None else received
    return Stream('/t', 'x', stamps, np.asarray(received, np.int64), values)


def actions(stamps, received=None):
    count = len(stamps)
    values = {
        'names': np.full((count, 2), ['a', 'b']), 'names_count': np.full(count, 2),
        'positions': np.tile(np.linspace(0, 1, count)[:, None], 2),
        'positions_count': np.full(count, 2),
    }  # fmt: skip
    return stream(stamps, values, received)


def poses(stamps, received=None):
    position = np.linspace(0, 0.5, len(stamps))[:, None] * [1.0, 0.0, 0.0]
    orientation = np.tile([0.0, 0.0, 0.0, 1.0], (len(stamps), 1))
    return stream(stamps, {'position': position, 'orientation': orientation}, received)


def regular(count=STEPS, start=T0):
    return [start + i * PERIOD for i in range(count)]


def processed(streams, events=(), episode_id='e1'):
    episode = Episode(Path('bag'), episode_id, {}, list(events), streams, {})
    process_episode(episode)
    return episode


@pytest.mark.parametrize('wrong', [5 * SECOND, T0 + 3600 * SECOND, T0 - 3600 * SECOND])
@pytest.mark.parametrize('role', ['pose', 'action', 'joint_states'])
def test_one_wrong_stamp_is_no_bound_of_an_episode(wrong, role):
    streams = {'pose': poses(regular()), 'action': actions(regular())}
    streams['joint_states'] = actions(regular())
    streams[role].stamps[20] = wrong
    episode = processed(streams)
    assert episode.summary['start'] == T0
    assert episode.summary['end'] == T0 + (STEPS - 1) * PERIOD + 1
    assert episode.summary['steps'] == STEPS - (role == 'action')


def test_the_steps_bound_an_episode_whose_other_streams_go_on():
    streams = {'pose': poses(regular(STEPS + 50)), 'action': actions(regular())}
    last = T0 + (STEPS - 1) * PERIOD
    assert processed(streams).summary['end'] == last + 1
    # What was said just behind the last step is of the episode; hours later it is not.
    said = [Event(last + SECOND, EventType.SUCCESS), Event(last + 9000 * SECOND, EventType.NOTE)]
    summary = processed(streams, said).summary
    assert summary['end'] == last + SECOND + 1
    assert summary['time_to_success'] == pytest.approx((last + SECOND - T0) / SECOND)


def test_poses_bound_an_episode_without_actions():
    summary = processed({'pose': poses(regular())}).summary
    assert summary['steps'] == 0
    assert (summary['start'], summary['end']) == (T0, T0 + (STEPS - 1) * PERIOD + 1)


def test_an_end_before_the_data_is_not_its_end():
    streams = {'pose': poses(regular()), 'action': actions(regular())}
    episode = processed(streams, [Event(T0 - SECOND, EventType.END, 'e1')])
    assert episode.summary['steps'] == STEPS
    assert any('END is not behind the start' in problem for problem in episode.problems)


@pytest.mark.parametrize(
    ('name', 'outcome'), [('e1', Outcome.FAILURE), ('e0', Outcome.UNKNOWN), ('', Outcome.UNKNOWN)]
)
def test_an_end_on_a_clock_that_was_set_back_states_the_outcome_of_its_episode(name, outcome):
    streams = {'pose': poses(regular()), 'action': actions(regular())}
    end = Event(T0 - 9 * SECOND, EventType.END, name, outcome=Outcome.FAILURE)
    episode = processed(streams, [Event(T0, EventType.START, 'e1'), end])
    assert episode.outcome is outcome


@pytest.mark.parametrize('episode_id', ['', 'e1'])
@pytest.mark.parametrize(('start_id', 'end_id'), [('', ''), ('e1', ''), ('', 'e9'), ('e1', 'e9')])
def test_only_what_is_between_start_and_end_is_counted(episode_id, start_id, end_id):
    streams = {'pose': poses(regular()), 'action': actions(regular())}
    events = [
        Event(T0 + 10 * PERIOD, EventType.START, start_id),
        Event(T0 + 30 * PERIOD, EventType.END, end_id),
    ]
    episode = processed(streams, events, episode_id)
    assert episode.metrics['quality']['stamp'].tolist() == regular()[10:30]
    assert episode.summary['steps'] == 20
    assert [event.episode_id for event in episode.events] == [start_id, end_id]


def test_jumps_are_judged_by_when_a_message_was_received():
    stamps = regular()
    stamps[20] += 100 * SECOND
    streams = {'pose': poses(regular()), 'action': actions(stamps)}
    episode = processed(streams)
    assert episode.data_quality['action.jump'] == 1
    assert 'action.backward' not in episode.data_quality
    assert episode.summary['steps'] == STEPS - 1
    # The same far step, if the message came as much later, is a rest.
    late = np.array(regular(), np.int64)
    late[20:] += 100 * SECOND
    episode = processed({'pose': poses(late, late), 'action': actions(late, late)})
    assert 'action.jump' not in episode.data_quality and episode.summary['steps'] == STEPS


def test_a_bag_without_receive_times_is_used():
    none = np.zeros(STEPS)
    episode = processed({'pose': poses(regular(), none), 'action': actions(regular(), none)})
    assert episode.summary['steps'] == STEPS
    assert not [name for name in episode.data_quality if name.endswith('.ahead')]


def test_empty_streams_are_as_absent():
    empty = Stream('/t', 'x', np.zeros(0, np.int64), np.zeros(0, np.int64), {})
    episode = processed({'pose': empty, 'action': actions(regular()), 'joint_states': empty})
    assert episode.summary['steps'] == STEPS and np.isnan(episode.metrics['quality']['pl']).all()
    assert processed({'action': empty}).summary == {}


def test_stamps_of_a_clock_of_another_rate_are_plausible():
    received = T0 + np.arange(1000) * SECOND
    simulated = SECOND + 3 * (received - T0)
    assert len(plausible_stamps(actions(simulated, received))) == 1000
    wrong = simulated.copy()
    wrong[[0, 400, 999]] = (5000 * SECOND, 1, 9000 * SECOND)
    kept = plausible_stamps(actions(wrong, received))
    assert kept.tolist() == np.delete(simulated, [0, 400, 999]).tolist()


@pytest.mark.parametrize('share', [0.0, 0.1, 0.3, 0.45])
def test_plausible_stamps_are_those_that_receive_times_explain(share):
    rng = np.random.default_rng(7)
    received = T0 + np.sort(rng.integers(0, 3000 * SECOND, 500))
    stamps = received - rng.integers(0, SECOND, 500)
    is_wrong = rng.permutation(500) < share * 500
    far = rng.choice([-1, 1], 500) * rng.integers(4000, 10**6, 500) * SECOND
    kept = plausible_stamps(actions(np.where(is_wrong, stamps + far, stamps), received))
    assert kept.tolist() == stamps[~is_wrong].tolist()
    assert len(plausible_stamps(actions([0, 0]))) == 0
