# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Chunks in every action space, made into joint positions, against compositions of their own."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import PolicyError, ValueRangeError
from frame_ros.policies.execution.action_spaces import ActionConverter
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.robots import load_robot

pytest.importorskip('pink')
pytest.importorskip('daqp')

SO101 = load_robot('so101')
FR3 = load_robot('fr3', 'tcp')
SO101_START = np.array((0.2, -0.4, 0.5, 0.6, 0.1, 0.8))
FR3_START = np.array((0.1, -0.5, 0.0, -2.2, 0.1, 1.8, 0.7, 0.03))
POSE = ('x', 'y', 'z', 'rx', 'ry', 'rz')
DT = 0.1


def observe(robot=SO101, joints=None, executed=math.nan, stamp=0):
    names = tuple(robot.joint_limits)
    start = (SO101_START if robot is SO101 else FR3_START) if joints is None else joints
    return Observation(stamp, stamp, names, np.asarray(start, np.float64), executed=executed)


def chunk(actions, names, space, units=None, **more):
    return Inference(
        np.asarray(actions, np.float64),
        DT,
        tuple(names),
        units or ('rad',) * len(names),
        space,
        **more,
    )


def matrix_of(robot, joints):
    position, quaternion = robot.forward(joints)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.from_quat(quaternion).as_matrix(), position
    return pose


def reached(converter_result, robot=FR3):
    """(H, 4, 4): the poses of the tip at the arm's columns of a result."""
    arm = [converter_result.action_names.index(name) for name in robot.joint_names]
    return np.array([matrix_of(robot, row[arm]) for row in converter_result.actions])


def test_joint_positions_are_left_alone():
    inference = chunk(np.tile(SO101_START, (5, 1)), SO101.joint_limits, 'joint_position')
    assert ActionConverter(SO101).to_joint_positions(inference, observe()) is inference
    some = chunk([[0.1]], ['elbow_flex'], 'joint_position')
    assert ActionConverter(SO101).to_joint_positions(some, observe()) is some


def test_joint_deltas_add_up():
    deltas = np.random.default_rng(0).normal(0, 0.1, (7, 2))
    inference = chunk(deltas, ('elbow_flex', 'shoulder_pan'), 'joint_delta')
    expected = {}
    for reference in ('previous', 'observation'):
        converter = ActionConverter(SO101, delta_reference=reference)
        found = converter.to_joint_positions(inference, observe())
        # Columns come in the robot's order.
        assert found.action_names == ('shoulder_pan', 'elbow_flex')
        assert (found.action_space, found.action_units) == ('joint_position', ('rad', 'rad'))
        expected[reference] = found.actions
    present = np.array((0.2, 0.5))
    for row in range(7):
        present = present + deltas[row, ::-1]
        np.testing.assert_allclose(expected['previous'][row], present)
        np.testing.assert_allclose(expected['observation'][row], (0.2, 0.5) + deltas[row, ::-1])


def test_deltas_from_what_was_commanded():
    converter = ActionConverter(SO101, delta_reference='command')
    delta = chunk([[0.1]] * 4, ['elbow_flex'], 'joint_delta')
    first = converter.to_joint_positions(delta, observe(executed=0.0))
    np.testing.assert_allclose(first.actions[:, 0], (0.6, 0.7, 0.8, 0.9))
    # Two steps were executed, up to 0.7; the arm lags behind at 0.65.
    lagging = SO101_START.copy()
    lagging[2] = 0.65
    second = converter.to_joint_positions(delta, observe(joints=lagging, executed=0.2))
    np.testing.assert_allclose(second.actions[:, 0], (0.8, 0.9, 1.0, 1.1))
    # Without `executed` the stamps tell.
    third = converter.to_joint_positions(delta, observe(joints=lagging, stamp=10**8))
    np.testing.assert_allclose(third.actions[0, 0], 0.9)
    converter.reset()
    fresh = converter.to_joint_positions(delta, observe(joints=lagging, executed=0.3))
    np.testing.assert_allclose(fresh.actions[0, 0], 0.75)


