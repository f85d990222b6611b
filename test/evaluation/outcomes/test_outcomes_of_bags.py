# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes of bags and other files together: facts, duplicates, exclusions, names."""

import json
import shutil
from dataclasses import replace

import pytest
from bag_making import T0, event, pose, write_bag
from outcome_bags import outcome_bag, pairs

from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError, SetupError, ValueRangeError
from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.event_reading import read_event_episodes
from frame_ros.episodes.reading import read_bag, read_episodes
from frame_ros.evaluation.outcomes.csv_writing import write_outcomes_csv
from frame_ros.evaluation.outcomes.operation import Ending
from frame_ros.evaluation.outcomes.options import OutcomeOptions
from frame_ros.evaluation.outcomes.reading import read_outcomes
from frame_ros.evaluation.outcomes.recorded import episode_outcome
from frame_ros.evaluation.policy_comparison.comparison import compare_policies
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.statistics.verdict import Verdict

NO_CACHE = OutcomeOptions(cache=False)


def read(*paths, **choice):
    return read_outcomes(paths, OutcomeOptions(cache=False, **choice))


def test_facts_of_an_episode(tmp_path):
    facts = {
        'seed': '7', 'scene': 'b', 'camera': 'wide', 'condition.floor': 'wood', 'quality': '0.5',
        'stage.grasped': 'true',
    }  # fmt: skip
    later = [(6.0, EventType.NOTE, {'attributes': pairs({'stage.placed': 'false'})})]
    taken = [(2.0, EventType.INTERVENTION_START, {}), (3.0, EventType.INTERVENTION_END, {})]
    outcome_bag(tmp_path / 'e1', Outcome.TIMEOUT, seen=[*taken, *later], facts=facts)
    (outcome,) = read(tmp_path).outcomes
    assert (outcome.name, outcome.policy, outcome.object) == ('e1', 'act, quality 0.5', 'cube')
    assert (outcome.task, outcome.duration, outcome.is_success) == ('put it in', 10.0, False)
    assert outcome.pair == 'scene b, seed 7'
    assert outcome.conditions == {'camera': 'wide', 'floor': 'wood'}
    assert outcome.stages == {'grasped': True, 'placed': False}
    assert outcome.interventions == 1
    assert outcome.date == '2023-11-14T22:13:20Z'
    assert not outcome.is_human


def test_the_human_reference(tmp_path):
    outcome_bag(tmp_path / 'a', policy='Teleop')
    outcome_bag(tmp_path / 'b', policy='ann', facts={'human': 'yes'})
    outcome_bag(tmp_path / 'c', policy='teleop', facts={'human': 'no'})
    outcome_bag(tmp_path / 'd', facts={'human': 'perhaps', 'operator_count': 'many'})
    outcomes = read(tmp_path).outcomes
    assert [o.is_human for o in outcomes] == [True, True, False, False]
    assert "human is 'perhaps'" in ' '.join(outcomes[3].notes)


def test_policies_have_distinct_short_labels(tmp_path):
    for name, checkpoint in (('a', '/x/one'), ('b', '/y/one'), ('c', '/x/two')):
        outcome_bag(tmp_path / name, checkpoint=checkpoint)
    labels = [o.policy for o in read(tmp_path).outcomes]
    assert labels == ['act, /x/one', 'act, /y/one', 'act, /x/two']
    assert [o.policy for o in read(tmp_path / 'a', tmp_path / 'c').outcomes] == [
        'act, one',
        'act, two',
    ]
    assert {o.policy for o in read(f'mine={tmp_path}').outcomes} == {'mine'}


def test_reading_events_alone_gives_what_all_streams_give(tmp_path):
    seen = [(4.0, EventType.SUCCESS, {}), (5.0, EventType.OPERATION_SUCCESS, {'operation': 1})]
    for place, outcome in enumerate(Outcome):
        outcome_bag(tmp_path / f'e{place}', outcome, seen=seen if place % 2 else ())
    for bag in sorted(tmp_path.iterdir()):
        (light,), (whole,) = read_event_episodes(bag), read_episodes(bag)
        assert not light.streams and whole.streams
        assert light.events == whole.events
        assert light.attributes == whole.attributes
        assert episode_outcome(light) == episode_outcome(whole)


