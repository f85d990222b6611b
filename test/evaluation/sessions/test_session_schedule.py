# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The order of a blinded session: balanced, in blocks, drawn, and not to be guessed."""

from __future__ import annotations

import hashlib
import math
import re
import stat
import threading
from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import pytest

pytest.importorskip('msgpack')
pytest.importorskip('websockets')

from blinded_servers import (
    NAMES,
    OBJECTS,
    events_of,
    key_of,
    names_in,
    play,
    public_text,
    unserved_session,
)

from frame_ros.core.errors import SetupError
from frame_ros.evaluation.sessions.journal import BEGUN, INVALID, Journal, trials_of
from frame_ros.evaluation.sessions.plan import LETTERS, SessionOptions, draw_key
from frame_ros.evaluation.sessions.running import SessionRun, mark
from frame_ros.evaluation.sessions.schedule import Schedule

POLICIES = {name: {} for name in (*NAMES, 'gamma')}


def test_each_block_has_each_policy_once_in_each_cell():
    key = draw_key(POLICIES, OBJECTS, 7)
    blocks = [slot.block for slot in key.slots]
    assert blocks == sorted(blocks) and set(blocks) == set(range(1, 8))
    for block in range(1, 8):
        of_block = [(s.cell, s.policy) for s in key.slots if s.block == block]
        assert sorted(of_block) == sorted((c, p) for c in OBJECTS for p in POLICIES)


def test_every_order_of_a_block_is_drawn_as_often():
    key = draw_key(POLICIES, ('cube',), 3000)
    orders = Counter(
        tuple(slot.policy for slot in key.slots[i : i + 3]) for i in range(0, len(key.slots), 3)
    )
    assert len(orders) == 6
    # Chi-squared with 5 degrees of freedom exceeds 35 with a probability of 1.5e-6.
    assert sum((count - 500) ** 2 / 500 for count in orders.values()) < 35


def test_a_block_says_nothing_of_the_next_one():
    key = draw_key(dict.fromkeys(NAMES, {}), ('cube',), 4000)
    first = [slot.policy for slot in key.slots[::2]]
    same = sum(a == b for a, b in pairwise(first))
    assert abs(same - 2000) < 5 * math.sqrt(1000)


def test_ids_are_different_and_say_nothing_of_the_policy_block_or_cell():
    key = draw_key(dict.fromkeys(NAMES, {}), ('cube',), 2000)
    ids = [key.trial_id(i, 0) for i in range(4000)]
    assert len(set(ids)) == 4000 and all(re.fullmatch(f'[{LETTERS}]{{7}}', id) for id in ids)
    for place in range(7):
        counts = {name: Counter() for name in NAMES}
        for id, slot in zip(ids, key.slots):
            counts[slot.policy][id[place]] += 1
        # Homogeneity of letters between the policies: chi-squared with 30 degrees of freedom
        # exceeds 90 with a probability of 7e-8.
        found = sum(
            (counts[NAMES[0]][c] - counts[NAMES[1]][c]) ** 2
            / (counts[NAMES[0]][c] + counts[NAMES[1]][c])
            for c in LETTERS
        )
        assert found < 90
    # Ids in alphabetical order, or of a neighbour, predict no better than a coin.
    in_order = [slot.policy for _, slot in sorted(zip(ids, key.slots))]
    same = sum(a == b for a, b in pairwise(in_order))
    assert abs(same - 2000) < 5 * math.sqrt(1000)


def test_two_sessions_of_the_same_policies_have_nothing_in_common():
    keys = [draw_key(POLICIES, OBJECTS, 5) for _ in range(2)]
    assert keys[0].secret != keys[1].secret and keys[0].commitment != keys[1].commitment
    ids = [{key.trial_id(i, 0) for i in range(30)} for key in keys]
    assert not ids[0] & ids[1]


def test_the_public_part_names_no_policy_and_the_key_is_for_its_owner_only(tmp_path):
    folder = unserved_session(tmp_path / 's', episodes=2)
    assert names_in((tmp_path / 's' / 'private' / 'key.json').read_text()) == [*NAMES]
    assert stat.S_IMODE((tmp_path / 's' / 'private').stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / 's' / 'private' / 'key.json').stat().st_mode) == 0o600
    play(folder)
    assert not names_in(public_text(folder))
    assert len(folder.plan.commitment) == 64 and folder.plan.commitment in public_text(folder)