def test_what_was_commanded_ends_at_the_limits():
    converter = ActionConverter(SO101, delta_reference='command')
    upper = SO101.joint_limits['elbow_flex'][1]
    up, down = (chunk([[sign * 0.1]] * 4, ['elbow_flex'], 'joint_delta') for sign in (1, -1))
    at_limit = SO101_START.copy()
    at_limit[2] = upper
    for count in range(3):
        converter.to_joint_positions(up, observe(joints=at_limit, executed=0.4 * count))
    back = converter.to_joint_positions(down, observe(joints=at_limit, executed=1.2))
    np.testing.assert_allclose(back.actions[:, 0], upper - 0.1 * np.arange(1, 5))


def test_a_step_that_has_begun_was_commanded():
    converter = ActionConverter(SO101, delta_reference='command')
    delta = chunk([[0.1]] * 4, ['elbow_flex'], 'joint_delta')
    converter.to_joint_positions(delta, observe(executed=0.0))
    # At 50 Hz a step of 0.1 s is repeated five times; this is after the second of the third.
    found = converter.to_joint_positions(delta, observe(executed=0.24))
    np.testing.assert_allclose(found.actions[0, 0], 0.5 + 3 * 0.1 + 0.1)
    # What was told is better known to whoever sent it.
    found = converter.to_joint_positions(delta, observe(executed=0.48), {'elbow_flex': 0.55})
    np.testing.assert_allclose(found.actions[0, 0], 0.65)
    found = converter.to_joint_positions(delta, observe(executed=0.72), {})
    np.testing.assert_allclose(found.actions[0, 0], 0.6)


@pytest.mark.parametrize('reference', ['previous', 'observation'])
@pytest.mark.parametrize('frame', ['base', 'tool', 'mixed'])
def test_end_effector_deltas_compose(frame, reference):
    generator = np.random.default_rng(2)
    deltas = np.hstack((generator.normal(0, 0.004, (8, 3)), generator.normal(0, 0.02, (8, 3))))
    converter = ActionConverter(FR3, ee_frame=frame, delta_reference=reference)
    found = reached(converter.to_joint_positions(chunk(deltas, POSE, 'ee_delta'), observe(FR3)))
    start = matrix_of(FR3, FR3_START[:7])
    pose = start.copy()
    for row, delta in enumerate(deltas):
        turn = Rotation.from_rotvec(delta[3:]).as_matrix()
        before = start if reference == 'observation' else pose
        pose = before.copy()
        shift = before[:3, :3] @ delta[:3] if frame == 'tool' else delta[:3]
        pose[:3, 3] = before[:3, 3] + shift
        pose[:3, :3] = turn @ before[:3, :3] if frame == 'base' else before[:3, :3] @ turn
        np.testing.assert_allclose(found[row], pose, atol=2e-4)


def test_a_tool_delta_is_a_product_of_transforms():
    delta = (0.01, 0.0, 0.02, 0.0, 0.1, 0.0)
    converter = ActionConverter(FR3, ee_frame='tool')
    found = reached(converter.to_joint_positions(chunk([delta], POSE, 'ee_delta'), observe(FR3)))
    change = np.eye(4)
    change[:3, :3], change[:3, 3] = Rotation.from_rotvec(delta[3:]).as_matrix(), delta[:3]
    np.testing.assert_allclose(found[0], matrix_of(FR3, FR3_START[:7]) @ change, atol=2e-4)


def test_the_worked_numbers_of_the_documentation():
    """A tip that looks down and is turned by 90 degrees about the vertical axis."""
    from frame_ros.robots.rotations import chained_poses

    looking = Rotation.from_matrix(((0, 1, 0), (1, 0, 0), (0, 0, -1)))
    shift, turn = np.array([[0.01, 0, 0]]), Rotation.from_rotvec([[0, 0, math.pi / 2]])
    place = np.array((0.4, 0.0, 0.3))
    expected = {
        'base': ((0.41, 0.0, 0.3), ((-1, 0, 0), (0, 1, 0), (0, 0, -1))),
        'tool': ((0.4, 0.01, 0.3), ((1, 0, 0), (0, -1, 0), (0, 0, -1))),
        'mixed': ((0.41, 0.0, 0.3), ((1, 0, 0), (0, -1, 0), (0, 0, -1))),
    }
    for frame, (position, matrix) in expected.items():
        pose = chained_poses(place, looking, shift, turn, frame, is_cumulative=True)[0]
        np.testing.assert_allclose(pose[:3], position, atol=1e-12)
        np.testing.assert_allclose(Rotation.from_quat(pose[3:]).as_matrix(), matrix, atol=1e-12)