def test_where_events_do_not_suffice_the_streams_are_read(tmp_path):
    outcome_bag(tmp_path / 'cut', None, seen=[(4.0, EventType.SUCCESS, {})])
    (episode,) = read_event_episodes(tmp_path / 'cut')
    assert 'pose' in episode.streams
    assert episode_outcome(episode).duration == pytest.approx(10.0)
    write_bag(tmp_path / 'plain', [('/ee_pose', T0 + i, pose(T0 + i)) for i in range(5)])
    (episode,) = read_event_episodes(tmp_path / 'plain')
    assert 'pose' in episode.streams and not episode.events


def test_a_clock_that_jumps_inside_an_episode_does_not_count(tmp_path):
    jump, end = 100 * SECOND, T0 + 10 * SECOND
    sent = [('/episode_events', T0, event(T0, EventType.START))]
    for i in range(1, 100):
        at = T0 + i * SECOND // 10
        sent.append(('/ee_pose', at, pose(at + (jump if i > 50 else 0))))
    seen = T0 + 8 * SECOND
    sent.append(('/episode_events', seen, event(seen + jump, EventType.SUCCESS)))
    last = event(end + jump, EventType.END, outcome=int(Outcome.SUCCESS))
    bag = write_bag(tmp_path / 'e1', [*sent, ('/episode_events', end, last)])
    (outcome,) = read(bag).outcomes
    assert outcome.duration == pytest.approx(10.0)
    assert [o.end for o in outcome.operations] == [pytest.approx(8.0)]
    assert any('the clock of its stamps jumps' in note for note in outcome.notes)


def jumping_bag(path, shown, jump, times):
    """An episode of 10 s whose poses' stamps are ahead by `jump` s in `shown` (s), with events of
    the operator at times -> kind, all by the same clock."""

    def at(time):
        ahead = jump if shown[0] < time <= shown[1] else 0.0
        return T0 + int(time * SECOND), T0 + int((time + ahead) * SECOND)

    sent = []
    for time in [0.1 * i for i in range(1, 100)]:
        received, stamp = at(time)
        sent.append(('/ee_pose', received, pose(stamp)))
    for time, kind in {0.0: EventType.START, **times, 10.0: EventType.END}.items():
        received, stamp = at(time)
        marked = event(stamp, kind)
        marked.source = 'operator'
        marked.outcome = int(Outcome.TIMEOUT) if kind is EventType.END else 0
        sent.append(('/episode_events', received, marked))
    return write_bag(path, sorted(sent, key=lambda row: row[1]))


@pytest.mark.parametrize(
    ('shown', 'jump'), [((5.0, 10.0), 100.0), ((5.0, 9.0), 100.0), ((5.0, 9.0), -100.0)]
)
def test_a_jump_is_seen_where_an_operator_marks_everything(tmp_path, shown, jump):
    bag = jumping_bag(tmp_path / 'e1', shown, jump, {8.0: EventType.OPERATION_SUCCESS})
    (outcome,) = read(bag).outcomes
    assert outcome.duration == pytest.approx(10.0)
    assert [o.end for o in outcome.operations] == [pytest.approx(8.0), pytest.approx(10.0)]
    (whole,) = read_bag(Bag(bag))
    assert replace(outcome, policy='') == replace(episode_outcome(whole), policy='')


def test_a_smaller_jump_is_seen_where_it_is_asked_for(tmp_path):
    bag = jumping_bag(tmp_path / 'e1', (5.0, 10.0), 0.5, {})
    assert read(bag).outcomes[0].duration == pytest.approx(10.5)
    (outcome,) = read(bag, clock_jump=0.2).outcomes
    assert outcome.duration == pytest.approx(10.0)
    assert any('jumps (+0.5 s)' in note for note in outcome.notes)