@pytest.mark.parametrize(
    ('text', 'is_named'),
    [
        ('no answer of ws://127.0.0.1:37573.', True), ("('127.0.0.1', 37573)", True),
        ('nanosec=495375731', False), ('0.37573', False), ('e37573b2', False),
    ],
)  # fmt: skip
def test_an_address_is_one_of_a_policy_and_a_stamp_with_its_digits_is_not(text, is_named):
    servers = {NAMES[0]: SimpleNamespace(port=37573)}
    assert bool(names_in(text, servers)) == is_named == bool(names_in(text.encode(), servers))


def test_a_changed_key_does_not_fit_its_commitment(tmp_path):
    folder = unserved_session(tmp_path / 's')
    file = tmp_path / 's' / 'private' / 'key.json'
    text = file.read_text()
    swapped = text.replace(NAMES[0], 'x').replace(NAMES[1], NAMES[0]).replace('x', NAMES[1])
    file.write_text(swapped)
    with pytest.raises(SetupError, match='not the key that was drawn'):
        folder.key()
    file.write_text(text)
    folder.key()
    # As anybody can check it without this program.
    assert hashlib.sha256(file.read_bytes()[:-1]).hexdigest() == folder.plan.commitment


def test_a_key_and_plan_that_were_exchanged_together_do_not_fit_the_journal(tmp_path):
    folder, other = (unserved_session(tmp_path / name) for name in 'ab')
    for name in ('session.json', 'private/key.json'):
        (folder.path / name).write_text((other.path / name).read_text())
    with pytest.raises(SetupError, match=r'journal\.jsonl has'):
        type(folder)(folder.path).key()


@pytest.mark.parametrize('count', [1, 3])
def test_an_invalid_trial_is_repeated_under_another_id_until_it_is_valid(tmp_path, count):
    folder = unserved_session(tmp_path / 's', episodes=3)
    ids = play(folder, {NAMES[0]: [INVALID] * count})
    assert len(ids) == len(set(ids)) == 12 + count
    schedule = Schedule.after(folder.key(), folder.journal.events())
    trials = trials_of(folder.journal.events())
    slots = Counter(schedule.begun[id].slot for id in ids if trials[id].is_valid)
    assert set(slots.values()) == {1} and len(slots) == 12
    blocks = [trials[id].block for id in ids]
    assert blocks == sorted(blocks)  # repeats stay in their blocks


def test_a_repeat_can_come_at_any_place_of_the_rest_of_its_block(tmp_path):
    places = Counter()
    for number in range(60):
        folder = unserved_session(tmp_path / str(number), episodes=1)
        first = next(iter(key_of(folder)))
        schedule = Schedule(folder.key())
        schedule.take({'event': 'begun', 'trial': first})
        schedule.take({'event': 'marked', 'trial': first, 'outcome': INVALID})
        known = [*key_of(folder)]
        places[[each.id in known for each in schedule.remaining].index(False)] += 1
    assert set(places) == {0, 1, 2, 3}


def test_a_correction_takes_back_a_repeat_that_has_not_begun(tmp_path):
    folder = unserved_session(tmp_path / 's', episodes=1)
    first = next(iter(key_of(folder)))
    schedule = Schedule(folder.key())
    schedule.take({'event': BEGUN, 'trial': first})
    for outcome, left in ((INVALID, 4), ('success', 3), (INVALID, 4), (INVALID, 4), ('failure', 3)):
        schedule.take({'event': 'marked', 'trial': first, 'outcome': outcome})
        assert len(schedule.remaining) == left


