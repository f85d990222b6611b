# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The scripted policy, in the simulation and by itself."""

import numpy as np
import pytest

from frame_ros.core.errors import PolicyError, ValueRangeError
from frame_ros.metrics import rms_jerk
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Observation
from frame_ros.policies.scripted.arms import scripted_arm
from frame_ros.policies.scripted.pick_place import ScriptedOptions, ScriptedPickPlace
from frame_ros.policies.scripted.reaching import solve_reach
from frame_ros.robots import load_robot
from frame_ros.robots.motion import rotation_of
from frame_ros.robots.profiles import find_profile

JOINT_NAMES, HOME = zip(*find_profile('so101').postures['home'].items())
OBJECT = np.array((0.24, -0.06, 0.015, 0.0, 0.0, 0.0, 1.0))
GOAL = np.array((0.20, 0.17, 0.004, 0.0, 0.0, 0.0, 1.0))
DT = 1 / 30


def observe(time=0.0, joints=HOME, target=OBJECT, goal=GOAL):
    stamp = round(time * 1e9)
    poses = {'object': target, 'goal': goal}
    return Observation(stamp, stamp, JOINT_NAMES, np.array(joints), poses=poses)


def executed_plan(policy, seconds=12.0, jitter=0.0, lag=0):
    """All actions of an arm that is `lag` steps late, whose object follows it, so that nothing is
    tried again.
    """
    rng = np.random.default_rng(0)
    rows = []
    robot = load_robot('so101')
    joints, target = np.array(HOME), OBJECT.copy()
    while len(rows) * DT < seconds:
        time = len(rows) * DT + jitter * rng.uniform(-1, 1)
        chunk = policy.infer(observe(time, joints, target)).actions
        rows.extend(chunk[:10])
        joints = rows[max(0, len(rows) - 1 - lag)]
        position, _ = robot.forward(joints[:5])
        is_closed = joints[5] < 0.1
        target[:3] = position if is_closed else target[:3]
    return np.array(rows)


def run_in_simulation(simulation, policy, seed, seconds=20.0):
    """Success, the tip's path (T, 3) at the control rate, and what was touched unexpectedly."""
    simulation.reset(seed)
    policy.reset(seed)
    path, touched = [], set()
    chunk = np.empty((0, 6))
    for tick in range(int(seconds / DT)):
        if tick % 10 == 0:
            joints = simulation.joint_state().positions
            poses = (simulation.object_pose(), simulation.goal_pose())
            chunk = policy.infer(observe(tick * DT, joints, *poses)).actions
        simulation.step(chunk[tick % 10], steps=17 if tick % 3 else 16)
        path.append(simulation.tip_position())
        touched |= {c.other for c in simulation.contacts() if not c.is_expected}
        if simulation.task_state.value != 'running':
            break
    return simulation.task_state.value == 'success', np.array(path), touched


@pytest.fixture(scope='module')
def simulation():
    pytest.importorskip('mujoco')
    from frame_ros.scenes import PickPlaceSimulation

    return PickPlaceSimulation()


def test_it_is_a_policy():
    policy = ScriptedPickPlace()
    assert isinstance(policy, Policy)
    assert (policy.name, policy.cameras, policy.poses) == ('scripted', (), ('object', 'goal'))


def test_at_full_quality_it_succeeds_within_ten_seconds_and_touches_only_the_cube(simulation):
    policy = ScriptedPickPlace()
    for seed in range(5):
        is_done, path, touched = run_in_simulation(simulation, policy, seed)
        assert is_done
        assert len(path) * DT < 10.0
        assert touched == set()


def test_at_low_quality_it_fails_more_often_and_is_jerkier(simulation):
    good, bad = ScriptedPickPlace(), ScriptedPickPlace(ScriptedOptions(quality=0.0))
    runs = [run_in_simulation(simulation, bad, seed, 12.0) for seed in range(5)]
    assert sum(is_done for is_done, _, _ in runs) <= 3
    _, smooth, _ = run_in_simulation(simulation, good, 0)
    assert rms_jerk(runs[0][1], DT) > 3 * rms_jerk(smooth, DT)


