# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles of robots: packaged ones fit their URDFs; those of others are read and checked."""

import json
import math

import attrs
import pytest
import yaml

from frame_ros.core.errors import RobotError
from frame_ros.gate.limits.command_limits import limits_of
from frame_ros.robots import ROBOT_NAMES, find_urdf, load_robot
from frame_ros.robots.catalogue import _check_names
from frame_ros.robots.profiles import find_profile, packaged_profiles


@pytest.fixture
def outside(tmp_path):
    """Writes a profile beside a copy of a URDF, and returns its path."""

    def write(**content):
        (tmp_path / 'mine.urdf').write_text(find_urdf('so101').read_text())
        path = tmp_path / 'mine.yaml'
        path.write_text(yaml.safe_dump({'urdf': 'mine.urdf', **content}))
        return path

    return write


@pytest.mark.parametrize('profile', packaged_profiles(), ids=ROBOT_NAMES)
def test_a_packaged_profile_fits_its_urdf(profile):
    robot = load_robot(profile.name)
    assert robot.profile is profile
    _check_names(robot, profile)
    if home := profile.postures.get('home'):
        assert tuple(home) == tuple(robot.joint_limits)
        for name, (lower, upper) in robot.joint_limits.items():
            assert lower <= home[name] <= upper
    limits_of(robot)


def test_a_profile_outside_the_package_is_found_by_path_and_by_folder(outside, monkeypatch):
    path = outside(
        tips={'default': 'gripper_link'},
        rates={name: {'acceleration': 7} for name in load_robot('so101').joint_limits},
        gripper={'joint': 'gripper', 'closed': 0.1, 'opened': 0.3},
    )
    robot = load_robot(path)
    assert (robot.name, robot.tip_link) == ('mine', 'gripper_link')
    assert set(limits_of(robot).acceleration) == {7.0}
    with pytest.raises(RobotError, match="no robot 'mine'"):
        load_robot('mine')
    monkeypatch.setenv('FRAME_ROS_ROBOTS', f'/nowhere:{path.parent}')
    assert load_robot('mine').profile == robot.profile
    assert robot.profile.gripper.opened == 0.3


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        ({'griper': {}}, "'griper' is no field; did you mean 'gripper'"),
        ({'gripper': {'joint': 'gripper', 'closed': 1.0}}, 'gripper.opened is missing'),
        (
            {'gripper': {'joint': 'jaw', 'closed': 0.1, 'opened': 0.2}},
            "mine: 'jaw' is no joint of its URDF",
        ),
        (
            {'gripper': {'joint': 'gripper', 'closed': 0.2, 'opened': 0.2}},
            'gripper: closed and opened are both 0.2',
        ),
        (
            {'gripper': {'joint': 'gripper', 'closed': math.nan, 'opened': 0.2}},
            'gripper: closed must be finite, not nan',
        ),
        (
            {'gripper': {'joint': 'gripper', 'closed': 0.1, 'opened': math.inf}},
            'gripper: opened must be finite, not inf',
        ),
        (
            {'gripper': {'joint': 'gripper', 'closed': 0.1, 'opened': 0.2, 'margin': -1.0}},
            'margin',
        ),
        ({'finger_links': ['griper_link']}, "did you mean 'gripper_link'"),
        ({'finger_links': 'gripper_link'}, "finger_links must be a list, not 'gripper_link'"),
        ({'rates': {'elbow_flex': {'acceleration': '3'}}}, 'acceleration must be a float'),
        ({'rates': {'elbow_flex': {'acceleration': 0}}}, 'acceleration'),
        ({'controllers': {'mine': {'kind': 'trajectories'}}}, 'controllers.mine: .kind. must be'),
        ({'urdf': 'other.urdf'}, 'other.urdf of the robot mine is not there'),
        ({'urdf': ''}, 'names no urdf'),
    ],
)
def test_what_is_wrong_in_a_profile_is_named(outside, content, message):
    with pytest.raises(RobotError, match=message):
        load_robot(outside(**content))