def test_a_timeout_without_a_mark_has_no_source_of_labels_of_its_own(tmp_path):
    for i in range(8):
        done = [(4.0 + 0.1 * i, EventType.SUCCESS, {})]
        outcome_bag(tmp_path / f'a{i}', Outcome.SUCCESS, seen=done, start=T0 + i * 100 * SECOND)
        late = T0 + (1000 + i * 100) * SECOND
        outcome_bag(tmp_path / f'b{i}', Outcome.TIMEOUT, start=late, policy='pi0')
    study = compare_policies(read(tmp_path), ComparisonOptions(resamples=200))
    assert study.pairs[0].judgement.verdict is Verdict.BETTER
    assert not study.pairs[0].facts and not study.labels


def test_help_of_an_operator_is_no_success_of_the_policy(tmp_path):
    helped = [
        (2.0, EventType.INTERVENTION_START, {}),
        (3.0, EventType.INTERVENTION_END, {}),
        (6.0, EventType.SUCCESS, {}),
    ]
    bag = outcome_bag(tmp_path / 'e1', seen=helped)
    (outcome,) = read(bag).outcomes
    assert (outcome.is_success, outcome.operations[0].ending) == (False, Ending.SAFETY_STOP)
    (outcome,) = read(bag, interventions='censored').outcomes
    assert (outcome.is_success, outcome.operations[0].ending) == (None, Ending.STOPPED)
    (outcome,) = read(bag, interventions='counted').outcomes
    assert (outcome.is_success, outcome.operations[0].ending) == (True, Ending.SUCCESS)
    human = outcome_bag(tmp_path / 'e2', seen=helped, policy='teleop')
    assert read(human).outcomes[0].is_success
    after = [(6.0, EventType.SUCCESS, {}), (7.0, EventType.INTERVENTION_START, {})]
    late = outcome_bag(tmp_path / 'e3', seen=after)
    assert read(late).outcomes[0].is_success


def test_copies_count_once_and_namesakes_twice(tmp_path):
    outcome_bag(tmp_path / 'one' / 'e1')
    shutil.copytree(tmp_path / 'one' / 'e1', tmp_path / 'two' / 'e1')
    outcome_bag(tmp_path / 'three' / 'e1', Outcome.FAILURE, start=T0 + 3600 * SECOND)
    found = read(tmp_path, tmp_path / 'one' / 'e1')
    assert [o.name for o in found.outcomes] == ['e1 (one/e1)', 'e1 (three/e1)']
    (copy,) = found.excluded
    assert copy.source == tmp_path / 'two' / 'e1' and 'recorded twice: the same as' in copy.reason
    assert 'recorded twice, counted once: e1' in found.notes
    assert any('all count with their bags named: e1' in note for note in found.notes)


def test_of_two_recordings_the_more_complete_one_counts(tmp_path):
    outcome_bag(tmp_path / 'a', None, seen=[(4.0, EventType.SUCCESS, {})], episode_id='e')
    outcome_bag(tmp_path / 'b', Outcome.FAILURE, episode_id='e')
    found = read(tmp_path)
    assert [(o.source.name, o.is_success) for o in found.outcomes] == [('b', False)]
    assert 'less complete' in found.excluded[0].reason


def test_nothing_is_dropped_silently(tmp_path):
    outcome_bag(tmp_path / 'e2')
    outcome_bag(tmp_path / 'e10')
    outcome_bag(tmp_path / 'unknown', Outcome.UNKNOWN)
    (tmp_path / 'broken').mkdir()
    (tmp_path / 'broken' / 'broken_0.mcap').write_bytes(b'nothing of the kind')
    found = read(tmp_path)
    assert [o.name for o in found.outcomes] == ['e2', 'e10']
    assert [(e.name, e.reason[:10]) for e in found.excluded] == [('unknown', 'no outcome')]
    assert [e.name for e in found.unread] == ['broken'] and 'not an MCAP' in found.unread[0].reason
    with pytest.raises(BagError, match='does not exist'):
        read(tmp_path / 'none')