def test_a_grasp_that_failed_is_tried_again(simulation):
    """The cube is taken away in mid-air once; the policy goes back for it."""
    policy = ScriptedPickPlace()
    simulation.reset(0)
    policy.reset(0)
    start = simulation.object_pose()
    is_dropped = False
    chunk = np.empty((0, 6))
    for tick in range(900):
        if tick % 10 == 0:
            joints = simulation.joint_state().positions
            poses = (simulation.object_pose(), simulation.goal_pose())
            chunk = policy.infer(observe(tick * DT, joints, *poses)).actions
        simulation.step(chunk[tick % 10], steps=17)
        if not is_dropped and simulation.object_pose()[2] > 0.06:
            is_dropped = True
            address = simulation.model.joint('cube_free').qposadr[0]
            simulation.data.qpos[address : address + 3] = start[:3]
        if simulation.task_state.value == 'success':
            break
    assert is_dropped
    assert simulation.task_state.value == 'success'


def test_an_inference_is_a_chunk_of_finite_joint_positions():
    inference = ScriptedPickPlace(ScriptedOptions(horizon=16, dt=0.05)).infer(observe())
    assert inference.actions.shape == (16, 6)
    assert inference.dt == 0.05
    assert inference.action_names == JOINT_NAMES
    assert np.isfinite(inference.actions).all()
    assert inference.actions[0] == pytest.approx(HOME)
    assert inference.tokens is None


def test_the_plan_does_not_depend_on_how_it_is_cut_or_on_jitter_of_the_stamps():
    smooth = executed_plan(ScriptedPickPlace())
    jittered = executed_plan(ScriptedPickPlace(), jitter=0.012)
    assert np.array_equal(smooth, jittered)
    steps = np.abs(np.diff(smooth, axis=0)).max()
    assert steps < 0.12  # rad per step: no jump between chunks


def test_an_arm_that_lags_its_plan_holds_what_it_holds():
    prompt, late = executed_plan(ScriptedPickPlace()), executed_plan(ScriptedPickPlace(), lag=25)
    assert np.array_equal(prompt, late)


@pytest.mark.parametrize('quality', [1.0, 0.0])
def test_actions_keep_the_joint_limits(quality):
    robot = load_robot('so101')
    rows = executed_plan(ScriptedPickPlace(ScriptedOptions(quality=quality)))[:, :5]
    assert (rows >= robot.lower).all()
    assert (rows <= robot.upper).all()


def test_flaws_are_drawn_from_the_seed():
    def plan(seed):
        policy = ScriptedPickPlace(ScriptedOptions(quality=0.4, seed=seed, horizon=200))
        return policy.infer(observe()).actions

    assert np.array_equal(plan(1), plan(1))
    assert not np.array_equal(plan(1), plan(2))


def test_episodes_differ_unless_they_are_given_the_same_seed():
    policy = ScriptedPickPlace(ScriptedOptions(quality=0.4, horizon=200))
    first = policy.infer(observe()).actions
    policy.reset()
    second = policy.infer(observe()).actions
    policy.reset(7)
    third = policy.infer(observe()).actions
    policy.reset(7)
    assert not np.array_equal(first, second)
    assert np.array_equal(third, policy.infer(observe()).actions)


def test_after_the_end_it_rests_at_home():
    policy = ScriptedPickPlace()
    assert executed_plan(policy, seconds=14.0)[-1] == pytest.approx(HOME)


@pytest.mark.parametrize('quality', [0.9, 0.2])
def test_sampled_chunks_change_no_action_and_are_as_uncertain_as_its_flaws(quality):
    plain = ScriptedPickPlace(ScriptedOptions(quality=quality, seed=2))
    sampled = ScriptedPickPlace(ScriptedOptions(quality=quality, seed=2, samples=3))
    assert np.array_equal(executed_plan(plain), executed_plan(sampled))
    for policy in (plain, sampled):
        policy.reset(5)
    for time in np.arange(0.0, 8.0, 0.5):
        inference = sampled.infer(observe(time))
        assert np.array_equal(inference.actions, plain.infer(observe(time)).actions)
        assert inference.samples.shape == (3, *inference.actions.shape)
        chunks = np.concatenate((inference.samples, inference.actions[None]))
        assert all((a != b).any() for i, a in enumerate(chunks) for b in chunks[:i])
    assert plain.infer(observe(9.0)).samples is None