def test_scales_of_normalised_deltas():
    """robosuite's OSC_POSE: 1 means 0.05 m and 0.5 rad, axis and angle, in the base's axes."""
    converter = ActionConverter(FR3, position_scale=0.05, rotation_scale=0.5)
    raw = np.array([[0.2, -0.1, 0.3, 0.1, 0.0, -0.2]])
    scaled = ActionConverter(FR3).to_joint_positions(
        chunk(raw * (0.05, 0.05, 0.05, 0.5, 0.5, 0.5), POSE, 'ee_delta'), observe(FR3)
    )
    found = converter.to_joint_positions(chunk(raw, POSE, 'ee_delta'), observe(FR3))
    np.testing.assert_allclose(found.actions, scaled.actions)
    # An absolute pose is not scaled.
    pose = np.r_[matrix_of(FR3, FR3_START[:7])[:3, 3], FR3.forward(FR3_START[:7])[1]]
    names = ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')
    still = converter.to_joint_positions(chunk([pose], names, 'ee_pose'), observe(FR3))
    np.testing.assert_allclose(still.actions[0], FR3_START[:7], atol=1e-5)


def test_the_three_ways_to_write_a_rotation_agree():
    generator = np.random.default_rng(4)
    joints = FR3_START[:7] + generator.normal(0, 0.05, (3, 7))
    targets = [matrix_of(FR3, row) for row in joints]
    turns = Rotation.from_matrix([target[:3, :3] for target in targets])
    written = {
        ('roll', 'pitch', 'yaw'): turns.as_euler('xyz'),
        ('rx', 'ry', 'rz'): turns.as_rotvec(),
        ('qx', 'qy', 'qz', 'qw'): turns.as_quat() * 1.7,  # of any length
    }
    places = np.array([target[:3, 3] for target in targets])
    for names, values in written.items():
        columns = (*names, 'x', 'y', 'z')  # in any order
        inference = chunk(np.hstack((values, places)), columns, 'ee_pose')
        found = ActionConverter(FR3).to_joint_positions(inference, observe(FR3))
        np.testing.assert_allclose(reached(found), targets, atol=2e-4)


def test_roll_pitch_yaw_turns_about_fixed_axes():
    roll, pitch, yaw = 0.1, 0.2, 0.3

    def about(axis, angle):
        return Rotation.from_rotvec(np.eye(3)[axis] * angle).as_matrix()

    expected = about(2, yaw) @ about(1, pitch) @ about(0, roll)
    start = matrix_of(FR3, FR3_START[:7])
    names = ('x', 'y', 'z', 'roll', 'pitch', 'yaw')
    inference = chunk([[0, 0, 0, roll, pitch, yaw]], names, 'ee_delta')
    found = reached(ActionConverter(FR3).to_joint_positions(inference, observe(FR3)))
    np.testing.assert_allclose(found[0, :3, :3], expected @ start[:3, :3], atol=1e-3)


@settings(max_examples=12)
@given(
    seed=st.integers(0, 2**31),
    frame=st.sampled_from(['base', 'tool', 'mixed']),
    reference=st.sampled_from(['previous', 'observation', 'command']),
    name=st.sampled_from(['so101', 'fr3']),
)
def test_no_delta_is_no_movement(seed, frame, reference, name):
    robot = {'so101': SO101, 'fr3': FR3}[name]
    lower, upper = np.array(list(robot.joint_limits.values())).T
    joints = np.random.default_rng(seed).uniform(lower, upper)
    converter = ActionConverter(robot, ee_frame=frame, delta_reference=reference)
    found = converter.to_joint_positions(
        chunk(np.zeros((4, 6)), POSE, 'ee_delta'), observe(robot, joints)
    )
    arm = joints[: len(found.action_names)]
    np.testing.assert_allclose(found.actions, np.tile(arm, (4, 1)), atol=1e-5)


