# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states of several publishers on one topic, merged by joint name."""

import numpy as np
import pytest
from bag_making import T0, message, stamp, write_bag
from hypothesis import example, given
from hypothesis import strategies as st
from turning_arm import NAMES as NAMES3
from turning_arm import counted, urdf, wrapped

from frame_ros.core.time import SECOND
from frame_ros.episodes import read_episodes
from frame_ros.reports.model.episode_check import check_episode
from frame_ros.robots import load_robot
from frame_ros.robots.joint_state_merge import JointMerger

NAMES = ('a', 'b', 'c', 'd')
STEP = SECOND // 100


def states_of(merger, messages):
    """(stamp, positions) of every state that the messages (stamp, name -> position) give."""
    found = []
    for at, values in messages:
        state = merger.update(at, list(values), list(values.values()))
        if state is not None:
            found.append((merger.stamp, state.positions.tolist()))
    return found


def test_names_in_changing_order_and_strange_ones_are_sorted_out():
    merger = JointMerger(NAMES)
    sent = [
        (T0, {'d': 4, 'c': 3, 'b': 2, 'a': 1}),
        (T0 + 1, {'other': 9}),
        (T0 + 2, {'b': 2, 'x': 7, 'a': 1, 'c': 3, 'd': 5}),
    ]
    assert states_of(merger, sent) == [(T0, [1, 2, 3, 4]), (T0 + 2, [1, 2, 3, 5])]
    assert merger.counts['unknown_joints_only'] == 1 and merger.problem == ''


