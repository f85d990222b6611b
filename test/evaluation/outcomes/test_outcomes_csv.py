# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes in CSV files: what is read, what is refused, and the round trip."""

import dataclasses
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.evaluation.binary.pairing import pair_key
from frame_ros.evaluation.outcomes.csv_columns import COLUMNS, PREFIXES
from frame_ros.evaluation.outcomes.csv_reading import read_outcomes_csv
from frame_ros.evaluation.outcomes.csv_writing import write_outcomes_csv
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome, LabelSource
from frame_ros.evaluation.outcomes.operation import Ending, Operation


@pytest.fixture()
def read(tmp_path):
    def of(text):
        path = tmp_path / 'runs.csv'
        path.write_text(text)
        return read_outcomes_csv(path)

    return of


def test_the_simplest_form_knows_only_successes(read):
    outcomes, remarks = read('policy,success\nact,true\nact,0\npi0,Yes\n\n')
    assert [(o.name, o.policy, o.is_success) for o in outcomes] == [
        ('runs row 2', 'act', True),
        ('runs row 3', 'act', False),
        ('runs row 4', 'pi0', True),
    ]
    assert all(o.operations == () and math.isnan(o.duration) for o in outcomes)
    assert not remarks


def test_successes_as_pandas_writes_them_beside_empty_cells(read):
    outcomes, _ = read('policy,success\nact,1.0\nact,0.0\nact,\n')
    assert [o.is_success for o in outcomes] == [True, False, None]


def test_whole_numbers_as_pandas_writes_them_are_those_numbers(read):
    whole, _ = read('policy,success,scene,seed\nact,1,1,7\nact,1,2,10\n')
    floats, _ = read('policy,success,scene,seed\nact,1,1.0,7.0\nact,1,2.0,10.0\nact,1,,\n')
    assert [each.pair for each in floats] == [*(each.pair for each in whole), '']
    assert whole[0].pair == 'scene 1, seed 7'
    names = {'3.0': '3', '-7.0': '-7', '007': '007', **{each: each for each in ('v1.0', '1.10')}}
    named, _ = read('policy,success,pair\n' + ''.join(f'act,1,{name}\n' for name in names))
    assert [each.pair for each in named] == [*names.values()]
    counted, _ = read(
        'episode,policy,success,time,operation,operator_count,interventions\n'
        'a,act,1,3,2.0,2.0,1.0\na,act,1,5,1.0,,\n'
    )
    assert [each.end for each in counted[0].operations] == [5.0, 8.0]
    assert (counted[0].operator_count, counted[0].interventions) == (2, 1)
    for text in ('2.5', '-1.0', '1e3', '9' * 5000):
        with pytest.raises(ValueRangeError, match='a whole number from 0'):
            read(f'policy,success,operator_count\nact,1,{text}\n')


def test_objects_tasks_and_conditions_as_pandas_writes_them_are_named_alike(read):
    head = 'policy,success,seed,object,task,condition.site\n'
    (whole,), _ = read(f'{head}act,1,7,1,2,3\n')
    (floats,), _ = read(f'{head}act,1,7,1.0,2.0,3.0\n')
    assert pair_key(floats) == pair_key(whole) == ('2', '1', 'seed 7')
    assert floats.conditions == whole.conditions == {'site': '3'}


def test_rows_of_an_episode_may_write_a_number_in_either_form(read):
    (outcome,), _ = read('episode,policy,success,scene,duration\na,act,1,1,9\na,act,1,1.0,9.0\n')
    assert (outcome.pair, outcome.duration) == ('scene 1', 9.0)
    with pytest.raises(ValueRangeError, match="line 2 gives '1' for the same episode"):
        read('episode,policy,success,scene\na,act,1,1\na,act,1,1.5\n')


def test_rows_of_an_episode_are_its_operations(read):
    outcomes, remarks = read(
        'episode;policy;object;success;time;ending\n'
        'a;act;cube;true;3;\n'
        'b;act;cube;false;5;drop\n'
        'a;act;cube;false;4.5;\n'
    )
    first, second = outcomes
    assert first.operations == (
        Operation(0.0, 3.0, Ending.SUCCESS),
        Operation(3.0, 7.5, Ending.TIMEOUT),
    )
    assert (first.is_success, first.duration, first.successes) == (False, 7.5, 1)
    assert second.operations == (Operation(0.0, 5.0, Ending.DROP),)
    assert second.operations[0].time == math.inf
    assert len(remarks) == 1 and '1 failure with a time and no ending' in remarks[0]


def test_numbers_of_operations_order_the_rows(read):
    (outcome,), _ = read('episode,policy,operation,success,time\na,act,1,true,5\na,act,0,true,2\n')
    assert [o.end for o in outcome.operations] == [2.0, 7.0]


def test_an_infinite_time_is_a_hard_failure(read):
    (outcome,), remarks = read('policy,success,time\nact,false,inf\n')
    assert outcome.operations[0].ending is Ending.FAILURE
    assert outcome.operations[0].time == math.inf and not remarks