def test_samples_are_as_the_policy_would_have_acted_with_other_flaws():
    """Their spread is that of policies of other seeds at the same step."""
    policy = ScriptedPickPlace(ScriptedOptions(quality=0.6, samples=24, horizon=30))
    others = [ScriptedPickPlace(ScriptedOptions(quality=0.6, horizon=30)) for _ in range(24)]
    for seed, other in enumerate(others):
        other.reset(100 + seed)
    for time in (0.0, 0.5, 1.0, 1.5):
        samples = policy.infer(observe(time)).samples
        runs = np.stack([other.infer(observe(time)).actions for other in others])
        ratio = samples.std(axis=0).mean() / runs.std(axis=0).mean()
        assert 0.6 < ratio < 1.6


def test_without_flaws_all_samples_are_the_chunk():
    inference = ScriptedPickPlace(ScriptedOptions(samples=2)).infer(observe())
    assert np.array_equal(inference.samples, np.stack([inference.actions] * 2))


def test_samples_are_drawn_from_the_seed():
    def draw(seed):
        policy = ScriptedPickPlace(ScriptedOptions(quality=0.4, samples=2))
        policy.reset(seed)
        return policy.infer(observe()).samples

    assert np.array_equal(draw(3), draw(3))
    assert not np.array_equal(draw(3), draw(4))


def test_what_it_lacks_is_said():
    policy = ScriptedPickPlace()
    with pytest.raises(PolicyError, match='object'):
        policy.infer(Observation(0, 0, JOINT_NAMES, np.array(HOME)))
    with pytest.raises(PolicyError, match='gripper'):
        policy.infer(Observation(0, 0, JOINT_NAMES[:5], np.array(HOME[:5])))
    with pytest.raises(PolicyError, match='finite'):
        policy.infer(observe(joints=(np.nan, *HOME[1:])))
    with pytest.raises(PolicyError, match='goal'):
        policy.infer(observe(goal=np.full(7, np.nan)))


@pytest.mark.parametrize(
    'arguments',
    [
        {'quality': 1.5},
        {'quality': float('nan')},
        {'horizon': 0},
        {'dt': 0.0},
        {'samples': 1},
        {'samples': -1},
    ],
)
def test_bad_arguments_are_refused(arguments):
    with pytest.raises(ValueRangeError):
        ScriptedPickPlace(ScriptedOptions(**arguments))


@pytest.mark.parametrize('height', [0.015, 0.085, 0.125])
@pytest.mark.parametrize('radius', [0.17, 0.22, 0.27])
def test_inverse_kinematics_reaches_positions_and_keeps_the_limits(radius, height):
    robot = load_robot('so101')
    down = np.array(((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0)))
    for azimuth in (-0.8, 0.0, 0.8):
        turn = np.array(
            (
                (np.cos(azimuth), -np.sin(azimuth), 0.0),
                (np.sin(azimuth), np.cos(azimuth), 0.0),
                (0.0, 0.0, 1.0),
            )
        )
        position = (0.0388, 0.0, 0.0) + turn @ (radius, 0.0, height)
        start = np.array((-azimuth, *HOME[1:5]))
        q, rest = solve_reach(robot, start, position, turn @ down)
        reached, quaternion = robot.forward(q)
        assert rest < 5e-4
        assert reached == pytest.approx(position, abs=5e-4)
        assert (q >= robot.lower).all()
        assert (q <= robot.upper).all()
        tilt = np.degrees(np.arccos(-rotation_of(quaternion)[2, 2]))
        assert tilt < (3.0 if height < 0.05 else 30.0)


def test_a_place_at_which_all_joints_are_at_their_limits_is_reached_as_far_as_they_allow():
    robot = load_robot('so101', scripted_arm('so101').tip)
    start = np.where([False, True, True, True, True], robot.upper, robot.lower)
    target = np.array((0.27, -0.46, -0.92))
    joints, left = solve_reach(robot, start, target, np.diag((1.0, -1.0, -1.0)))
    assert np.isfinite(joints).all() and left > 0.1