@given(st.integers(1, 40), st.sampled_from((0, 1, STEP // 3)), st.booleans())
def test_an_arm_in_two_halves_gives_a_state_per_pair(count, shift, is_swapped):
    merger, sent = JointMerger(NAMES), []
    for i in range(count):
        halves = [(T0 + i * STEP, {'a': i, 'b': i}), (T0 + i * STEP + shift, {'d': i, 'c': i})]
        sent += halves[::-1] if is_swapped and shift == 0 else halves
    found = states_of(merger, sent)
    first = 1 if shift else 0  # before it the other half has nothing at this stamp
    late = shift / STEP
    wanted = [(T0 + i * STEP, [i, i, i - late, i - late]) for i in range(first, count)]
    assert [at for at, _ in found] == [at for at, _ in wanted]
    for (_, positions), (_, right) in zip(found, wanted):
        assert positions == pytest.approx(right, abs=1e-12)
    assert merger.interpolated == (len(wanted) if shift else 0)
    assert merger.held == 0


@given(st.lists(st.integers(0, STEP // 2), min_size=20, max_size=60), st.integers(1, STEP))
@example([STEP // 2] + [0] * 19, STEP // 3)  # the first gap of one half alone is half as long
def test_an_even_motion_of_two_halves_stays_even(jitter, shift):
    """Whatever lies between the stamps of the two: no part is ahead of the other."""
    merger, sent = JointMerger(NAMES), []
    for i, late in enumerate(jitter):
        for joints, at in (('ab', i * STEP), ('cd', i * STEP + shift + late)):
            sent.append((T0 + at, dict.fromkeys(joints, at / SECOND)))
    found = states_of(merger, sorted(sent, key=lambda each: each[0]))
    assert len(found) >= len(jitter) // 2 - 2
    for at, positions in found:
        assert positions == pytest.approx([(at - T0) / SECOND] * 4, abs=1e-9)


def test_velocities_and_efforts_are_of_the_same_time_and_may_lack():
    merger = JointMerger('ab')
    for i in range(3):
        merger.update(T0 + i * STEP, 'a', [i], [i], [10 * i])
        state = merger.update(T0 + i * STEP + STEP // 4, 'b', [i], [2 * i] if i < 2 else [], [i])
        if i == 1:
            assert state.velocities.tolist() == pytest.approx([1, 1.5])
            assert state.efforts.tolist() == pytest.approx([10, 0.75])
    assert state.velocities is None and state.efforts.tolist() == pytest.approx([20, 1.75])


def test_a_joint_not_known_to_turn_without_end_is_not_interpolated_across_a_seam():
    merger, sent = JointMerger('ab'), []
    for i, b in enumerate((3.0, 3.1, -3.1, -3.0)):
        sent += [(T0 + i * STEP, {'a': i}), (T0 + i * STEP + STEP // 2, {'b': b})]
    found = [positions[1] for _, positions in states_of(merger, sent)]
    assert found == pytest.approx([3.05, 3.1, -3.05])


@given(st.integers(1, STEP - 1), st.floats(-9.0, 9.0), st.floats(-1.0, 1.0))
def test_a_joint_that_turns_without_end_goes_the_short_way(shift, start, speed):
    """As a driver publishes it that wraps, or one that counts on."""
    true = start + speed * np.arange(8)
    merged = []
    for published in (true, np.angle(np.exp(1j * true))):
        merger, sent = JointMerger('ab', continuous='b'), []
        for i, b in enumerate(published):
            sent += [(T0 + i * STEP, {'b': b}), (T0 + i * STEP + shift, {'a': i})]
        merged.append([positions[1] for _, positions in states_of(merger, sent)])
    ways = np.exp(1j * np.array(merged))
    np.testing.assert_allclose(ways[1], ways[0], atol=1e-9)
    assert len(merged[0]) >= 6 and np.abs(merged[1]).max() < np.pi + abs(speed)


def test_a_joint_with_limits_is_interpolated_as_before_to_the_bit():
    random = np.random.default_rng(1)
    plain, other = JointMerger(NAMES), JointMerger(NAMES, continuous=('z', 'y'))
    for i in range(50):
        for joints, at in (('ab', i * STEP), ('cd', i * STEP + STEP // 3)):
            values = (4.0 * random.normal(size=2)).tolist()
            states = [m.update(T0 + at, list(joints), values) for m in (plain, other)]
            if states[0] is not None:
                np.testing.assert_array_equal(states[1].positions, states[0].positions)
                assert plain.stamp == other.stamp


def test_poses_of_an_arm_in_halves_are_on_its_way_also_at_the_seam(tmp_path):
    """The poses of the bag are those of the true motion, at the same stamps."""
    motion, model = counted(40), load_robot(urdf())
    sent = []
    for i, row in enumerate(wrapped(motion)):
        for at, names, values in (
            (i * STEP, NAMES3[:1], row[:1]),
            (i * STEP + 4_000_000, NAMES3[1:], row[1:]),
        ):
            sent.append(('/joint_states', T0 + at, message(
                'sensor_msgs/msg/JointState', header__stamp=stamp(T0 + at), name=list(names),
                position=np.array(values),
            )))  # fmt: skip
    bag = write_bag(tmp_path / 'bag', sent, {'robot': 'arm.urdf'})
    (bag / 'arm.urdf').write_text(urdf())
    [episode] = read_episodes(bag)
    pose = episode.streams['pose']
    times = (pose.stamps - T0) / STEP
    for time, position in zip(times, pose.values['position']):
        late = time - 0.4  # of the second half
        q = [np.interp(time, np.arange(40), motion[:, 0])]
        q += [np.interp(late, np.arange(40), motion[:, i]) for i in (1, 2)]
        assert np.abs(model.forward(q)[0] - position).max() < 1e-9
    assert len(times) > 35


@pytest.mark.parametrize('late', [40, 400])
def test_a_part_may_come_late_by_as_much_as_the_age(late):
    step = SECOND // 1000
    merger = JointMerger('ab', max_age=0.5)
    arrivals = [(i, {'a': i}) for i in range(1000)] + [(i + late, {'b': i}) for i in range(1000)]
    arrivals.sort(key=lambda each: each[0])
    sent = [(T0 + step * next(iter(part.values())), part) for _, part in arrivals]
    found = states_of(merger, sent)
    assert found == [(T0 + i * step, [i, i]) for i in range(1000 - late)]


def test_nothing_is_interpolated_across_a_silence_longer_than_the_age():
    merger, sent = JointMerger('ab', max_age=0.2), []
    for at in (0, STEP, 100 * STEP, 101 * STEP):
        sent += [(T0 + at, {'a': at}), (T0 + at + 1, {'b': at})]
    assert [at - T0 for at, _ in states_of(merger, sent)] == [STEP, 101 * STEP]
    assert merger.stale >= 1


def test_a_whole_message_beside_a_part_of_it():
    merger = JointMerger('ab')
    sent = []
    for i in range(5):
        sent += [(T0 + i * STEP, {'a': i, 'b': i}), (T0 + i * STEP + 1, {'b': i})]
    assert len(states_of(merger, sent)) >= 3


def test_a_pause_of_one_part_makes_it_no_seldom_one():
    merger, sent = JointMerger('ab'), []
    for i in range(20):
        late = 3 * STEP // 2 if i == 10 else 0  # one message of b comes late, the next in time
        sent += [(T0 + i * STEP, {'a': i}), (T0 + i * STEP + STEP // 4 + late, {'b': i})]
    sent = sorted(sent[:21] + sent[23:], key=lambda each: each[0])
    states_of(merger, sent)
    assert merger.held == 0 and merger.interpolated > 15


def test_commands_hold_until_the_next_one():
    merger = JointMerger('abg', max_age=np.inf, is_held=True)
    sent = [(T0, {'g': 0.5})]
    for i in range(300):
        sent.append((T0 + i * STEP + 1, {'a': i, 'b': i}))
        if i in (100, 101):
            sent.append((T0 + i * STEP + 2, {'g': i}))
    found = states_of(merger, sent)
    assert [at for at, _ in found] == [T0 + i * STEP + 1 for i in range(300)]
    assert [found[i][1][2] for i in (100, 101, 102, 299)] == [0.5, 100, 101, 101]


@pytest.mark.parametrize('every', [1000, 10, 2])
def test_commands_of_the_arm_between_whole_ones_give_a_state_each(every):
    merger = JointMerger('abg', max_age=np.inf, is_held=True)
    sent = [
        (T0 + i * STEP, {'a': i, 'b': i} if i % every else {'a': i, 'b': i, 'g': i})
        for i in range(100)
    ]
    held = [i - i % every for i in range(100)]
    assert states_of(merger, sent) == [(T0 + i * STEP, [i, i, held[i]]) for i in range(100)]


def test_commands_of_the_gripper_go_on_where_those_of_the_arm_end():
    merger = JointMerger('abg', max_age=np.inf, is_held=True)
    sent = [(T0 + i * STEP, {'a': i, 'b': i}) for i in range(10)]
    sent += [(T0 + i * STEP + 1, {'g': i}) for i in range(30)]
    found = states_of(merger, sorted(sent, key=lambda each: each[0]))
    assert found[-1] == (T0 + 29 * STEP + 1, [9, 9, 29])


def test_a_seldom_part_is_held_and_a_dead_one_ends_the_states():
    merger, sent = JointMerger(NAMES, max_age=0.3), []
    for i in range(200):
        sent.append((T0 + i * STEP, {'a': i, 'b': i, 'c': i}))
        if i % 10 == 0 and i < 100:
            sent.append((T0 + i * STEP + 1, {'d': i}))
    found = states_of(merger, sent)
    # The last of d is of step 90: it holds for 0.3 s.
    assert found[-1] == (T0 + 120 * STEP, [120, 120, 120, 90])
    assert len(found) > 110
    assert merger.counts['stale'] == pytest.approx(80, abs=1)
    assert merger.problem.startswith('d were not heard of for 1.')


def test_stamps_are_judged_part_by_part():
    merger = JointMerger(NAMES)
    sent = [
        (T0, {'a': 0, 'b': 0}),
        (T0 - STEP // 2, {'c': 0, 'd': 0}),
        (T0 + STEP, {'a': 1, 'b': 1}),
        (T0 + STEP // 2, {'c': 1, 'd': 1}),
        (T0 + STEP // 2, {'c': 9, 'd': 9}),
        (0, {'a': 9, 'b': 9}),
    ]
    found = states_of(merger, sent)
    assert found[-1] == (T0 + STEP // 2, [0.5, 0.5, 1, 1])
    assert merger.counts['stamp_duplicate'] == 1 and merger.counts['stamp_zero'] == 1
    assert merger.counts['stamp_backward'] == 0


def test_a_clock_set_back_begins_again():
    merger = JointMerger(NAMES)
    whole = dict.fromkeys(NAMES, 1)
    early = T0 - 100 * SECOND
    sent = [(T0, whole), *((early + i * STEP, whole) for i in range(5))]
    assert [at for at, _ in states_of(merger, sent)] == [T0, *(early + i * STEP for i in (2, 3, 4))]


def joint_state(at, values):
    return message(
        'sensor_msgs/msg/JointState', header__stamp=stamp(at), name=list(values),
        position=np.array(list(values.values()), float),
    )  # fmt: skip


@pytest.mark.parametrize('kind', ['arm and gripper', 'two halves', 'changing order'])
def test_poses_of_a_bag_with_several_publishers_are_all_computed(tmp_path, kind):
    robot = load_robot('so101')
    arm, sent, wanted = robot.joint_names, [], []
    for i in range(100):
        at = T0 + i * STEP
        q = dict(zip(arm, 0.5 * np.sin(0.1 * i + np.arange(len(arm)))))
        if kind == 'arm and gripper':
            parts = [q, {'gripper': 0.1}]
        elif kind == 'two halves':
            parts = [{n: q[n] for n in arm[:2]}, {n: q[n] for n in arm[2:]}]
        else:
            parts = [q if i % 2 else dict(reversed(q.items()))]
        sent += [('/joint_states', at + 1, joint_state(at, part)) for part in parts]
        wanted.append(robot.forward(np.array(list(q.values())))[0])
    (episode,) = read_episodes(write_bag(tmp_path / 'bag', sent), robot='so101')
    pose = episode.streams['pose']
    assert pose.stamps.tolist() == [T0 + i * STEP for i in range(100)]
    np.testing.assert_allclose(pose.values['position'], wanted, atol=1e-12)
    assert pose.frame_id == robot.base_link
    doubtful = check_episode(episode).doubtful
    others = [text for text in doubtful if not text.startswith('no action')]
    assert not [text for text in others if 'joint_states' in text or 'pose' in text]


def test_what_gave_no_pose_is_counted_in_the_data_quality(tmp_path):
    arm = load_robot('so101').joint_names
    sent = []
    for i in range(150):
        at = T0 + i * STEP
        sent.append(('/joint_states', at, joint_state(at, dict.fromkeys(arm[:3], 0.1))))
        if i < 50:
            sent.append(('/joint_states', at, joint_state(at, dict.fromkeys(arm[3:], 0.1))))
    sent.append(('/joint_states', at + STEP, joint_state(0, dict.fromkeys(arm, 0.1))))
    (episode,) = read_episodes(write_bag(tmp_path / 'bag', sent), robot='so101')
    assert len(episode.streams['pose']) == 50
    assert episode.data_quality['joint_states.stale'] == 50
    assert episode.data_quality['joint_states.stamp_zero'] == 1
    assert episode.data_quality['joint_states.waiting'] > 0
