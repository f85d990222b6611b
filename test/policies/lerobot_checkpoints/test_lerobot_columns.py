# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints whose actions or state are not the positions of the robot's joints in its order."""

import functools
import json
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import FrameRosError, PolicyError, ValueRangeError
from frame_ros.policies.execution.action_spaces import ActionConverter
from frame_ros.policies.lerobot import load_lerobot_policy
from frame_ros.policies.lerobot.columns import JointScales, action_columns, state_columns
from frame_ros.policies.protocol import Observation
from frame_ros.policies.registry import make_policy
from frame_ros.robots import load_robot
from frame_ros.robots.rotations import rotations_of

pytest.importorskip('lerobot')

from checkpoints import make_act_checkpoint
from direct_lerobot import DirectLeRobot, assert_same_outputs

SO101 = load_robot('so101')
JOINTS = tuple(SO101.joint_limits)
START = np.array((0.2, -0.4, 0.5, 0.6, 0.1, 0.8))
GRIPPER = {'gripper': SO101.joint_limits['gripper']}
POSE = ('x', 'y', 'z', 'rx', 'ry', 'rz')
# As a data set recorded with LeRobot's end-effector processors names them.
OF_LEROBOT = ('ee.x', 'ee.y', 'ee.z', 'ee.wx', 'ee.wy', 'ee.wz', 'ee.gripper_pos')
TCP = np.hstack(SO101.forward(START[:5]))
THINGS = {name: np.array((0.2, 0.1, 0.0, 0.0, 0.0, 0.0, 1.0)) for name in ('object', 'goal')}


@pytest.fixture(scope='module')
def make(tmp_path_factory):
    """A function: widths of state and action, and their scale -> a checkpoint without cameras."""
    made: dict = {}

    def get(state, actions, mean=0.0, std=1.0):
        key = (state, actions, np.size(mean), np.max(std))
        if key not in made:
            made[key] = make_act_checkpoint(
                tmp_path_factory.mktemp('act'), cameras=(), poses=2, state=state, actions=actions,
                chunk_size=4, dim_model=16, mean=mean, std=std,
            )  # fmt: skip
        return made[key]

    return get


def observe(joints=START, names=JOINTS, **poses) -> Observation:
    return Observation(1, 1, names, np.asarray(joints), poses={**THINGS, 'tcp': TCP, **poses})


direct_of = functools.cache(DirectLeRobot)


def raw_chunk(folder, state, observation) -> np.ndarray:
    """Returns the results of LeRobot's own calls for a state in the checkpoint's own terms."""
    import torch

    direct = direct_of(folder)
    things = {name: observation.poses[name] for name in THINGS}
    stated = Observation(1, 1, JOINTS, np.asarray(state), poses=things)
    with torch.inference_mode():
        chunk = direct.model.predict_action_chunk(direct.batch(stated))
    return direct.finish(chunk)[0].astype(np.float64)


@pytest.fixture()
def end_effector():
    """Requirements of actions of the end effector."""
    pytest.importorskip('pink')
    pytest.importorskip('daqp')


def test_libero_state_and_changes_of_the_pose_reach_the_joints(make, end_effector):
    """State: position, rotation vector, two fingers; actions: a share of 0.05 m and 0.5 rad."""
    folder = make(8, 7)
    options = {
        'action_space': 'ee_delta',
        'action_names': [*POSE, 'gripper'],
        'state_names': [*POSE, 'gripper', '-gripper'],
    }
    policy = load_lerobot_policy(folder, JOINTS, units='rad', samples=3, seed=0, **options)
    assert policy.poses == ('object', 'goal', 'tcp')
    observation = observe()
    inference = policy.infer(observation)
    rotation = Rotation.from_quat(TCP[3:]).as_rotvec()
    state = [*TCP[:3], *rotation, START[5], -START[5]]
    raw = raw_chunk(folder, state, observation)
    assert_same_outputs(inference.actions, raw)
    assert inference.action_space == 'ee_delta'
    assert inference.action_names == (*POSE, 'gripper')
    assert inference.action_units == ('m',) * 3 + ('rad',) * 3 + ('1',)
    assert inference.samples.shape == (3, 4, 7)

    converter = ActionConverter(
        SO101, position_scale=0.02, rotation_scale=0.05, gripper='signed_closed',
        unreachable='best_effort',
    )  # fmt: skip
    found = converter.to_joint_positions(inference, observation)
    assert (found.action_space, found.action_names) == ('joint_position', JOINTS)
    assert found.samples.shape == (3, 4, 6)
    first = SO101.forward(found.actions[0, :5])[0]
    np.testing.assert_allclose(first, TCP[:3] + 0.02 * raw[0, :3], atol=5e-3)
    lower, upper = GRIPPER['gripper']
    opening = (1.0 - np.clip(inference.actions[:, 6], -1, 1)) / 2
    np.testing.assert_allclose(found.actions[:, 5], lower + opening * (upper - lower))


