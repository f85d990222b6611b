# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The opening of a session: not before all is done, outcomes by marks and bags, and the labels."""

from __future__ import annotations

import json
import re
import shutil
from datetime import datetime

import pytest

pytest.importorskip('msgpack')
pytest.importorskip('websockets')

from blinded_servers import NAMES, events_of, key_of, play, rewrite, unserved_session
from outcome_bags import outcome_bag

from frame_ros.core.errors import SetupError
from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.evaluation.outcomes.csv_writing import write_outcomes_csv
from frame_ros.evaluation.outcomes.options import OutcomeOptions
from frame_ros.evaluation.outcomes.reading import read_outcomes
from frame_ros.evaluation.policy_comparison.comparison import compare_policies
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.sequential.pairing import read_pairs
from frame_ros.evaluation.sessions.folder import SessionFolder
from frame_ros.evaluation.sessions.journal import INVALID, OPENED, RECORDED, trials_of
from frame_ros.evaluation.sessions.opening import open_session
from frame_ros.evaluation.sessions.opening_options import OpeningOptions
from frame_ros.evaluation.sessions.running import SessionRun, mark


def bags_of(*paths):
    return read_outcomes(paths, OutcomeOptions(cache=False))


def bag_of(folder, path, trial, outcome=Outcome.SUCCESS, policy=None, offset=0.0):
    """A bag that was recorded while the trial ran: of 10 s, with two operations."""
    begun = trials_of(folder.journal.events())[trial].begun.replace('Z', '+00:00')
    start = int((datetime.fromisoformat(begun).timestamp() + offset) * SECOND)
    seen = [(4.0, EventType.OPERATION_SUCCESS, {})] if outcome is Outcome.SUCCESS else []
    return outcome_bag(path, outcome, seen=seen, start=start, policy=policy or trial)


def test_the_labels_go_to_the_commands_that_compare(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=6)
    ids = play(folder, {NAMES[0]: ['failure', 'failure', INVALID, 'failure', 'failure']})
    opened = open_session(folder)
    assert opened.marks == {NAMES[0]: (2, 6), NAMES[1]: (6, 6)} and not opened.is_early
    assert [each.name for each in opened.outcomes] == [
        id for id in ids if trials_of(folder.journal.events())[id].is_valid
    ]
    first = key_of(folder)
    labels = {each.name: each.policy for each in opened.outcomes if each.name in first}
    assert len(labels) == 11 and labels.items() <= first.items()
    file = tmp_path / 'outcomes.csv'
    write_outcomes_csv(opened.outcomes, file)
    study = compare_policies(bags_of(file), ComparisonOptions(resamples=200))
    assert [{pair.first, pair.second} for pair in study.pairs] == [set(NAMES)]
    pairs = read_pairs(str(file), *NAMES)
    assert len(pairs.pairs) == 6 and {each.name for each in pairs.pairs} == {
        f'cube, block {number}' for number in range(1, 7)
    }
    assert sum(each.first for each in pairs.pairs) == 2
    event = events_of(folder, OPENED)[0]
    assert event['early'] is False and len(event['journal_sha256']) == 64


def test_the_labels_stay_closed_until_all_trials_are_done(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=2)
    run = SessionRun(folder, lambda text: None)
    for outcome in ('success', 'failure', ''):
        trial = run.begin('').id
        if outcome:
            mark(folder, trial, outcome, '', 'operator')
    with pytest.raises(SetupError, match=f'trial {trial} is not marked and 1 trial not run'):
        open_session(folder)
    assert not events_of(folder, OPENED)
    opened = open_session(folder, options=OpeningOptions(early=True))
    assert opened.is_early and len(opened.outcomes) == 2
    assert all('opened early' in each.notes[0] for each in opened.outcomes)
    assert 'opened early' in opened.notes[0] and events_of(folder, OPENED)[0]['early'] is True
    with pytest.raises(SetupError, match='no trial is blind any more'):
        SessionRun(folder, lambda text: None)


