# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Findings that make a number doubtful, that are worth knowing, or that only count."""

import pytest

from frame_ros.bags.findings import (
    Finding,
    Level,
    Note,
    finding_of,
    findings_of_counts,
    level_of_count,
    of_level,
)


@pytest.mark.parametrize(
    ('name', 'count', 'samples', 'level'),
    [
        ('pose.zero', 3, 400, Level.WORTH_KNOWING),
        ('pose.zero', 5, 400, Level.DOUBTFUL),
        ('action.invalid', 100, 0, Level.DOUBTFUL),
        ('pose.gap', 9, 400, Level.WORTH_KNOWING),
        ('contact.reset', 1, 40000, Level.DOUBTFUL),
        ('event.zero', 1, 400, Level.DOUBTFUL),
        ('pose.late', 300, 400, Level.WORTH_KNOWING),
        ('pose.duplicate', 400, 400, Level.COUNTING),
        ('joint_states.waiting', 400, 0, Level.DOUBTFUL),
        ('joint_states.waiting', 400, 800, Level.COUNTING),
        ('joint_states.unknown_joints_only', 400, 800, Level.COUNTING),
        ('joint_states.incomplete', 1, 800, Level.WORTH_KNOWING),
        ('joint_states.stale', 100, 800, Level.DOUBTFUL),
        ('odd', 9, 0, Level.DOUBTFUL),
    ],
)
def test_a_counter_matters_by_what_it_counts_and_by_its_share(name, count, samples, level):
    assert level_of_count(name, count, samples) is level


def test_counters_become_findings_that_say_what_they_count():
    found = findings_of_counts({'pose.zero': 0, 'pose.jump': 2, 'odd': 1}, {'pose': 1000})
    assert [finding.about for finding in found] == ['pose.jump', 'odd']
    text = 'pose.jump: 2 (samples stamped far ahead of the one before, not used)'
    assert found[0].text == text
    assert [finding.text for finding in of_level(found, Level.DOUBTFUL)] == ['odd: 1']


def test_a_problem_is_doubtful_unless_it_is_a_note():
    assert finding_of('no pose') == Finding(Level.DOUBTFUL, 'no pose')
    assert finding_of(Note('poses were computed')).level is Level.WORTH_KNOWING
