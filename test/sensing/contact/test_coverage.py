# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Links that a sensor feels, by its place in the tree."""

from pathlib import Path

import pytest

from frame_ros.core.errors import RobotError
from frame_ros.robots import load_robot
from frame_ros.sensing.contact.coverage import behind_joints, beyond_sensor, solid_links

ROBOTS = Path(__file__).resolve().parents[3] / 'examples' / 'robots'


def covered(coverage):
    return {link for link, why in coverage.items() if not why}


def test_a_wrist_sensor_feels_what_it_carries():
    robot = load_robot('fr3')
    coverage = beyond_sensor(robot, 'fr3_link8')
    assert covered(coverage) == {'fr3_hand', 'fr3_leftfinger', 'fr3_rightfinger'}
    assert covered(beyond_sensor(robot, 'fr3_link7')) == covered(coverage) | {'fr3_link7'}
    assert 'before the force-torque sensor on fr3_link8' in coverage['fr3_link5']
    with pytest.raises(RobotError):
        beyond_sensor(robot, 'nothing')


def test_a_wrist_sensor_feels_a_tool_that_is_not_described():
    robot = load_robot(str(ROBOTS / 'ur5e' / 'ur5e.yaml'))
    coverage = beyond_sensor(robot, robot.profile.sensor_link)
    assert 'tool0' not in solid_links(robot) and covered(coverage) == {'tool0'}
    assert set(coverage) == {*solid_links(robot), 'tool0'}


@pytest.mark.parametrize('name', ['fr3', 'so101'])
def test_joints_feel_links_that_two_of_them_move(name):
    robot = load_robot(name)
    everything = behind_joints(robot, robot.joint_names)
    blind = [link for link in solid_links(robot) if everything[link]]
    assert len(blind) == 2, 'base and the first link'
    assert 'only' in everything[blind[1]]
    fewer = behind_joints(robot, robot.joint_names[1:])
    assert covered(fewer) < covered(everything)
    assert not covered(behind_joints(robot, ()))
    assert set(everything) == set(solid_links(robot))