def test_poses_by_lerobots_names_reach_the_joints(make, end_effector):
    """A data set of an SO-101 with ee.x ... as action and state, the gripper from 0 to 100."""
    target = np.array((*TCP[:3], *Rotation.from_quat(TCP[3:]).as_rotvec(), 40.0))
    folder = make(7, 7, mean=target, std=1e-4)
    policy = load_lerobot_policy(
        folder, JOINTS, gripper_limits=GRIPPER, action_space='ee_pose',
        action_names=','.join(OF_LEROBOT), state_names=','.join(OF_LEROBOT),
    )  # fmt: skip
    observation = observe()
    inference = policy.infer(observation)
    share = (START[5] - GRIPPER['gripper'][0]) / np.ptp(GRIPPER['gripper'])
    assert_same_outputs(
        inference.actions, raw_chunk(folder, [*target[:6], 100 * share], observation)
    )
    assert inference.action_names == (*POSE, 'gripper')
    converter = ActionConverter(SO101, gripper='percent_open')
    found = converter.to_joint_positions(inference, observation).actions
    np.testing.assert_allclose(found[-1, :5], START[:5], atol=0.02)
    expected = GRIPPER['gripper'][0] + 0.4 * np.ptp(GRIPPER['gripper'])
    np.testing.assert_allclose(found[:, 5], expected, atol=1e-3)


def test_joint_deltas_are_scaled_without_an_offset(make):
    folder = make(6, 6)
    policy = load_lerobot_policy(
        folder, JOINTS, gripper_limits=GRIPPER, action_space='joint_delta', samples=2
    )
    observation = observe()
    inference = policy.infer(observation)
    scale = np.array([180 / math.pi] * 5 + [100 / np.ptp(GRIPPER['gripper'])])
    state = START * scale
    state[5] = (START[5] - GRIPPER['gripper'][0]) * scale[5]
    raw = raw_chunk(folder, state, observation)
    assert_same_outputs(inference.actions * scale, raw)
    assert (inference.action_space, inference.action_units) == ('joint_delta', ('rad',) * 6)
    found = ActionConverter(SO101).to_joint_positions(inference, observation)
    np.testing.assert_allclose(found.actions, START + np.cumsum(inference.actions, axis=0))
    np.testing.assert_allclose(
        found.samples, START + np.cumsum(inference.samples, axis=1), rtol=1e-9
    )


def test_joints_in_another_order_and_fewer_of_them(make):
    folder, turned = make(6, 6), JOINTS[::-1]
    straight = load_lerobot_policy(folder, turned, units='rad').infer(observe())
    named = load_lerobot_policy(
        folder, JOINTS, units='rad', action_names=turned, state_names=[f'{n}.pos' for n in turned]
    ).infer(observe())
    assert named.action_names == turned
    assert_same_outputs(named.actions, straight.actions)
    arm = load_lerobot_policy(
        make(5, 5), JOINTS, gripper_limits=GRIPPER, action_names=JOINTS[:5], state_names=JOINTS[:5]
    )
    assert arm.infer(observe()).action_names == JOINTS[:5]


def test_declared_units_go_before_those_of_the_joints(make):
    """Joints as changes in degrees, and a gripper that is told a share of its opening."""
    policy = load_lerobot_policy(
        make(6, 6), JOINTS, units='rad', action_space='joint_delta',
        action_units=['degrees'] * 5 + ['1'],
    )  # fmt: skip
    inference, observation = policy.infer(observe()), observe()
    raw = raw_chunk(make(6, 6), START, observation)
    given = np.hstack([np.rad2deg(inference.actions[:, :5]), inference.actions[:, 5:]])
    assert_same_outputs(given, raw)
    assert inference.action_units == ('rad',) * 5 + ('1',)
    found = ActionConverter(SO101, gripper='open').to_joint_positions(inference, observation)
    share = np.clip(inference.actions[:, 5], 0, 1)
    lower, upper = GRIPPER['gripper']
    np.testing.assert_allclose(found.actions[:, 5], lower + share * (upper - lower))
    in_mm = action_columns('ee_delta', 'xyz', ('mm',) * 3, JointScales('rad', JOINTS))
    np.testing.assert_allclose(in_mm.from_policy(np.array([[5.0, 0.0, -1.0]])), [[5e-3, 0, -1e-3]])


