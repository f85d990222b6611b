# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded poses in another unit than m, and wrenches without contact states."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from bag_making import message, stamp, write_bag
from robot_bags import JOINTS, commands, joint_state, step_stamp

from frame_ros.bags.findings import Note
from frame_ros.bags.reader import Bag
from frame_ros.episodes.foreign_bags.pose_checks import reach_of
from frame_ros.episodes.foreign_bags.topic_uses import use_lines
from frame_ros.episodes.reading import read_episodes
from frame_ros.robots import load_robot

COUNT = 60


def recording(folder: Path, scale: float, slow: float = 1.0, jitter: int = 0) -> Path:
    """A tip on a circle of 0.15 m radius, about 0.4 m from the base, in other units by `scale`."""
    sent: list[tuple[str, int, Any]] = []
    for step in range(COUNT):
        at = step_stamp(step)
        pose = message(
            'geometry_msgs/msg/PoseStamped', header__stamp=stamp(at + (step % 2) * jitter)
        )
        place, angle = pose.pose.position, 0.1 * step * slow
        place.x, place.y, place.z = 0.35 * scale, 0.15 * scale * math.sin(angle), 0.0
        place.z = scale * (0.2 + 0.15 * math.cos(angle))
        pose.pose.orientation.w = 1.0
        sent.append(('/ee_pose', at, pose))
    return write_bag(folder, sent)


def doubts(path: Path, **options: Any) -> list[str]:
    (episode,) = read_episodes(path, topics={'action': '/ee_pose'}, **options)
    return [text for text in episode.problems if 'm apart' in text and not isinstance(text, Note)]


@pytest.mark.parametrize('robot', [None, 'so101', 'fr3'])
@pytest.mark.parametrize(
    ('scale', 'said'),
    [
        (
            1000.0,
            'look like mm; a PoseStamped is in m, and lengths, speeds and jerk are then 1,000 ',
        ),
        (100.0, 'look like cm; '),
    ],
)
def test_other_units_are_named(tmp_path: Path, robot: str | None, scale: float, said: str):
    (found,) = doubts(recording(tmp_path / 'bag', scale), robot=robot)
    assert found.startswith('/ee_pose: positions ') and said in found
    assert ('reaches' in found) is (robot is not None)


def test_a_slow_motion_is_known_by_the_reach_of_the_robot(tmp_path: Path):
    path = recording(tmp_path / 'bag', 1000.0, slow=0.02)
    (found,) = doubts(path, robot='so101')
    assert 'look like mm' in found


@pytest.mark.parametrize('robot', [None, 'so101', 'fr3'])
def test_metres_are_sound_whatever_the_stamps_do(tmp_path: Path, robot: str | None):
    # Every other stamp is 33 ms late: two samples are 0.2 ms apart.
    path = recording(tmp_path / 'bag', 1.0, jitter=33_100_000)
    assert doubts(path, robot=robot) == []


def test_the_reach_is_beyond_every_pose_of_the_tip():
    for name in ('so101', 'fr3', 'panda'):
        robot = load_robot(name)
        far = max(
            math.hypot(*robot.forward(row)[0])
            for row in (robot.lower, robot.upper, 0.5 * (robot.lower + robot.upper))
        )
        assert far < reach_of(robot) < 3.0


def test_a_wrench_without_contact_states_names_what_gives_forces(tmp_path: Path):
    sent: list[tuple[str, int, Any]] = []
    for step, row in enumerate(commands(COUNT)):
        at = step_stamp(step)
        wrench = message('geometry_msgs/msg/WrenchStamped', header__stamp=stamp(at))
        sent.append(('/joint_states', at, joint_state(at, row, JOINTS)))
        sent.append(('/ft_sensor/wrench', at, wrench))
    path = write_bag(tmp_path / 'bag', sent)
    (episode,) = read_episodes(path, robot='so101', topics={'action': '/joint_states'})
    (note,) = (text for text in episode.problems if 'contact node' in text)
    assert isinstance(note, Note) and note.startswith('/ft_sensor/wrench: forces (peak_force, ')
    (line,) = (text for text in use_lines(episode, Bag(path)) if '/ft_sensor/wrench' in text)
    assert 'nothing here uses it' not in line and 'contact node' in line
    (other,) = read_episodes(write_bag(tmp_path / 'without', sent[::2]), robot='so101')
    assert 'contact node' not in '\n'.join(other.problems)
