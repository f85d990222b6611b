# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the wrist sensor's benchmark, from results by hand."""

from __future__ import annotations

from argparse import Namespace

import pytest
from benchmark_parts import import_parts

pytest.importorskip('mujoco')

from frame_ros.evaluation.trials.campaign import Outcome, Trial


@pytest.fixture
def rows(monkeypatch):
    return import_parts(monkeypatch, 'wrench_rows')[0]


def result(truth=(), begins=(), warnings=(), true_begins=None):
    return {
        'truth': list(truth), 'begins': list(begins), 'true_begins': list(true_begins or begins),
        'warnings': list(warnings), 'seconds': 1800.0, 'unavailable': 0.0, 'threshold': 1.0,
        'threshold_95': 2.0, 'repeats': 0, 'sent': 0,
    }  # fmt: skip


def test_faults_of_one_motion_have_a_row_each_and_one_together(rows, capsys):
    from parts.bars import Bars

    weight = rows.WEIGHTS[0]
    found = {'none': result(), 'vibration': result(begins=[5.0]), 'jitter 5 ms': result()}
    pushed = {'vibration': result(truth=[[10.0, 10.5, 6.0, 'a']], begins=[10.1, 700.0])}
    hung = {weight: result(begins=[3.0, 900.0], warnings=[[900.0, 'a weight of about 100 g']])}
    outcomes = [
        Outcome(Trial('wrench_hard', 'fr3', 1000,
                      {'faults': list(each), 'has_pushes': each is pushed}), {'faults': each})
        for each in (found, hung, pushed)
    ]  # fmt: skip
    lines = rows.lines('wrench_hard', outcomes, Bars(Namespace(short=False)))
    (vibration,) = [line for line in lines if '| vibration |' in line]
    assert '| 1 | 100.0 % (20.7 to 100.0); 1 false | 1 of 1 |' in vibration
    assert '| 0.50 h | 1: 2.00 (0.05 to 11.14)' in vibration
    # Without 'none', and of the weight what came behind its report.
    (together,) = [line for line in lines if 'all of the hard set together' in line]
    assert '| 1.25 h of shared motion | 1: 0.80 | | |' in together
    assert 'jitter 5 ms, false alarms per hour: 0, at most 2: met' in capsys.readouterr().out


def test_faults_that_are_not_asked_for_have_no_row_and_miss_no_bar(rows, capsys):
    from parts.bars import Bars

    outcome = Outcome(
        Trial('wrench_hard', 'fr3', 1000, {'faults': ['vibration'], 'has_pushes': False}),
        {'faults': {'vibration': result()}},
    )
    lines = rows.lines('wrench_hard', [outcome], Bars(Namespace(short=False)), ['vibration'])
    assert any('| vibration |' in line for line in lines)
    said = capsys.readouterr().out
    assert 'vibration, trials: 1, at least 1: met' in said and 'MISSED' not in said


def test_a_push_whose_contact_has_a_stamp_before_it_is_felt_by_the_true_time(rows):
    from parts.bars import Bars

    truth = [[10.0, 10.5, 6.0, 'a'], [20.0, 20.5, 6.0, 'a'], [30.0, 30.5, 6.0, 'a']]
    early = result(truth, begins=[9.99, 20.01], true_begins=[10.01, 20.03])
    settings = {'faults': ['stamps 20 ms early'], 'has_pushes': True}
    outcome = Outcome(
        Trial('wrench_hard', 'fr3', 0, settings), {'faults': {'stamps 20 ms early': early}}
    )
    bars = Bars(Namespace(short=False))
    (line,) = [each for each in rows.lines('wrench_hard', [outcome], bars) if 'early' in each]
    assert '| 3 | 33.3 % (6.1 to 79.2); 1 false | 2 of 3 |' in line


def test_pushes_of_another_arms_motors_are_counted_by_strength(rows):
    from parts.bars import Bars

    truth = [[10.0, 10.5, 6.0, 'a'], [20.0, 20.5, 7.0, 'a'], [30.0, 30.5, 20.0, 'a']]
    settings = {'is_checked': True, 'has_shipped_motors': True, 'has_pushes': True}
    outcome = Outcome(
        Trial('repeated_states', 'fr3', 0, settings), result(truth, begins=[20.1, 30.2])
    )
    lines = rows.lines('repeated_states', [outcome], Bars(Namespace(short=False)))
    assert any('| 5 to 8 N | 2 | 50.0 %' in line for line in lines)
    assert any('| 18 to 25 N | 1 | 100.0 %' in line for line in lines)


def test_some_faults_can_be_chosen(rows):
    chosen, whole = (
        [trial for trial in rows.trials(0.05, faults) if trial.kind == 'wrench_hard']
        for faults in (['cable 1 N', '100 g later'], rows.ALL_FAULTS)
    )
    assert {tuple(t.settings['faults']) for t in chosen} == {('cable 1 N',), ('100 g later',)}
    assert {trial.seed for trial in chosen} == {t.seed for t in whole if 'slow push' not in t.key}


def test_a_weight_that_is_not_there_is_counted(rows):
    from parts.bars import Bars

    said = [[12.0, 'a weight of about 59 g hangs on the hand']]
    settings = {'faults': ['cable 1 N'], 'has_pushes': False}
    outcomes = [
        Outcome(Trial('wrench_hard', 'fr3', seed, settings), {'faults': {'cable 1 N': each}})
        for seed, each in ((1000, result(warnings=said)), (1001, result()))
    ]
    lines = rows.lines('wrench_hard', outcomes, Bars(Namespace(short=False)))
    (cable,) = [line for line in lines if '| cable 1 N |' in line]
    assert 'a weight that is not there in 1 of 2 trials' in cable
