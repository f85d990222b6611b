# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Choice and groups of outcomes."""

import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.outcomes.selection import SelectionOptions, grouped, selected


def outcome(name, policy='act', thing='cube', task='pick', date='2026-03-05T10:00:00Z'):
    return EpisodeOutcome(name, policy, thing, task, 1.0, (), True, date=date)


OUTCOMES = [
    outcome('a'),
    outcome('b', policy='act, 5000'),
    outcome('c', policy='pi0', thing='ball', date='2026-03-06T23:59:59Z'),
    outcome('d', policy='human', task='place', date=''),
]


def names(**choice):
    kept, notes = selected(OUTCOMES, SelectionOptions(**choice))
    return ''.join(each.name for each in kept), notes


def test_without_a_choice_all_stay():
    assert names() == ('abcd', [])


def test_names_and_wildcards_choose():
    assert names(policies=('act',)) == (
        'a',
        ['left out: 3 episodes of another policy (act, 5000, pi0, human)'],
    )
    assert names(policies=('act*', 'human'))[0] == 'abd'
    assert names(objects=('cube',), tasks=('pick',))[0] == 'ab'


def test_days_choose_both_included():
    kept, notes = names(since='2026-03-06', until='2026-03-06')
    assert kept == 'c'
    assert notes == [
        'left out: 1 episode without a date',
        'left out: 2 episodes of other days',
    ]
    assert names(until='2026-03-05')[0] == 'ab'


@pytest.mark.parametrize(
    ('choice', 'expected'),
    [
        ({'policies': ('acts',)}, "no policy is called 'acts'; .*; did you mean 'act'"),
        ({'policies': ('pi0',), 'objects': ('cube',)}, "no object is called 'cube'.*'ball'"),
        ({'since': '2027-01-01'}, 'they are: 2026-03-05 to 2026-03-06'),
        ({'since': '1.3.2026'}, 'since'),
        ({'since': '2026-02-30'}, 'since'),
        ({'since': '2026-03-02', 'until': '2026-03-01'}, 'until'),
    ],
)  # fmt: skip
def test_a_choice_of_nothing_is_refused(choice, expected):
    with pytest.raises(ValueRangeError, match=expected):
        names(**choice)


def test_groups_are_by_task_policy_and_object():
    groups = grouped(OUTCOMES)
    assert list(groups) == ['pick', 'place']
    assert {p: list(o) for p, o in groups['pick'].items()} == {
        'act': ['cube'],
        'act, 5000': ['cube'],
        'pi0': ['ball'],
    }
