# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Stages of an episode by its streams."""

import pytest
from bag_making import T0, event, message, pose, stamp, write_bag

from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.evaluation.outcomes.options import OutcomeOptions
from frame_ros.evaluation.outcomes.reading import read_outcomes


def grasp(at, is_held):
    return message('frame_ros/msg/GraspState', header__stamp=stamp(at), state=2 if is_held else 1)


def raised(at, height):
    content = pose(at)
    content.pose.position.z = height
    return content


@pytest.fixture()
def stages(tmp_path):
    def of(held, heights, outcome=Outcome.FAILURE, facts=False):
        """One sample a second each; heights None: no poses of the object."""
        sent = [('/episode_events', T0, event(T0, EventType.START))]
        for second, is_held in enumerate(held):
            at = T0 + second * SECOND
            sent += [('/ee_pose', at, pose(at)), ('/grasp', at, grasp(at, is_held))]
        for second, height in enumerate(heights or ()):
            at = T0 + second * SECOND + 1
            sent.append(('/object_pose', at, raised(at, height)))
        end = T0 + 10 * SECOND
        sent.append(('/episode_events', end, event(end, EventType.END, outcome=int(outcome))))
        number = len(list(tmp_path.iterdir()))
        bag = write_bag(tmp_path / f'b{number}', sorted(sent, key=lambda row: row[1]))
        options = OutcomeOptions(cache=False, stages_from_streams=True)
        (outcome,) = read_outcomes([bag], options).outcomes
        return dict(outcome.stages)

    return of


EMPTY, HELD = [0] * 8, [0, 0, 1, 1, 1, 0, 0, 0]
FLAT, RAISED = [0.02] * 8, [0.02, 0.02, 0.02, 0.04, 0.06, 0.02, 0.02, 0.02]
THROWN = [0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.5, 0.02]


@pytest.mark.parametrize(
    ('held', 'heights', 'expected'),
    [
        (EMPTY, FLAT, (False, False, False)),
        (HELD, FLAT, (True, False, False)),
        (HELD, RAISED, (True, True, False)),
        (HELD, THROWN, (True, False, False)),
        (EMPTY, RAISED, (False, False, False)),
    ],
)
def test_stages_of_a_failure(stages, held, heights, expected):
    assert stages(held, heights) == dict(zip(('grasped', 'lifted', 'placed'), expected))


def test_a_success_reached_all_stages(stages):
    assert stages(EMPTY, FLAT, Outcome.SUCCESS) == {
        'grasped': True,
        'lifted': True,
        'placed': True,
    }


def test_what_is_not_recorded_is_no_stage(stages, tmp_path):
    assert stages(HELD, None) == {'grasped': True, 'placed': False}
    end = T0 + 5 * SECOND
    rows = [
        ('/episode_events', T0, event(T0, EventType.START)),
        ('/ee_pose', T0 + 1, pose(T0 + 1)),
        ('/episode_events', end, event(end, EventType.END, outcome=int(Outcome.FAILURE))),
    ]
    bag = write_bag(tmp_path / 'plain', rows)
    options = OutcomeOptions(cache=False, stages_from_streams=True)
    (outcome,) = read_outcomes([bag], options).outcomes
    assert outcome.stages == {}
    assert any('no stages' in note for note in outcome.notes)