def test_nothing_is_opened_with_a_key_that_was_changed(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    play(folder)
    key = folder.path / 'private' / 'key.json'
    key.write_text(key.read_text().replace(NAMES[0], 'better'))
    with pytest.raises(SetupError, match='not the key that was drawn'):
        open_session(folder)
    assert not events_of(folder, OPENED)


@pytest.mark.parametrize('how', ['changed', 'removed', 'added', 'without'])
def test_a_journal_that_was_changed_after_the_trials_keeps_the_labels_closed(tmp_path, how):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    first, _ = play(folder)
    mark(folder, first, 'failure', 'it fell later', 'operator')
    lines = folder.journal.path.read_text().splitlines()
    place = next(i for i, line in enumerate(lines) if '"marked"' in line)
    without = re.sub(r', "before": "\w+"', '', lines[place])
    assert without != lines[place]
    new = {
        'changed': [lines[place].replace('success', 'failure')],
        'removed': [],
        'added': [lines[place]] * 2,
        'without': [without],
    }
    lines[place : place + 1] = new[how]
    folder.journal.path.write_text('\n'.join(lines) + '\n')
    with pytest.raises(SetupError, match='does not follow the line before'):
        open_session(folder)
    assert '"opened"' not in folder.journal.path.read_text()


@pytest.mark.parametrize('named_in', ['both', 'plan', 'journal'])
def test_a_journal_of_which_all_digests_were_removed_keeps_the_labels_closed(tmp_path, named_in):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    play(folder)
    without_digests(folder, named_in)
    with pytest.raises(SetupError, match='line 1 does not follow the line before'):
        open_session(SessionFolder(folder.path))


def test_a_journal_of_a_version_without_digests_goes_on(tmp_path):
    path = unserved_session(tmp_path / 's', ('cube',), episodes=1).path
    first, _ = play(SessionFolder(path))
    without_digests(SessionFolder(path), named_in='none')
    folder = SessionFolder(path)
    mark(folder, first, 'failure', 'it fell later', 'operator')
    assert len(open_session(folder).outcomes) == 2


def without_digests(folder: SessionFolder, named_in: str) -> None:
    """Removes all digests of a journal, and its claim to have them but where it is `named_in`."""
    lines = re.sub(r', "before": "\w*"', '', folder.journal.path.read_text())
    if named_in not in ('both', 'journal'):
        lines = lines.replace(', "has_digests": true', '')
    folder.journal.path.write_text(lines)
    plan = folder.path / 'session.json'
    content = json.loads(plan.read_text())
    assert content['has_digests'] is True
    if named_in not in ('both', 'plan'):
        del content['has_digests']
    plan.write_text(json.dumps(content))


def test_a_plan_that_was_changed_after_the_trials_keeps_the_labels_closed(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=2)
    play(folder)
    text = (folder.path / 'session.json').read_text()
    for old, new in (('"episodes": 2', '"episodes": 1'), ('"cube"', '"cup"')):
        (folder.path / 'session.json').write_text(text.replace(old, new))
        with pytest.raises(SetupError, match='does not fit'):
            open_session(SessionFolder(folder.path))


def test_bags_bring_times_and_the_outcomes_that_were_left_to_them(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    ids = play(folder, {NAMES[0]: [RECORDED]})
    left = next(id for id, name in key_of(folder).items() if name == NAMES[0])
    with pytest.raises(SetupError, match=f"{left} was marked 'recorded', and no bag"):
        open_session(folder)
    bags = [
        bag_of(folder, tmp_path / id, id, Outcome.FAILURE if id == left else Outcome.SUCCESS)
        for id in ids
    ]
    opened = open_session(folder, bags_of(*bags))
    assert {e.name: e.is_success for e in opened.outcomes} == {id: id != left for id in ids}
    assert {e.name: e.policy for e in opened.outcomes} == key_of(folder)
    assert all(each.operations and each.duration == 10.0 for each in opened.outcomes)
    assert opened.notes == ()


def test_a_contradiction_keeps_the_labels_closed_until_somebody_decides(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    first, second = play(folder)
    bags = bags_of(bag_of(folder, tmp_path / 'one', first, Outcome.FAILURE))
    with pytest.raises(SetupError, match=f'{first} is a success by its mark and a failure in its'):
        open_session(folder, bags)
    assert not events_of(folder, OPENED)
    for decided_by, is_success in (('marks', True), ('bags', False)):
        opened = open_session(folder, bags, OpeningOptions(decided_by=decided_by))
        assert {e.name: e.is_success for e in opened.outcomes} == {first: is_success, second: True}
        assert f'the {decided_by} decide' in ' '.join(opened.notes)
        assert events_of(folder, OPENED)[-1]['decided_by'] == decided_by


def test_times_are_not_selected_by_outcome(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=3)
    ids = play(folder)
    ends = dict.fromkeys(ids, Outcome.SUCCESS) | {ids[0]: Outcome.FAILURE}
    bags = bags_of(*(bag_of(folder, tmp_path / id, id, end) for id, end in ends.items()))
    for decided_by, has_times in (('marks', False), ('bags', True)):
        opened = open_session(folder, bags, OpeningOptions(decided_by=decided_by))
        assert [bool(each.operations) for each in opened.outcomes] == [has_times] * 6
        assert has_times != ('the times of all trials are left out' in ' '.join(opened.notes))
    assert all(each.duration == 10.0 for each in opened.outcomes)


def test_the_opening_counts_what_was_invalid_of_each_policy(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=2)
    play(folder, {NAMES[0]: [INVALID, 'failure', INVALID, INVALID]})
    opened = open_session(folder)
    assert opened.invalid == {NAMES[0]: 3, NAMES[1]: 0}
    assert opened.marks == {NAMES[0]: (1, 2), NAMES[1]: (2, 2)}


def test_a_corrected_mark_settles_a_contradiction_and_is_seen(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    first, _ = play(folder)
    bags = bags_of(bag_of(folder, tmp_path / 'one', first, Outcome.FAILURE))
    mark(folder, first, 'failure', 'it fell off after all', 'operator')
    opened = open_session(folder, bags)
    corrected = next(each for each in opened.outcomes if each.name == first)
    assert corrected.is_success is False
    assert 'its mark was corrected: success, failure' in corrected.notes


def test_a_bag_without_the_name_of_its_trial_is_found_by_its_time(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    first, second = play(folder)
    # The second trial a minute later.
    begun = trials_of(folder.journal.events())[second].begun
    later = datetime.fromisoformat(begun.replace('Z', '+00:00')).timestamp() + 60.0
    new = datetime.utcfromtimestamp(later).strftime('%Y-%m-%dT%H:%M:%S.%fZ')
    rewrite(folder, lambda line: line.replace(begun, new))
    bags = bags_of(bag_of(folder, tmp_path / 'one', first, policy='remote'))
    opened = open_session(folder, bags)
    assert f'one was taken for trial {first} by its time' in opened.notes
    assert f'without a bag: {second}' in opened.notes
    other = bags_of(bag_of(folder, tmp_path / 'two', first, policy='remote', offset=3600.0))
    assert 'two is of no valid trial of the session' in open_session(folder, other).notes


def test_a_bag_of_an_invalid_trial_or_of_another_session_is_of_no_trial(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    ids = play(folder, {NAMES[0]: [INVALID]})  # all within the tolerance of time
    invalid = next(id for id, t in trials_of(folder.journal.events()).items() if not t.is_valid)
    valid = next(id for id in ids if id != invalid)
    other = next(iter(key_of(unserved_session(tmp_path / 'o', ('cube',), episodes=1))))
    # Long ago, but for one trial.
    for id in set(ids) - {valid}:
        begun = trials_of(folder.journal.events())[id].begun
        rewrite(folder, lambda line, begun=begun: line.replace(begun, f'2001{begun[4:]}'))
    bags = [
        bag_of(folder, tmp_path / 'one', valid, Outcome.FAILURE, policy=invalid, offset=1.0),
        bag_of(folder, tmp_path / 'two', valid, Outcome.FAILURE, policy=other),
    ]
    decided = OpeningOptions(decided_by='bags')
    opened = open_session(folder, bags_of(*bags), decided)
    assert all(each.is_success for each in opened.outcomes)
    assert {f'{name} is of no valid trial of the session' for name in ('one', 'two')} <= {
        *opened.notes
    }


def test_a_bag_without_a_name_from_an_invalid_trial_is_of_no_valid_one(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    play(folder, {NAMES[0]: [INVALID]})
    trials = trials_of(folder.journal.events())
    invalid = next(id for id, each in trials.items() if not each.is_valid)
    # The next valid trial begins within the tolerance after its end, another one much later.
    far = next(each.begun for each in trials.values() if each.is_valid)
    rewrite(folder, lambda line: line.replace(far, f'2101{far[4:]}'))
    bags = bags_of(bag_of(folder, tmp_path / 'one', invalid, Outcome.FAILURE, policy='remote'))
    opened = open_session(folder, bags)
    assert 'one is of no valid trial of the session' in opened.notes


def test_a_bag_with_the_name_of_one_trial_and_the_time_of_another_keeps_the_labels_closed(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    first, second = play(folder)
    begun = trials_of(folder.journal.events())[first].begun
    rewrite(folder, lambda line: line.replace(begun, f'2001{begun[4:]}'))
    bags = bags_of(bag_of(folder, tmp_path / 'one', second, policy=first))
    doubt = f'one has the name of trial {first}, and the time of trial {second}'
    with pytest.raises(SetupError, match=doubt):
        open_session(folder, bags)
    assert not events_of(folder, OPENED)
    assert doubt in open_session(folder, bags, OpeningOptions(decided_by='marks')).notes


@pytest.mark.parametrize('date', ['2026-11-28', '2026-11-28T10:00:00', 'yesterday', ''])
def test_a_file_of_outcomes_with_any_date_can_be_given(tmp_path, date):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    play(folder)
    file = tmp_path / 'other.csv'
    file.write_text(f'episode,policy,success,date\none,remote,true,{date}\n')
    assert 'one is of no valid trial of the session' in open_session(folder, bags_of(file)).notes


def test_pairs_are_found_where_only_some_trials_have_a_bag_with_an_instruction(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    first, _ = play(folder)
    bag = tmp_path / 'bag.csv'
    bag.write_text(f'episode,policy,success,task\none,{first},true,pick up the cube\n')
    write_outcomes_csv(open_session(folder, bags_of(bag)).outcomes, tmp_path / 'o.csv')
    assert len(read_pairs(str(tmp_path / 'o.csv'), *NAMES).pairs) == 1


def test_an_opening_after_the_first_says_that_the_labels_were_known(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    play(folder)
    assert not any(each.notes for each in open_session(folder).outcomes)
    again = open_session(folder)
    assert all('the labels were open since' in each.notes[0] for each in again.outcomes)
    assert 'the labels were open since' in again.notes[0]


def test_two_bags_of_one_trial_are_refused(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    first, _ = play(folder)
    bags = bags_of(*(bag_of(folder, tmp_path / name, first) for name in ('one', 'two')))
    with pytest.raises(SetupError, match=f'both of trial {first}'):
        open_session(folder, bags)


def test_a_copy_of_a_bag_counts_once(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    first, _ = play(folder)
    bag_of(folder, tmp_path / 'bags' / 'one', first)
    shutil.copytree(tmp_path / 'bags', tmp_path / 'copies')
    opened = open_session(folder, bags_of(tmp_path / 'bags', tmp_path / 'copies'))
    assert any('recorded twice' in note for note in opened.notes)
    assert [e.duration for e in opened.outcomes if e.name == first] == [10.0]


def test_of_a_trial_that_is_valid_after_all_the_repeat_does_not_count(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    ids = play(folder, {NAMES[0]: [INVALID]})
    first = next(id for id, name in key_of(folder).items() if name == NAMES[0])
    mark(folder, first, 'failure', 'it was its own fault', 'operator')
    opened = open_session(folder)
    assert len(ids) == 3 and opened.marks == {NAMES[0]: (0, 1), NAMES[1]: (1, 1)}
    assert any(f'it repeats {first}' in note for note in opened.notes)
