# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of the seconds around a moment, without a node."""

import struct

import pytest
from test_episode_recording import STRING, T0, TEXT, Origin, message

from frame_ros.bags.find_bags import find_bags, survey
from frame_ros.bags.reader import Bag
from frame_ros.bags.recording.session import ReceivedMessage, RecordedTopic
from frame_ros.bags.recording.snapshots import SnapshotOptions, Snapshots
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND

EVENTS = RecordedTopic('/episode_events', STRING)


def at(seconds):
    return T0 + round(seconds * SECOND)


def event(seconds, episode_id):
    data = episode_id.encode() + b'\0'
    head = b'\0\1\0\0' + struct.pack('<I', len(data))
    return ReceivedMessage(EVENTS, at(seconds), at(seconds), head + data)


def episode_of(data):
    return data[8:-1].decode()


@pytest.fixture()
def said():
    return []


@pytest.fixture()
def make(tmp_path, said):
    origin = Origin()
    origin.topics = [TEXT, EVENTS]

    def make(**options):
        chosen = SnapshotOptions(free=0, **options)
        return Snapshots(tmp_path, origin, chosen, EVENTS, episode_of, said.append)

    return make


def hear(snapshots, *messages):
    for each in messages:
        if each.topic is EVENTS:
            EVENTS.latched.append(each)  # as who listens to a latched topic does
        snapshots.accept(each)


def times(bag, topic='/text'):
    return [round((received - T0) / SECOND, 3) for received, _ in bag.messages(topic)]


def test_a_snapshot_holds_the_time_around_its_moment_and_the_events_of_its_episode(make, said):
    snapshots = make(before=2.0, after=1.0)
    hear(snapshots, event(-20.0, 'before'), event(-5.0, 'now'))
    hear(snapshots, *(message(seconds) for seconds in (-3.0, -1.5, -0.1)))
    snapshots.ask(T0, 'now', {'causes': 'score'})
    snapshots.look(at(0.05))
    hear(snapshots, message(0.5))
    snapshots.ask(at(0.6), 'now', {})  # within the time behind
    snapshots.look(at(0.99))
    assert snapshots.written == []
    snapshots.look(at(1.0))
    hear(snapshots, message(1.5))
    (folder,) = snapshots.written
    bag = Bag(folder)
    assert times(bag) == [-1.5, -0.1, 0.5]
    assert [m.data for _, m in bag.messages('/episode_events')] == ['now']
    assert bag.metadata['causes'] == 'score' and bag.metadata['snapshot_of'] == str(T0)
    assert folder.parent.name == 'halt_snapshots' and folder.name.startswith('now_halt_')
    assert not said


def test_a_second_snapshot_begins_where_the_first_ended(make):
    snapshots = make(before=5.0, after=1.0)
    hear(snapshots, message(-1.0))
    for begin in (0.0, 3.0):
        snapshots.ask(at(begin), 'e', {})
        snapshots.look(at(begin))
        hear(snapshots, message(begin + 0.5))
        snapshots.look(at(begin + 1.0))
        hear(snapshots, message(begin + 1.5))
    assert [times(Bag(folder)) for folder in snapshots.written] == [[-1.0, 0.5], [1.5, 3.5]]


def test_memory_and_number_are_limited_and_what_is_open_is_completed(make, said):
    size = len(message(0.0).data)
    snapshots = make(before=10.0, memory=2 * size, most=1)
    hear(snapshots, *(message(seconds) for seconds in (-3.0, -2.0, -1.0)))
    snapshots.ask(T0, 'e', {})
    snapshots.look(T0)
    snapshots.close()
    snapshots.close()
    assert times(Bag(snapshots.written[0])) == [-2.0, -1.0]
    snapshots.ask(at(5.0), 'e', {})
    snapshots.look(at(5.0))
    assert len(snapshots.written) == 1
    assert said == ['no further snapshot: 1 were written, as many as `most`']


def test_a_clock_that_is_set_back_ends_a_snapshot(make):
    snapshots = make(before=5.0, after=1.0)
    hear(snapshots, message(-1.0))
    snapshots.ask(at(0.0), 'e', {})
    snapshots.look(at(0.0))
    snapshots.look(at(0.5))
    snapshots.look(at(-3600.0))
    assert len(snapshots.written) == 1
    snapshots.ask(at(0.5), 'e', {})  # of before the clock was set back
    snapshots.look(at(-3600.0))
    snapshots.look(at(-3599.0))
    assert len(snapshots.written) == 2


def test_a_full_disk_and_a_folder_that_cannot_be_made_are_reported(tmp_path, make, said):
    snapshots = make()
    (tmp_path / 'halt_snapshots').write_text('a file')
    snapshots.ask(T0, 'e', {})
    snapshots.look(T0)
    snapshots.close()
    assert len(said) == 1 and said[0].startswith('no snapshot: cannot record into')
    assert snapshots.written == []


def test_snapshots_are_no_episodes_of_their_run(make, tmp_path):
    snapshots = make()
    hear(snapshots, message(-1.0))
    snapshots.ask(T0, 'e', {})
    snapshots.look(T0)
    snapshots.close()
    found = survey(tmp_path / 'halt_snapshots')
    assert found.bags == snapshots.written
    with pytest.raises(BagError):
        find_bags(tmp_path)
    (tmp_path / 'episode').mkdir()
    bag = snapshots.written[0]
    for file in bag.iterdir():
        (tmp_path / 'episode' / file.name).write_bytes(file.read_bytes())
    found = survey(tmp_path)
    assert found.bags == [tmp_path / 'episode']
    assert [path.name for path, _ in found.others] == ['halt_snapshots']
