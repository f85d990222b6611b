# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags, as other tools write them, of a simulation that began again while it was recorded."""

import numpy as np
import pytest
from bag_making import T0, stamp
from robot_bags import joint_state
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from frame_ros.cli import main
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND
from frame_ros.episodes import read_episodes
from frame_ros.episodes.observations import RecordedObservations
from frame_ros.episodes.recorded.actions import read_raw, recorded_actions

STORE = get_typestore(Stores.ROS2_JAZZY)
TYPE = 'sensor_msgs/msg/JointState'
STEPS = 200
RATE = 50


def simulated_bag(folder, set_back=True, begin=5 * SECOND):
    """Two runs of a simulation, 4 s each, of which the second begins at the same time again."""
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topics = {
            name: writer.add_connection(name, TYPE, typestore=STORE)
            for name in ('/joint_states', '/joint_commands')
        }
        for step in range(2 * STEPS):
            passed = step % STEPS if set_back else step
            at = begin + passed * SECOND // RATE
            received = T0 + step * SECOND // RATE
            for i, topic in enumerate(topics.values()):
                content = joint_state(at + i, np.full(6, 0.001 * step))
                writer.write(topic, received + i, STORE.serialize_cdr(content, TYPE))
    return folder


SET_BACK = 'its clock was set back by 4.0 s, 4.0 s after its first message'


def test_commands_and_states_of_two_times_are_not_taken_in_turns(tmp_path):
    bag = simulated_bag(tmp_path / 'bag')
    with pytest.raises(BagError, match=f'/joint_commands: {SET_BACK}.*--stamps receive'):
        recorded_actions(bag)
    (episode,) = read_raw(bag)
    with pytest.raises(BagError, match=f'/joint_states: {SET_BACK}.*--stamps receive'):
        RecordedObservations(episode, cameras=())
    actions = recorded_actions(bag, stamps='receive')
    assert len(actions) == 2 * STEPS
    np.testing.assert_allclose(actions.positions[:, 0], 0.001 * np.arange(2 * STEPS))


def test_a_report_says_it_and_prints_the_command_that_is_right(tmp_path, capsys):
    bag = simulated_bag(tmp_path / 'bag')
    (episode,) = read_episodes(bag)
    assert sum(SET_BACK in problem for problem in episode.problems) == 2
    main(['report', str(bag), '-q', '--robot', 'so101', '-o', str(tmp_path / 'page.html')])
    said = capsys.readouterr().err
    assert SET_BACK in said and '--stamps receive' in said.splitlines()[-1]
    page = ['-o', str(tmp_path / 'page.html'), '--robot', 'so101', '--stamps', 'receive']
    assert main(['report', str(bag), '-q', *page]) == 0
    assert 'set back' not in capsys.readouterr().err


@pytest.mark.parametrize('change', ['none', 'one', 'two late', 'nearly', 'no receipt'])
def test_late_messages_alone_are_no_clock_that_was_set_back(change, tmp_path):
    stamps = 5 * SECOND + np.arange(300) * SECOND // RATE
    received = T0 + stamps
    received[:: 10 if change == 'no receipt' else 300] = 0
    late = {
        'none': [],
        'no receipt': [],
        'one': [100],
        'two late': [100, 101],
        'nearly': [*range(100, 140)],
    }[change]
    stamps[late] -= SECOND // 2 if change == 'nearly' else 2 * SECOND
    with Writer(tmp_path / 'bag', version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection('/joint_states', TYPE, typestore=STORE)
        for at, reception in zip(stamps.tolist(), received.tolist()):
            content = joint_state(at, np.full(6, 0.1))
            object.__setattr__(content.header, 'stamp', stamp(at))
            writer.write(topic, reception, STORE.serialize_cdr(content, TYPE))
    (episode,) = read_raw(tmp_path / 'bag')
    assert not any('set back' in problem for problem in episode.problems)
