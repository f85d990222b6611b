# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The table of processes, its settings, and the supervisor on small real processes."""

import ast
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from attrs import evolve
from patience import PATIENCE

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.node_process import RANGE
from frame_ros.bringup.process_table import (
    PROFILES,
    Process,
    arm_environment,
    arm_processes,
    check_installed,
    demo_environment,
    demo_processes,
    find_executable,
    watching_environment,
)
from frame_ros.bringup.run_checks import check_run
from frame_ros.bringup.run_options import DemoOptions
from frame_ros.bringup.supervisor import ProcessError, Supervisor, free_domain, ros_environment
from frame_ros.core.errors import CheckpointError, FrameRosError, MissingExtraError, SetupError
from frame_ros.core.option_texts import from_texts, text_of
from frame_ros.core.options import flat, flatten
from frame_ros.core.own_folder import own_folder
from frame_ros.core.shared_files import share_directory
from frame_ros.nodes.simulator.options import SimulatorOptions
from frame_ros.policies.policy_names import policies
from frame_ros.robots import find_urdf
from frame_ros.robots.profiles import find_profile

ROOT = Path(__file__).resolve().parent.parent.parent.parent
TABLES = {
    'demo': (demo_processes, DemoOptions()),
    'demo_fr3': (demo_processes, DemoOptions(robot='fr3')),
    'demo_fr3_fci': (demo_processes, DemoOptions(robot='fr3-fci')),
    'so101': (arm_processes, ArmOptions(policy='scripted')),
    'franka': (arm_processes, ArmOptions(robot='fr3', policy='scripted')),
}


def by_name(processes):
    return {process.name: process for process in processes}


@pytest.mark.parametrize('table', TABLES)
def test_every_process_of_a_table_exists(table):
    make, settings = TABLES[table]
    for process in make(settings):
        script = ROOT / Path(*process.module.split('.')) / '__main__.py'
        assert script.parent.name == process.executable
        assert script.is_file()
        assert (ROOT / 'frame_ros' / 'nodes' / process.executable / 'node.py').is_file()
        assert process.config == share_directory() / 'config' / f'{process.executable}.yaml'


@pytest.mark.parametrize('table', TABLES)
def test_parameters_of_a_table_are_declared_in_the_nodes_yaml(table):
    make, settings = TABLES[table]
    for process in make(settings):
        declared = flat(yaml.safe_load(process.config.read_text())['/**']['ros__parameters'])
        assert set(process.parameters) <= set(declared), process.name


def test_a_world_of_others_has_its_own_processes_and_only_what_it_can_sense():
    ours, theirs = (by_name(demo_processes(DemoOptions(robot=r))) for r in ('fr3', 'fr3-fci'))
    assert set(ours) - set(theirs) == {'simulator', 'contact', 'proximity'}
    assert set(theirs) - set(ours) == {'franky_world', 'robot_driver'}
    hosts = {theirs[name].parameters['host'] for name in ('franky_world', 'robot_driver')}
    assert len(hosts) == 1 and hosts.pop().startswith('127.')
    assert theirs['policy'].parameters['robot'] == 'fr3'
    expected = theirs['episode_recorder'].parameters['topics.expected']
    assert expected == ['joint_states']


def test_a_world_without_truth_or_window_does_not_take_options_of_them():
    with pytest.raises(SetupError, match='sensing is False; it must be true with fr3-fci'):
        DemoOptions(robot='fr3-fci', sensing=False)
    with pytest.raises(SetupError, match='viewer'):
        DemoOptions(robot='fr3-fci', viewer='true')


def test_a_world_is_found_missing_before_anything_starts(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        'importlib.util.find_spec', lambda n, *a: None if n == 'franky_sim' else find(n, *a)
    )
    with pytest.raises(MissingExtraError, match='franky_sim.*franky-sim'):
        check_run(demo_processes(DemoOptions(robot='fr3-fci')))


def test_a_policy_that_never_acts_in_the_demo_is_refused_before_anything_starts():
    processes = by_name(demo_processes(DemoOptions(policy='scripted_tasks')))
    with pytest.raises(FrameRosError, match='`frame-ros scenes run`; .* the policy scripted acts'):
        check_run([processes['policy']])
    check_run([by_name(demo_processes(DemoOptions()))['policy']])


def test_the_demo_ends_with_its_session():
    processes = by_name(demo_processes(DemoOptions()))
    assert [p.name for p in processes.values() if p.is_essential] == ['session']
    managed = [p.name for p in processes.values() if p.is_lifecycle]
    assert managed == ['episode_recorder', 'gate', 'policy']


def test_an_arm_runs_a_policy_only_if_one_is_given():
    processes = by_name(arm_processes(ArmOptions(record=False)))
    assert {'kinematics', 'metrics', 'markers', 'episode_recorder'} <= set(processes)
    assert all(process.only_watches for process in processes.values())
    assert processes['episode_recorder'].parameters['enabled'] is False
    assert 'policy' in by_name(arm_processes(ArmOptions(robot='fr3', policy='scripted')))