def test_a_urdf_alone_has_the_rates_of_the_robot_that_it_names(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(find_urdf('fr3').read_text())
    robot, known = load_robot(path), find_profile('fr3')
    assert robot.profile.rates == known.rates
    assert robot.profile.simulation is None and not robot.profile.postures
    assert robot.profile.gripper is None and find_profile(path).gripper is None
    path.write_text(path.read_text().replace('name="fr3"', 'name="other"'))
    assert load_robot(path).profile == attrs.evolve(type(known)(name='other'))


@pytest.mark.parametrize('profile', packaged_profiles(), ids=ROBOT_NAMES)
def test_a_packaged_profile_could_as_well_lie_outside(profile, tmp_path):
    """Every field, those of the simulation too, is read back from YAML as it was."""
    content = attrs.asdict(profile)
    plain = json.loads(json.dumps({**content, 'urdf': str(profile.path(profile.urdf))}))
    path = tmp_path / f'{profile.name}.yaml'
    path.write_text(yaml.safe_dump(plain))
    read = attrs.evolve(find_profile(path), urdf=profile.urdf, folder=profile.folder)
    assert read == profile
    assert limits_of(load_robot(path)).names == limits_of(load_robot(profile.name)).names


@pytest.mark.parametrize(
    ('lacking', 'message'),
    [
        ({'tips': {}}, "mine has neither 'tcp' nor 'default' in tips"),
        ({'postures': {}}, 'mine has no position of shoulder_pan, .* in postures.home'),
        ({'sensor_link': ''}, 'mine has no sensor_link'),
        ({'servos': 5}, 'mine has 5 simulation.servos; it must have one for each of shoulder_pan,'),
        (
            {'gripper': {'joint': 'wrist_roll', 'closed': 0.1, 'opened': 0.3}},
            'the gripper of mine is wrist_roll; in the scene it must be the last joint of the URDF',
        ),
    ],
)
def test_what_a_simulated_profile_lacks_is_named(tmp_path, lacking, message):
    pytest.importorskip('mujoco')
    from frame_ros.scenes.simulation.scene_robot import scene_robot

    known = find_profile('so101')
    content = json.loads(json.dumps(attrs.asdict(known)))
    content |= {'name': 'mine', 'urdf': str(known.path(known.urdf)), 'folder': ''}
    path = tmp_path / 'mine.yaml'
    if count := lacking.pop('servos', None):
        content['simulation']['servos'] = content['simulation']['servos'][:count]
    path.write_text(yaml.safe_dump({**content, **lacking}))
    with pytest.raises(RobotError, match=message):
        scene_robot(str(path))
    content['simulation'] = json.loads(json.dumps(attrs.asdict(known.simulation)))
    path.write_text(yaml.safe_dump({**content, 'tips': {'default': 'wrist_link'}}))
    assert scene_robot(str(path)).tip_link == 'wrist_link'


def test_a_profile_outside_the_package_stands_in_the_scene(tmp_path):
    pytest.importorskip('mujoco')
    from frame_ros.bringup.process_table import demo_processes
    from frame_ros.bringup.run_options import DemoOptions
    from frame_ros.scenes import PickPlaceSimulation

    known = find_profile('so101')
    content = json.loads(json.dumps(attrs.asdict(known)))
    content |= {'name': 'mine', 'urdf': str(known.path(known.urdf)), 'folder': ''}
    path = tmp_path / 'mine.yaml'
    path.write_text(yaml.safe_dump(content))
    mine, packaged = PickPlaceSimulation(3, robot=str(path)), PickPlaceSimulation(3)
    for simulation in (mine, packaged):
        simulation.step([0.1, -1.2, 1.2, 0.8, 0.0, 0.3], 50)
    assert mine.robot.name == 'mine'
    assert mine.joint_state().positions.tolist() == packaged.joint_state().positions.tolist()
    table = {process.name: process for process in demo_processes(DemoOptions(robot=str(path)))}
    same = {process.name: process for process in demo_processes(DemoOptions(robot='so101'))}
    for name in same:
        given = {**same[name].parameters, 'robot': str(path)}
        assert {**table[name].parameters, 'robot': str(path)} == given
