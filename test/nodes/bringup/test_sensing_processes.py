# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact and proximity nodes of the demo and of an arm: when they run, and their parameters."""

from pathlib import Path

import pytest
import yaml

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.process_table import arm_processes, demo_processes
from frame_ros.bringup.run_checks import check_run
from frame_ros.bringup.run_options import DemoOptions
from frame_ros.core.errors import SetupError
from frame_ros.core.option_texts import from_texts
from frame_ros.core.options import evolved, flat, from_values
from frame_ros.robots import find_urdf, load_robot
from frame_ros.robots.profiles import find_profile, simulated_robots
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.joint_effort_sensor import EffortSensor
from frame_ros.sensing.contact.options import SensingOptions

FRANKA_WRENCH = find_profile('fr3').topics.wrench


def by_name(processes):
    return {process.name: process for process in processes}


@pytest.mark.parametrize('robot', simulated_robots())
def test_the_demo_takes_contact_and_distance_from_sensors_or_the_simulator(robot):
    processes = by_name(demo_processes(DemoOptions(robot=robot)))
    for name in ('metrics', 'markers'):
        assert not {'contact', 'proximity'} & set(processes[name].remappings)
        assert processes[name].remappings.get('object_pose') == 'ground_truth/object_pose'
    assert {p.parameters['robot'] for p in processes.values() if 'robot' in p.parameters} == {robot}
    assert {'contact', 'proximity'} <= set(processes['session'].parameters['nodes'])
    true = by_name(demo_processes(DemoOptions(robot=robot, sensing=False)))
    assert set(processes) - set(true) == {'contact', 'proximity'}
    for name in ('metrics', 'markers'):
        assert true[name].remappings['contact'] == 'ground_truth/contact'
        assert true[name].remappings['proximity'] == 'ground_truth/proximity'
    assert not {'contact', 'proximity'} & set(true['session'].parameters['nodes'])


@pytest.mark.parametrize('robot', simulated_robots())
def test_every_parameter_of_the_demo_is_one_of_its_node(robot):
    processes = by_name(demo_processes(DemoOptions(robot=robot)))
    for process in processes.values():
        declared = flat(yaml.safe_load(process.config.read_text())['/**']['ros__parameters'])
        wrong = set(process.parameters) - set(declared) - {'policy_options'}
        assert wrong == set(), process.name
    rate = processes['proximity'].parameters['alignment.rate']
    assert processes['markers'].parameters['alignment_lifetime'] > 2.0 / rate


def test_contact_and_proximity_run_beside_an_arm_where_there_is_a_source():
    assert not {'contact', 'proximity'} & set(by_name(arm_processes(ArmOptions())))
    settings = ArmOptions(
        motors_file='motors.yaml',
        contact_parameters={'joints.margin': 1.5},
        proximity_cameras=('front', 'side'),
        proximity_parameters={'depth': {'workspace': [-1, -1, 0, 1, 1, 1.5], 'min_support': 0}},
        depth_topics={'side': '/camera/depth'},
        extrinsics={
            'front': ['base_link', 0, 0, 1, 0, 0, 0],
            'side': ['base_link', 1, 0, 0, 0, 0, 0, 1],
        },
        obstacles_file='cell.yaml',
        gripper_margin=0.05,
        joint_states_topic='follower/joint_states',
    )
    processes = by_name(arm_processes(settings))
    contact, proximity = processes['contact'].parameters, processes['proximity'].parameters
    assert contact['sources'] == ['joint_effort']
    assert contact['joints.margin'] == 1.5
    assert processes['kinematics'].parameters['grasp.margin'] == 0.05
    assert not [name for name in (*contact, *proximity) if name.startswith('grasp.')]
    assert contact['joints.motors_file'] == str(Path('motors.yaml').resolve())
    assert proximity['cameras'] == ['front', 'side']
    assert proximity['image_topics'] == ['side=/camera/depth']
    assert proximity['extrinsics'] == [
        'front=base_link 0 0 1 0 0 0', 'side=base_link 1 0 0 0 0 0 1',
    ]  # fmt: skip
    assert [type(value) for value in proximity['depth.workspace']] == [float] * 6
    assert proximity['depth.min_support'] == 0
    file = str(Path('cell.yaml').resolve())
    assert proximity['obstacles.file'] == file
    assert processes['markers'].parameters['obstacles_file'] == file
    for name in ('contact', 'proximity'):
        assert processes[name].remappings['joint_states'] == 'follower/joint_states'
        declared = flat(
            yaml.safe_load(processes[name].config.read_text())['/**']['ros__parameters']
        )
        assert set(processes[name].parameters) <= set(declared)


@pytest.mark.parametrize('robot', [*simulated_robots(), 'panda'])
def test_generic_motors_go_all_the_way_to_the_contact_node(robot):
    # As the launch files give it, and as the node takes it.
    processes = arm_processes(from_texts(ArmOptions, {'robot': robot, 'motors_file': 'generic'}))
    check_run(processes)
    parameters = by_name(processes)['contact'].parameters
    assert parameters['sources'] == ['joint_effort']
    assert parameters['joints.motors_file'] == 'generic'
    settings = from_values(SensingOptions, {**parameters, 'sources': ('joint_effort',)})
    model = load_robot(robot)
    arrays = JointArrays(tuple(model.joint_limits))
    sensor = EffortSensor(settings, model, arrays, arrays)
    assert sensor.motors.is_generic
    assert 'are not identified' in ' '.join(sensor.warnings)