def test_a_monitor_is_started_where_it_is_asked_for_and_refused_without_thresholds(tmp_path):
    assert 'monitor' not in by_name(demo_processes(DemoOptions()))
    fixed = {'threshold_from': 'fixed', 'thresholds': [0.5]}
    chosen = {'monitor': True, 'monitor_parameters': fixed, 'directory': str(tmp_path)}
    for processes in (demo_processes(DemoOptions(**chosen)), arm_processes(ArmOptions(**chosen))):
        process = by_name(processes)['monitor']
        assert process.is_lifecycle and process.parameters['directory'] == str(tmp_path)
        check_run([process])
    demo = DemoOptions(monitor=True, sensing=False)
    process = by_name(demo_processes(demo))['monitor']
    assert process.remappings['proximity'] == 'ground_truth/proximity'
    with pytest.raises(FrameRosError, match='needs a calibration file'):
        check_run([process])
    missing = evolve(demo, calibration_file='/no/such.json')
    process = by_name(demo_processes(missing))['monitor']
    assert process.parameters['calibration_file'] == '/no/such.json'
    with pytest.raises(FrameRosError, match='calibration file /no/such.json: No such file'):
        check_run([process])


def test_topics_of_the_users_driver_reach_every_process_that_reads_them():
    settings = ArmOptions(joint_states_topic='follower/joint_states', policy='scripted')
    processes = by_name(arm_processes(settings))
    for name in ('kinematics', 'metrics', 'markers', 'policy'):
        assert processes[name].remappings['joint_states'] == 'follower/joint_states'


def test_the_recorder_takes_the_users_topics_and_the_video_the_users_camera():
    settings = ArmOptions(
        joint_states_topic='/follower/joint_states', front_image_topic='/camera/image_raw'
    )
    parameters = by_name(arm_processes(settings))['episode_recorder'].parameters
    assert parameters['topics.also'] == ['/camera/image_raw', '/follower/joint_states']
    assert parameters['video_topic'] == '/camera/image_raw'
    recorder = by_name(arm_processes(ArmOptions()))['episode_recorder']
    assert 'topics.also' not in recorder.parameters


def test_the_recorder_names_the_robot_in_its_bags(tmp_path):
    for options, processes in (
        (ArmOptions(robot='fr3'), arm_processes),
        (DemoOptions(), demo_processes),
    ):
        recorder = by_name(processes(options))['episode_recorder']
        assert recorder.parameters['robot_name'] == options.robot
    file = tmp_path / 'mine.urdf'
    file.write_text(find_urdf('so101').read_text())
    recorder = by_name(arm_processes(ArmOptions(robot=str(file))))['episode_recorder']
    assert recorder.parameters['robot_name'] == 'mine.urdf', 'a private path in what is given away'


def test_the_recorder_is_told_what_every_episode_must_have():
    def expected(processes):
        return by_name(processes)['episode_recorder'].parameters['topics.expected']

    cameras = ['front/image_raw', 'wrist/image_raw']
    depth = ['front/depth/image_raw', 'wrist/depth/image_raw']
    sensed = ['joint_states', 'wrench', *cameras, 'contact', 'proximity']
    assert expected(demo_processes(DemoOptions(robot='fr3'))) == [*sensed, *depth]
    unsensed = expected(demo_processes(DemoOptions(sensing=False)))
    assert unsensed[-2:] == ['ground_truth/contact', 'ground_truth/proximity']
    assert expected(arm_processes(ArmOptions(robot='fr3'))) == ['franka/joint_states']
    settings = ArmOptions(
        port='/dev/ttyACM0', robot_id='arm', cameras={'top': {'type': 'opencv'}},
        contact_sources=('wrench',), wrist_image_topic='/hand/image',
        proximity_cameras=('left', 'right'), depth_topics={'left': '/left/depth'},
    )  # fmt: skip
    topics = ['joint_states', 'contact', 'wrench', 'proximity', '/hand/image', 'top/image_raw']
    right = 'right/depth/image_raw'
    assert expected(arm_processes(settings)) == [*topics, '/left/depth', right]
    # In a namespace, topics outside it are not recorded unless a node reads them by that name.
    assert expected(arm_processes(evolve(settings, namespace='arm'))) == [*topics, right]


@pytest.mark.parametrize('table', TABLES)
def test_no_name_of_a_table_is_absolute(table):
    make, settings = TABLES[table]
    for process in make(settings):
        names = [*process.remappings, *process.remappings.values(), process.name]
        assert not [name for name in names if name.startswith('/')]


@pytest.mark.parametrize(
    ('chosen', 'rviz', 'wanted'),
    [('auto', False, 'auto'), ('auto', True, 'false'), ('true', True, 'true')],
)
def test_the_simulators_window_does_not_cover_rviz(chosen, rviz, wanted):
    processes = by_name(demo_processes(DemoOptions(rviz=rviz, viewer=chosen)))
    assert processes['simulator'].parameters.get('viewer', 'auto') == wanted


