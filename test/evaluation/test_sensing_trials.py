# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of sensing: pushes act when the truth says so, each kind feels a strong one and nothing
before it, and rows of distances hold what was measured and what is true.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('mujoco')

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.evaluation.trials import depth, policy_effort
from frame_ros.evaluation.trials.arm_run import BEGIN, ArmRun, Begins
from frame_ros.evaluation.trials.campaign import Campaign, Trial, json_values
from frame_ros.evaluation.trials.joint_effort import JointSensors, take
from frame_ros.evaluation.trials.kinds import FUNCTIONS
from frame_ros.evaluation.trials.pushes import Push, PushStyle, draw_pushes
from frame_ros.evaluation.trials.robot_flags import RobotSensing
from frame_ros.evaluation.trials.wrench import WrenchSensing
from frame_ros.robots import load_robot
from frame_ros.scenes import PickPlaceSimulation
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.joints.detector import JointContact, dynamics_for
from frame_ros.sensing.contact.joints.motor_model import load_motors
from frame_ros.sensing.contact.wrench.tool_model import Tool

ORIGIN = np.zeros(3)


def push(begin, end, link, *force):
    return Push(begin, end, link, ORIGIN, np.array(force, float))


def test_every_kind_has_its_function():
    assert Campaign(FUNCTIONS).kept() == []


def test_pushes_keep_to_their_style_and_seed():
    robot = load_robot('so101')
    style = PushStyle((5.0, 12.0), (0.2, 1.0), (0.8, 2.5), ('lower_arm_link', 'wrist_link'))
    pushes = draw_pushes(np.random.default_rng(1), robot, style, 2.0, 60.0)
    assert len(pushes) > 15
    assert {p.link for p in pushes} == set(style.links)
    assert all(5.0 <= p.strength <= 12.0 for p in pushes)
    assert all(0.2 <= p.end - p.begin <= 1.0 for p in pushes)
    gaps = [b.begin - a.end for a, b in zip(pushes[:-1], pushes[1:], strict=True)]
    assert 0.8 <= min(gaps) <= max(gaps) <= 2.5
    assert pushes[0].begin >= 2.0 and pushes[-1].end < 62.0
    for one in pushes:
        ends = [(c.start, c.end) for c in robot.link_capsules[one.link]]
        lines = [np.linalg.norm(np.cross(one.point - a, b - a)) for a, b in ends]
        assert min(lines) == pytest.approx(0.0, abs=1e-9)
    again = draw_pushes(np.random.default_rng(1), robot, style, 2.0, 60.0)
    assert [p.begin for p in again] == [p.begin for p in pushes]


def test_a_push_acts_from_its_true_begin_to_its_true_end():
    pushed = ArmRun('so101', 2, [push(0.33, 0.55, 'lower_arm_link', 0.0, 6.0, 0.0)], rest=0.1)
    alone = ArmRun('so101', 2, (), rest=0.1)
    feels, differs, stamps = [], [], []
    for one, other in zip(pushed.blocks(0.8), alone.blocks(0.8), strict=True):
        feels.append(one.contacts)
        # Without pushes collisions are not computed, which shows in the last digits.
        apart = np.abs(one.samples.positions - other.samples.positions).max()
        differs.append(bool(apart > 1e-6))
        stamps.append(int(one.stamps[-1] - BEGIN) / SECOND)
        assert (one.command == other.command).all()
    ((begin, end, strength, link),) = pushed.truth
    assert (begin, end) == (pytest.approx(0.34), pytest.approx(0.56))
    assert (strength, link) == (6.0, 'lower_arm_link')
    np.testing.assert_allclose(stamps, 0.02 * np.arange(1, 41))
    acts = [begin < at <= end + 1e-9 for at in stamps]
    assert feels == [('lower_arm_link',) if now else () for now in acts]
    assert differs == [at > begin + 1e-9 for at in stamps]
    assert (pushed.touches, alone.touches) == (0.0, 0.0)


def test_goals_that_reach_the_servos_behind_a_sample_move_the_arm_so_much_later():
    arms = [ArmRun('so101', 2, (), rest=0.1, goal_delay=late) for late in (0.0, 0.01)]
    prompt, late = (
        np.array([block.samples.positions[-1] for block in arm.blocks(3.0)]) for arm in arms
    )
    joint = int(np.argmax(np.ptp(prompt, axis=0)))
    before, now, late = prompt[:-1, joint], prompt[1:, joint], late[1:, joint]
    moves = np.abs(now - before) > 0.005
    assert moves.sum() > 20
    # Half a period behind: half way from the sample before.
    shares = (late - before)[moves] / (now - before)[moves]
    assert np.median(shares) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(('robot', 'late'), [('so101', 0.02), ('so101', -0.002), ('fr3', 0.002)])
