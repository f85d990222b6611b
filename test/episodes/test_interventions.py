# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Takeovers and interventions of the gate, from events and a bag."""

from pathlib import Path

import numpy as np
import pytest
from bag_making import event
from robot_bags import gate, robot_bag, step_stamp, takeover

from frame_ros.bags.reader import Bag
from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.interventions import (
    GateAction,
    event_segments,
    interventions_of,
    is_intervened,
)
from frame_ros.episodes.recorded.actions import read_raw

START, END = EventType.INTERVENTION_START, EventType.INTERVENTION_END


def seconds(*events):
    """Segments in s of events (s, kind, source), within an episode from 0 to 100 s."""
    made = [Event(int(at * SECOND), kind, source=source) for at, kind, source in events]
    found = event_segments(made, 0, 100 * SECOND)
    return [(s.begin / SECOND, s.end / SECOND, s.is_open) for s in found]


@pytest.mark.parametrize(
    ('events', 'expected'),
    [
        ([(1, START, 'gate'), (3, END, 'gate'), (5, START, 'gate'), (6, END, 'gate')],
         [(1, 3, False), (5, 6, False)]),
        ([(1, START, 'gate'), (2, START, 'operator'), (3, END, 'gate'), (4, END, 'operator')],
         [(1, 4, False)]),
        ([(1, START, 'gate'), (3, END, 'operator')], [(1, 3, False)]),
        ([(3, END, 'gate')], [(0, 3, False)]),
        ([(7, START, 'gate')], [(7, 100, True)]),
        ([(1, START, 'gate'), (2, START, 'gate'), (3, END, 'gate'), (3, END, 'gate')],
         [(1, 3, False)]),
        ([(20, START, 'gate'), (23, END, 'operator'), (23.1, END, 'gate'), (40, END, 'gate')],
         [(20, 23, False)]),
        ([(-5, START, 'gate'), (2, END, 'gate'), (99, START, 'gate'), (120, END, 'gate')],
         [(0, 2, False), (99, 100, False)]),
        ([(101, START, 'gate'), (102, END, 'gate')], []),
    ],
)  # fmt: skip
def test_stretches_of_a_person(events, expected):
    assert seconds(*events) == expected


def test_stamps_in_a_stretch():
    (segment,) = event_segments([Event(10, START), Event(20, END)], 0, 100)
    stamps = np.array([9, 10, 19, 20])
    assert is_intervened([segment], stamps).tolist() == [False, True, True, False]


def test_share_and_autonomy(tmp_path):
    path = robot_bag(tmp_path / 'bag', [*takeover(3, 9), *takeover(20, 26, 'operator')], count=30)
    found = interventions_of(*read_raw(path))
    assert found.count == 2 and found.seconds == pytest.approx(12 / 30)
    assert found.share == pytest.approx(12 / 30, rel=1e-5)
    assert found.autonomy == pytest.approx(18 / 30, rel=1e-5)
    assert [s.source for s in found.segments] == ['gate', 'operator']
    assert found.runs is None


def test_runs_of_the_gate(tmp_path):
    sent = [
        gate(0.1, 1, 'velocity_limit', joint='elbow_flex', value=3.0, limit=2.0, unit='rad/s'),
        gate(0.2, 3, 'stale_command'),
        gate(0.3, 1, 'velocity_limit', count=7, is_over=True),
        gate(0.5, 3, 'stale_command', count=9, is_over=True),
        gate(0.6, 4, 'heartbeat', text='the policy node is silent'),
        gate(0.7, 5, 'operator'),
        gate(0.8, 2, 'not_finite', count=1),
    ]
    path = robot_bag(tmp_path / 'bag', sent, count=30)
    (episode,) = read_raw(path)
    found = interventions_of(episode, Bag(path))
    assert [run.action.name for run in found.runs] == [
        'LIMITED', 'HELD', 'STOPPED', 'RESET', 'REFUSED',
    ]  # fmt: skip
    limited, held, stopped, _, refused = found.runs
    assert limited.joint == 'elbow_flex' and limited.value == 3.0 and limited.count == 7
    assert limited.duration == pytest.approx(0.2) and held.duration == pytest.approx(0.3)
    assert stopped.duration == 0 and stopped.text == 'the policy node is silent'
    assert refused.is_open and refused.end == step_stamp(30)
    assert found.count == 0 and found.autonomy == 1.0


def test_a_run_that_began_before_the_episode(tmp_path):
    path = robot_bag(tmp_path / 'bag', [gate(0.4, 3, 'stale_observation', 20, True)], count=30)
    (episode,) = read_raw(path)
    (run,) = interventions_of(episode, Bag(path)).runs
    assert run.action is GateAction.HELD and run.duration == pytest.approx(0.4, abs=1e-5)


def test_stops_and_notes_of_policy_and_gate(tmp_path):
    sent = []
    for step, kind, source in (
        (4, EventType.NOTE, 'policy'),
        (5, EventType.NOTE, 'operator'),
        (6, EventType.STOP, 'gate'),
    ):
        content = event(step_stamp(step), kind, text=f'at {step}')
        object.__setattr__(content, 'source', source)
        sent.append(('/episode_events', step_stamp(step), content))
    found = interventions_of(*read_raw(robot_bag(tmp_path / 'bag', sent)))
    assert [note.text for note in found.notes] == ['at 4']
    assert [stop.source for stop in found.stops] == ['gate']


def test_an_episode_without_duration_has_no_share():
    empty = Episode(Path('none'), 'e', {}, [], {}, {})
    found = interventions_of(empty)
    assert found.count == 0 and np.isnan(found.share) and np.isnan(found.autonomy)


def test_each_arm_has_its_own_gate(tmp_path):
    sent = [('/left' + topic, at, content) for topic, at, content in [gate(0.1, 4, 'operator')]] + [
        gate(0.2, 4, 'heartbeat')
    ]
    path = robot_bag(tmp_path / 'bag', sent)
    (episode,) = read_raw(path)
    assert [run.cause for run in interventions_of(episode, Bag(path)).runs] == ['heartbeat']
