# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings whose joint values are in degrees, ticks or percent: noticed, and converted."""

import json
import math

import numpy as np
import pytest
from bag_making import T0, message, stamp, write_bag

from frame_ros.bags.recording_options import RecordedUnits
from frame_ros.bags.streams.form import Stream
from frame_ros.cli import main
from frame_ros.core.time import SECOND
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.recorded.units import in_radians
from frame_ros.robots import load_robot

ROBOT = load_robot('so101')
NAMES = list(ROBOT.joint_limits)
LIMITS = np.array(list(ROBOT.joint_limits.values()))
GRIPPER = NAMES.index('gripper')
CALIBRATION = {
    name: {'id': i + 1, 'drive_mode': 0, 'homing_offset': 0, 'range_min': 800, 'range_max': 3300}
    for i, name in enumerate(NAMES)
}
HALF = 2500 * math.pi / 4095


def motion(at):
    """A slow motion within all limits, rad (6,)."""
    share = 0.5 + 0.3 * np.sin(at / SECOND - T0 / SECOND + np.arange(6))
    return LIMITS[:, 0] * 0.8 + 0.8 * share * (LIMITS[:, 1] - LIMITS[:, 0])


def percent_of_gripper(q):
    lower, upper = LIMITS[GRIPPER]
    return 100 * (q[GRIPPER] - lower) / (upper - lower)


def degrees(q):
    values = np.degrees(q)
    values[GRIPPER] = percent_of_gripper(q)
    return values


def percent(q):
    values = 100 * q / HALF
    values[GRIPPER] = percent_of_gripper(q)
    return values


def ticks(q):
    return np.round(2048 + q * 4096 / (2 * math.pi))


