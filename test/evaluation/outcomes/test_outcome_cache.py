# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The cached outcomes of bags: used when they hold, and never else."""

import json
import os
import shutil
import threading

import pytest
from bag_making import T0, pose, write_bag
from outcome_bags import outcome_bag

from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.evaluation.outcomes import cache as cache_module
from frame_ros.evaluation.outcomes import reading
from frame_ros.evaluation.outcomes.cache import OutcomeCache, default_folder
from frame_ros.evaluation.outcomes.options import OutcomeOptions
from frame_ros.evaluation.outcomes.reading import outcomes_of_bag, read_outcomes


@pytest.fixture()
def opened(monkeypatch):
    """The bags that were read, not taken from the cache."""
    found, original = [], reading.read_event_episodes
    monkeypatch.setattr(
        reading,
        'read_event_episodes',
        lambda bag, *others: found.append(bag.name) or original(bag, *others),
    )
    return found


@pytest.fixture()
def bag(tmp_path):
    seen = [(4.0, EventType.SUCCESS, {})]
    return outcome_bag(tmp_path / 'bags' / 'e1', seen=seen, facts={'stage.lifted': 'yes'})


@pytest.fixture()
def cache(tmp_path):
    return OutcomeCache(tmp_path / 'cache', 'options')


def test_what_is_loaded_equals_what_was_stored(bag, cache, opened, tmp_path):
    before = sorted((path.name, path.stat().st_mtime_ns) for path in bag.iterdir())
    first, second = outcomes_of_bag(bag, cache), outcomes_of_bag(bag, cache)
    assert opened == ['e1'] and first == second
    assert type(second[0].outcome.operations[0].ending) is type(
        first[0].outcome.operations[0].ending
    )
    assert sorted((path.name, path.stat().st_mtime_ns) for path in bag.iterdir()) == before
    (entry,) = (tmp_path / 'cache').iterdir()
    assert json.loads(entry.read_text())['state']['bag'] == str(bag)


@pytest.mark.parametrize(
    'damage',
    [b'', b'{', b'[]', b'{"state": null}', b'{"state": {}, "episodes": 3}', b'\xff\xfe', None],
)
def test_a_damaged_entry_is_made_again(bag, cache, opened, tmp_path, damage):
    first = outcomes_of_bag(bag, cache)
    (entry,) = (tmp_path / 'cache').iterdir()
    content = json.loads(entry.read_text())
    if damage is None:
        content['episodes'][0]['outcome']['operations'][0][2] = 'vanished'
        damage = json.dumps(content).encode()
    entry.write_bytes(damage)
    assert outcomes_of_bag(bag, cache) == first
    assert outcomes_of_bag(bag, cache) == first
    assert opened == ['e1', 'e1']


def test_every_field_of_an_entry_is_checked(bag, cache, opened, tmp_path):
    outcomes_of_bag(bag, cache)
    (entry,) = (tmp_path / 'cache').iterdir()
    content = json.loads(entry.read_text())
    for name in content['state']:
        changed = {**content, 'state': {**content['state'], name: 'other'}}
        entry.write_text(json.dumps(changed))
        del opened[:]
        outcomes_of_bag(bag, cache)
        assert opened == ['e1'], name


def test_a_changed_bag_is_read_again(bag, cache, opened, tmp_path):
    outcomes_of_bag(bag, cache)
    shutil.rmtree(bag)
    outcome_bag(bag, Outcome.FAILURE)
    assert not outcomes_of_bag(bag, cache)[0].outcome.is_success
    # The same size and time, other content.
    (storage,) = bag.glob('*.mcap')
    state, content = storage.stat(), bytearray(storage.read_bytes())
    content[30] ^= 1
    storage.write_bytes(content)
    os.utime(storage, ns=(state.st_atime_ns, state.st_mtime_ns))
    outcomes_of_bag(bag, cache)
    os.utime(bag / 'episode.json', ns=(1, 1))
    outcomes_of_bag(bag, cache)
    assert opened == ['e1'] * 4
    outcomes_of_bag(bag, cache)
    assert opened == ['e1'] * 4


@pytest.mark.parametrize('name', ['e1_0.mcap-wal', 'arm.urdf'])
def test_a_companion_or_a_description_that_changes_is_read_again(bag, cache, opened, name):
    outcomes_of_bag(bag, cache)
    for content in ('one', 'two parts'):
        (bag / name).write_text(content)
        outcomes_of_bag(bag, cache)
        outcomes_of_bag(bag, cache)
    assert opened == ['e1'] * 3


def test_a_bag_by_a_link_has_the_name_of_the_link(tmp_path, cache):
    sent = [('/ee_pose', T0 + i, pose(T0 + i)) for i in range(5)]
    bag = write_bag(tmp_path / 'e1', sent)
    (tmp_path / 'link').symlink_to(bag)
    names = [outcomes_of_bag(each, cache)[0].outcome.name for each in (bag, tmp_path / 'link')]
    assert names == ['e1', 'link']


def test_other_options_and_versions_have_other_entries(bag, cache, opened, tmp_path, monkeypatch):
    outcomes_of_bag(bag, cache)
    outcomes_of_bag(bag, OutcomeCache(tmp_path / 'cache', 'others'))
    monkeypatch.setattr(cache_module, 'package_version', lambda: '99.0.0')
    outcomes_of_bag(bag, OutcomeCache(tmp_path / 'cache', 'others'))
    assert opened == ['e1'] * 3


def test_an_unfinished_bag_is_not_kept(tmp_path, cache, opened):
    bag = outcome_bag(tmp_path / 'e1')
    bag = bag.rename(tmp_path / 'e1.partial')
    for _ in range(2):
        outcomes_of_bag(bag, cache)
    assert opened == ['e1.partial'] * 2


def test_a_cache_that_cannot_be_written_is_reported(bag, tmp_path, opened):
    (tmp_path / 'file').write_text('')
    options = OutcomeOptions(cache_folder=str(tmp_path / 'file' / 'below'))
    found = read_outcomes([bag], options)
    assert len(found.outcomes) == 1
    assert 'outcomes are not kept for later runs' in found.notes[0]


def test_processes_may_share_a_folder(bag, tmp_path):
    expected = outcomes_of_bag(bag, None)
    found = []

    def run():
        own = OutcomeCache(tmp_path / 'cache')
        found.extend(outcomes_of_bag(bag, own) == expected for _ in range(5))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 20
    assert [path.suffix for path in (tmp_path / 'cache').iterdir()] == ['.json']


def test_labels_of_policies_are_those_of_all_bags_also_from_the_cache(tmp_path):
    for name, checkpoint in (('a', '/x/one'), ('b', '/y/one')):
        outcome_bag(tmp_path / name, checkpoint=checkpoint, start=T0 + ord(name) * SECOND)
    assert [o.policy for o in read_outcomes([tmp_path / 'a']).outcomes] == ['act, one']
    for _ in range(2):
        labels = [o.policy for o in read_outcomes([tmp_path]).outcomes]
        assert labels == ['act, /x/one', 'act, /y/one']


def test_the_folder_is_that_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv('FRAME_ROS_CACHE', '')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    assert default_folder() == tmp_path / 'frame_ros' / 'outcomes'
    monkeypatch.setenv('XDG_CACHE_HOME', 'relative')
    monkeypatch.setenv('HOME', str(tmp_path))
    assert default_folder() == tmp_path / '.cache' / 'frame_ros' / 'outcomes'
    monkeypatch.setenv('FRAME_ROS_CACHE', str(tmp_path / 'own'))
    assert default_folder() == tmp_path / 'own' / 'outcomes'