def test_a_translation_alone_keeps_the_orientation():
    inference = chunk([[0.01, 0.0, 0.0]] * 3, ('x', 'y', 'z'), 'ee_delta')
    found = reached(ActionConverter(FR3).to_joint_positions(inference, observe(FR3)))
    start = matrix_of(FR3, FR3_START[:7])
    np.testing.assert_allclose(found[:, :3, :3], np.tile(start[:3, :3], (3, 1, 1)), atol=1e-3)
    np.testing.assert_allclose(found[2, :3, 3], start[:3, 3] + (0.03, 0, 0), atol=1e-4)


def test_the_tip_can_be_chosen():
    flange = load_robot('fr3')
    turn = chunk([[0, 0, 0, 0.0, 0.1, 0.0]], POSE, 'ee_delta')
    joints = {}
    for tip in (None, 'fr3_link8'):
        converter = ActionConverter(flange, tip=tip)
        found = converter.to_joint_positions(turn, observe(FR3))
        joints[tip] = found.actions[0]
    # Turned about the TCP the flange moves, turned about the flange it stays.
    start = flange.forward(FR3_START[:7])[0]
    assert np.linalg.norm(flange.forward(joints['fr3_link8'])[0] - start) < 1e-4
    assert np.linalg.norm(flange.forward(joints[None])[0] - start) > 0.008


@pytest.mark.parametrize(
    ('convention', 'value', 'position'),
    [
        ('position', 0.01, 0.01),
        ('width', 0.03, 0.015),
        ('open', 0.75, 0.03),
        ('closed', 0.75, 0.01),
        ('signed_open', 0.5, 0.03),
        ('signed_closed', 0.5, 0.01),
        ('signed_closed', -1.0, 0.04),
        ('percent_open', 25.0, 0.01),
        ('open', 1.2, 0.04),
        ('closed', 1.2, 0.0),
    ],
)
def test_gripper_conventions_of_a_franka(convention, value, position):
    converter = ActionConverter(FR3, gripper=convention)
    inference = chunk([[0.0] * 6 + [value]], (*POSE, 'gripper'), 'ee_delta')
    found = converter.to_joint_positions(inference, observe(FR3))
    # The other finger follows this one, in the URDF and in the hand.
    assert found.action_names[-1] == 'fr3_finger_joint1'
    assert found.action_units == ('rad',) * 7 + ('m',)
    np.testing.assert_allclose(found.actions[0, 7:], position, atol=1e-12)


def test_the_gripper_of_joint_spaces():
    names = (*FR3.joint_names, 'gripper')
    row = np.r_[FR3_START[:7], 1.0]
    droid = ActionConverter(FR3, gripper='closed')
    found = droid.to_joint_positions(chunk([row], names, 'joint_position'), observe(FR3))
    np.testing.assert_allclose(found.actions[0], np.r_[FR3_START[:7], 0], atol=1e-12)
    # In joint_delta a gripper is a delta as well, unless a convention is given.
    pair = ('elbow_flex', 'gripper')
    delta = chunk([[0.1, -0.1], [0.1, -0.1]], pair, 'joint_delta')
    found = ActionConverter(SO101).to_joint_positions(delta, observe())
    np.testing.assert_allclose(found.actions, [[0.6, 0.7], [0.7, 0.6]])
    absolute = chunk([[0.1, 50.0], [0.1, 100.0]], pair, 'joint_delta')
    found = ActionConverter(SO101, gripper='percent_open').to_joint_positions(absolute, observe())
    lower, upper = SO101.joint_limits['gripper']
    np.testing.assert_allclose(found.actions[:, 1], ((lower + upper) / 2, upper))


def test_a_share_of_a_gripper_may_have_any_unit():
    names, units = ('elbow_flex', 'gripper'), ('rad', '%')
    row = chunk([[0.1, 100.0]], names, 'joint_position', units)
    found = ActionConverter(SO101, gripper='percent_open').to_joint_positions(row, observe())
    upper = SO101.joint_limits['gripper'][1]
    np.testing.assert_allclose(found.actions, [[0.1, upper]])
    assert found.action_units == ('rad', 'rad')
    with pytest.raises(PolicyError, match="in '%'; joints must be in rad"):
        ActionConverter(SO101).to_joint_positions(row, observe())


