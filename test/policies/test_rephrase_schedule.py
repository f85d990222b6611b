# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Inferences that come with a prompt ensemble."""

import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.policies.rephrasing.schedule import RephraseSchedule


def test_the_first_of_so_many_inferences_of_an_episode_is_asked():
    schedule = RephraseSchedule(('a', 'b'), every=3)
    asked = [schedule.next('x')[0] for _ in range(5)]
    assert asked == [('a', 'b'), (), (), ('a', 'b'), ()]
    schedule.restart()
    assert schedule.next('x') == (('a', 'b'), '')


def test_each_instruction_has_its_own_and_one_without_is_said():
    schedule = RephraseSchedule(by_instruction={'pick': ('take',)})
    assert schedule.next('pick') == (('take',), '')
    assert schedule.next('place') == (
        (),
        "the list of rephrasings has none of the instruction 'place'",
    )


def test_nothing_is_asked_where_nothing_is_given():
    schedule = RephraseSchedule()
    assert not schedule.is_wanted
    assert schedule.next('x') == ((), '')


def test_wrong_settings_are_refused():
    with pytest.raises(ValueRangeError, match='rephrase_every is 0'):
        RephraseSchedule(('a',), every=0)
    with pytest.raises(ValueRangeError, match='both as a list and as a file'):
        RephraseSchedule(('a',), {})