def test_what_only_watches_may_be_started_again_and_what_moves_the_arm_may_not():
    leader = {'leader_port': '/dev/leader', 'leader_id': 'lead', 'port': '/dev/arm'}
    arm = ArmOptions(
        policy='hold', robot_id='arm', contact_sources=('wrench',), proximity_cameras=('front',),
        rviz=True, monitor=True, **leader,
    )  # fmt: skip
    processes = arm_processes(arm)
    names = {process.name for process in processes}
    assert names >= {'kinematics', 'metrics', 'markers', 'contact', 'proximity', 'monitor'}
    assert {process.name for process in processes if not process.can_respawn} == {
        'gate', 'policy', 'robot_driver', 'teleoperator', 'episode_recorder', 'rviz',
    }  # fmt: skip
    assert not any(process.can_respawn for process in demo_processes(DemoOptions()))


def test_what_only_watches_has_no_memory_in_common_with_what_moves_the_arm(monkeypatch, tmp_path):
    limit = tmp_path / 'rmem_max'
    limit.write_text('4194304')
    monkeypatch.setattr('frame_ros.bringup.node_process.RECEIVE_BUFFER', limit)
    processes = by_name(demo_processes(DemoOptions()))
    watching = {name for name, process in processes.items() if process.only_watches}
    assert set(processes) - watching == {'simulator', 'gate', 'policy', 'session'}
    assert len(watching) >= 6
    demo = demo_environment({})
    for name, process in processes.items():
        plain, own = watching_environment(process, {}), watching_environment(process, demo)
        assert plain == ({'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4'} if name in watching else {})
        assert watching_environment(process, dict.fromkeys(PROFILES, '/mine.xml')) == {}
        assert watching_environment(process, {RANGE: 'LOCALHOST'}) == own
        users = {RANGE: 'LOCALHOST', 'FASTDDS_BUILTIN_TRANSPORTS': 'SHM'}
        assert watching_environment(process, users) == {}
        assert set(own) == ({*PROFILES, RANGE} if name in watching else set())
        for path in {own[key] for key in PROFILES if key in own}:
            text = Path(path).read_text()
            assert '<type>UDPv4</type>' in text and '<type>SHM</type>' not in text
            assert '<address>127.0.0.1</address>' in text


def test_who_takes_images_keeps_shared_memory_where_sockets_cannot_hold_them(monkeypatch, tmp_path):
    limit = tmp_path / 'rmem_max'
    monkeypatch.setattr('frame_ros.bringup.node_process.RECEIVE_BUFFER', limit)
    demo = demo_environment({})
    for text, keep in (('4194304\n', set()), ('212992\n', {'proximity', 'episode_recorder'})):
        limit.write_text(text)
        processes = [p for p in demo_processes(DemoOptions()) if p.only_watches]
        assert {p.name for p in processes if not watching_environment(p, demo)} == keep


