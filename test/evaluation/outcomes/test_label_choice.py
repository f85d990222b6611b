# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Operations of bags by a review or the detector instead of their events."""

import pytest
from outcome_bags import outcome_bag

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.events import EventType, Outcome
from frame_ros.evaluation.outcomes.episode_outcome import LabelSource
from frame_ros.evaluation.outcomes.operation import Ending
from frame_ros.evaluation.outcomes.options import OutcomeOptions
from frame_ros.evaluation.outcomes.reading import read_outcomes


@pytest.fixture()
def bags(tmp_path):
    done = [(4.0, EventType.OPERATION_SUCCESS, {})]
    outcome_bag(tmp_path / 'bags' / 'e1', Outcome.TIMEOUT, seen=done)
    outcome_bag(tmp_path / 'bags' / 'e2', Outcome.UNKNOWN)
    return tmp_path / 'bags'


def review(path, *rows):
    lines = ['bag,episode,candidate,time,verdict,reviewed']
    path.write_text('\n'.join([*lines, *rows]) + '\n')
    return str(path)


def endings(found):
    return {
        o.name: (o.label_source, [(p.end, p.ending) for p in o.operations]) for o in found.outcomes
    }


def test_a_review_takes_precedence_and_is_part_of_the_cache(bags, tmp_path):
    cache = {'cache_folder': str(tmp_path / 'cache')}
    by_events = endings(read_outcomes([bags], OutcomeOptions(**cache)))
    open_end = (10.0, Ending.TIMEOUT)
    assert by_events == {'e1': (LabelSource.EVENTS, [(4.0, Ending.SUCCESS), open_end])}
    for time in (2.0, 3.0):  # an edited file is read again
        file = review(tmp_path / 'r.csv', f'e1,e1,1,{time},failure,success', 'e2,e2,1,5.0,,success')
        for _ in range(2):
            found = read_outcomes([bags], OutcomeOptions(reviewed=file, **cache))
            assert endings(found)['e1'] == (
                LabelSource.REVIEWED,
                [(time, Ending.SUCCESS), open_end],
            )
            source, operations = endings(found)['e2']
            assert source is LabelSource.REVIEWED and operations[0] == (5.0, Ending.SUCCESS)
            assert not found.excluded
    assert endings(read_outcomes([bags], OutcomeOptions(**cache))) == by_events


def test_a_review_of_other_episodes_is_refused(bags, tmp_path):
    file = review(tmp_path / 'r.csv', 'e9,e9,1,2.0,,success')
    with pytest.raises(ValueRangeError, match="line 2: no episode 'e9' in a bag 'e9' was read"):
        read_outcomes([bags], OutcomeOptions(cache=False, reviewed=file))


def test_without_a_gripper_the_events_count_and_it_is_said(bags):
    found = read_outcomes([bags], OutcomeOptions(cache=False, labels='detected'))
    (outcome,) = found.outcomes
    assert outcome.label_source is LabelSource.EVENTS
    assert any('its events count, not the detector' in note for note in outcome.notes)


def test_files_that_are_missing(bags):
    for choice in ({'zones': '/none.yaml'}, {'reviewed': '/none.csv'}):
        with pytest.raises(SetupError, match='none'):
            read_outcomes([bags], OutcomeOptions(cache=False, **choice))