def test_goals_come_within_a_period_where_samples_are_taken_with_the_commands(robot, late):
    with pytest.raises(ValueRangeError, match='s behind a sample; 0 s for'):
        ArmRun(robot, 2, (), goal_delay=late)


def test_begins_are_rising_edges_and_what_is_not_known_is_counted():
    begins = Begins(0.5)
    for index, state in enumerate([None, False, True, True, None, True, False]):
        begins.add(BEGIN + index * SECOND // 2, state)
    assert begins.begins == [1.0, 2.5]
    assert (begins.unavailable, begins.in_contact) == (1.0, 1.5)


def assert_felt(begins, arm, within):
    """One detection, within so many seconds of the push's begin."""
    ((begin, end, *_),) = arm.truth
    assert len(begins.begins) == 1
    assert begin < begins.begins[0] <= min(begin + within, end)


def test_a_wrist_sensor_feels_a_push():
    simulation = PickPlaceSimulation(robot='fr3')
    force, torque = simulation.wrench()
    weight = float(np.linalg.norm(force))
    # At rest the torque is that of the weight, which hangs along the hand's axis.
    rest = Tool(weight / 9.81, tuple((np.cross(force, torque) / weight**2 + (0, 0, 0.04)).tolist()))
    arm = ArmRun('fr3', 0, [push(0.8, 0.9, 'fr3_hand', 0.0, 6.0, 0.0)], rest=2.0)
    sensing, begins = WrenchSensing(Trial('wrench', 'fr3', 0), rest), Begins(arm.period)
    for block in arm.blocks(1.0):
        sensing.take(block, begins)
    sensing.finish(begins)
    assert_felt(begins, arm, 0.02)
    assert 0.5 < begins.unavailable < 0.7  # until it was tared


def test_joint_efforts_feel_a_push():
    arm = ArmRun('so101', 0, [push(1.0, 1.5, 'gripper_link', 0.0, 0.0, -12.0)], rest=2.0)
    motors = load_motors('so101')
    detector = JointContact(dynamics_for(load_robot('so101'), motors), motors=motors)
    sensors, begins = JointSensors(arm.simulation, 0), Begins(arm.period)
    for block in arm.blocks(1.6):
        take(block, sensors, detector, begins, len(motors.joint_names))
    assert_felt(begins, arm, 0.25)


def test_coarse_and_late_steps_of_a_policy_are_no_contact():
    settings = {'quality': 0.9, 'timing': 'busy', 'seconds': 6.0}
    result = json_values(policy_effort.run(Trial('policy_effort', 'so101', 3, settings)))
    assert result['seconds'] == pytest.approx(6.0, abs=0.1)
    assert result['false'] == []


def test_what_is_felt_without_truth_is_false():
    felt = policy_effort.FeltContacts()
    grasp = [SimpleNamespace(is_expected=True, net_force=np.array([0.0, 0.0, 0.3]))]
    bump = [SimpleNamespace(is_expected=False, net_force=np.zeros(3))]
    for step, (is_contact, contacts) in enumerate(
        [(True, bump), (False, []), *[(False, grasp)] * 9, (True, grasp), (True, grasp)]
    ):
        felt.add(Detection(step * 20_000_000, 3, is_contact, 4.0), contacts)
    assert felt.spans == [[0, 0, 4.0], [220_000_000, 240_000_000, 4.0]]
    assert felt.false() == [[220_000_000, 240_000_000, 4.0]]


def test_a_franka_feels_a_push_by_itself():
    arm = ArmRun('fr3', 0, [push(0.2, 0.5, 'fr3_hand', 0.0, 60.0, 0.0)], rest=2.0)
    sensing, begins = RobotSensing(arm, 0), Begins(arm.period * arm.samples_per_block)
    for block in arm.blocks(0.6):
        sensing.take(block, begins)
    assert_felt(begins, arm, 0.1)


def test_rows_of_distances_have_what_was_measured_and_what_is_true():
    result = json_values(depth.run(Trial('depth', 'so101', 5, {'frames': 2})))
    assert len(result['links']) == 5
    for name in ('truth', 'measured', 'is_visible', 'unavailable'):
        assert len(result[name]) == 2
    for name in ('link_truth', 'link_measured', 'link_visible'):
        assert np.shape(result[name]) == (2, 5)
    assert result['truth'] == [min(row) for row in result['link_truth']]
    assert result['unavailable'] == ['', '']
    # Measured by noisy pictures: near the truth where it can be seen, and not the truth.
    seen = [row for row, is_seen in enumerate(result['is_visible']) if is_seen]
    assert seen
    for row in seen:
        error = result['measured'][row] - result['truth'][row]
        assert 0.0 < abs(error) < 0.01
    assert not math.isclose(*result['truth'], abs_tol=1e-3)  # the arm moves
    again = json_values(depth.run(Trial('depth', 'so101', 5, {'frames': 1})))
    assert again['link_measured'] == result['link_measured'][:1]