def test_range_units_by_the_calibration_file_or_the_limits(make, tmp_path):
    entry = {'id': 1, 'drive_mode': 0, 'homing_offset': 0, 'range_min': 1000, 'range_max': 3095}
    path = tmp_path / 'arm.json'
    path.write_text(json.dumps(dict.fromkeys(JOINTS, entry)))
    options = {'units': 'range_m100_100', 'gripper_limits': GRIPPER}
    exact = load_lerobot_policy(make(6, 6), JOINTS, calibration=str(path), **options)
    span = 2095 * math.pi / 4095  # rad that are 100
    observation = observe()
    gripper = 100 * (START[5] - GRIPPER['gripper'][0]) / np.ptp(GRIPPER['gripper'])
    raw = raw_chunk(make(6, 6), [*START[:5] * 100 / span, gripper], observation)
    assert_same_outputs(exact.infer(observation).actions[:, :5] * 100 / span, raw[:, :5])
    assert exact.notes == []
    limits = SO101.joint_limits
    near = make_policy(str(make(6, 6)), {'robot_joint_names': JOINTS, 'joint_limits': limits,
                                         **options})  # fmt: skip
    assert 'calibration=FILE' in near.notes[0]
    for text in ('', '[1]', '{"a": 3}'):
        path.write_text(text)
        with pytest.raises(ValueRangeError, match=r'arm\.json'):
            load_lerobot_policy(make(6, 6), JOINTS, calibration=str(path), **options)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'action_space': 'ee'}, "action_space is 'ee'; it must be joint_position"),
        ({'action_space': 'ee_delta'}, 'action_names must name the columns'),
        ({'action_names': ('a', *JOINTS[1:])}, r"action_names has \['a'\]; joint_position of"),
        ({'action_names': JOINTS[:5]}, 'action has 6 values, action_names has 5'),
        ({'action_names': (*JOINTS, 'gripper')}, 'names a column twice'),
        ({'action_names': 7}, 'action_names is 7'),
        ({'state_names': 'x,y,z'}, 'observation.state has 6 values, state_names has 3'),
        ({'state_names': 'x,y,z,roll,pitch,jaw'}, r"state_names has \['jaw'\]"),
        ({'state_names': '-x,y,z,roll,pitch,yaw'}, 'only joints can have a -'),
        ({'state_names': 'x,x,z,roll,pitch,yaw'}, 'names a column twice'),
        ({'action_units': ['rad']}, 'action_units is .* for each of shoulder_pan'),
        ({'action_units': ['turns'] * 6}, 'one of m, mm, rad, degrees, 1'),
        ({'action_space': 'ee_pose', 'action_names': 'x,y,z'}, 'needs x, y, z and one rotation'),
        ({'action_space': 'ee_delta', 'action_names': 'x,y,z,roll,pitch'}, 'one rotation'),
        ({'action_space': 'ee_delta', 'action_names': 'x,y,z,rx,ry,rz,elbow_flex'}, 'elbow_flex'),
    ],
)
def test_columns_that_do_not_fit(make, options, message):
    with pytest.raises(FrameRosError, match=message):
        load_lerobot_policy(make(6, 6), JOINTS, **{'units': 'rad', **options})


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'trust_remote_code': 'False'}, "trust_remote_code is 'False'; it must be true or false"),
        ({'samples': '2'}, "samples is '2'"),
        ({'samples': 2.5}, 'samples is 2.5'),
        ({'action_rate': 'fast'}, "action_rate is 'fast'"),
        ({'seed': -1}, 'seed is -1'),
        ({'seed': 'x'}, "seed is 'x'"),
        ({'sample_temperature': 'hot'}, "sample_temperature is 'hot'"),
        ({'vlm_folder': 7}, 'vlm_folder is 7'),
        ({'camera_names': 'front'}, "camera_names is 'front'"),
        ({'robot_joint_names': (*JOINTS[:5], JOINTS[0])}, 'named twice'),
        ({'pose_names': 'object'}, r'the poses object give \(7,\)'),
    ],
)
def test_options_of_another_type(make, options, message):
    with pytest.raises(FrameRosError, match=message):
        load_lerobot_policy(make(6, 6), **{'robot_joint_names': JOINTS, 'units': 'rad', **options})


@pytest.mark.parametrize('pose', [None, TCP[:6], np.full(7, np.nan), np.zeros(7)])
def test_a_state_without_its_pose_is_an_error(pose):
    columns = state_columns(POSE, JointScales('rad', JOINTS), 'tcp')
    poses = {} if pose is None else {'tcp': pose}
    with pytest.raises(PolicyError, match="'tcp'"):
        columns.of(Observation(1, 1, JOINTS, START, poses=poses))


def test_every_way_to_write_a_rotation_in_a_state():
    scales = JointScales('rad', JOINTS)
    turned = np.array((0.1, 0.2, 0.3, *-Rotation.from_euler('xyz', (0.1, 0.2, 0.3)).as_quat()))
    for names in (('roll', 'pitch', 'yaw'), ('rx', 'ry', 'rz'), ('qx', 'qy', 'qz', 'qw')):
        values = state_columns(('x', *names), scales, 'tcp').of(observe(tcp=turned))
        assert values[0] == 0.1
        found = rotations_of(names, values[1:])
        assert (found.inv() * Rotation.from_quat(turned[3:])).magnitude() < 1e-9
    assert values[4] > 0  # of the two quaternions the one with w above 0


def test_a_robot_whose_joints_are_called_as_coordinates():
    columns = state_columns((), JointScales('rad', ('x', 'y')), 'tcp')
    observation = Observation(1, 1, ('y', 'x'), np.array((2.0, 1.0)))
    np.testing.assert_array_equal(columns.of(observation), (1.0, 2.0))
    assert columns.pose == ''
