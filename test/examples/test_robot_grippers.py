# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The gripper of a profile, where everything uses it: of an xArm 6, whose joint is called
drive_joint and grows as it closes; of an FR3, whose fingers slide; and of a UR5e, which has none.
"""

from pathlib import Path

import numpy as np
import pytest

from frame_ros.bags.streams.form import Stream
from frame_ros.cli.open_loop import OpenLoopOptions, make_open_loop_policy
from frame_ros.cli.serve import offered_joints_of
from frame_ros.core.errors import CheckpointError, PolicyError, RobotError
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.recorded.units import RecordedUnits, in_radians
from frame_ros.gate.limits.command_limits import limits_of
from frame_ros.hardware.controllers import controller_layout
from frame_ros.hardware.lerobot.joint_mapping import JointMapping
from frame_ros.policies.base import Policy
from frame_ros.policies.choices import offered_of
from frame_ros.policies.execution.action_spaces import ActionConverter
from frame_ros.policies.lerobot.columns import JointScales, action_columns, state_columns
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.policies.remote.convention import Convention
from frame_ros.policies.remote.presets import make_preset
from frame_ros.robots import load_robot
from frame_ros.robots.likely_units import likely_units

FOLDER = Path(__file__).resolve().parents[2] / 'examples' / 'robots'
FILES = {name: str(FOLDER / name / f'{name}.yaml') for name in ('xarm6', 'ur5e')}
SOURCES = {**FILES, 'fr3': 'fr3', 'so101': 'so101'}
ROBOTS = {name: load_robot(source) for name, source in SOURCES.items()}
XARM, UR5E = ROBOTS['xarm6'], ROBOTS['ur5e']
XARM_JOINTS = tuple(XARM.joint_limits)
CLOSED, OPENED = 0.85, 0.0  # rad, of the xArm's drive_joint
GRIPPERS = {
    'xarm6': {'drive_joint': (CLOSED, OPENED)},
    'ur5e': {},
    'fr3': {'fr3_finger_joint1': (0.0, 0.04)},
    'so101': {'gripper': (-0.174533, 1.74533)},
}
HALF_OPEN = np.append(np.full(6, 0.1), 0.425)
URDF_ALONE = (FOLDER / 'xarm6' / 'xarm6.urdf').read_text()


class Choices:
    """Options as a node or a command gets them from the user."""

    checkpoint = camera_names = robot = ''
    device, units, quality, seed = 'cpu', 'degrees', 1.0, 0
    samples, temperatures = 0, ()
    action_rate = control_rate = 15.0


@pytest.mark.parametrize('name', ROBOTS)
def test_every_policy_is_offered_the_gripper_closed_and_open(name):
    assert ROBOTS[name].grippers == GRIPPERS[name]
    assert offered_of(Choices, ROBOTS[name])['gripper_limits'] == GRIPPERS[name]
    served = offered_joints_of(SOURCES[name])
    assert served['gripper_limits'] == GRIPPERS[name]
    assert served['joint_limits'] == ROBOTS[name].joint_limits


def test_joints_that_are_served_alone_have_no_gripper():
    assert offered_joints_of(FILES['xarm6'], ['joint2', 'joint1'])['gripper_limits'] == {}


def test_a_urdf_alone_has_the_joints_that_are_called_like_a_gripper():
    assert load_robot(URDF_ALONE).grippers == {}  # its fingers follow the drive_joint
    named = URDF_ALONE.replace('drive_joint', 'gripper_drive')
    assert load_robot(named).grippers == {'gripper_drive': (0.0, 0.85)}


def test_a_gripper_that_follows_another_joint_is_refused(tmp_path):
    (tmp_path / 'mine.urdf').write_text(URDF_ALONE)
    path = tmp_path / 'mine.yaml'
    gripper = '{joint: left_finger_joint, closed: 0.7, opened: 0.6}'
    path.write_text(f'urdf: mine.urdf\ngripper: {gripper}\n')
    with pytest.raises(RobotError, match='in gripper.joint is no joint of its URDF that can'):
        load_robot(path)


class Listening(Policy):
    """An own policy that keeps what it is offered."""

    name = 'listening'

    def __init__(self, gripper_limits):
        self.notes = [repr(dict(gripper_limits))]

    def infer(self, observation):
        raise NotImplementedError


def test_open_loop_offers_it_too():
    actions = recording([HALF_OPEN, HALF_OPEN])
    episode = Episode(Path('bag'), '', {}, [], {'action': actions}, {})
    options = OpenLoopOptions(units='rad', robot='xarm6')
    policy = make_open_loop_policy(f'{__file__}:Listening', options, XARM, episode)
    assert policy.notes == [repr(dict(GRIPPERS['xarm6']))]


@pytest.mark.parametrize(
    ('convention', 'closed', 'opened'),
    [
        ('open', 0.0, 1.0), ('closed', 1.0, 0.0), ('signed_open', -1.0, 1.0),
        ('signed_closed', 1.0, -1.0), ('percent_open', 0.0, 100.0),
    ],
)  # fmt: skip
@pytest.mark.parametrize('name', ['xarm6', 'fr3', 'so101'])
def test_conventions_of_policies_reach_both_ends(name, convention, closed, opened):
    robot = ROBOTS[name]
    ((joint, ends),) = GRIPPERS[name].items()
    rows = np.array([[closed], [opened], [(closed + opened) / 2]])
    seen = Observation(0, 0, tuple(robot.joint_limits), np.zeros(len(robot.joint_limits)))
    for column in ('gripper', joint):
        inference = Inference(rows, 0.1, (column,), ('1',), 'joint_position')
        found = ActionConverter(robot, gripper=convention).to_joint_positions(inference, seen)
        assert found.action_names == (joint,)
        np.testing.assert_allclose(found.actions[:, 0], (*ends, sum(ends) / 2), atol=1e-12)


def test_a_threshold_opens_and_closes_the_right_way():
    converter = ActionConverter(XARM, gripper_threshold=0.5)
    inference = Inference(np.array([[0.8], [0.1]]), 0.1, ('gripper',), ('rad',), 'joint_position')
    found = converter.to_joint_positions(inference, Observation(0, 0, XARM_JOINTS, HALF_OPEN))
    assert found.actions[:, 0].tolist() == [CLOSED, OPENED]


def test_without_a_gripper_its_column_is_refused_by_name():
    seen = Observation(0, 0, tuple(UR5E.joint_limits), np.zeros(6))
    inference = Inference(np.zeros((1, 1)), 0.1, ('gripper',), ('1',), 'joint_position')
    with pytest.raises(PolicyError, match='has the columns gripper; in its action space this robo'):
        ActionConverter(UR5E, gripper='open').to_joint_positions(inference, seen)


def test_joints_without_the_gripper_can_be_converted():
    converter = ActionConverter(XARM, XARM_JOINTS[:6])
    inference = Inference(np.zeros((1, 1)), 0.1, ('joint1',), ('rad',), 'joint_position')
    seen = Observation(0, 0, XARM_JOINTS, HALF_OPEN)
    assert converter.to_joint_positions(inference, seen) is inference


def test_columns_of_a_checkpoint_have_it_in_percent():
    names = (*XARM_JOINTS[:6], 'gripper')
    scales = JointScales('degrees', XARM_JOINTS, XARM.grippers)
    actions = action_columns('joint_position', [f'{n}.pos' for n in names], (), scales)
    assert actions.names == XARM_JOINTS
    row = actions.from_policy(np.append(np.full(6, 90.0), 75.0))
    np.testing.assert_allclose(row, np.append(np.full(6, np.pi / 2), 0.25 * CLOSED))
    state = state_columns([f'{n}.pos' for n in names], scales, 'tcp')
    assert state.of(Observation(0, 0, XARM_JOINTS, HALF_OPEN))[-1] == pytest.approx(50.0)
    pose = ('ee.x', 'ee.y', 'ee.z', 'ee.wx', 'ee.wy', 'ee.wz', 'ee.gripper_pos')
    assert action_columns('ee_pose', pose, (), scales).names[-1] == 'drive_joint'
    without = JointScales('degrees', tuple(UR5E.joint_limits), UR5E.grippers)
    assert without.of(tuple(UR5E.joint_limits)).scale == pytest.approx(np.full(6, 180 / np.pi))
    with pytest.raises(CheckpointError, match=r"state_names has \['gripper'\]"):
        state_columns(('gripper',), without, 'tcp')


def test_servers_of_droid_and_libero_see_it_closed_as_closed():
    seen = Observation(
        0, 0, XARM_JOINTS, np.append(np.zeros(6), 0.75 * CLOSED),
        poses={'tcp': np.array([0.5, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0])},
        images={name: np.zeros((8, 8, 3), np.uint8) for name in ('front', 'wrist')},
    )  # fmt: skip
    droid = Convention(make_preset('droid'), XARM_JOINTS, XARM.grippers)
    assert droid.to_wire(seen)['observation/gripper_position'] == pytest.approx([0.75])
    wire = np.zeros((2, 7))
    wire[:, 6] = 1.0, 0.0
    np.testing.assert_allclose(droid.actions_from_wire(wire, seen)[:, 6], (CLOSED, OPENED))
    libero = Convention(make_preset('libero'), XARM_JOINTS, XARM.grippers)
    # A quarter open: so far are the fingers of LIBERO's Panda, each of which moves by 0.04 m.
    np.testing.assert_allclose(libero.to_wire(seen)['observation/state'][6:], (0.01, -0.01))
    assert libero.action_names[-1] == 'drive_joint'
    wire[:, 6] = 1.0, -1.0
    np.testing.assert_allclose(libero.actions_from_wire(wire, seen)[:, 6], (CLOSED, OPENED))


@pytest.mark.parametrize('name', ROBOTS)
def test_devices_and_controllers_have_its_closed_and_open_position(name):
    robot = ROBOTS[name]
    features = [f'{joint}.pos' for joint in robot.joint_limits]
    mapping = JointMapping(features, robot.joint_limits, robot.grippers)
    assert mapping.is_gripper.tolist() == [joint in GRIPPERS[name] for joint in mapping.names]
    assert mapping.device_grippers == list(GRIPPERS[name])
    for share, end in ((0.0, 0), (100.0, 1)):
        positions = mapping.positions(dict.fromkeys(features, share))
        expected = [ends[end] for ends in GRIPPERS[name].values()]
        assert positions[mapping.is_gripper] == pytest.approx(expected)
    layout = controller_layout('ros2_control_trajectory', robot, 0.02)
    assert layout.fingers == GRIPPERS[name]


def recording(positions):
    names = np.array([XARM_JOINTS] * len(positions))
    columns = {
        'names': names, 'names_count': np.full(len(names), 7),
        'positions': np.array(positions), 'positions_count': np.full(len(names), 7),
    }  # fmt: skip
    stamps = np.arange(1, len(names) + 1)
    return Stream('/joint_states', 'sensor_msgs/msg/JointState', stamps, stamps, columns)


def test_recordings_in_other_units_are_read():
    deg = recording([[90.0] * 6 + [0.0], [0.0] * 6 + [100.0]])
    found, _ = in_radians({'joint_states': deg}, RecordedUnits('deg'), XARM)
    positions = found['joint_states'].values['positions']
    np.testing.assert_allclose(positions[0], np.append(np.full(6, np.pi / 2), CLOSED))
    np.testing.assert_allclose(positions[1], np.append(np.zeros(6), OPENED), atol=1e-12)
    calibration = {n: {'range_min': 1000, 'range_max': 3000} for n in XARM_JOINTS}
    ticks = recording([[2000.0] * 6 + [1000.0], [2000.0] * 6 + [3000.0]])
    found, _ = in_radians({'joint_states': ticks}, RecordedUnits('ticks', calibration), XARM)
    positions = found['joint_states'].values['positions'][:, 6]
    np.testing.assert_allclose(positions, (CLOSED, OPENED), atol=1e-12)
    # Far beyond the range of a joint in degrees, as a gripper's percent are.
    values = {'joint1': np.array([80.0]), 'drive_joint': np.array([99.0])}
    assert '--joint-units deg' in likely_units(values, XARM).words('--joint-units')


def test_a_data_set_has_it_in_percent_under_its_own_name(tmp_path):
    pytest.importorskip('lerobot')
    from frame_ros.episodes.export.demonstrations import DemonstrationDataset

    dataset = DemonstrationDataset(tmp_path / 'set', XARM_JOINTS, XARM.grippers, poses=())
    state = dataset._features()['observation.state']
    assert state['names'] == [*(f'joint{i}.pos' for i in range(1, 7)), 'drive_joint.pos']
    frames = []
    dataset._dataset.add_frame = frames.append
    dataset.add(Observation(0, 0, XARM_JOINTS, HALF_OPEN, instruction='pick'), HALF_OPEN * 2)
    assert frames[0]['observation.state'][6] == pytest.approx(50.0)
    assert frames[0]['action'][6] == pytest.approx(0.0)
    assert frames[0]['observation.state'][0] == pytest.approx(np.degrees(0.1))


def test_a_gripper_squeezes_without_a_limit_of_its_steps_whatever_the_tip():
    limits = limits_of(load_robot('so101', 'moving_jaw_so101_v1_link'), step=0.3, tick=0.1)
    assert dict(zip(limits.names, limits.step))['gripper'] == np.inf
    assert limits.tick.tolist() == [0.1] * 5 + [np.inf]
    assert set(limits_of(UR5E, step=0.3).step) == {0.3}