def test_endings_of_single_operations(tmp_path):
    stop = [(3.0, EventType.STOP, {})]
    cases = {
        'a': (Outcome.SUCCESS, [(4.0, EventType.SUCCESS, {})], Ending.SUCCESS, 4.0),
        'b': (Outcome.SUCCESS, [], Ending.SUCCESS, 10.0),
        'c': (Outcome.FAILURE, [(2.0, EventType.FAILURE, {})], Ending.FAILURE, 2.0),
        'd': (Outcome.TIMEOUT, [], Ending.TIMEOUT, 10.0),
        'e': (Outcome.STOPPED, stop, Ending.SAFETY_STOP, 3.0),
        'f': (Outcome.STOPPED, [], Ending.STOPPED, 10.0),
    }
    for name, (outcome, seen, _, _) in cases.items():
        outcome_bag(tmp_path / name, outcome, seen=seen)
    for outcome in read(tmp_path).outcomes:
        (operation,) = outcome.operations
        assert (operation.ending, operation.end) == cases[outcome.name][2:]


def per_episode(successes, seeds):
    rows = [
        {'episode_ix': i, 'sum_reward': 1.0, 'max_reward': 1.0, 'success': s, 'seed': seed}
        for i, (s, seed) in enumerate(zip(successes, seeds))
    ]
    return {'per_episode': rows, 'aggregated': {'pc_success': float('nan')}}


def per_task(**successes):
    tasks = [
        {'task_group': 'spatial', 'task_id': int(name[1:]), 'metrics': {'successes': own}}
        for name, own in successes.items()
    ]
    return {'per_task': tasks, 'per_group': {}, 'overall': {'pc_success': float('nan')}}


def written(path, content):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def test_lerobot_evaluations_with_seeds_are_paired(tmp_path):
    first = written(tmp_path / 'eval_info_act.json', per_episode([True, False], [1000, 1001]))
    second = written(tmp_path / 'pi0' / 'eval_info.json', per_episode([False, False], [1000, 1001]))
    found = read(first, second)
    assert [(o.name, o.policy, o.is_success, o.pair) for o in found.outcomes] == [
        ('act episode 0', 'act', True, 'seed 1000'),
        ('act episode 1', 'act', False, 'seed 1001'),
        ('pi0 episode 0', 'pi0', False, 'seed 1000'),
        ('pi0 episode 1', 'pi0', False, 'seed 1001'),
    ]
    assert not found.notes
    assert read(tmp_path).outcomes == found.outcomes
    assert {o.policy for o in read(f'mine={first}').outcomes} == {'mine'}


def test_lerobot_evaluations_of_tasks_hold_no_seeds(tmp_path):
    path = written(tmp_path / 'eval_info.json', per_task(t0=[True, False], t1=[True]))
    found = read(path)
    assert [o.task for o in found.outcomes] == ['spatial 0', 'spatial 0', 'spatial 1']
    assert {o.pair for o in found.outcomes} == {''}
    assert 'have no seed and are not paired; --pair-by-position' in found.notes[0]
    paired = read(path, pair_by_position=True)
    assert [o.pair for o in paired.outcomes] == ['episode 0', 'episode 1', 'episode 0']
    assert not paired.notes