def recorded(folder, write):
    sent = []
    for at in range(T0, T0 + 3 * SECOND, SECOND // 30):
        state = message(
            'sensor_msgs/msg/JointState', header__stamp=stamp(at), name=NAMES,
            position=np.asarray(write(motion(at)), float),
        )  # fmt: skip
        sent += [('/joint_states', at, state), ('/joint_commands', at + 1, state)]
    return str(write_bag(folder, sent))


def report(capsys, *arguments):
    assert main(['report', '--json', '--robot', 'so101', '-q', *arguments]) == 0
    captured = capsys.readouterr()
    (episode,) = json.loads(captured.out)['episodes']
    return episode, captured.err


@pytest.mark.parametrize(
    ('write', 'units', 'given', 'tolerance'),
    [
        (degrees, 'deg', (), 1e-6),
        (percent, 'percent', ('--joint-calibration',), 1e-6),
        (ticks, 'ticks', (), 0.02),
    ],
)
def test_other_units_are_named_and_converted(tmp_path, capsys, write, units, given, tolerance):
    wanted, told = report(capsys, recorded(tmp_path / 'rad', np.array))
    assert 'limits of' not in told
    bag = recorded(tmp_path / units, write)
    wrong, told = report(capsys, bag)
    assert '/joint_states: joint values outside the limits of so101' in told
    assert f'--joint-units {units}' in told
    calibration = tmp_path / 'arm.json'
    calibration.write_text(json.dumps(CALIBRATION))
    extra = [*given, str(calibration)] if given else []
    right, told = report(capsys, bag, '--joint-units', units, *extra)
    assert 'outside the limits' not in told
    # Whole ticks make differences coarse; the path is what it was.
    for name in ('pl',) if write is ticks else ('pl', 'ti', 'a_pi'):
        value = wanted['metrics'][name]['value']
        assert right['metrics'][name]['value'] == pytest.approx(value, rel=tolerance)
        assert wrong['metrics'][name]['value'] > 2 * value
    assert right['metrics']['a_pi']['unit'] == ''


def test_speeds_beyond_the_limits_are_worth_knowing(tmp_path, capsys):
    panda = load_robot('fr3')
    sent = []
    for i, at in enumerate(range(T0, T0 + 2 * SECOND, SECOND // 100)):
        position = (panda.lower + panda.upper) / 2 + 0.4 * math.sin(i)
        state = message(
            'sensor_msgs/msg/JointState', header__stamp=stamp(at), name=list(panda.joint_names),
            position=position,
        )  # fmt: skip
        sent.append(('/joint_states', at, state))
    bag = str(write_bag(tmp_path / 'fast', sent))
    assert main(['report', bag, '--robot', 'fr3', '-o', str(tmp_path / 'page.html')]) == 0
    assert 'faster than the limits of fr3' in (tmp_path / 'page.html').read_text()


def test_speeds_of_joints_that_slide_are_in_metres(tmp_path, capsys):
    urdf = tmp_path / 'rail.urdf'
    urdf.write_text(
        '<robot name="rail"><link name="a"/><link name="b"/><joint name="x" type="prismatic">'
        '<parent link="a"/><child link="b"/><limit lower="-1" upper="1" velocity="0.5"/></joint>'
        '</robot>'
    )
    sent = []
    for i, at in enumerate(range(T0, T0 + SECOND, SECOND // 100)):
        state = message(
            'sensor_msgs/msg/JointState', header__stamp=stamp(at), name=['x'],
            position=np.array([0.5 * math.sin(i)]),
        )  # fmt: skip
        sent.append(('/joint_states', at, state))
    bag = str(write_bag(tmp_path / 'fast', sent))
    assert main(['report', bag, '--robot', str(urdf), '-o', str(tmp_path / 'page.html')]) == 0
    page = (tmp_path / 'page.html').read_text()
    assert ' m/s (limit 0.5)' in page and ' rad/s (limit 0.5)' not in page


def test_degrees_leave_joints_that_slide_in_metres(tmp_path):
    urdf = tmp_path / 'rail.urdf'
    urdf.write_text(
        '<robot name="rail"><link name="a"/><link name="b"/><link name="c"/>'
        '<joint name="x" type="prismatic"><parent link="a"/><child link="b"/>'
        '<limit lower="-1" upper="1"/></joint><joint name="turn" type="revolute">'
        '<parent link="b"/><child link="c"/><limit lower="-1" upper="1"/></joint></robot>'
    )
    state = message(
        'sensor_msgs/msg/JointState', header__stamp=stamp(T0), name=['x', 'turn'],
        position=np.array([0.5, 30.0]),
    )  # fmt: skip
    bag = write_bag(tmp_path / 'bag', [('/joint_states', T0, state)])
    units = RecordedUnits('deg')
    (episode,) = read_episodes(bag, robot=str(urdf), joint_units=units)
    positions = episode.streams['joint_states'].values['positions'][0, :2]
    np.testing.assert_allclose(positions, [0.5, math.pi / 6])


def test_a_bag_without_poses_is_said_to_need_the_robot(tmp_path, capsys):
    bag = recorded(tmp_path / 'rad', np.array)
    hint = 'no pose: ee_pose was not recorded; --robot so101 computes it from the joint states'
    for given, is_hinted in (([], True), (['--robot', 'so101'], False)):
        assert main(['report', bag, *given, '-o', str(tmp_path / 'page.html')]) == 0
        assert (hint in capsys.readouterr().err) == is_hinted


def test_actions_without_limits_are_labelled_raw(tmp_path, capsys):
    bag = recorded(tmp_path / 'rad', np.array)
    assert main(['report', '--json', '-q', bag]) == 0
    (episode,) = json.loads(capsys.readouterr().out)['episodes']
    assert episode['metrics']['a_pi']['unit'] == 'rad or m, raw'


def test_what_percent_need_is_named(tmp_path, capsys):
    bag = recorded(tmp_path / 'percent', percent)
    assert main(['report', bag, '--joint-units', 'percent']) == 1
    assert 'name the robot that has it (--robot)' in capsys.readouterr().err


@pytest.mark.parametrize(('drive_mode', 'tick'), [(0, 1000), (1, 3000)])
def test_ticks_of_a_gripper_go_from_closed_to_open(drive_mode, tick):
    robot = load_robot('so101')
    lower, upper = robot.joint_limits['gripper']
    entry = {'range_min': 1000, 'range_max': 3000, 'drive_mode': drive_mode}
    columns = {
        'names': np.array([['gripper'], ['gripper']]),
        'names_count': np.array([1, 1]),
        'positions': np.array([[float(tick)], [2000.0]]),
    }
    stamps = np.array([1, 2], np.int64)
    stream = Stream('/joint_states', 'sensor_msgs/msg/JointState', stamps, stamps, columns)
    units = RecordedUnits('ticks', {'gripper': entry})
    found, _ = in_radians({'joint_states': stream}, units, robot)
    positions = found['joint_states'].values['positions'][:, 0]
    np.testing.assert_allclose(positions, [lower, (lower + upper) / 2], atol=1e-12)


def test_a_calibration_without_its_units_is_refused(tmp_path, capsys):
    bag = recorded(tmp_path / 'rad', np.array)
    file = tmp_path / 'arm.json'
    file.write_text('{}')
    assert main(['report', bag, '--joint-calibration', str(file)]) == 2
    assert '--joint-units ticks, percent or deg' in capsys.readouterr().err
