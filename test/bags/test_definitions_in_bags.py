# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags are read by the definitions that they hold, where no message package is installed."""

import sqlite3

import pytest
from bag_making import STORE, episode_messages, serialised, write_bag
from live_bags import with_live
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as RosbagsWriter

from frame_ros.bags import definitions
from frame_ros.core.errors import CHECKOUT
from frame_ros.episodes.reading import read_episodes
from frame_ros.reports import compare_live
from frame_ros.reports.parity.verdict import parity_verdict

SENT = with_live(episode_messages(40))


def write_by_rosbags(path, plugin):
    with RosbagsWriter(path, version=9, storage_plugin=plugin) as writer:
        connections = {}
        for topic, received, content in SENT:
            if topic not in connections:
                connections[topic] = writer.add_connection(
                    topic, content.__msgtype__, typestore=STORE
                )
            writer.write(connections[topic], received, serialised(content))
    return path


def check_live(path):
    (episode,) = read_episodes(path)
    assert not any('definition' in problem for problem in episode.problems)
    assert set(episode.live) == {'quality', 'safety', 'efficiency'}
    verdict = parity_verdict([compare_live(episode)])
    assert verdict.holds and verdict.compared > 1000


@pytest.mark.parametrize('plugin', ['ours', *StoragePlugin])
def test_live_metrics_are_read_where_no_package_is_installed(tmp_path, plugin, monkeypatch):
    if plugin == 'ours':
        path = write_bag(tmp_path / 'bag', SENT)
    else:
        path = write_by_rosbags(tmp_path / 'bag', plugin)
    monkeypatch.setattr(definitions, '_share_folders', lambda package, prefix_path: iter(()))
    definitions._find_definition.cache_clear()
    try:
        check_live(path)
    finally:
        definitions._find_definition.cache_clear()


@pytest.mark.skipif(CHECKOUT is None, reason='an installed package finds its own by its prefix')
def test_our_own_definitions_stand_in_for_those_that_a_bag_lacks(tmp_path, monkeypatch):
    """As rosbag2 of Humble wrote bags: sqlite3 without definitions; and without ROS here."""
    path = write_by_rosbags(tmp_path / 'bag', StoragePlugin.SQLITE3)
    (file,) = path.glob('*.db3')
    with sqlite3.connect(file) as base:
        base.execute("UPDATE message_definitions SET encoded_message_definition = ''")
    monkeypatch.setenv('AMENT_PREFIX_PATH', '')
    check_live(path)
