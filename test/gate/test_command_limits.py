# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Limits of joint commands: whatever comes in, what goes out keeps to all of them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from gate_witness import Witness
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.core.errors import FrameRosError, SetupError, ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.gate.limits.braking import reach, time_to_rest, way_to_rest
from frame_ros.gate.limits.command_limiter import CommandLimiter
from frame_ros.gate.limits.command_limits import (
    ACCELERATION,
    JOINT,
    STEP,
    VELOCITY,
    WORKSPACE,
    JointLimits,
    limits_of,
)
from frame_ros.gate.limits.workspace import Workspace
from frame_ros.robots import load_robot

PERIOD = 33_333_333
NAMES = ('a', 'b', 'c')
LIMITS = JointLimits(
    NAMES,
    lower=np.array([-1.0, -0.5, 0.0]),
    upper=np.array([1.0, 2.0, 0.04]),
    velocity=np.array([2.0, 4.0, 0.1]),
    acceleration=np.array([10.0, 40.0, 1.0]),
    step=np.full(3, np.inf),
    tick=np.full(3, np.inf),
    units=('rad', 'rad', 'm'),
    fastest=np.array([2.0, 4.0, 0.1]),
    ends=np.array([[-1.0, -0.5, 0.0], [1.0, 2.0, 0.04]]),
)
START = np.array([0.2, 0.0, 0.02])
EVERYTHING = np.arange(3)


def limiter(**options):
    made = CommandLimiter(LIMITS, **options)
    made.begin(START, SECOND + PERIOD)  # a first command counts for a period
    return made


def send(made, command, time, indices=EVERYTHING, measured=None):
    proposal = made.propose(indices, np.asarray(command, float), time, measured)
    made.commit(proposal)
    return proposal


def brake(made, time):
    made.brake(time, np.ones(len(made.positions), dtype=bool))
    return made.positions.copy()


def minimum_jerk(count, start, end):
    s = np.linspace(0.0, 1.0, count)[:, None]
    return start + (end - start) * (10 * s**3 - 15 * s**4 + 6 * s**5)


