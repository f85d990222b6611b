# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of a sequential study from files, the file that keeps its plan, and the command."""

from __future__ import annotations

import json

import pytest

from frame_ros.cli import main
from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.evaluation.sequential.pairing import BY_KEY, BY_ORDER, BY_ROW, Pair, read_pairs

ROWS = 'policy,success,pair\nold,0,a\nnew,1,b\nnew,1,a\nold,1,b\nnew,0,c\n'


@pytest.fixture()
def written(tmp_path):
    def write(text: str, name: str = 'outcomes.csv'):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_pairs_by_key_in_the_order_in_which_they_became_complete(written):
    stream = read_pairs(written(ROWS), 'new')
    assert (stream.first, stream.second) == ('new', 'old')
    assert stream.pairs == (Pair('a', True, False), Pair('b', True, True))
    assert BY_KEY in stream.remarks and any(
        r == 'waiting for the other half of a pair: 1 episode' for r in stream.remarks
    )
    turned = read_pairs(written(ROWS))
    assert turned.first == 'old' and turned.pairs[0] == Pair('a', False, True)


def test_streams_without_keys_are_paired_by_order(written):
    stream = read_pairs(written('policy,success\nnew,1\nnew,0\nold,0\nold,1\nnew,1\n'))
    assert stream.pairs == (Pair('1', True, False), Pair('2', False, True))
    assert BY_ORDER in stream.remarks


def test_a_row_may_be_a_pair(written):
    stream = read_pairs(written('\ufeffindex;new;old\n1;yes;no\n\n2;0;0\n'))
    assert stream.pairs == (Pair('1', True, False), Pair('2', False, False))
    assert stream.remarks == (BY_ROW,)
    three = written('new,old,human\n1,0,1\n')
    assert read_pairs(three, 'old', 'human').pairs == (Pair('line 2', False, True),)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('policy,success,pair\nnew,1,a\nnew,0,a\nold,1,a\n', 'two episodes'),
        ('policy,success,pair\nnew,1,a\nold,0,a\nold,1,a\n', 'two episodes'),
        ('policy,success,pair\nnew,1,a\nold,0,\n', 'pair key'),
        ('policy,success\nnew,1\nold,\n', 'success'),
        ('policy,success\nnew,1\n', 'the only policy'),
        ('policy,success\na,1\nb,1\nc,0\n', '--first'),
        ('a,b,c\n1,1,0\n', '--first'),
        ('a\n1\n', 'the only policy'),
        ('a,a\n1,0\n', 'each once'),
        ('a,b\n1,maybe\n', 'line 2'),
        ('a,b\n1\n', 'line 2'),
        ('pair,a,b\nx,1,0\nx,1,1\n', 'twice'),
        ('', 'name'),
    ],
)
def test_what_cannot_be_paired_is_refused(written, text, message):
    with pytest.raises(ValueRangeError, match=message):
        read_pairs(written(text))


def test_unknown_policies_and_files_are_refused(written, tmp_path):
    with pytest.raises(ValueRangeError, match="no policy 'x'"):
        read_pairs(written(ROWS), 'x')
    with pytest.raises(ValueRangeError, match='itself'):
        read_pairs(written(ROWS), 'new', 'new')
    with pytest.raises(SetupError, match='cannot be read'):
        read_pairs(tmp_path / 'nowhere.csv')
    (tmp_path / 'latin').write_bytes(b'a,b\n\xff,0\n')
    with pytest.raises(SetupError, match='cannot be read'):
        read_pairs(tmp_path / 'latin')


def rows(pairs):
    return 'new,old\n' + ''.join(f'{a},{b}\n' for a, b in pairs)


@pytest.mark.parametrize(
    ('pairs', 'status', 'words'),
    [
        ([(1, 0)] * 3, 14, 'continue: no decision'),
        ([(1, 0)] * 20, 10, 'stop: new is better than old'),
        ([(0, 1)] * 20, 11, 'stop: new is worse than old'),
        ([(1, 1)] * 20, 13, 'does not mean that they are equal'),
    ],
)
def test_the_status_is_the_decision(written, capsys, pairs, status, words):
    path = str(written(rows(pairs)))
    assert main(['sequential', path, '--most', '30']) == status
    said = capsys.readouterr().out
    assert words in said and ('not used' in said) == (status != 14)


def test_json_has_every_step(written, capsys):
    path = str(written(rows([(1, 0)] * 4)))
    assert main(['sequential', path, '--json', '--method', 'betting', '--most', '0']) == 14
    found = json.loads(capsys.readouterr().out)
    assert found['decision'] == 'continue' and [s['wins'] for s in found['steps']] == [1, 2, 3, 4]
    assert found['plan'] == {'alpha': 0.05, 'most': 0, 'method': 'betting', 'side': 'both'}


def test_one_side_says_what_it_did_not_show(written, capsys):
    path = str(written(rows([(0, 1)] * 20)))
    assert main(['sequential', path, '--most', '30', '--side', 'better']) == 13
    assert 'new was not shown to be better than old' in capsys.readouterr().out


def test_the_plan_and_what_was_seen_are_kept(written, tmp_path, capsys):
    state = str(tmp_path / 'study.json')

    def run(pairs, *options):
        code = main(['sequential', str(written(rows(pairs))), '--state', state, *options])
        return code, capsys.readouterr().err

    assert run([(1, 0), (0, 0)])[0] == 14
    assert run([(1, 0), (0, 0), (1, 1)]) == (14, '')
    for options in (
        ('--alpha', '0.1'), ('--most', '100'), ('--method', 'betting'), ('--side', 'better'),
    ):  # fmt: skip
        code, said = run([(1, 0), (0, 0), (1, 1)], *options)
        assert code == 2 and 'was planned with' in said and options[0] in said
    code, said = run([(1, 0), (1, 0), (1, 1)])
    assert code == 2 and 'pair 2 of the study' in said and 'success and failure' in said
    code, said = run([(1, 0), (0, 0)])
    assert code == 2 and 'missing' in said
    code, said = run([(1, 0), (0, 0), (1, 1)], '--first', 'old')
    assert code == 2 and 'compares new with old' in said
    assert run([(1, 0), (0, 0), (1, 1), (1, 0)]) == (14, '')
    for text in ('{}', 'x', '[]', '{"format": "other"}'):
        (tmp_path / 'study.json').write_text(text)
        code, said = run([(1, 0)])
        assert code == 2 and 'holds no sequential study' in said


def test_an_outcome_of_a_damaged_state_file_is_refused(written, tmp_path, capsys):
    state, pairs = tmp_path / 'study.json', str(written(rows([(1, 0)])))
    assert main(['sequential', pairs, '--state', str(state)]) == 14
    state.write_text(state.read_text().replace('false', '"false"'))
    assert main(['sequential', pairs, '--state', str(state)]) == 2
    assert "an outcome is 'false'; true or false is expected" in capsys.readouterr().err
