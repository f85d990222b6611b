# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Results of trials are read as they were written, and mistakes are named."""

import json
import math

import pytest

from frame_ros.core.errors import SetupError
from frame_ros.evaluation.scene_trials.folder import read_results
from frame_ros.evaluation.scene_trials.result import TrialResult

FULL = TrialResult(
    scene='put_in_0',
    policy='scripted',
    repeat=2,
    policy_seed=7,
    instruction='put red cube into bin',
    steps={'paper': {'grasp': True, 'move': True, 'success': False}},
    times={'paper': {'grasp': 1.5, 'move': 2.0, 'success': math.nan}},
    metrics={'ps': 0.25, 'risk': math.nan},
    duration=12.0,
    wall_time=0.5,
)


def test_a_result_is_read_back_as_it_was():
    found = TrialResult.from_line(FULL.line())
    assert found.line() == FULL.line()
    assert found.metrics['ps'] == 0.25 and math.isnan(found.metrics['risk'])
    assert math.isnan(found.times['paper']['success']) and found.key == FULL.key
    assert found.is_valid and not found.is_success('paper')
    assert 'NaN' not in FULL.line() and json.loads(FULL.line())['metrics']['risk'] is None


def test_a_trial_with_a_problem_is_neither_valid_nor_a_success():
    found = TrialResult(scene='a', policy='b', problem='the simulation diverged at 1.2 s')
    assert not found.is_valid and not found.is_success()
    assert TrialResult.from_line(found.line()).problem == found.problem


@pytest.mark.parametrize(
    ('line', 'message'),
    [
        ('{"scene": "a", "policy', 'is no JSON'),
        ('[1]', 'is no result of a trial'),
        ('{"scene": "a"}', 'is no result of a trial'),
        ('{"scene": "a", "policy": "b", "colour": 1}', 'is no result of a trial'),
        ('{"scene": "a", "policy": "b", "steps": {"mine": {}}}', 'there is no rule'),
        ('{"scene": "a", "policy": "b", "metrics": 3}', 'metrics is 3'),
        ('{"scene": "a", "policy": "b", "metrics": {"ps": "abc"}}', "metrics.ps is 'abc'; expec"),
        ('{"scene": "a", "policy": "b", "duration": true}', 'expected is a number or null'),
        ('{"scene": "a", "policy": "b", "repeat": 0.5}', 'expected is a whole number'),
        (f'{{"scene": "a", "policy": "b", "duration": 1{"0" * 400}}}', 'duration is too large'),
        ('{"scene": ["a"], "policy": "b"}', 'expected is a text'),
        (
            '{"scene": "a", "policy": "b", "steps": {"paper": {"success": 5}}}',
            'steps.paper.success is 5; expected is true or false',
        ),
        ('{"scene": "a", "policy": "b", "times": {"paper": []}}', 'times.paper is []'),
        (b'{"scene": "\xff\xfe", "policy": "b"}', 'is no JSON'),
        ('[' * 100_000 + ']' * 100_000, 'is no JSON: it is nested'),
    ],
)
def test_a_line_that_is_no_result_is_refused_with_its_place(line, message):
    with pytest.raises(SetupError, match='results.jsonl, line 3') as error:
        TrialResult.from_line(line, 'results.jsonl, line 3')
    assert message in str(error.value)


def test_the_damaged_line_of_a_file_is_named_and_a_cut_one_dropped(tmp_path):
    good, file = FULL.line().encode(), tmp_path / 'results.jsonl'
    file.write_bytes(good + b'\n' + good[:30] + b'\xc3')  # cut within a letter
    results, messages = read_results(tmp_path)
    assert len(results) == 1 and 'half-written' in messages[0]
    file.write_bytes(good + b'\n' + good.replace(b'put_in_0', b'\xff') + b'\n' + good + b'\n')
    before = file.read_bytes()
    with pytest.raises(SetupError, match=f'{file.name}, line 2 is no JSON'):
        read_results(tmp_path)
    assert file.read_bytes() == before
