# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of the benchmark of failure prediction."""

import math
import subprocess
import sys

import numpy as np
import pytest
from benchmark_parts import FOLDER, import_parts

from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.evaluation.failure_prediction.alarms import CHOSEN, WITH, Case
from frame_ros.evaluation.failure_prediction.figures import Group, predictor_rows


@pytest.fixture
def tables(monkeypatch):
    return import_parts(monkeypatch, 'failure_tables')[0]


def group(name, alarms):
    """A success without an alarm and a failure of 10 s. alarms: predictor -> s in the failure."""
    nothing = np.zeros(1)
    episodes = [
        ScoreEpisode(str(n), n == 0, 10.0, nothing, {}, nothing, nothing > 0) for n in range(2)
    ]
    cases = [
        Case(predictor, number, without, alarm if number else math.inf)
        for predictor, alarm in alarms.items()
        for without in (('', 'drop') if predictor == CHOSEN + WITH else ('',))
        for number in range(2)
    ]
    return Group(name, episodes, ['', 'drop'], cases)


def test_a_predictor_of_some_policies_is_named_and_not_the_best_of_all(tables):
    groups = [
        group('a', {CHOSEN + WITH: 2.0, 'elapsed': 8.0, 'stac': 1.0}),
        group('b', {CHOSEN + WITH: 2.0, 'elapsed': 8.0}),
    ]
    assert tables.best_single(predictor_rows(groups, False)) == 'elapsed'
    lines = tables.tables(groups)
    assert lines[-1] == 'Not compared, as not every policy has them: stac.'
    assert any(line.startswith('| elapsed | +0 % (+0 to +0) | +60 %') for line in lines)


def test_episodes_and_false_alarms_are_of_each_policy(tables):
    alarms = {CHOSEN + WITH: 2.0, 'elapsed': 8.0}
    lines = tables.tables([group('a', alarms), group('b', alarms)])
    assert lines[:5] == [
        '| episodes | a | b |', '| --- | --- | --- |', '| success | 1 | 1 |', '| drop | 1 | 1 |',
        '| recovered | 0 | 0 |',
    ]  # fmt: skip
    begin = lines.index(
        '| policy | false alarms of chosen + proximity, kind held out | of elapsed |'
    )
    assert [line.split(' (')[0] for line in lines[begin + 2 : begin + 4]] == [
        '| a | 0 %', '| b | 0 %',
    ]  # fmt: skip
    assert max(line.count('|') for line in lines) <= 9


def test_an_unknown_policy_is_refused_in_one_sentence():
    command = [sys.executable, FOLDER / 'failure_prediction.py', '--kept', '--only', 'ACT,nobody']
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "--only names ['nobody']; there are scripted, degraded" in done.stderr
