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
from frame_ros.robots.description import parse_urdf
from frame_ros.robots.profile_check import check_profile
from frame_ros.robots.profiles import find_profile, packaged_profiles, public_name


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
    check_profile(profile, parse_urdf(robot.urdf))
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
    with pytest.raises(RobotError, match="no robot 'mine': known are fr3"):
        load_robot('mine')
    with pytest.raises(RobotError, match="no robot 'so10': did you mean 'so101'.; known are"):
        load_robot('so10')
    with pytest.raises(RobotError, match="no robot 'SO-101': did you mean 'so101'."):
        load_robot('SO-101')
    missing = path.with_name('other.yml')
    with pytest.raises(RobotError, match=f"there is no file '{missing}'; the folder now is"):
        load_robot(missing)
    monkeypatch.setenv('FRAME_ROS_ROBOTS', f'/nowhere:{path.parent}')
    assert load_robot('mine').profile == robot.profile
    with pytest.raises(RobotError, match="'Mine1': did you mean 'mine'.; known are fr3, mine, p"):
        load_robot('Mine1')
    assert robot.profile.gripper.opened == 0.3


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        ({'griper': {}}, "'griper' is no field; did you mean 'gripper'"),
        ({'gripper': {'joint': 'gripper', 'closed': 1.0}}, 'gripper.opened is missing'),
        (
            {'gripper': {'joint': 'jaw', 'closed': 0.1, 'opened': 0.2}},
            "/mine.yaml: 'jaw' in gripper.joint is no joint of its URDF",
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
        (
            {'finger_links': ['griper_link']},
            "'griper_link' in finger_links is no link of its URDF; did you mean 'gripper_link'",
        ),
        ({'tips': {'default': 'tool'}}, "'tool' in tips.default is no link of its URDF; there are"),
        ({'sensor_link': 'wrist_lnk'}, "'wrist_lnk' in sensor_link is no .* mean 'wrist_link'"),
        ({'tracking': {'tip': 'tip'}}, "'tip' in tracking.tip is no link of its URDF"),
        (
            {'cameras': {'front': ['bas_link', *(0,) * 6]}},
            "'bas_link' in cameras.front is no link",
        ),
        ({'cameras': {'front': []}}, r'cameras.front is \[\]; it must be a link, x y z'),
        ({'cameras': {'front': ['base_link', 0, 0, 1]}}, 'cameras.front is .* it must be a link'),
        ({'tracking': {'orientation_cost': -1}}, "tracking: 'orientation_cost' must be >= 0"),
        (
            {'rates': {'elbo_flex': {'acceleration': 1}}},
            "'elbo_flex' in rates is no joint .* 'elbow_flex'",
        ),
        ({'postures': {'home': {'elbo_flex': 1.0}}}, "'elbo_flex' in postures.home is no joint"),
        (
            {'postures': {'home': {'elbow_flex': 9.0}}},
            'postures.home.elbow_flex is 9.0; the limits of elbow_flex in its URDF are -1.69 and',
        ),
        (
            {'gripper': {'joint': 'gripper', 'closed': 0.1, 'opened': 8.0}},
            'gripper.opened is 8.0; the limits of gripper in its URDF are -0.17',
        ),
        (
            {'rates': {'elbow_flex': {'velocity': 99, 'acceleration': 1}}},
            'rates.elbow_flex.velocity is 99.0; the URDF allows 10.0, so it must be that or less',
        ),
        ({'name': 'fr3'}, "name is 'fr3', which is a robot of the package"),
        ({'folder': '/tmp'}, "'folder' is no field"),
        ({'file': '/tmp/x.yaml'}, "'file' is no field"),
        ({'finger_links': 'gripper_link'}, "finger_links must be a list, not 'gripper_link'"),
        ({'rates': {'elbow_flex': {'acceleration': '3'}}}, 'acceleration must be a float'),
        ({'rates': {'elbow_flex': {'acceleration': 0}}}, 'acceleration'),
        ({'controllers': {'mine': {'kind': 'trajectories'}}}, 'controllers.mine: .kind. must be'),
        ({'urdf': 'other.urdf'}, 'mine.yaml: urdf is other.urdf, which is not there: looked in'),
        ({'urdf': ''}, 'names no urdf'),
    ],
)
def test_what_is_wrong_in_a_profile_is_named(outside, content, message):
    with pytest.raises(RobotError, match=message) as caught:
        load_robot(outside(**content))
    assert '/mine.yaml' in str(caught.value)