@pytest.mark.parametrize(
    ('content', 'expected'),
    [
        ('[]', 'holds no mapping'),
        ('{', 'is not JSON'),
        ('{"success": true}', 'has success; expected: the eval_info.json'),
        ('{"per_episode": []}', 'holds no episode'),
        ('{"per_episode": 3}', 'per_episode is 3; expected: a list'),
        ('{"per_episode": [3]}', r'per_episode\[0\] is 3; expected: a mapping'),
        ('{"per_episode": [{}]}', r'per_episode\[0\].success is missing; expected: true'),
        ('{"per_episode": [{"success": 0.5}]}', r'success is 0.5; expected: true or false'),
        ('{"per_episode": [{"success": true, "seed": "x"}]}', "seed is 'x'; expected: a whole"),
        (json.dumps(per_episode([True, True], [1, 1])), r'seed is 1, as is .*per_episode\[0\]'),
        ('{"per_task": [{"task_group": "a", "task_id": 0}]}', r'per_task\[0\].metrics is missing'),
        (json.dumps(per_task(t0=[2])), r'successes\[0\] is 2; expected'),
        (json.dumps(per_task(t0=[1], t00=[1])), "is the task 'spatial 0' of per_task"),
    ],
)
def test_mistakes_in_lerobot_evaluations_are_named(tmp_path, content, expected):
    path = tmp_path / 'eval_info.json'
    path.write_text(content)
    with pytest.raises(ValueRangeError, match=expected) as caught:
        read(path)
    assert 'eval_info.json' in str(caught.value)


def test_a_file_given_twice_counts_once(tmp_path):
    path = tmp_path / 'a.csv'
    path.write_text('policy,success\nact,1\n')
    shutil.copy(path, tmp_path / 'b.csv')
    found = read(path, path, tmp_path / 'b.csv')
    assert len(found.outcomes) == 1
    assert len(found.notes) == 2 and 'is given twice' in found.notes[0]
    assert 'is a copy of' in found.notes[1]
    with pytest.raises(BagError):
        read(tmp_path / 'none.csv')
    (tmp_path / 'c.csv').write_text('policy,success\nact,\n')
    assert read(tmp_path / 'c.csv').excluded[0].reason == 'no outcome: its success is not given'


def test_rows_that_a_later_file_has_again_are_named(tmp_path):
    rows = 'episode,policy,success\none,act,1\ntwo,act,0\n'
    (tmp_path / 'day.csv').write_text(rows)
    (tmp_path / 'all.csv').write_text(f'{rows}three,act,1\n')
    (tmp_path / 'other.csv').write_text('episode,policy,success\nthree,act,0\n')
    note = 'several files have the same rows, which count in each; leave one file out'
    found = read(tmp_path / 'day.csv', tmp_path / 'all.csv', tmp_path / 'other.csv')
    assert len(found.outcomes) == 6
    assert [each.rpartition(': ')[2] for each in found.notes if note in each] == ['one, two']


def test_names_stay_as_they_are(tmp_path):
    """Characters that a terminal would act on are escaped where they are printed."""
    path = tmp_path / 'a.csv'
    rows = '"a\nb","x\ny",a\x1b[2Jb,1\nc\u202ed,پای\u200cزیرو,,1\ne,x\\ny,,1\n'
    path.write_text(f'episode,policy,object,success\n{rows}')
    first, second, third = read(path).outcomes
    assert (first.name, first.policy, first.object) == ('a\nb', 'x\ny', 'a\x1b[2Jb')
    assert (second.name, second.policy) == ('c\u202ed', 'پای\u200cزیرو')
    assert third.policy == r'x\ny'
    write_outcomes_csv([first, second, third], tmp_path / 'b.csv')
    assert [e.policy for e in read(tmp_path / 'b.csv').outcomes] == [
        'x\ny', 'پای\u200cزیرو', r'x\ny',
    ]  # fmt: skip


def test_policies_of_bags_that_only_look_alike_are_two(tmp_path):
    outcome_bag(tmp_path / 'one', policy='x\ny')
    outcome_bag(tmp_path / 'two', policy=r'x\ny')
    assert {each.policy for each in read(tmp_path).outcomes} == {'x\ny', r'x\ny'}


def test_files_that_are_no_text(tmp_path):
    (tmp_path / 'x.json').write_bytes(b'\xff')
    with pytest.raises(SetupError, match='not UTF-8'):
        read(tmp_path / 'x.json')
