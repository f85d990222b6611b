# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of many bags: the arrays of one are released before the next is read."""

from __future__ import annotations

import tracemalloc
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest
from bag_making import STORE, T0, episode_messages, joints, message, stamp, write_bag

from frame_ros.bags.writer import BagWriter
from frame_ros.cli import main
from frame_ros.cli.report.reading import checked
from frame_ros.core.time import SECOND
from frame_ros.episodes import read_episodes
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.released import ReleasedError, release
from frame_ros.reports import build_report, report_data
from frame_ros.reports.model.episode_check import EpisodeChecks
from frame_ros.reports.model.options import ReportOptions

STEPS = 6000
# Bytes that a further step in a further bag may take: what its page has of it, thinned. Kept
# arrays took 630.
MOST_PER_STEP = 250
POSE = 'geometry_msgs/msg/PoseStamped'
JOINTS = 'sensor_msgs/msg/JointState'


def fast_bag(folder: Path) -> Path:
    """Commands and poses at 1 kHz."""
    writer = BagWriter(folder)
    poses, actions = writer.add_topic('/ee_pose', POSE), writer.add_topic('/joint_commands', JOINTS)
    for step in range(STEPS):
        at = T0 + step * SECOND // 1000
        pose = message(POSE, header__stamp=stamp(at), header__frame_id='base_link')
        object.__setattr__(pose.pose.position, 'x', 0.1 * np.sin(step / 500))
        writer.write(poses, at, bytes(STORE.serialize_cdr(pose, POSE)))
        content = joints(at + 1000, 0.1 * np.sin(step / 300), 0.2)
        writer.write(actions, at + 1000, bytes(STORE.serialize_cdr(content, JOINTS)))
        if step % 1000 == 0:
            writer.flush()
    return writer.finish()


def most_memory(bags: Path) -> int:
    """Bytes at most at once while the command makes page and JSON of the bags in a folder."""
    tracemalloc.start(1)
    try:
        given = ['--json', str(bags / 'r.json'), '-o', str(bags / 'r.html')]
        assert main(['report', str(bags), '-q', *given]) == 0
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_further_bag_takes_the_memory_of_its_part_of_the_page(tmp_path: Path):
    for count in (1, 4):
        for number in range(count):
            fast_bag(tmp_path / str(count) / f'b{number}')
    most_memory(tmp_path / '1')  # imports
    one, four = most_memory(tmp_path / '1'), most_memory(tmp_path / '4')
    assert (four - one) / 3 < MOST_PER_STEP * STEPS


@pytest.fixture
def bags(tmp_path: Path) -> Path:
    for name in 'ab':
        policy = {'policy': name, 'robot': 'so101'}
        write_bag(tmp_path / name, episode_messages(episode_id=name), policy)
    return tmp_path


def test_page_and_data_are_the_same_of_released_episodes(bags: Path):
    made, options = datetime(2026, 1, 1, tzinfo=timezone.utc), ReportOptions()
    whole = list(read_episodes(bags))
    checks = EpisodeChecks()
    released = list(checked(read_episodes(bags), checks, options))
    assert all(episode.kept for episode in released)
    assert report_data(whole) == report_data(released, options, checks)
    pages = [
        build_report(episodes, made=made, options=options, checks=known)
        for episodes, known in ((whole, None), (released, checks))
    ]
    assert pages[0] == pages[1]


def test_a_released_array_is_an_error_not_a_wrong_value(bags: Path):
    episode = next(iter(read_episodes(bags)))
    bounds, values = bounds_of(episode), {id: episode.value(id) for id in ('pl', 'op', 'il', 'cr')}
    release(episode)
    assert bounds_of(episode) == bounds
    assert {id: episode.value(id) for id in values} == values
    assert 'pose' in episode.streams and 'wrench' not in episode.streams and episode.metrics
    assert episode.streams.get('wrench') is None
    with pytest.raises(ReleasedError, match='pose'):
        episode.streams['pose']