def test_a_trial_that_is_valid_after_all_needs_no_repeat_of_its_repeat(tmp_path):
    folder = unserved_session(tmp_path / 's', episodes=1)
    first = next(iter(key_of(folder)))
    repeat = folder.key().trial_id(0, 1)

    def left(*events):
        taken = [('begun', first, ''), ('marked', first, INVALID), ('begun', repeat, ''), *events]
        listed = ({'event': kind, 'trial': id, 'outcome': what} for kind, id, what in taken)
        return len(Schedule.after(folder.key(), listed).remaining)

    bad, good = ('marked', repeat, INVALID), ('marked', first, 'success')
    assert left() == 3 and left(bad) == 4
    assert left(bad, good) == left(good, bad) == 3
    assert left(good, bad, ('marked', first, INVALID)) == 4


def test_a_trial_begins_and_is_marked_while_nobody_else_can_write(tmp_path):
    folder = unserved_session(tmp_path / 's', ('cube',), episodes=1)
    run = SessionRun(folder, lambda text: None)
    with folder.journal.held() as add:
        thread = threading.Thread(target=run.begin, args=('',))
        thread.start()
        thread.join(0.5)
        assert thread.is_alive() and not events_of(folder, BEGUN)
        due = Schedule.after(folder.key(), folder.journal.events()).next
        add(BEGUN, trial=due.id, block=1, cell='cube')
        add('marked', trial=due.id, outcome=INVALID, why='', by='operator')
    thread.join()
    begun = [event['trial'] for event in events_of(folder, BEGUN)]
    assert len(set(begun)) == 2  # not the one that was due when it was called
    Schedule.after(folder.key(), folder.journal.events())


def test_marks_are_corrected_by_further_lines(tmp_path):
    folder = unserved_session(tmp_path / 's', episodes=1)
    first = play(folder)[0]
    before = folder.journal.path.read_bytes()
    mark(folder, first, 'failure', 'it fell later', 'operator')
    assert folder.journal.path.read_bytes().startswith(before)
    trial = trials_of(folder.journal.events())[first]
    assert [each.outcome for each in trial.marks] == ['success', 'failure']
    assert trial.outcome == 'failure' and trial.marks[-1].why == 'it fell later'


def test_a_half_written_line_is_dropped_and_a_wrong_one_is_named(tmp_path):
    journal = Journal(tmp_path / 'journal.jsonl')
    journal.add('planned')
    with journal.path.open('ab') as file:
        file.write(b'{"time": "now", "eve')
    assert [event['event'] for event in journal.events()] == ['planned']
    journal.add('served')
    assert [event['event'] for event in journal.events()] == ['planned', 'served']
    journal.path.write_text('{}\n')
    with pytest.raises(SetupError, match='line 1 is no event'):
        journal.events()


def test_a_journal_of_another_key_is_refused(tmp_path):
    folder, other = (unserved_session(tmp_path / name) for name in 'ab')
    play(other)
    with pytest.raises(SetupError, match='which the key does not have'):
        Schedule.after(folder.key(), other.journal.events())
    assert events_of(other, BEGUN)


@pytest.mark.parametrize(
    ('options', 'text'),
    [
        ({'cells': ('a', 'a')}, 'cells'),
        ({'cells': ('a',), 'instructions': {'b': 'x'}}, 'instructions'),
        ({'cells': ('a',), 'episodes': 0}, 'episodes'),
    ],
)
def test_options_that_cannot_be(options, text):
    with pytest.raises(SetupError, match=text):
        SessionOptions(**options)


def test_fewer_than_two_policies_or_no_cell_are_refused(tmp_path):
    with pytest.raises(SetupError, match='two or more'):
        draw_key({'one': {}}, ('cube',), 1)
    with pytest.raises(SetupError, match="' ' names no policy"):
        draw_key({'one': {}, ' ': {}}, ('cube',), 1)
    with pytest.raises(SetupError, match='names no policy'):
        draw_key({'one': {}, 'two\x1b[2J': {}}, ('cube',), 1)
    draw_key({'one': {}, 'پای\u200cزیرو': {}}, ('cube',), 1)
    with pytest.raises(SetupError, match='cells is empty'):
        draw_key(POLICIES, (), 1)
    (tmp_path / 'full').mkdir()
    (tmp_path / 'full' / 'x').touch()
    with pytest.raises(SetupError, match='not an empty folder'):
        unserved_session(tmp_path / 'full')