def test_a_binary_gripper_waits_for_a_clear_word():
    converter = ActionConverter(FR3, gripper='open', gripper_threshold=0.5, gripper_hysteresis=0.2)

    def fingers(values, **more):
        inference = chunk([[value] for value in values], ['gripper'], 'joint_position')
        found = converter.to_joint_positions(inference, observe(FR3, **more))
        return (found.actions[:, 0] / 0.04).tolist()

    # Observed open (0.03 of 0.04): in the band it stays so.
    told = fingers((0.45, 0.55, 0.39, 0.59, 0.45, 0.61, 0.45), executed=0.0)
    assert told == pytest.approx([1, 1, 0, 0, 0, 1, 1])
    # After three executed steps it had been told to close, though it stands half open on something.
    assert fingers((0.55, 0.45), executed=0.3) == pytest.approx([0, 0])
    converter.reset()
    assert fingers((0.55, 0.45), executed=0.3) == pytest.approx([1, 1])


def test_out_of_reach_is_refused_or_counted():
    far = chunk([[0.002, 0, 0, 0, 0, 0]] * 2 + [[1.5, 0, 0, 0, 0, 0]] * 2, POSE, 'ee_delta')
    message = r'step 2 is out of reach: \d+\.\d mm and .* rad are left, at most 20 mm .*velocity'
    with pytest.raises(PolicyError, match=message):
        ActionConverter(FR3).to_joint_positions(far, observe(FR3))
    willing = ActionConverter(FR3, unreachable='best_effort')
    found = willing.to_joint_positions(far, observe(FR3))
    assert willing.unreachable_steps == 2
    limits = np.array([FR3.joint_limits[name] for name in found.action_names])
    assert ((found.actions >= limits[:, 0]) & (found.actions <= limits[:, 1])).all()
    with pytest.raises(PolicyError, match='step 0 is out of reach'):
        slow = ActionConverter(FR3, velocity_scale=0.01, position_tolerance=1e-3)
        slow.to_joint_positions(chunk([[0.02, 0, 0]], ('x', 'y', 'z'), 'ee_delta'), observe(FR3))


def test_samples_are_converted_as_the_chunk_is():
    generator = np.random.default_rng(6)
    samples = generator.normal(0, 0.003, (3, 4, 6))
    inference = chunk(samples[1], POSE, 'ee_delta', samples=samples)
    found = ActionConverter(FR3).to_joint_positions(inference, observe(FR3))
    assert found.samples.shape == (3, 4, 7)
    np.testing.assert_allclose(found.samples[1], found.actions)
    dropped = ActionConverter(FR3, samples='drop').to_joint_positions(inference, observe(FR3))
    assert dropped.samples is None and 'end effector' in dropped.unavailable['samples']
    # One that reaches too far does not refuse the chunk, nor count against it.
    wild = samples.copy()
    wild[0, :, 0] = 2.0
    converter = ActionConverter(FR3)
    found = converter.to_joint_positions(
        chunk(samples[1], POSE, 'ee_delta', samples=wild), observe(FR3)
    )
    assert np.isfinite(found.samples).all() and converter.unreachable_steps == 0