def test_a_crash_in_native_code_leaves_a_traceback():
    environment = {**os.environ, **demo_environment({})}
    crash = [sys.executable, '-c', 'import ctypes\nctypes.string_at(0)']
    done = subprocess.run(crash, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode < 0
    assert 'Segmentation fault' in done.stderr
    assert 'string_at' in done.stderr


TALKER = """
import sys, time
import rclpy
from std_msgs.msg import String
own, end = sys.argv[1], time.monotonic() + float(sys.argv[2])
rclpy.init()
node, heard = rclpy.create_node('talker_' + own), set()
node.create_subscription(String, 'said', lambda message: heard.add(message.data), 10)
publisher, is_said = node.create_publisher(String, 'said', 10), False
while time.monotonic() < end:
    publisher.publish(String(data=own))
    rclpy.spin_once(node, timeout_sec=0.1)
    if heard - {own} and not is_said:
        print('/dev/shm/fast' in open('/proc/self/maps').read(), flush=True)
        is_said = True
"""


def test_a_process_that_only_watches_maps_no_shared_memory_and_meets_the_others(ros_domain):
    watcher = Process('metrics', 'metrics', only_watches=True)
    others = {**os.environ, **demo_environment(os.environ)}
    environments = {'moves': others, 'watches': others | watching_environment(watcher, others)}
    talkers = {
        name: subprocess.Popen(
            [sys.executable, '-c', TALKER, name, str(PATIENCE)],
            env=environment, stdout=subprocess.PIPE, text=True,
        )
        for name, environment in environments.items()
    }  # fmt: skip
    try:
        shares = {name: talker.stdout.readline().strip() for name, talker in talkers.items()}
    finally:
        for talker in talkers.values():
            talker.kill()
            talker.communicate()
    assert shares == {'moves': 'True', 'watches': 'False'}


def test_the_view_has_most_of_rviz_window():
    for name in ('frame_ros', 'frame_ros_fr3'):
        layout = yaml.safe_load((share_directory() / 'rviz' / f'{name}.rviz').read_text())
        assert [panel['Name'] for panel in layout['Panels']] == ['Displays']
        assert layout['Window Geometry']['Hide Right Dock'] is True
        shown = {each['Name'] for each in layout['Visualization Manager']['Displays']}
        wanted = {'RobotModel', 'TF', 'Path', 'Metrics', 'Depth points', 'Front camera'}
        assert wanted <= shown


def test_rviz_is_switchable():
    plain = by_name(demo_processes(DemoOptions()))
    shown = by_name(demo_processes(DemoOptions(rviz=True)))
    assert set(shown) - set(plain) == {'rviz'}


@pytest.mark.parametrize('table', TABLES)
def test_the_transforms_of_the_links_come_from_one_node(table):
    make, settings = TABLES[table]
    plain = by_name(make(evolve(settings, rviz=True)))
    assert 'robot_state_publisher' not in plain
    assert plain['kinematics'].parameters.get('publish_tf', 'auto') == 'auto'
    asked = by_name(make(evolve(settings, robot_state_publisher=True)))
    assert '<robot' in asked['robot_state_publisher'].parameters['robot_description']
    assert asked['kinematics'].parameters['publish_tf'] == 'false'


@pytest.mark.parametrize('table', TABLES)
def test_a_prefix_of_the_frames_reaches_every_node_that_names_one(table):
    make, settings = TABLES[table]
    settings = evolve(
        settings, frame_prefix='left/', rviz=True, robot_state_publisher=True, namespace='left'
    )
    processes = by_name(make(settings))
    knowing = {name for name, p in processes.items() if 'frame_prefix' in p.parameters}
    assert {p.parameters['frame_prefix'] for p in processes.values() if p.name in knowing} == {
        'left/'
    }
    assert {'kinematics', 'metrics', 'markers', 'robot_state_publisher'} <= knowing
    if table.startswith('demo'):
        world = settings.world
        assert {*world.senses, *(p.executable for p in world.processes())} <= knowing
    layout, frame = processes['rviz'].extra[1], processes['rviz'].extra[3]
    assert frame == f'left/{evolve(settings, frame_prefix="").base_frame}'
    shown = yaml.safe_load(Path(layout).read_text())['Visualization Manager']['Displays']
    (model,) = (each for each in shown if each['Name'] == 'RobotModel')
    assert model['TF Prefix'] == 'left'
    # The next start uses the same file, so that none stays behind for each.
    assert by_name(make(settings))['rviz'].extra[1] == layout
    assert Path(layout).parent == own_folder()
    with pytest.raises(
        SetupError, match="frame_prefix is 'left_'; it must be empty, or end with /"
    ):
        evolve(settings, frame_prefix='left_')


def test_any_urdf_can_be_watched(tmp_path):
    urdf = (ROOT / 'urdf' / 'panda.urdf').read_text().replace('panda_link0', 'foot')
    path = tmp_path / 'mine.urdf'
    path.write_text(urdf)
    settings = ArmOptions(
        robot=str(path), tip='panda_hand_tcp', policy='hold', contact_sources=('robot',), rviz=True
    )
    processes = by_name(arm_processes(settings))
    for name in ('kinematics', 'contact', 'gate'):
        assert processes[name].parameters['tip'] == 'panda_hand_tcp'
    for name in ('kinematics', 'metrics', 'markers', 'contact', 'gate', 'policy'):
        assert processes[name].parameters['robot'] == str(path)
    assert processes['rviz'].extra[3] == 'foot'
    with pytest.raises(FrameRosError, match="no robot 'nowhere.urdf': there is no file"):
        ArmOptions(robot='nowhere.urdf')
    with pytest.raises(FrameRosError, match="has no link 'elbow'; its links are foot, "):
        ArmOptions(robot=str(path), tip='elbow')
    with pytest.raises(FrameRosError, match="has no link 'elbow'"):
        ArmOptions(tip='elbow')


@pytest.mark.parametrize('table', TABLES)
def test_all_processes_or_none_take_their_time_from_the_clock_topic(table):
    make, settings = TABLES[table]
    simulated = make(evolve(settings, use_sim_time=True, rviz=True, robot_state_publisher=True))
    assert {process.parameters.get('use_sim_time') for process in simulated} == {True}
    assert not any('use_sim_time' in process.parameters for process in make(settings))


def test_what_is_not_installed_is_said_before_anything_starts(tmp_path, monkeypatch):
    processes = demo_processes(DemoOptions(rviz=True, robot_state_publisher=True))
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    with pytest.raises(
        SetupError, match='robot_state_publisher was not found|robot_state_publisher of'
    ):
        check_installed(processes)
    for name in ('robot_state_publisher', 'rviz2'):
        folder = tmp_path / 'lib' / name
        folder.mkdir(parents=True)
        (folder / name).touch()
    check_installed(processes)


def test_rviz_listens_to_what_is_published_as_reliably():
    """The path comes seldom, from a reliable publisher that keeps nothing for late subscribers."""
    layout, large = (
        yaml.safe_load((share_directory() / 'rviz' / f'{name}.rviz').read_text())
        for name in ('frame_ros', 'frame_ros_fr3')
    )
    of_large = large['Visualization Manager']['Displays']
    assert of_large[1:] == layout['Visualization Manager']['Displays'][1:]  # all but the grid
    displays = {shown['Name']: shown for shown in layout['Visualization Manager']['Displays']}
    assert displays['Path']['Enabled'] is displays['Path']['Value'] is True
    assert displays['Depth points']['Topic']['Value'] == 'proximity/points'
    for name in ('Path', 'Metrics'):
        topic = displays[name]['Topic']
        assert topic['Reliability Policy'] == 'Reliable'
        assert topic['Durability Policy'] == 'Volatile'


def test_a_command_line_carries_name_namespace_parameters_and_remappings():
    process = Process(
        'eye', 'kinematics', {'a': 1.0, 'b': 'two words', 'c': True, 'd': [1.0, 2.0]}, {'x': 'y'}
    )
    line = process.command('left')
    assert line[:4] == [sys.executable, '-u', '-m', 'frame_ros.nodes.kinematics']
    assert line[4:9] == ['--ros-args', '-r', '__node:=eye', '-r', '__ns:=/left']
    pairs = [line[i + 1] for i, word in enumerate(line) if word == '-p']
    assert pairs == ['a:=1.0', 'b:="two words"', 'c:=true', 'd:=[1.0, 2.0]']
    assert line[-2:] == ['-r', 'x:=y']


def test_a_missing_package_is_named():
    with pytest.raises(SetupError, match='rviz9 of the package no_such_package'):
        find_executable('no_such_package', 'rviz9')


@pytest.mark.parametrize(('sourced', 'named'), [('kilted', 'kilted'), ('', 'jazzy')])
def test_the_package_to_install_is_that_of_a_real_distribution(monkeypatch, sourced, named):
    monkeypatch.setenv('ROS_DISTRO', sourced)
    with pytest.raises(SetupError, match=f'RViz .* ROS 2 installation.* ros-{named}-no-such'):
        find_executable('no_such', 'rviz9')


def test_nothing_is_started_when_one_command_is_missing(tmp_path):
    missing = Process('window', 'rviz9', package='no_such_package')
    supervisor = supervise([Script('calm', SLEEPER), missing], tmp_path)
    with pytest.raises(SetupError, match='no_such_package'):
        supervisor.start()
    assert supervisor.stop() == {}
    assert not (tmp_path / 'logs').exists()


@pytest.mark.parametrize('kind', [DemoOptions, ArmOptions])
def test_settings_survive_the_way_through_text(kind):
    settings = evolve(kind(), record=False, directory='elsewhere', policy='scripted')
    texts = {name: text_of(value) for name, value in flatten(settings).items()}
    assert from_texts(kind, texts) == settings


@pytest.mark.parametrize(
    ('texts', 'message'),
    [
        ({'record': 'maybe'}, "record is 'maybe'; it must be true or false"),
        ({'episodes': 'five'}, "episodes is 'five'; it must be a whole number, at least 1"),
        ({'colour': 'red'}, "'colour' is no option"),
        ({'epsodes': '3'}, "'epsodes' is no option; did you mean 'episodes'"),
        ({'robot': 'panda'}, "robot is 'panda'; it must be fr3 or .* or a profile"),
        (
            {'qualities': '[1.0, 1.2]'},
            r'qualities is \[1.0, 1.2\]; it must be a list of numbers, each 0 to 1',
        ),
        ({'qualities': 'good'}, 'qualities must be a YAML list such as'),
        ({'qualities': '1.0,0.5'}, 'qualities must be a YAML list such as'),
        ({'references': 'runs/a,runs/b'}, 'references must be a YAML list such as'),
        ({'episodes': '0'}, 'episodes is 0; it must be at least 1'),
        ({'seed': '-1'}, 'seed is -1; it must be at least 0'),
        ({'timeout': '0'}, 'timeout is 0.0; it must be above 0 s'),
        ({'timeout': 'nan'}, 'timeout is nan; it must be a finite number, above 0 s'),
        ({'policy': ''}, "no policy ''"),
        ({'policy': 'clever'}, f"no policy 'clever'; known: {', '.join(policies())}, or "),
        ({'policy_options': 'url=1'}, 'policy_options must be a YAML mapping such as'),
        ({'policy_options': '[url]'}, 'policy_options must be a YAML mapping such as'),
        ({'policy_options': '{a: 1, a: 2}'}, "'a' is given twice"),
        ({'policy_options': '{a: 1'}, 'policy_options is no YAML'),
        ({'log_level': 'loud'}, "log_level is 'loud'; it must be debug"),
        ({'execution': 'eager'}, "execution is 'eager'; it must be synchronous"),
    ],
)
def test_wrong_settings_are_named(texts, message):
    with pytest.raises(FrameRosError, match=message):
        from_texts(DemoOptions, texts)


@pytest.mark.parametrize(
    ('policy', 'message'),
    [
        (
            'lerobot',
            'checkpoint of the policy lerobot is empty; it must be the folder of a LeRobot',
        ),
        ('remote', 'url of the policy remote is empty; it must be the address of its server'),
        ('replay', 'checkpoint of the policy replay is empty; it must be a bag'),
        ('token_vla', 'it must be the folder of a model'),
    ],
)
def test_what_a_policy_needs_must_be_given(policy, message):
    with pytest.raises(SetupError, match=message):
        check_run([by_name(demo_processes(DemoOptions(policy=policy)))['policy']])


def test_the_files_of_a_checkpoint_are_checked_before_anything_starts(tmp_path):
    for settings in ({'policy': str(tmp_path)}, {'policy': 'lerobot', 'checkpoint': str(tmp_path)}):
        policy = by_name(demo_processes(DemoOptions(**settings)))['policy']
        with pytest.raises(CheckpointError, match=r'lacks config\.json'):
            check_run([policy])


def test_every_policy_can_be_chosen(tmp_path):
    for policy in set(policies()) - {'remote'}:
        assert DemoOptions(policy=policy, checkpoint=str(tmp_path)).policy == policy
    remote = DemoOptions(
        policy='remote', policy_options={'url': 'ws://127.0.0.1:8000', 'deadline': 1.5, 'name': '7'}
    )
    parameters = by_name(demo_processes(remote))['policy'].parameters
    assert parameters['policy_options'] == ['url=ws://127.0.0.1:8000', 'deadline=1.5', 'name="7"']


@pytest.mark.parametrize('table', TABLES)
def test_a_policy_reaches_the_arm_through_the_gate_alone(table):
    make, settings = TABLES[table]
    settings = evolve(
        settings, **{} if table.startswith('demo') else {'joint_commands_topic': 'arm/goal'}
    )
    gated, open_ = by_name(make(settings)), by_name(make(evolve(settings, gate=False)))
    target = 'joint_commands' if table.startswith('demo') else 'arm/goal'

    def output(process):
        return process.remappings.get('joint_commands', 'joint_commands')

    assert output(gated['policy']) == 'policy_commands'
    assert output(gated['gate']) == output(gated['metrics']) == target
    assert 'gate' not in open_ and output(open_['policy']) == target


def test_the_gate_is_set_by_the_launch_arguments():
    settings = ArmOptions(
        robot='fr3',
        policy='scripted',
        output='franka_ros2',
        gate_parameters={
            'limits.velocity_scale': 0.3,
            'workspace.box': [0.2, -0.4, 0.0, 0.7, 0.4, 0.8],
            'tip': 'tcp',
        },
    )
    processes = by_name(arm_processes(settings))
    parameters = processes['gate'].parameters
    assert parameters['limits.velocity_scale'] == 0.3 and parameters['tip'] == 'tcp'
    assert (parameters['robot'], parameters['output']) == ('fr3', 'franka_ros2')
    drawn = processes['markers'].parameters
    assert drawn == {'robot': 'fr3', 'workspace.box': [0.2, -0.4, 0.0, 0.7, 0.4, 0.8]}
    with pytest.raises(
        SetupError,
        match="'velocity_scal' is no parameter of the node gate; did you mean 'limits.velocity_sc",
    ):
        arm_processes(evolve(settings, gate_parameters={'velocity_scal': 0.3}))


def test_the_markers_draw_the_workspace_that_a_profile_gives_the_gate(tmp_path):
    path = tmp_path / 'mine.yaml'
    urdf = find_profile('so101').path('urdf/so101.urdf')
    path.write_text(
        f'urdf: {urdf}\nparameters:\n'
        '  gate: {workspace: {box: [-1, -1, 0, 1, 1, 1], floor: 0.1}}\n'
        '  markers: {workspace.floor: 0.3}\n'
    )
    settings = ArmOptions(robot=str(path), policy='hold', gate_parameters={'workspace.floor': 0.2})
    processes = by_name(arm_processes(settings))
    for name in ('gate', 'markers'):
        assert processes[name].parameters['workspace.box'] == [-1.0, -1.0, 0.0, 1.0, 1.0, 1.0]
        assert processes[name].parameters['workspace.floor'] == 0.2
    alone = by_name(arm_processes(evolve(settings, policy='')))
    assert alone['markers'].parameters['workspace.floor'] == 0.3  # of a gate elsewhere


def test_a_leader_drives_through_the_gate_too():
    leader = {'leader_port': '/dev/leader', 'leader_id': 'lead'}
    assert 'gate' in by_name(arm_processes(ArmOptions(**leader)))
    record = ArmOptions(**leader, teleoperator_mode='record')
    assert 'gate' not in by_name(arm_processes(record))
    with pytest.raises(SetupError, match='past the gate'):
        ArmOptions(**leader, teleoperator_mode='record', policy='hold')


@pytest.mark.parametrize(
    'options', [['--policy', 'clever'], ['--episodes', '0'], ['--policy', 'lerobot']]
)
def test_the_demo_refuses_a_wrong_option_in_one_line_and_starts_nothing(tmp_path, options):
    pytest.importorskip('rclpy')
    command = [sys.executable, str(ROOT / 'scripts' / 'frame-ros'), 'demo', *options]
    run = tmp_path / 'run'
    done = subprocess.run([*command, '--directory', run], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith('frame-ros: ') and done.stderr.count('\n') == 1
    assert not run.exists()


def test_the_demo_keeps_to_this_machine_unless_told_otherwise():
    alone = demo_environment({})
    assert alone['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
    assert {Path(alone[name]).name for name in PROFILES} == {'fastdds_loopback.xml'}
    assert demo_environment(alone) == {}
    assert not set(demo_environment({PROFILES[0]: '/mine.xml'})) & set(PROFILES)
    chosen = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET'}
    assert 'ROS_AUTOMATIC_DISCOVERY_RANGE' not in demo_environment(chosen)
    assert demo_environment(chosen).items() <= ros_environment(chosen).items()
    assert ros_environment({}).items() >= alone.items()


def test_the_network_of_an_arm_is_left_as_it_is():
    assert set(arm_environment({})) == {'OMP_NUM_THREADS', 'MUJOCO_GL', 'PYTHONFAULTHANDLER'}
    own = {'OMP_NUM_THREADS': '4', 'MUJOCO_GL': 'osmesa', 'PYTHONFAULTHANDLER': '0'}
    assert arm_environment(own) == {}


def test_the_table_imports_no_ros():
    code = (
        'import sys, frame_ros.bringup.process_table, frame_ros.bringup.supervisor\n'
        'sys.exit(any(name.split(".")[0] in ("rclpy", "launch", "numpy") for name in sys.modules))'
    )
    assert subprocess.run([sys.executable, '-c', code], check=False).returncode == 0


@pytest.mark.parametrize('path', sorted((ROOT / 'launch').glob('*.py')), ids=lambda path: path.name)
def test_a_launch_file_holds_nothing_but_its_table(path):
    tree, name = ast.parse(path.read_text()), path.name.split('.')[0]
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    of_table = {
        'frame_ros.bringup.process_table',
        'frame_ros.bringup.run_options' if name == 'demo' else 'frame_ros.bringup.arm_options',
    }
    is_preset = name in ('so101', 'franka')
    assert imported == {'launch', 'frame_ros.cli.ros2.launching'} | (
        {'pathlib'} if is_preset else of_table
    )
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert ('arm_preset' if is_preset else f'{name}_processes') in used


class Script(Process):
    """A process of the table whose command is a small Python program."""

    def command(self, namespace=''):
        return [sys.executable, '-u', '-c', self.executable]


SLEEPER = 'import time\nprint("ready")\ntime.sleep(60)'
STUBBORN = (
    'import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n'
    'print("ready")\ntime.sleep(60)'
)
PARENT = (
    'import subprocess, sys, time\n'
    'child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])\n'
    'print("ready", child.pid)\ntime.sleep(60)'
)


def wait_for_log(path, text='ready'):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if path.is_file() and text in path.read_text():
            return path.read_text()
        time.sleep(0.02)
    raise AssertionError(f'{path} never said {text!r}')


def supervise(processes, tmp_path, lines=None, **options):
    console = (lambda text: None) if lines is None else lines.append
    return Supervisor(processes, tmp_path / 'logs', console=console, **options)


def test_a_process_that_dies_is_named_with_its_last_lines(tmp_path):
    code = 'import sys\nfor i in range(50): print("line", i)\nsys.exit(3)'
    processes = [Script('calm', SLEEPER), Script('frail', code)]
    with supervise(processes, tmp_path) as supervisor, pytest.raises(ProcessError) as caught:
        supervisor.wait(0.02)
    message = str(caught.value)
    assert 'the process frail ended with exit code 3' in message
    assert 'line 49' in message
    assert 'line 10\n' not in message
    assert (tmp_path / 'logs' / 'frail.log').read_text().startswith('line 0\n')


def test_a_process_that_is_killed_is_named(tmp_path):
    code = 'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)'
    with (
        supervise([Script('frail', code)], tmp_path) as supervisor,
        pytest.raises(ProcessError, match='frail was killed by SIGKILL'),
    ):
        supervisor.wait(0.02)


def test_the_run_is_over_when_the_essential_process_ends(tmp_path):
    processes = [
        Script('calm', SLEEPER),
        Script('window', 'pass', may_end=True),
        Script('main', 'import time; time.sleep(0.3)', is_essential=True),
    ]
    with supervise(processes, tmp_path) as supervisor:
        assert supervisor.wait(0.02) == 'main'
        wait_for_log(tmp_path / 'logs' / 'calm.log')
    codes = supervisor.stop()
    assert codes == {'calm': -signal.SIGTERM, 'window': 0, 'main': 0}


def test_an_essential_process_that_fails_is_an_error(tmp_path):
    with (
        supervise(
            [Script('main', 'raise SystemExit(1)', is_essential=True)], tmp_path
        ) as supervisor,
        pytest.raises(ProcessError, match='main ended with exit code 1'),
    ):
        supervisor.wait(0.02)


def test_a_process_that_ignores_sigterm_is_killed_after_the_grace(tmp_path):
    lines = []
    processes = [Script('stubborn', STUBBORN), Script('calm', SLEEPER)]
    with supervise(processes, tmp_path, lines, grace=0.3) as supervisor:
        for process in processes:
            wait_for_log(tmp_path / 'logs' / f'{process.name}.log')
    assert supervisor.stop() == {'stubborn': -signal.SIGKILL, 'calm': -signal.SIGTERM}
    assert any(line.startswith('[stubborn] did not stop') for line in lines)


def test_what_a_process_started_itself_ends_too(tmp_path):
    with supervise([Script('parent', PARENT)], tmp_path):
        child = int(wait_for_log(tmp_path / 'logs' / 'parent.log').split()[1])
    deadline = time.monotonic() + PATIENCE
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(child)


def is_running(pid):
    """Returns whether the process runs: one that ended but was not yet collected does not."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0] != 'Z'
    except FileNotFoundError:
        return False


def test_only_warnings_and_errors_reach_the_console(tmp_path):
    code = (
        'print("[INFO] [1.0] [n]: fine")\nprint("[WARN] [1.0] [n]: hm")\n'
        'import time\ntime.sleep(60)'
    )
    lines = []
    with supervise([Script('node', code)], tmp_path, lines):
        wait_for_log(tmp_path / 'logs' / 'node.log', 'hm')
        deadline = time.monotonic() + PATIENCE
        while not lines and time.monotonic() < deadline:
            time.sleep(0.02)
    assert lines == ['[node] WARN: hm']


def test_nothing_is_left_when_one_process_cannot_start(tmp_path):
    class Impossible(Process):
        def command(self, namespace=''):
            return ['/no/such/program']

    supervisor = supervise([Script('calm', SLEEPER), Impossible('bad', 'bad')], tmp_path)
    with pytest.raises(FileNotFoundError):
        supervisor.start()
    assert supervisor.stop()['calm'] == -signal.SIGTERM


def test_the_users_domain_is_kept_and_else_one_is_chosen():
    assert ros_environment({'ROS_DOMAIN_ID': '42', 'MUJOCO_GL': 'osmesa'})['ROS_DOMAIN_ID'] == '42'
    assert ros_environment({'MUJOCO_GL': 'osmesa'})['MUJOCO_GL'] == 'osmesa'
    chosen = ros_environment({})
    assert 1 <= int(chosen['ROS_DOMAIN_ID']) <= 100
    assert Path(chosen['FASTRTPS_DEFAULT_PROFILES_FILE']).is_file()


@pytest.mark.parametrize('participant', [0, 3])
def test_a_domain_in_use_is_not_chosen(monkeypatch, participant):
    """Neither where the first participant has ended and a later one still runs."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(('127.0.0.1', 0))
        monkeypatch.setattr('frame_ros.bringup.supervisor.DOMAINS', [7, 8])
        monkeypatch.setattr(
            'frame_ros.bringup.supervisor.discovery_port',
            lambda domain, number: taken.getsockname()[1] * ((domain, number) == (7, participant)),
        )
        assert {free_domain() for _ in range(10)} == {8}
        monkeypatch.setattr('frame_ros.bringup.supervisor.DOMAINS', [7])
        with pytest.raises(SetupError, match='is in use'):
            free_domain()


def test_with_a_scene_file_its_overlay_runs_and_the_simulator_runs_its_scenes(tmp_path):
    file = str(tmp_path / 'scenes.yaml')
    assert 'scene_overlay' not in by_name(demo_processes(DemoOptions()))
    demo = by_name(demo_processes(DemoOptions(scenes_file=file, scene='2')))
    for name in ('simulator', 'scene_overlay'):
        chosen = demo[name].parameters
        assert (chosen['scenes_file'], chosen['scene']) == (file, '2')
    assert demo['scene_overlay'].parameters['extrinsics'] == 'scene'
    for name in ('scene_overlay', 'proximity', 'session'):
        assert demo[name].parameters['scene_topic'] == 'scene'
    worded = DemoOptions(scenes_file=file, instruction='wave', given=frozenset({'instruction'}))
    assert 'scene_instruction' not in demo['session'].parameters
    session = by_name(demo_processes(worded))['session'].parameters
    assert (session['scene_topic'], session['scene_instruction']) == ('scene', False)
    assert 'scene_overlay' not in demo['session'].parameters['nodes']
    own = {'extrinsics': 'base_link 0 0 1 0 0 0'}
    arm = ArmOptions(
        scenes_file=file, front_image_topic='/hand/image', scene_overlay_parameters=own
    )
    overlay = by_name(arm_processes(arm))['scene_overlay']
    assert overlay.only_watches and overlay.can_respawn
    assert overlay.parameters['image_topic'] == '/hand/image'
    assert overlay.parameters['extrinsics'] == own['extrinsics']
    with pytest.raises(FrameRosError, match='scenes.yaml cannot be read'):
        check_run([overlay])
    with pytest.raises(FrameRosError, match='none without scenes_file'):
        ArmOptions(scene_overlay_parameters=own)
    for kind in (DemoOptions, ArmOptions, SimulatorOptions):
        with pytest.raises(FrameRosError, match="scene .*'1' without scenes_file"):
            kind(scene='2')