def test_motors_of_a_simulation_are_no_file_of_an_arm():
    processes = arm_processes(from_texts(ArmOptions, {'motors_file': 'simulated'}))
    with pytest.raises(SetupError, match="no motor model '.*simulated'"):
        check_run(processes)


def test_an_empty_list_that_is_given_switches_off_what_the_profile_senses_with(tmp_path):
    profile = tmp_path / 'mine.yaml'
    sensors = {'contact': {'sources': ['wrench']}, 'proximity': {'cameras': ['front']}}
    profile.write_text(yaml.safe_dump({'urdf': str(find_urdf('so101')), 'parameters': sensors}))
    settings = ArmOptions(robot=str(profile))
    found = by_name(arm_processes(settings))
    assert found['contact'].parameters['sources'] == ['wrench'] and 'proximity' in found
    given = frozenset({'contact_sources', 'proximity_cameras'})
    found = by_name(arm_processes(evolved(settings, given=given)))
    assert not {'contact', 'proximity'} & set(found)
    found = by_name(arm_processes(evolved(settings, given=given, motors_file='motors.yaml')))
    assert found['contact'].parameters['sources'] == ['joint_effort']


def test_contact_of_a_franka_comes_of_its_flags_or_of_a_sensor():
    flags = by_name(arm_processes(ArmOptions(robot='fr3', contact_sources=('robot',))))['contact']
    assert flags.parameters == {'robot': 'fr3', 'sources': ['robot']}
    settings = ArmOptions(
        robot='fr3', contact_sources=('wrench', 'robot'), wrench_topic='/ft/wrench'
    )
    contact = by_name(arm_processes(settings))['contact']
    assert contact.parameters['sources'] == ['wrench', 'robot']
    assert contact.remappings['wrench'] == '/ft/wrench'


@pytest.mark.parametrize(
    ('kind', 'given', 'message'),
    [
        (
            ArmOptions,
            {'robot': 'fr3', 'contact_sources': ('wrench',)},
            "wrench_topic is '.*'; it must be that of a force-torque sensor",
        ),
        (
            ArmOptions,
            {
                'robot': 'fr3',
                'contact_sources': ('wrench',),
                'wrench_topic': f'/arm/{FRANKA_WRENCH}',
            },
            "wrench_topic is '.*'; it must be that of a force-torque sensor",
        ),
        (
            ArmOptions,
            {'contact_sources': ('skin',)},
            "contact_sources is .*'skin'.*each wrench, joint_effort or robot",
        ),
        (
            ArmOptions,
            {'contact_sources': ('joint_effort',)},
            "motors_file is ''; it must be a file of `frame-ros identify joints`",
        ),
        (
            ArmOptions,
            {'proximity_cameras': ('front',), 'extrinsics': {'side': ['base_link', 0]}},
            "extrinsics names the camera 'side'",
        ),
        (
            ArmOptions,
            {'proximity_cameras': ('front',), 'proximity_parameters': {'paddin': 0.1}},
            "'paddin' is no parameter of the node proximity; did you mean 'meshes.padding'",
        ),
        (
            ArmOptions,
            {'proximity_cameras': ('front',), 'extrinsics': {'front': 'base_link 0 0 0 0 0 0'}},
            'extrinsics of front must be a YAML list',
        ),
        (
            ArmOptions,
            {'proximity_cameras': ('front',), 'extrinsics': {'front': ['base_link', 1, 2]}},
            "extrinsics of front are 'base_link 1 2'; they are a link, x y z",
        ),
        (
            ArmOptions,
            {
                'proximity_cameras': ('front',),
                'extrinsics': {'front': ['b', 0, 0, 900, 0, 0, 0]},
            },
            'x y z are in m, not in mm',
        ),
    ],
)
def test_wrong_arguments_of_sensing_are_named(kind, given, message):
    with pytest.raises(SetupError, match=message):
        arm_processes(kind(**given))


@pytest.mark.parametrize('robot', simulated_robots())
def test_the_demos_cameras_are_where_the_scene_has_them(robot):
    pytest.importorskip('mujoco')
    from frame_ros.scenes import PickPlaceSimulation

    scene = PickPlaceSimulation(robot=robot)
    parameters = by_name(demo_processes(DemoOptions(robot=robot)))['proximity'].parameters
    for text in parameters['extrinsics']:
        camera, _, place = text.partition('=')
        link, *numbers = place.split()
        mount, position, quaternion = scene.camera_mount(camera)
        assert link == mount
        assert [float(n) for n in numbers] == pytest.approx([*position, *quaternion], abs=1e-5)
    assert [text.partition('=')[0] for text in parameters['extrinsics']] == parameters['cameras']


def test_the_demos_fr3_knows_the_weight_beyond_its_sensor():
    pytest.importorskip('mujoco')
    from frame_ros.scenes import PickPlaceSimulation

    scene = PickPlaceSimulation(robot='fr3')
    hand = scene.data.body('fr3_hand')
    centre = hand.xmat.reshape(3, 3).T @ (scene.data.subtree_com[hand.id] - hand.xpos)
    parameters = by_name(demo_processes(DemoOptions(robot='fr3')))['contact'].parameters
    mass = scene.model.body_subtreemass[hand.id]
    assert parameters['tool.mass'] == pytest.approx(mass, abs=1e-3)
    assert parameters['tool.centre_of_mass'] == pytest.approx(centre.tolist(), abs=2e-4)