# Extremes, small steps around where the joints are, and values just at a limit.
values = st.one_of(
    st.floats(-1e6, 1e6), st.floats(-3.0, 3.0), st.floats(-0.05, 0.05), st.sampled_from([1.0, -0.5])
)
commands = st.lists(st.tuples(values, values, values), min_size=1, max_size=25)
gaps = st.lists(st.integers(0, SECOND // 2), min_size=25, max_size=25)


@given(commands)
@settings(max_examples=60, deadline=None)
def test_nothing_makes_a_steady_stream_exceed_a_limit(stream):
    """Velocity and acceleration by the differences of what was sent, as an arm would see them."""
    made, sent = limiter(), [START, START]
    for k, command in enumerate(stream):
        sent.append(send(made, command, SECOND + (k + 1) * PERIOD).positions)
    path, dt = np.array(sent), PERIOD / SECOND
    assert (path >= LIMITS.lower).all() and (path <= LIMITS.upper).all()
    velocity = np.diff(path, axis=0) / dt
    assert (np.abs(velocity) <= LIMITS.velocity * (1 + 1e-6)).all()
    acceleration = np.diff(velocity, axis=0) / dt
    assert (np.abs(acceleration) <= LIMITS.acceleration * (1 + 1e-6)).all()


@given(commands, gaps, st.lists(st.sampled_from(['all', 'ab', 'c', 'brake']), min_size=25))
@settings(max_examples=60, deadline=None)
def test_nothing_makes_any_stream_exceed_a_limit(stream, pauses, kinds):
    """Commands to some of the joints, at any time, with braking in between."""
    made, time = CommandLimiter(LIMITS), SECOND
    witness = Witness(LIMITS, 0.02)
    for command, pause, kind in zip(stream, pauses, kinds, strict=False):
        time += pause
        i = {'ab': np.array([0, 1]), 'c': np.array([2])}.get(kind, EVERYTHING)
        if kind == 'brake':
            found = made.brake(time, np.ones(3, dtype=bool))
        else:
            made.begin(START, time)
            found = send(made, np.array(command)[i], time, i)
        if found is not None:
            witness.see(found.indices, found.positions, found.times, time, START)


def test_a_stream_within_all_limits_passes_bit_by_bit():
    made = limiter()
    for k, command in enumerate(minimum_jerk(30, START, np.array([0.9, 1.5, 0.035]))):
        found = send(made, command, SECOND + (k + 1) * PERIOD)
        assert found.excesses == ()
        assert (found.positions == command).all()


def test_a_stream_that_jitters_passes_too():
    """Every other command is 15 ms late, as on a busy machine: the arm sees the same path."""
    made = limiter()
    path = minimum_jerk(30, START, np.array([0.9, 1.5, 0.035]))
    for k, command in enumerate([*[START] * 8, *path]):
        found = send(made, command, SECOND + (k + 1) * PERIOD + (15_000_000 if k % 2 else 0))
        assert found.excesses == ()
    assert (found.positions == command).all()


def test_without_jitter_allowed_a_command_that_comes_early_is_limited():
    made = limiter(jitter=0.0)
    path = minimum_jerk(30, START, np.array([0.9, 0.0, 0.02]))
    found = [send(made, c, SECOND + (k + 1) * PERIOD) for k, c in enumerate(path[:15])]
    assert not any(f.excesses for f in found)
    early = send(made, path[15], SECOND + 15 * PERIOD + PERIOD // 3)
    assert early.excesses[0].cause == VELOCITY


def test_a_limited_stream_reaches_a_far_target_without_overshoot():
    made, path = limiter(), []
    target = np.array([0.8, -0.4, 0.0])
    for k in range(60):
        path.append(send(made, target, SECOND + (k + 1) * PERIOD).positions)
    path = np.array(path)
    assert path[-1] == pytest.approx(target, abs=1e-12)
    assert (path[:, 0] <= 0.8 + 1e-12).all() and (path[:, 1] >= -0.4 - 1e-12).all()


def test_a_limited_stream_catches_up_with_a_target_that_moves():
    made = limiter()
    found = []
    for k in range(60):
        target = START + np.array([0.1 + 0.01 * k, 0.3, 0.0])
        found.append(send(made, target, SECOND + (k + 1) * PERIOD))
    assert found[0].excesses and not found[-1].excesses
    assert found[-1].positions == pytest.approx(target)


def test_a_joint_beyond_its_limit_does_not_hold_up_the_others():
    made = limiter()
    for k in range(40):
        found = send(made, [5.0, 0.02 * k, 0.02], SECOND + (k + 1) * PERIOD)
    assert found.positions == pytest.approx([1.0, 0.02 * 39, 0.02])
    assert (found.excesses[0].cause, found.excesses[0].joint) == (JOINT, 'a')


@pytest.mark.parametrize(
    ('command', 'cause', 'joint', 'unit'),
    [
        ((1.5, 0.0, 0.02), JOINT, 'a', 'rad'),
        ((0.6, 0.0, 0.02), VELOCITY, 'a', 'rad/s'),
        ((0.2, 0.1, 0.02), ACCELERATION, 'b', 'rad/s^2'),
        ((0.2, 0.0, 0.0235), VELOCITY, 'c', 'm/s'),
    ],
)
def test_what_exceeds_is_named_with_its_value_and_limit(command, cause, joint, unit):
    made = limiter()
    found = send(made, command, SECOND + PERIOD)
    excess = found.excesses[0]
    assert (excess.cause, excess.joint, excess.unit) == (cause, joint, unit)
    assert abs(excess.value) > excess.limit
    assert joint in excess.text and unit in excess.text


def test_who_is_asked_to_jump_and_come_back_does_not_overshoot():
    made, time = limiter(), SECOND + PERIOD
    send(made, START, time)
    send(made, START - np.array([1e4, 0.0, 0.0]), time + PERIOD)
    time, turned = time + 4 * PERIOD, made.positions[0]
    found = [send(made, START, time + k * PERIOD).positions[0] for k in range(30)]
    assert turned < START[0] and max(found) <= START[0] + 1e-9
    assert found[-1] == START[0]


def test_who_rests_where_it_is_asked_to_be_stays_there_wherever_it_was_asked_to_go_before():
    limits = replace(LIMITS, step=np.full(3, 0.35), acceleration=np.full(3, 2.0))
    made, time = CommandLimiter(limits, longest=0.5), SECOND
    made.begin(START, time)
    asked = START + np.array([1.0, 0.0, 0.0])
    for _ in range(60):  # it is measured where it began, and goes no farther than a step from there
        time += PERIOD
        send(made, asked, time, measured=START)
    rests = made.positions.copy()
    assert rests[0] < 0.6 and made.velocities[0] == 0.0
    time += 9 * PERIOD
    assert send(made, rests, time, measured=START).positions == pytest.approx(rests, abs=1e-9)


def test_a_stream_that_lags_within_its_slot_has_not_paused():
    made, time = limiter(jitter=0.02, longest=0.04), SECOND + PERIOD
    send(made, START, time)
    for ms in [30] * 10 + [39] * 10:  # slower than its mean period, of which the limiter steps
        time += ms * 1_000_000
        assert not made.has_paused(time).any()
        assert send(made, START, time).positions == pytest.approx(START)
    assert (time + 39_000_000 - made.times > 40_000_000).all()  # it is behind the clock
    assert not made.has_paused(time + 39_000_000).any()
    assert made.has_paused(time + 41_000_000).all()


def test_a_command_far_from_the_measured_position_is_limited():
    limits = JointLimits(
        **{**LIMITS.__dict__, 'step': np.array([0.1, 0.1, np.inf]), 'tick': np.full(3, np.inf)}
    )
    made, measured = CommandLimiter(limits), START.copy()
    made.begin(START, SECOND)
    for k in range(40):  # the arm is blocked: it does not move
        found = send(made, [0.9, 0.0, 0.0], SECOND + (k + 1) * PERIOD, measured=measured)
    assert found.positions == pytest.approx([0.3, 0.0, 0.0])
    assert STEP in {excess.cause for excess in found.excesses}
    measured[0] = 0.1  # it is pushed back: nothing follows it
    for k in range(40, 60):
        found = send(made, [0.9, 0.0, 0.0], SECOND + (k + 1) * PERIOD, measured=measured)
    assert found.positions[0] == pytest.approx(0.3) and found.excesses[0].cause == STEP
    for k in range(60, 80):  # nearer to the arm it may go, though that is still far from it
        found = send(made, [0.25, 0.0, 0.0], SECOND + (k + 1) * PERIOD, measured=measured)
    assert found.positions[0] == 0.25 and found.excesses[0].cause == STEP


@pytest.mark.parametrize('offset', [-0.8, -0.14, -0.09, 0.09, 0.14, 0.8])
def test_no_measurement_leads_a_joint_away_from_what_is_asked(offset):
    limits = JointLimits(**{**LIMITS.__dict__, 'step': np.full(3, 0.1)})
    made = CommandLimiter(limits)
    made.begin(START, SECOND)
    place = START[0]
    for k in range(120):
        measured = START + np.array([place - START[0] + offset, 0.0, 0.0])
        place = send(made, START, SECOND + (k + 1) * PERIOD, measured=measured).positions[0]
        assert place == START[0]


@pytest.mark.parametrize('below', [1e-3, 0.05, 0.3])
@pytest.mark.parametrize('asked', ['lowest', 'inside', 'there', 'outside'])
def test_a_joint_measured_outside_its_range_comes_back_within_its_rates(below, asked):
    made, start = CommandLimiter(LIMITS), np.array([LIMITS.lower[0] - below, 0.0, 0.02])
    made.begin(start, SECOND)
    watcher, to = Witness(LIMITS, 0.02), start.copy()
    to[0] = {'lowest': -1.0, 'inside': -0.5, 'there': start[0], 'outside': -1.5}[asked]
    assert brake(made, SECOND)[0] == start[0]
    for k in range(60):
        time = SECOND + k * PERIOD
        found = send(made, to, time)
        watcher.see(EVERYTHING, found.positions, found.times, time, start)
    assert made.positions[0] == max(to[0], LIMITS.lower[0])
    assert (found.excesses != ()) == (to[0] < LIMITS.lower[0])


def test_who_starts_again_outside_its_range_is_led_there_and_may_only_come_back():
    made = limiter()
    time, outside = SECOND + PERIOD, np.array([LIMITS.lower[0] - 0.2, *START[1:]])
    watcher = Witness(LIMITS, 0.02)
    for k in range(80):
        time += PERIOD
        to = START if k < 20 else np.array([-0.9, *START[1:]])
        if k == 20:
            made.start_again(np.array([True, False, False]), outside)
        found = send(made, to, time)
        watcher.see(EVERYTHING, found.positions, found.times, time, START if k < 20 else outside)
        if k >= 20 and np.isnan(made.base[0]):
            break
    assert found.positions[0] == pytest.approx(outside[0], abs=0.02)
    for _ in range(60):
        time += PERIOD
        found = send(made, [-1.4, *START[1:]], time)
        watcher.see(EVERYTHING, found.positions, found.times, time, START)
    assert found.positions[0] == LIMITS.lower[0]


def test_a_jump_between_two_commands_is_a_step():
    limits = JointLimits(**{**LIMITS.__dict__, 'tick': np.array([0.05, np.inf, np.inf])})
    made = CommandLimiter(limits)
    made.begin(START, SECOND)
    made_path = [START[0]]
    for k in range(12):
        found = send(made, [1.0, 0.0, 0.02], SECOND + (k + 1) * SECOND // 5)
        made_path.append(found.positions[0])
    assert np.abs(np.diff(made_path)).max() <= 0.05 + 1e-9
    first = CommandLimiter(limits)
    first.begin(START, SECOND)
    assert send(first, [0.3, 0.0, 0.02], SECOND + SECOND // 10).excesses[0].cause == STEP


def test_a_stream_that_ends_just_at_a_limit_passes():
    """As a policy does whose actions are clipped to the limits, or that closes a gripper."""
    made, speed = limiter(), 0.15
    path = np.minimum(0.2 + speed * PERIOD / SECOND * np.arange(240), 1.0)
    for k, place in enumerate(path):
        found = send(made, [place, 0.0, 0.02], SECOND + (k + 1) * PERIOD)
        assert found.excesses == ()
    assert found.positions[0] == 1.0
    brake(made, SECOND + 241 * PERIOD)


def test_a_command_too_early_to_brake_repeats_the_last_position():
    made, speed = limiter(), 0.15
    path = np.minimum(0.2025 + speed * PERIOD / SECOND * np.arange(170), 1.0)
    for k, place in enumerate(path):
        found = send(made, [place, 0.0, 0.02], SECOND + (k + 1) * PERIOD)
        if found.positions[0] == 1.0:
            break
    last = SECOND + (k + 1) * PERIOD
    assert made.velocities[0] > 0.05
    early = send(made, [1.0, 0.0, 0.02], last + PERIOD // 10)
    assert early.is_repeat and early.excesses == () and early.times[0] == last
    assert brake(made, last + PERIOD // 5)[0] == 1.0
    assert brake(made, last + PERIOD)[0] == 1.0 and made.velocities[0] == 0.0


def test_a_repeat_takes_no_longer_than_the_slot_though_it_is_what_was_asked_for():
    """At its end a joint cannot brake within a period of the stream, but within the slot."""
    made, time, slot = CommandLimiter(LIMITS, jitter=0.1, longest=0.5), SECOND, 100_000_000
    made.begin(START, time)
    for place in 1.0 - 0.8 * PERIOD / SECOND * np.arange(29, -1, -1):
        time += PERIOD
        found = send(made, [place], time, np.array([0]))
    assert made.velocities[0] > 0.4
    for _ in range(3):
        time += 60_000_000
        found = send(made, [1.0], time, np.array([0]))
        assert time - found.times[0] <= slot


def test_braking_comes_to_rest_at_the_acceleration_limit():
    made = limiter()
    for k in range(12):
        send(made, START + np.array([0.03 * k, 0.0, 0.0]), SECOND + (k + 1) * PERIOD)
    speed, time = made.velocities[0], SECOND + 12 * PERIOD
    assert speed > 0.5
    path = [made.positions[0]]
    for _ in range(10):
        time += PERIOD
        path.append(brake(made, time)[0])
    steps = np.diff(path) / (PERIOD / SECOND)
    assert steps[-1] == 0.0 and (np.diff(steps) <= 1e-9).all()
    assert np.abs(np.diff(steps, prepend=speed)).max() / (PERIOD / SECOND) <= 10.0 * (1 + 1e-6)
    assert path[-1] - path[0] <= speed**2 / 20.0


def test_braking_long_after_the_last_command_moves_nothing():
    """The arm is at rest by then; to go on along the old velocity would start it again."""
    made = limiter()
    for k in range(12):
        send(made, START + np.array([0.03 * k, 0.0, 0.0]), SECOND + (k + 1) * PERIOD)
    before = made.positions.copy()
    assert (brake(made, SECOND + 12 * PERIOD + SECOND // 4) == before).all()


def test_a_joint_never_commanded_begins_at_its_first_command():
    made = CommandLimiter(LIMITS)
    made.begin(np.array([0.2, 0.0, math.nan]), SECOND)
    assert np.isnan(made.positions[2])
    found = send(made, [0.03], SECOND + 2 * PERIOD, np.array([2]))
    assert found.positions == [0.03] and not found.excesses


@given(st.lists(st.tuples(*[st.floats(-0.03, 0.03)] * 3), min_size=2, max_size=25))
@settings(max_examples=60, deadline=None)
def test_the_short_way_to_pass_a_command_comes_to_the_same_as_the_long_one(changes):
    made, place = limiter(), START.copy()
    for k, change in enumerate(changes):
        place, time = place + np.array(change), SECOND + (k + 1) * PERIOD
        short = made._harmless(EVERYTHING, place, time, None)
        made._harmless, kept = lambda *_: None, made._harmless
        long = made.propose(EVERYTHING, place, time)
        made._harmless = kept
        if short is not None:
            assert long.excesses == () and (long.positions == short.positions).all()
            assert long.velocities == pytest.approx(short.velocities)
            assert long.durations == pytest.approx(short.durations)
            assert (long.times == short.times).all()
        made.commit(long)


@given(
    st.floats(0.0, 10.0), st.floats(0.5, 50.0), st.floats(0.001, 2.0), st.floats(0.001, 0.1),
    st.lists(st.floats(0.0, 0.2), max_size=30),
)  # fmt: skip
def test_the_largest_speed_comes_to_rest_in_steps_of_any_length(distance, a, h, s, longer):
    """Steps as long as the slot take the whole distance, longer ones no more."""
    speed = float(reach(np.array([distance]), np.array([a]), np.array([h]), s)[0])
    way = speed * h + float(way_to_rest(np.array([speed]), np.array([a]), s)[0])
    assert way == pytest.approx(distance, rel=1e-9, abs=1e-9)
    assert speed * (h + time_to_rest(speed / a, s)) == pytest.approx(way, abs=1e-9)
    gone, left = speed * h, speed
    for more in [*longer, *[0.0] * 10_000]:
        left = left - a * (s + more)
        if left <= 0.0:
            break
        gone += left * (s + more)
    assert gone <= distance * (1 + 1e-9) + 1e-9
    if not longer:
        assert gone == pytest.approx(distance, rel=1e-6, abs=1e-9)


# The workspace.

ROBOT = load_robot('so101')
HOME = np.array([0.0, -1.35, 1.25, 0.85, 0.0, 0.3])
ARM_LIMITS = limits_of(ROBOT)
BOX = (0.05, -0.15, 0.02, 0.30, 0.15, 0.40)

joints = st.tuples(*[st.floats(-2.5, 2.5) for _ in range(6)])


@given(st.lists(joints, min_size=1, max_size=5), st.booleans(), st.integers(5, 60))
@settings(max_examples=12, deadline=None)
def test_nothing_takes_the_tip_out_of_its_box_nor_a_link_below_the_floor(targets, brakes, ms):
    workspace = Workspace(ROBOT, BOX, floor=0.01)
    made = CommandLimiter(ARM_LIMITS, workspace, jitter=0.0)
    made.begin(HOME, SECOND + PERIOD)  # a first command counts for a period
    links = [load_robot('so101', link) for link in ('lower_arm_link', 'wrist_link', 'gripper_link')]
    time, sent = SECOND, [HOME, HOME]
    for k, target in enumerate(np.repeat(np.array(targets), 8, axis=0)):
        time += ms * 1_000_000
        if brakes and k % 7 == 6:
            sent.append(brake(made, time))
        else:
            sent.append(send(made, target, time, np.arange(6)).positions)
        tip = ROBOT.forward(sent[-1][:5])[0]
        assert (tip >= BOX[:3]).all() and (tip <= BOX[3:]).all()
        for link in links:
            assert link.forward(sent[-1][: len(link.joint_names)])[0][2] >= 0.01
    path, dt = np.array(sent), ms / 1000
    velocity = np.diff(path, axis=0) / dt
    assert (np.abs(velocity) <= ARM_LIMITS.velocity * (1 + 1e-6)).all()
    assert (np.abs(np.diff(velocity, axis=0)) / dt <= ARM_LIMITS.acceleration * (1 + 1e-5)).all()
    assert (path >= ARM_LIMITS.lower).all() and (path <= ARM_LIMITS.upper).all()


def test_the_axis_that_is_left_is_named():
    made = CommandLimiter(ARM_LIMITS, Workspace(ROBOT, BOX))
    made.begin(HOME, SECOND + PERIOD)  # a first command counts for a period
    down = HOME + np.array([0.0, 1.0, 0.2, 0.0, 0.0, 0.0])
    assert ROBOT.forward(down[:5])[0][2] < BOX[2]
    path = minimum_jerk(60, HOME, down)
    found = [send(made, q, SECOND + (k + 1) * PERIOD, np.arange(6)) for k, q in enumerate(path)]
    assert not found[5].excesses
    last = found[-1].excesses[0]
    assert (last.cause, last.joint, last.unit) == (WORKSPACE, 'z', 'm') and last.value < last.limit


def test_an_arm_that_starts_outside_may_come_back_but_not_go_farther():
    box = (0.05, -0.15, 0.30, 0.30, 0.15, 0.50)
    assert ROBOT.forward(HOME[:5])[0][2] < 0.2
    made = CommandLimiter(ARM_LIMITS, Workspace(ROBOT, box))
    made.begin(HOME, SECOND + PERIOD)  # a first command counts for a period
    up, down = HOME + [0.0, 0.0, -0.6, 0.0, 0.0, 0.0], HOME + [0.0, 0.2, 0.2, 0.0, 0.0, 0.0]
    for k, q in enumerate(minimum_jerk(30, HOME, down)):
        low = send(made, q, SECOND + (k + 1) * PERIOD, np.arange(6))
    assert ROBOT.forward(low.positions[:5])[0][2] >= ROBOT.forward(HOME[:5])[0][2] - 2e-3
    here = made.positions.copy()
    for k, q in enumerate(minimum_jerk(40, here, up), 30):
        high = send(made, q, SECOND + (k + 1) * PERIOD, np.arange(6))
    assert ROBOT.forward(high.positions[:5])[0][2] > ROBOT.forward(HOME[:5])[0][2] + 0.05


def test_the_tip_is_no_faster_than_it_may_be():
    made = CommandLimiter(ARM_LIMITS, Workspace(ROBOT, speed=0.2), jitter=0.0)
    made.begin(HOME, SECOND + PERIOD)  # a first command counts for a period
    tips, causes = [ROBOT.forward(HOME[:5])[0]], set()
    for k in range(60):
        found = send(made, HOME + [1.0, 0.5, 0, 0, 0, 0], SECOND + (k + 1) * PERIOD, np.arange(6))
        tips.append(ROBOT.forward(found.positions[:5])[0])
        causes |= {(excess.joint, excess.unit) for excess in found.excesses}
    speeds = np.linalg.norm(np.diff(tips, axis=0), axis=1) / (PERIOD / SECOND)
    assert 0.15 < speeds.max() <= 0.2 * (1 + 1e-6)
    assert ('tip', 'm/s') in causes


def test_a_lowered_velocity_limit_brakes_a_faster_joint():
    made, slow = limiter(jitter=0.0), replace(LIMITS, velocity=LIMITS.velocity / 4.0)
    places = [START[0]]
    for k in range(24):
        if k == 6:
            made.limit_to(slow)
        places.append(send(made, START - [5.0, 0, 0], SECOND + (k + 1) * PERIOD).positions[0])
    speeds = np.abs(np.diff(places)) / (PERIOD / SECOND)
    assert speeds[:6].max() == pytest.approx(2.0) and speeds[12:14] == pytest.approx(0.5)
    gains = np.diff(speeds) / (PERIOD / SECOND)
    assert np.abs(gains).max() <= 10.0 * (1 + 1e-9) and gains[5:9] == pytest.approx(-10.0)


def test_a_lowered_acceleration_holds_once_a_joint_can_come_to_rest():
    made, weak = limiter(jitter=0.0), replace(LIMITS, acceleration=LIMITS.acceleration / 10.0)
    places, causes = [START[0]], []
    for k in range(40):
        if k == 6:
            made.limit_to(weak)
        found = send(made, START - [0.9, 0, 0], SECOND + (k + 1) * PERIOD)
        places.append(found.positions[0])
        causes.append([(excess.cause, excess.is_catching_up) for excess in found.excesses])
    speeds = np.abs(np.diff(places)) / (PERIOD / SECOND)
    gains = np.diff(speeds) / (PERIOD / SECOND)
    rest = int(np.argmax(speeds[6:] < 1e-9)) + 6
    assert gains[5 : rest - 2] == pytest.approx(-10.0) and (ACCELERATION, True) in causes[6]
    assert np.abs(gains[rest:]).max() == pytest.approx(1.0) and places[-1] < places[rest] - 0.1
    assert made.limits.acceleration.tolist() == weak.acceleration.tolist()


def test_limits_are_never_above_those_at_the_start():
    made = limiter()
    made.limit_to(replace(LIMITS, velocity=LIMITS.velocity * 3, tick=np.full(3, 0.1)))
    assert made.limits.velocity.tolist() == LIMITS.velocity.tolist()
    assert made.limits.tick.tolist() == [0.1] * 3
    made.limit_to(LIMITS)
    assert made.limits.tick.tolist() == LIMITS.tick.tolist()


def test_the_speed_of_the_tip_may_be_lowered_on_the_way():
    made = CommandLimiter(ARM_LIMITS, Workspace(ROBOT), jitter=0.0)
    made.begin(HOME, SECOND + PERIOD)
    tips = [ROBOT.forward(HOME[:5])[0]]
    for k in range(30):
        if k == 4:
            made.limit_to(ARM_LIMITS, 0.1)
        found = send(made, HOME + [1.5, 0, 0, 0, 0, 0], SECOND + (k + 1) * PERIOD, np.arange(6))
        tips.append(ROBOT.forward(found.positions[:5])[0])
    speeds = np.linalg.norm(np.diff(tips, axis=0), axis=1) / (PERIOD / SECOND)
    assert speeds[:4].max() > 0.3 and 0.09 < speeds[8:20].max() <= 0.1 * (1 + 1e-6)


# Where limits come from.


def test_limits_of_the_known_robots():
    so101, fr3 = ARM_LIMITS, limits_of(load_robot('fr3'))
    assert so101.names[-1] == 'gripper' and so101.units == ('rad',) * 6
    assert so101.velocity == pytest.approx(4.712, abs=1e-3)
    assert so101.acceleration == pytest.approx(38.96, abs=1e-2)
    assert fr3.names[-1] == 'fr3_finger_joint1' and fr3.units[-1] == 'm'
    assert fr3.velocity[:7].tolist() == [2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26]
    assert fr3.acceleration[:7].tolist() == [10.0] * 7
    panda = limits_of(load_robot('panda'), velocity_scale=0.5, step=0.2)
    assert panda.velocity[0] == 2.175 / 2 and panda.acceleration[1] == 7.5
    assert panda.step[0] == 0.2 and panda.step[-1] == np.inf


def test_limits_may_be_given_for_all_joints_or_each():
    given_limits = limits_of(ROBOT, velocity=[1.0], acceleration=[0.0, 5.0, 0.0, 0.0, 0.0, 0.0])
    assert set(given_limits.velocity) == {1.0}
    assert given_limits.acceleration[1] == 5.0 and given_limits.acceleration[0] > 30.0


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'velocity': [1.0, 2.0]}, 'has 2 values; it must have one for all joints, or 6'),
        ({'velocity_scale': 0.0}, 'a scale is 0.0'),
        ({'acceleration': [-1.0]}, 'acceleration of shoulder_pan is -1; it must be above 0'),
        ({'position_margin': 2.0}, 'the lower limit must be below the upper'),
        ({'step': 0.0}, 'step of shoulder_pan is 0; it must be above 0'),
    ],
)
def test_limits_that_make_no_sense_are_refused(options, message):
    with pytest.raises(FrameRosError, match=message):
        limits_of(ROBOT, **options)


def test_a_robot_of_which_no_acceleration_is_known_must_be_told():
    unknown = load_robot(ROBOT.urdf.replace('name="so101"', 'name="other"', 1))
    text = 'nothing is known of the limits.acceleration of shoulder.*`rates` in the robot'
    with pytest.raises(SetupError, match=text):
        limits_of(unknown)
    assert limits_of(unknown, acceleration=[20.0]).velocity[0] == 10.0


def test_a_velocity_of_0_in_a_urdf_stands_for_none():
    exported = ROBOT.urdf.replace('velocity="10"', 'velocity="0"', 1)
    unknown = load_robot(exported.replace('name="so101"', 'name="other"', 1))
    assert (unknown.velocity_limits == 0).sum() == 1
    with pytest.raises(SetupError, match='nothing is known of the limits.velocity of shoulder_pan'):
        limits_of(unknown, acceleration=[20.0])
    found = limits_of(unknown, velocity=[3.0, 0.0, 0.0, 0.0, 0.0, 0.0], acceleration=[20.0])
    assert found.velocity[:2].tolist() == [3.0, 10.0]


@pytest.mark.parametrize(
    'options', [{'box': (0, 0, 0, 1, 1)}, {'box': (0, 0, 0, 0, 1, 1)}, {'speed': -1.0}]
)
def test_a_workspace_that_makes_no_sense_is_refused(options):
    with pytest.raises(ValueRangeError, match=f'workspace.{next(iter(options))} is '):
        Workspace(ROBOT, **options)