@pytest.mark.parametrize(
    ('inference', 'message'),
    [
        (chunk([[0.0]], ['elbow_flex'], 'joint_torque'), "'joint_torque'; known: joint_position"),
        (chunk([[0.0, 0.0]], ['elbow_flex'], 'joint_delta'), r'\(1, 2\); it must be \(steps, 1\)'),
        (chunk(np.empty((0, 1)), ['elbow_flex'], 'joint_delta'), r'shape \(0, 1\)'),
        (chunk([[math.nan]], ['elbow_flex'], 'joint_delta'), 'elbow_flex is nan at step 0'),
        (chunk([[0.0]], ['elbow'], 'joint_delta'), 'columns elbow; .* knows shoulder_pan'),
        (chunk([[0.0]], ['elbow_flex'], 'joint_delta', ('deg',)), "'deg'; joints must be in rad"),
        (chunk([[0.0]], ['elbow_flex'], 'joint_delta', ('rad',) * 2), '2 units for the 1 actions'),
        (chunk([[0.0] * 6], POSE, 'ee_pose', ('mm',) * 3 + ('rad',) * 3), "'mm'; it must be in m"),
        (chunk([[0.0] * 6], POSE, 'ee_delta', ('m',) * 3 + ('deg',) * 3), "'deg'; it must be"),
        (chunk([[0.0] * 2], ['x', 'y'], 'ee_delta'), 'needs x, y, z'),
        (chunk([[0.0] * 3], ['x', 'y', 'z'], 'ee_pose'), 'a rotation as roll/pitch/yaw or'),
        (chunk([[0.0] * 5], ['x', 'y', 'z', 'rx', 'ry'], 'ee_delta'), 'needs x, y, z and a rot'),
        (chunk([[0.0] * 7], (*POSE, 'yaw'), 'ee_delta'), 'needs x, y, z|columns r'),
        (chunk([[0.0] * 7], (*POSE, 'elbow_flex'), 'ee_delta'), 'columns elbow_flex'),
        (
            chunk([[0.0] * 7], ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw'), 'ee_pose'),
            'has no direction',
        ),
        (chunk([[0.0] * 2], ['gripper', 'gripper'], 'joint_delta'), 'an action twice'),
    ],
)
def test_chunks_that_cannot_be_used(inference, message):
    with pytest.raises(PolicyError, match=message):
        ActionConverter(SO101).to_joint_positions(inference, observe())


def test_observations_that_do_not_suffice():
    partial = Observation(0, 0, ('elbow_flex',), np.array([0.1]))
    with pytest.raises(PolicyError, match='lacks the joints .*shoulder_pan'):
        ActionConverter(SO101).to_joint_positions(chunk([[0.0] * 6], POSE, 'ee_delta'), partial)
    unknown = observe(joints=SO101_START * math.nan)
    with pytest.raises(PolicyError, match='elbow_flex is not finite'):
        ActionConverter(SO101).to_joint_positions(
            chunk([[0.0]], ['elbow_flex'], 'joint_delta'), unknown
        )
    arm_less = ActionConverter(SO101, ['elbow_flex', 'gripper'])
    with pytest.raises(PolicyError, match='shoulder_pan.*may not be commanded'):
        arm_less.to_joint_positions(chunk([[0.0] * 6], POSE, 'ee_delta'), observe())


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'delta_reference': 'last'}, "delta_reference is 'last'; it must be previous"),
        ({'ee_frame': 'world'}, "ee_frame is 'world'"),
        ({'gripper': 'half'}, "gripper is 'half'"),
        ({'gripper_threshold': 1.5}, 'gripper_threshold is 1.5'),
        ({'position_scale': 0.0}, 'position_scale is 0.0'),
        ({'unreachable': 'ignore'}, "unreachable is 'ignore'"),
        ({'scale': 2.0}, r"'scale' is no option; there are .*position_scale"),
        ({'position_scale': 'small'}, "position_scale is 'small'; it must be a number"),
        ({'gripper_threshold': 'half'}, "gripper_threshold is 'half'; it must be a number"),
        ({'velocity_scale': None}, 'velocity_scale is null; it must be a number'),
        ({'tip': 3}, 'tip is 3; it must be a text'),
        ({'tip': 'tool0'}, "no link 'tool0'; it has .*gripper_frame_link"),
        ({'joint_names': ['elbow']}, r"no joint \['elbow'\]"),
    ],
)
def test_settings_that_mean_nothing(options, message):
    with pytest.raises(ValueRangeError, match=message):
        ActionConverter(SO101, **options)


def test_a_share_of_the_gripper_without_a_convention_is_refused():
    """OpenVLA's 1 is open, robosuite's is closed: a wrong guess drops or crushes."""
    names = ('x', 'y', 'z', 'roll', 'pitch', 'yaw', 'gripper')
    units = ('m', 'm', 'm', 'rad', 'rad', 'rad', '1')
    delta = Inference(np.zeros((2, 7)), 0.1, names, units, 'ee_delta')
    with pytest.raises(PolicyError, match="unit '1'.*convention"):
        ActionConverter(SO101).to_joint_positions(delta, observe())
    told = ActionConverter(SO101, gripper='open').to_joint_positions(delta, observe())
    closed = SO101.joint_limits['gripper'][0]
    np.testing.assert_allclose(told.actions[:, list(told.action_names).index('gripper')], closed)
