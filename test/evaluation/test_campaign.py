# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns: every trial once, kept at once, gone on with after an interruption."""

import json
import math

import numpy as np
import pytest

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.evaluation.trials.campaign import RESULTS, Campaign, Trial

SQUARE = {'square': 'test_campaign:square', 'broken': 'test_campaign:broken'}
calls: list[int] = []


def square(trial):
    calls.append(trial.seed)
    return {'value': np.float64(trial.seed**2), 'missing': math.nan, 'row': np.arange(2)}


def broken(trial):
    raise RuntimeError(f'scene {trial.seed} cannot be')


@pytest.fixture(autouse=True)
def no_calls():
    calls.clear()


def trials(*seeds, kind='square'):
    return [Trial(kind, 'so101', seed, {'noise': True}) for seed in seeds]


def test_results_come_in_order_as_plain_values():
    outcomes = Campaign(SQUARE).run(trials(3, 1))
    assert [o.result['value'] for o in outcomes] == [9.0, 1.0]
    assert outcomes[0].result == {'value': 9.0, 'missing': None, 'row': [0, 1]}


def test_what_is_there_is_not_run_again(tmp_path):
    Campaign(SQUARE, tmp_path).run(trials(1, 2))
    outcomes = Campaign(SQUARE, tmp_path).run(trials(1, 2, 5))
    assert calls == [1, 2, 5]
    assert [o.result['value'] for o in outcomes] == [1.0, 4.0, 25.0]


def test_a_line_that_was_cut_is_run_again(tmp_path):
    Campaign(SQUARE, tmp_path).run(trials(1, 2))
    path = tmp_path / RESULTS
    path.write_bytes(path.read_bytes()[:-9])
    Campaign(SQUARE, tmp_path).run(trials(1, 2))
    assert calls == [1, 2, 2]
    assert [json.loads(line)['seed'] for line in path.read_text().splitlines()] == [1, 2]


def test_results_are_never_written_through_a_link(tmp_path):
    other = tmp_path / 'other'
    other.write_text('')
    (tmp_path / RESULTS).symlink_to(other)
    with pytest.raises(SetupError, match='it is a link'):
        Campaign(SQUARE, tmp_path).run(trials(1))
    assert other.read_text() == ''


def test_a_trial_that_cannot_be_is_said_and_the_rest_goes_on(tmp_path):
    campaign = Campaign(SQUARE, tmp_path)
    bad, good = campaign.run([*trials(4, kind='broken'), *trials(2)])
    assert bad.problem == 'RuntimeError: scene 4 cannot be'
    assert good.result['value'] == 4.0
    assert [outcome.trial.kind for outcome in campaign.kept()] == ['square']


def test_processes_give_the_same(tmp_path):
    here = [Trial('drawn', 'so101', seed) for seed in range(5)]
    layouts = {'drawn': 'trials_of_layouts:drawn'}
    alone = Campaign(layouts).run(here)
    assert Campaign(layouts).run(here, workers=2) == alone
    assert len({tuple(outcome.result['target']) for outcome in alone}) == 5


def test_what_cannot_be_is_refused(tmp_path):
    with pytest.raises(SetupError, match='is not a function of trials'):
        Campaign({'x': 'frame_ros.evaluation.trials.campaign:absent'})
    with pytest.raises(ValueRangeError, match='alike'):
        Campaign(SQUARE).run(trials(1, 1))
    with pytest.raises(ValueRangeError, match='there are square, broken'):
        Campaign(SQUARE).run(trials(1, kind='cube'))
    with pytest.raises(ValueRangeError, match='workers'):
        Campaign(SQUARE).run(trials(1), workers=0)
    (tmp_path / RESULTS).write_text('{"a": 1}\n{}\n')
    with pytest.raises(SetupError, match='line 1 is not a result'):
        Campaign(SQUARE, tmp_path).run(trials(1))


def test_results_of_another_version_are_not_taken(tmp_path):
    def campaign(version):
        return Campaign(SQUARE, tmp_path, {'square': version})

    campaign('1').run(trials(1, 2))
    assert (len(campaign('1').kept()), campaign('1').of_other_versions()) == (2, 0)
    assert (campaign('2').kept(), campaign('2').of_other_versions()) == ([], 2)
    campaign('2').run(trials(1))
    assert calls == [1, 2, 1]
    assert (len(campaign('1').kept()), len(campaign('2').kept())) == (2, 1)
    assert Campaign(SQUARE, tmp_path).kept() == []
