# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros plan` and `frame-ros null-check`, from numbers, CSV files and generated episodes."""

import json

import pytest

from frame_ros.cli import main
from frame_ros.evaluation.null_calibration.generated import GeneratedOptions, generated_outcomes
from frame_ros.evaluation.outcomes.csv_writing import write_outcomes_csv
from frame_ros.evaluation.planning.detection import DetectionCurve

QUICK = ['--trials', '10', '--resamples', '100', '-q']


@pytest.fixture(scope='module')
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp('outcomes') / 'outcomes.csv'
    options = GeneratedOptions(objects=2, episodes=10, operations=3)
    write_outcomes_csv(generated_outcomes(options, 0, {'a': 1.0, 'b': 1.2, 'c': 3.0}), path)
    return str(path)


def said(capsys, *arguments):
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_numbers_alone_give_the_sizes_of_the_formulas(capsys):
    text = said(capsys, 'plan', '--discordance', '0.1', '--half-width', '0.05')
    assert '(Wilson, 95 %): 381 rollouts' in text
    assert 'discordance 0.1 (McNemar, Connor): 312 pairs; for the exact test 337' in text
    found = json.loads(said(capsys, 'plan', '--discordance', '0.25', '--json'))
    assert found['numbers']['mcnemar_pairs'] == 783 and 'outcomes' not in found
    rows = found['numbers']['rows']
    assert all(a['power'] < b['power'] for a, b in zip(rows, rows[1:], strict=False))


def test_policies_that_succeed_independently_need_more_pairs(capsys):
    text = said(capsys, 'plan', '--success-rate', '0.8', '--difference', '0.1')
    assert 'discordance 0.26, as of independent policies' in text


def test_the_page_shows_the_curves_and_what_is_needed(table, capsys, tmp_path):
    page = tmp_path / 'plan.html'
    said(
        capsys, 'plan', table, '--episodes', '4,8', *QUICK, '--simulations', '200', '-o', str(page)
    )
    text = page.read_text()
    for words in ('Rollouts that are needed', 'Detection rates', 'macro-KS', '± ', 'a vs. b'):
        assert words.strip() in text
    numbers = tmp_path / 'numbers.html'
    said(capsys, 'plan', '--discordance', '0.1', '-o', str(numbers))
    assert '337 pairs find a difference of 5 points' in numbers.read_text()
    assert main(['plan', table, '-o', table, *QUICK]) != 0


def test_a_difference_for_which_there_is_no_room_is_refused(capsys):
    assert main(['plan', '--difference', '0.9']) == 2
    assert 'difference is 0.9; no success rate is so far from 0.5' in capsys.readouterr().err


def test_outcomes_give_curves_and_the_rollouts_that_are_missing(table, capsys):
    text = said(capsys, 'plan', table, '--episodes', '4,8', *QUICK, '--simulations', '200')
    for words in ('a and b\n', 'b and c\n', 'macro-KS by bridges', '4 episodes', 'McNemar: '):
        assert words in text
    found = json.loads(
        said(capsys, 'plan', table, '--json', *QUICK, '--simulations', '200', '--thresholds', '9')
    )['outcomes']
    pairs = {(each['first'], each['second']): each for each in found['pairs']}
    assert set(pairs) == {('a', 'b'), ('a', 'c'), ('b', 'c')}
    slow = pairs['a', 'c']
    assert slow['macro_ks']['is_resolved'] and slow['macro_ks']['words'].startswith('resolved')
    assert [curve['test'] for curve in slow['curves']] == ['macro-KS', 'RMST', 'success at 9 s']
    assert slow['curves'][0]['episodes'] == [2, 5, 10, 15, 20]
    assert len(slow['macro_ks_by_bridges']) == 5
    close = pairs['a', 'b']['mcnemar']
    assert close['present'] == 20 and close['high'] is None


def test_no_two_policies_are_refused(tmp_path, capsys):
    path = tmp_path / 'one.csv'
    write_outcomes_csv(generated_outcomes(GeneratedOptions(), 0, {'only': 1.0}), path)
    assert main(['plan', str(path)]) == 2
    assert 'policies: only; two' in capsys.readouterr().err


def test_curves_that_do_not_reach_the_target_say_so():
    import numpy as np

    from frame_ros.cli.plan import _smallest_text

    curve = DetectionCurve('t', (10, 20), np.array([0.1, 0.2]), 100)
    assert _smallest_text(curve.smallest(), curve) == 'more than 20'


def test_null_check_prints_a_table_of_errors(table, capsys):
    text = said(capsys, 'null-check', table, *QUICK)
    for words in ('a (halves)', 'a and b (shuffled)', 'logrank, stratified', 'nominal', 'p < 0.05'):
        assert words in text
    found = json.loads(said(capsys, 'null-check', '--generated', '--json', *QUICK))
    assert found['options']['trials'] == 10 and found['levels'] == [0.01, 0.05, 0.1]
    assert {row['scenario'] for row in found['rows']} == {'generated', 'generated, shared scenes'}


def test_null_check_needs_episodes_of_one_kind(table, capsys):
    for arguments in ([], ['--generated', table]):
        assert main(['null-check', *arguments]) == 2
        assert 'either OUTCOMES or --generated' in capsys.readouterr().err
    assert main(['null-check', table, '--strata', 'tote', *QUICK]) == 2
    assert "no episode has the condition 'tote'" in capsys.readouterr().err
