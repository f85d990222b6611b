# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files in folders that are one recording, and those that are none."""

import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from bag_making import STORE, T0, episode_messages, joints, serialised, write_bag
from rosbags.rosbag1 import Writer as Ros1Writer
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as RosbagsWriter
from rosbags.typesys import Stores, get_typestore

from frame_ros.bags.find_bags import each_once, find_bags, ros1_hint, survey, unread_lines
from frame_ros.bags.findings import Note
from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND
from frame_ros.episodes import read_episodes


def loose(folder: Path, name: str, messages: list) -> Path:
    """One storage file alone, without metadata."""
    bag = write_bag(folder / 'making', messages)
    target = folder / name
    next(bag.glob('*.mcap')).rename(target)
    shutil.rmtree(bag)
    return target


def recordings(folder: Path, names: list[str], pause: int = 100 * SECOND) -> Path:
    """Recordings of 40 steps, each so long after the one before, as loose files."""
    folder.mkdir(exist_ok=True)
    for number, name in enumerate(names):
        start = T0 + number * (40 * SECOND // 50 + pause)
        loose(folder, name, episode_messages(40, start, f'e{number}'))
    return folder


def test_loose_recordings_in_a_folder_are_episodes_of_their_own(tmp_path):
    folder = recordings(tmp_path / 'set', ['a.mcap', 'b.mcap', 'c.mcap', 'd.mcap'])
    episodes = list(read_episodes(folder))
    assert [episode.episode_id for episode in episodes] == ['e0', 'e1', 'e2', 'e3']
    assert [episode.summary['steps'] for episode in episodes] == [40] * 4
    with pytest.raises(BagError, match=r'holds 4 recordings; name one of a\.mcap, b\.mcap'):
        Bag(folder)


def test_numbered_recordings_that_are_apart_in_time_are_several(tmp_path):
    folder = recordings(tmp_path / 'set', ['rec_0.mcap', 'rec_1.mcap', 'rec_2.mcap'])
    assert [path.name for path in find_bags(folder)] == ['rec_0.mcap', 'rec_1.mcap', 'rec_2.mcap']
    assert all(len(Bag(path).received('/ee_pose')) == 40 for path in find_bags(folder))


def test_a_split_bag_without_metadata_is_one_and_may_stand_beside_another(tmp_path):
    sent = episode_messages(60)
    folder = recordings(tmp_path / 'set', ['other.mcap'])
    for number, part in enumerate((sent[:40], sent[40:80], sent[80:])):
        loose(folder, f'run_{number}.mcap', part)
    bags = find_bags(folder)
    assert [path.name for path in bags] == ['other.mcap', 'run_0.mcap']
    whole = Bag(bags[1])
    assert len(whole.received('/ee_pose')) == 60
    assert whole.problems == ['run_0.mcap goes on in run_1.mcap, run_2.mcap: read as one recording']
    assert all(isinstance(problem, Note) for problem in whole.problems)
    parts = [folder / f'run_{number}.mcap' for number in (2, 0, 1, 0)]
    assert each_once([*parts, folder / 'other.mcap']) == [parts[1], folder / 'other.mcap']
    assert each_once(parts[:1]) == parts[:1]
    (episode,) = read_episodes(bags[1])
    assert episode.summary['steps'] == 60


def test_a_following_number_with_other_topics_is_another_recording(tmp_path):
    folder = recordings(tmp_path / 'set', ['run_0.mcap'])
    end = T0 + 40 * SECOND // 50
    loose(folder, 'run_1.mcap', [('/other', end, joints(end, 0.1))])
    assert len(find_bags(folder)) == 2


def test_an_empty_last_part_of_a_killed_recorder_belongs_to_its_recording(tmp_path):
    folder = recordings(tmp_path / 'set', ['run_0.mcap'])
    (folder / 'run_1.mcap').write_bytes(b'')
    assert find_bags(folder) == [folder]
    assert Bag(folder).is_truncated


def test_a_split_sqlite_bag_without_metadata_is_read_whole(tmp_path):
    folder = tmp_path / 'set'
    folder.mkdir()
    for number in (0, 1):
        source = tmp_path / f'part{number}'
        with RosbagsWriter(source, version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
            connection = writer.add_connection(
                '/joint_states', 'sensor_msgs/msg/JointState', typestore=STORE
            )
            for i in range(5):
                at = T0 + (number * 5 + i) * SECOND // 50
                writer.write(connection, at, serialised(joints(at, 0.1)))
        next(source.glob('*.db3')).rename(folder / f'run_{number}.db3')
    assert find_bags(folder) == [folder]
    assert len(Bag(folder).received('/joint_states')) == 10


def test_metadata_decides_what_is_of_a_bag_and_the_rest_is_named(tmp_path):
    bag = write_bag(tmp_path / 'bag', episode_messages(40))
    loose(bag, 'stray.mcap', episode_messages(10, T0 + 500 * SECOND))
    found = Bag(bag)
    assert len(found.received('/ee_pose')) == 40
    assert found.problems == ['not read, since metadata.yaml does not list them: stray.mcap']
    assert find_bags(bag) == [bag]


def test_metadata_of_renamed_files_does_not_hide_them(tmp_path):
    bag = write_bag(tmp_path / 'bag', episode_messages(40))
    next(bag.glob('*.mcap')).rename(bag / 'renamed.mcap')
    assert len(Bag(bag).received('/ee_pose')) == 40


def test_bags_are_found_in_nested_folders_and_the_rest_is_named(tmp_path):
    for name in ('run_2/e_1', 'run_10/e_1', 'run_10/e_2', 'run_10/more/e_3'):
        write_bag(tmp_path / name, episode_messages(4))
    (tmp_path / 'run_2' / 'logs').mkdir()
    (tmp_path / 'run_2' / 'report.html').write_text('x')
    (tmp_path / 'run_2' / 'loop').symlink_to(tmp_path)
    (tmp_path / 'old.bag').write_bytes(b'#ROSBAG V2.0\n')
    found = survey(tmp_path)
    names = [str(path.relative_to(tmp_path)) for path in found.bags]
    assert names == ['run_2/e_1', 'run_10/e_1', 'run_10/e_2', 'run_10/more/e_3']
    lines = unread_lines(found)
    assert len(lines) == 4 and 'ROS 1' in lines[0] and lines[0].endswith(': old.bag')
    assert any('a link to a folder' in line and line.endswith(': loop/') for line in lines)
    assert 'not read (no recording): report.html' in lines
    assert unread_lines(found, with_others=False) == lines[:1]


def test_the_command_of_the_ros_1_hint_converts(tmp_path, monkeypatch):
    old = get_typestore(Stores.ROS1_NOETIC)
    kind = 'sensor_msgs/msg/JointState'
    place = Path('of others', 'old.bag')  # as named where the command is run
    (tmp_path / place).parent.mkdir()
    monkeypatch.chdir(tmp_path)
    with Ros1Writer(place) as writer:
        connection = writer.add_connection('/joint_states', kind, typestore=old)
        header = old.types['std_msgs/msg/Header']
        time = old.types['builtin_interfaces/msg/Time']
        for i in range(5):
            content = old.types[kind](
                header(i, time(100 + i, 7), 'base'), ['a'], np.array([0.1 * i]), np.zeros(0),
                np.zeros(0),
            )  # fmt: skip
            writer.write(connection, T0 + i, old.serialize_ros1(content, kind))
    with pytest.raises(BagError, match='ROS 1') as told:
        Bag(place)
    hint = ros1_hint(place)
    assert hint in str(told.value)
    command = shlex.split(hint.partition(': ')[2])
    subprocess.run(command, check=True, timeout=120)
    _, columns = Bag(place.with_suffix('')).columns('/joint_states')
    assert columns['header.stamp.sec'].tolist() == [100, 101, 102, 103, 104]
    assert columns['position'][:, 0].tolist() == [0.1 * i for i in range(5)]
    assert 'header.seq' not in columns