def test_facts_of_the_episode(read):
    outcomes, remarks = read(
        'policy,success,task,pair,scene,seed,human,operator_count,interventions,'
        'stage.grasped,stage.placed,condition.camera,comment\n'
        'act,1,pick,p1,s,3,,4,2,yes,no,wide,x\n'
        'teleop,1,pick,,s,3,,,,yes,,,\n'
        'ann,1,pick,,,7,true,,,,,,\n'
    )
    first, second, third = outcomes
    assert (first.pair, second.pair, third.pair) == ('p1', 'scene s, seed 3', 'seed 7')
    assert [o.is_human for o in outcomes] == [False, True, True]
    assert (first.operator_count, first.interventions, second.operator_count) == (4, 2, None)
    assert first.stages == {'grasped': True, 'placed': False} and first.furthest_stage == 1
    assert first.conditions == {'camera': 'wide'} and second.conditions == {}
    assert len(remarks) == 1 and 'not read: comment' in remarks[0]


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('', 'line 1: it names no column'),
        ('policy,success\n', 'holds no outcome'),
        ('success\ntrue\n', 'line 1: no column policy'),
        ('policy,sucess\nact,1\n', "did you mean success by 'sucess'"),
        ('policy,success,opject\nact,1,x\n', "a column 'opject'; did you mean object"),
        ('policy,success,stages.grasped\nact,1,1\n', 'did you mean stage.grasped'),
        ('policy,policy,success\nact,b,1\n', '2 columns policy; leave one'),
        ('policy,success\nact,maybe\n', "line 2, column success: success is 'maybe'"),
        ('policy,success\nact,1,2\n', 'line 2: 3 values, but the first line names 2'),
        ('policy,success\n,1\n', 'line 2, column policy: the value is'),
        ('policy,success,time\nact,1,-3\n', "line 2, column time: the value is '-3'"),
        ('policy;success;time\nact;1;3,5\n', 'decimals have a point'),
        ('policy,success,time\nact,1,inf\n', 'only a hard failure is infinite'),
        ('policy,success,ending\nact,1,drop\n', 'the ending is drop; leave one'),
        ('policy,success,ending,time\nact,1,drop,3\n', 'the ending is drop; leave one'),
        ('policy,ending,time\nact,droped,3\n', 'expected: success, drop, .*did you mean drop'),
        ('policy,success,begin,end\nact,1,5,3\n', 'the operation begins at 5 s'),
        ('policy,success,begin,end,time\nact,1,5,8,4\n', 'begin and end say 3 s'),
        ('policy,success,operator_count\nact,1,2.5\n', 'column operator_count.*whole number'),
        ('policy,success,label_source\nact,1,guess\n', 'expected: events, detected'),
        ('episode,policy,success\na,act,1\na,pi0,1\n', "line 2 gives 'act' for the same episode"),
        ('episode,policy,success,time\na,act,1,3\na,act,1,\n', 'line 3, column time.*every row'),
        ('episode,policy,success,operation\na,act,1,0\na,act,1,0\n', 'line 2 has the same number'),
        ('episode,policy,success,operation\na,act,1,0\na,act,1,\n', 'other rows .* have a number'),
        ('policy,success,time\nact,,3\n', 'expected: true or false, or an ending'),
    ],
)  # fmt: skip
def test_every_mistake_is_named_with_its_place(read, text, expected):
    with pytest.raises(ValueRangeError, match=expected) as caught:
        read(text)
    assert 'runs.csv' in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(SetupError, match='cannot be read'):
        read_outcomes_csv(tmp_path / 'none.csv')
    (tmp_path / 'latin.csv').write_bytes(b'policy,success\nm\xfcller,1\n')
    with pytest.raises(SetupError, match='save the file as UTF-8'):
        read_outcomes_csv(tmp_path / 'latin.csv')


WORDS = st.text('abcäß ,;"\n01', min_size=1, max_size=8).map(str.strip).filter(bool)
SECONDS = st.floats(0.0, 1e6)


@st.composite
def operations(draw):
    times = draw(st.lists(st.tuples(SECONDS, SECONDS).map(sorted), min_size=1, max_size=4))
    endings = st.sampled_from(list(Ending))
    return tuple(Operation(begin, end, draw(endings)) for begin, end in times)


@st.composite
def outcome(draw, name):
    rows = draw(st.one_of(st.just(()), operations()))
    is_known = st.booleans() if not rows else st.sampled_from([None, True, False])
    success = draw(is_known)
    if success is None:  # as it is derived
        success = all(o.ending is Ending.SUCCESS for o in rows)
    stages = draw(st.sampled_from([{}, {'grasped': True, 'placed': False}, {'grasped': False}]))
    return EpisodeOutcome(
        name, draw(WORDS), draw(st.one_of(st.just(''), WORDS)), 'pick', draw(SECONDS), rows,
        success, stages, pair=draw(st.one_of(st.just(''), WORDS)), is_human=draw(st.booleans()),
        label_source=draw(st.sampled_from(list(LabelSource))),
        operator_count=draw(st.one_of(st.none(), st.integers(0, 9))),
        interventions=draw(st.integers(0, 9)),
        conditions=draw(st.dictionaries(st.sampled_from(['camera', 'site']), WORDS)),
        date='2026-01-02T03:04:05Z', notes=tuple(draw(st.lists(WORDS, max_size=2))),
    )  # fmt: skip


@given(data=st.data(), count=st.integers(1, 4))
def test_what_is_written_is_read_again(tmp_path_factory, data, count):
    written = [data.draw(outcome(f'e{i}')) for i in range(count)]
    path = tmp_path_factory.getbasetemp() / 'round_trip.csv'
    write_outcomes_csv(written, path)
    found, remarks = read_outcomes_csv(path)
    assert found == [dataclasses.replace(each, source=path) for each in written]
    assert not remarks


def test_the_page_lists_every_column():
    page = Path(__file__).resolve().parents[3] / 'docs' / 'outcomes.md'
    rows = [line for line in page.read_text().splitlines() if line.startswith('| `')]
    for name, content in {
        **COLUMNS,
        **{f'{each}NAME': of for each, of in PREFIXES.items()},
    }.items():
        escaped = content.replace('|', chr(92) + '|')
        assert f'| `{name}` | {escaped} |' in rows
