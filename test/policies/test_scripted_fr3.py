# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The scripted policy on the FR3: seven joints and a gripper that slides."""

import numpy as np
import pytest

from frame_ros.core.errors import PolicyError, RobotError
from frame_ros.metrics import rms_jerk
from frame_ros.policies.base import Policy
from frame_ros.policies.execution.action_check import check_chunk
from frame_ros.policies.protocol import Observation
from frame_ros.policies.registry import make_policy
from frame_ros.policies.scripted.arms import scripted_arm
from frame_ros.policies.scripted.pick_place import ScriptedOptions, ScriptedPickPlace
from frame_ros.robots import load_robot
from frame_ros.robots.motion import rotation_of

FR3 = scripted_arm('fr3')
NAMES = FR3.joint_names
OBJECT = np.array((0.48, -0.2, 0.0225, 0.0, 0.0, np.sin(0.3), np.cos(0.3)))
GOAL = np.array((0.38, 0.33, 0.006, 0.0, 0.0, 0.0, 1.0))
DT = 1 / 30


def observe(time=0.0, joints=FR3.home, target=OBJECT, goal=GOAL):
    stamp = round(time * 1e9)
    poses = {'object': target, 'goal': goal}
    return Observation(stamp, stamp, NAMES, np.array(joints), poses=poses)


def run_in_simulation(simulation, policy, seed, seconds=20.0):
    """Success, the tip's path (T, 3) at the control rate, and what was touched unexpectedly."""
    simulation.reset(seed)
    policy.reset(seed)
    path, touched = [], set()
    for tick in range(int(seconds / DT)):
        if tick % 10 == 0:
            joints = simulation.joint_state().positions
            poses = (simulation.object_pose(), simulation.goal_pose())
            chunk = policy.infer(observe(tick * DT, joints, *poses)).actions
        simulation.step(chunk[tick % 10], steps=33 if tick % 3 else 34)
        path.append(simulation.tip_position())
        touched |= {(c.link, c.other) for c in simulation.contacts() if not c.is_expected}
        if simulation.task_state.value != 'running':
            break
    return simulation.task_state.value == 'success', np.array(path), touched


@pytest.fixture(scope='module')
def simulation():
    pytest.importorskip('mujoco')
    from frame_ros.scenes import PickPlaceSimulation

    return PickPlaceSimulation(robot='fr3')


def test_it_moves_the_robot_that_it_is_offered():
    policy = make_policy('scripted', {'robot': 'fr3'})
    assert isinstance(policy, Policy)
    inference = policy.infer(observe())
    assert inference.action_names == NAMES
    assert inference.action_units == ('rad',) * 7 + ('m',)
    assert inference.actions[0] == pytest.approx(FR3.home)
    with pytest.raises(RobotError, match="'panda' has none, fr3, so101 have"):
        make_policy('scripted', {'robot': 'panda'})


def test_it_succeeds_within_ten_seconds_and_touches_only_the_cube(simulation):
    policy = ScriptedPickPlace(ScriptedOptions(robot='fr3'))
    for seed in range(2):
        is_done, path, touched = run_in_simulation(simulation, policy, seed)
        assert is_done
        assert len(path) * DT < 10.0
        assert touched == set()


def test_a_low_quality_is_jerkier(simulation):
    good, bad = (ScriptedPickPlace(ScriptedOptions(quality=q, robot='fr3')) for q in (1.0, 0.0))
    _, smooth, _ = run_in_simulation(simulation, good, 0, 4.0)
    _, rough, _ = run_in_simulation(simulation, bad, 0, 4.0)
    assert rms_jerk(rough, DT) > 2 * rms_jerk(smooth, DT)


@pytest.mark.parametrize('quality', [1.0, 0.0])
def test_a_whole_plan_keeps_the_limits_and_the_hand_points_down_where_it_grasps(quality):
    policy = ScriptedPickPlace(ScriptedOptions(quality=quality, horizon=250, robot='fr3'))
    inference = policy.infer(observe())
    actions, clipped = check_chunk(inference, load_robot('fr3').joint_limits)
    assert clipped == {}
    robot = load_robot('fr3', 'tcp')
    tips = [robot.forward(row[:7]) for row in actions]
    heights = np.array([position[2] for position, _ in tips])
    rotation = rotation_of(tips[int(np.argmin(heights))][1])
    assert rotation[2, 2] < -0.99
    if quality == 1.0:
        assert heights.min() == pytest.approx(FR3.grasp, abs=1e-3)
        # The fingers close along a face of the cube, which is turned by 0.6 rad.
        along = np.degrees(np.arctan2(rotation[1, 1], rotation[0, 1]) - 0.6) % 90.0
        assert min(along, 90.0 - along) < 1.0
        assert np.abs(np.diff(actions[:, :7], axis=0)).max() / DT < 2.6  # rad/s, of the slowest


def test_samples_have_its_joints():
    policy = ScriptedPickPlace(ScriptedOptions(quality=0.5, samples=3, horizon=12, robot='fr3'))
    samples = policy.infer(observe()).samples
    assert samples.shape == (3, 12, 8)
    assert (samples[0] != samples[1]).any()


def test_a_missing_finger_is_named():
    policy = ScriptedPickPlace(ScriptedOptions(robot='fr3'))
    with pytest.raises(PolicyError, match='fr3_finger_joint1'):
        policy.infer(Observation(0, 0, NAMES[:7], np.array(FR3.home[:7])))
