# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The opening of a session: not before all is done, outcomes by marks and bags, and the labels."""

from __future__ import annotations

from datetime import datetime

import pytest

pytest.importorskip('msgpack')
pytest.importorskip('websockets')

from blinded_servers import NAMES, events_of, key_of, play, unserved_session
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
    with pytest.raises(SetupError, match=f'trial {trial} is not marked and 1 trials are not run'):
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
    text = folder.journal.path.read_text().splitlines()
    # The second trial a minute later.
    begun = trials_of(folder.journal.events())[second].begun
    later = datetime.fromisoformat(begun.replace('Z', '+00:00')).timestamp() + 60.0
    new = datetime.utcfromtimestamp(later).strftime('%Y-%m-%dT%H:%M:%S.%fZ')
    folder.journal.path.write_text('\n'.join(line.replace(begun, new) for line in text) + '\n')
    bags = bags_of(bag_of(folder, tmp_path / 'one', first, policy='remote'))
    opened = open_session(folder, bags)
    assert f'one was taken for trial {first} by its time' in opened.notes
    assert f'without a bag: {second}' in opened.notes
    other = bags_of(bag_of(folder, tmp_path / 'two', first, policy='remote', offset=3600.0))
    assert 'two is of no valid trial of the session' in open_session(folder, other).notes


def test_two_bags_of_one_trial_are_refused(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    first, _ = play(folder)
    bags = bags_of(*(bag_of(folder, tmp_path / name, first) for name in ('one', 'two')))
    with pytest.raises(SetupError, match=f'both of trial {first}'):
        open_session(folder, bags)


def test_of_a_trial_that_is_valid_after_all_the_repeat_does_not_count(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    ids = play(folder, {NAMES[0]: [INVALID]})
    first = next(id for id, name in key_of(folder).items() if name == NAMES[0])
    mark(folder, first, 'failure', 'it was its own fault', 'operator')
    opened = open_session(folder)
    assert len(ids) == 3 and opened.marks == {NAMES[0]: (0, 1), NAMES[1]: (1, 1)}
    assert any(f'it repeats {first}' in note for note in opened.notes)