def test_a_name_stands_for_one_robot(outside, tmp_path, monkeypatch):
    path = outside()
    for name in ('a/mine.yaml', 'b/mine/mine.yaml', 'c/so101.yaml'):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(path.read_text())
    monkeypatch.setenv('FRAME_ROS_ROBOTS', f'{tmp_path}/a:{tmp_path}/a')
    assert find_profile('mine').file == f'{tmp_path}/a/mine.yaml'
    monkeypatch.setenv('FRAME_ROS_ROBOTS', f'{tmp_path}/a:{tmp_path}/b')
    with pytest.raises(RobotError, match="'mine' is .*/a/mine.yaml and .*/b/mine/mine.yaml, by"):
        find_profile('mine')
    monkeypatch.setenv('FRAME_ROS_ROBOTS', f'{tmp_path}/c')
    with pytest.raises(RobotError, match="'so101' is a robot of the package and .*/c/so101.yaml"):
        find_profile('so101')
    with pytest.raises(RobotError, match="name is 'so101', which is a robot of the package"):
        find_profile(tmp_path / 'c' / 'so101.yaml')


def test_the_robots_of_folders_are_known_by_name(outside, tmp_path, monkeypatch):
    path = outside()
    for name in ('a/left_arm.yaml', 'b/right/right.yaml', 'b/right/notes.yaml', 'b/urdf/x.yaml'):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(path.read_text())
    monkeypatch.setenv('FRAME_ROS_ROBOTS', f'{tmp_path}/a:/nowhere:{tmp_path}/b')
    with pytest.raises(RobotError, match='known are fr3, left_arm, panda, right, so101, or give'):
        find_profile('nothing')
    with pytest.raises(RobotError, match="did you mean 'left_arm'.; known"):
        find_profile('left-arm')


def test_bags_name_a_robot_without_the_folders_of_this_machine(outside):
    assert public_name(outside()) == 'mine.yaml'
    assert (public_name('so101'), public_name('')) == ('so101', '')


@pytest.mark.parametrize(
    ('text', 'name'),
    [
        ('<robot name="arm"></robot>', 'arm'),
        (
            "<?xml version='1.0'?>\n<!-- <robot name='no'> -->\n<robot a='b'\n name = 'an arm'/>",
            'an arm',
        ),
        ('<robot name="/srv/robots/arm"/>', 'arm'),
        ('<robot filename="/home/x"><link name="base"/></robot>', 'robot'),
        ('<robot name=""/>', 'robot'),
        (' <!--', 'robot'),
    ],
)
def test_bags_name_a_robot_given_as_text_by_the_name_in_it(text, name):
    assert public_name(text) == name


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
    content = {**attrs.asdict(profile), 'name': 'mine'}
    plain = json.loads(json.dumps({**content, 'urdf': str(profile.path(profile.urdf))}))
    path = tmp_path / 'mine.yaml'
    path.write_text(yaml.safe_dump(plain))
    read = attrs.evolve(find_profile(path), urdf=profile.urdf, file='', name=profile.name)
    assert read == profile
    assert limits_of(load_robot(path)).names == limits_of(load_robot(profile.name)).names


@pytest.mark.parametrize(
    ('lacking', 'message'),
    [
        ({'tips': {}}, "mine.yaml has neither 'tcp' nor 'default' in tips"),
        ({'postures': {}}, '.*mine.yaml has no position of shoulder_pan, .* in postures.home'),
        ({'sensor_link': ''}, '.*mine.yaml has no sensor_link'),
        (
            {'servos': 5},
            'mine.yaml has 5 simulation.servos; it must have one for each of shoulder_pan,',
        ),
        (
            {'gripper': {'joint': 'wrist_roll', 'closed': 0.1, 'opened': 0.3}},
            'mine.yaml: gripper.joint is wrist_roll; in the scene it must be the last joint of',
        ),
    ],
)
def test_what_a_simulated_profile_lacks_is_named(tmp_path, lacking, message):
    pytest.importorskip('mujoco')
    from frame_ros.scenes.simulation.scene_robot import scene_robot

    known = find_profile('so101')
    content = json.loads(json.dumps(attrs.asdict(known)))
    content |= {'name': 'mine', 'urdf': str(known.path(known.urdf))}
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
    content |= {'name': 'mine', 'urdf': str(known.path(known.urdf))}
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
        of_robot = {'robot': str(path), 'robot_name': 'mine'}
        assert {**table[name].parameters, **of_robot} == {**same[name].parameters, **of_robot}
