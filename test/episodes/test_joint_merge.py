# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states of several publishers on one topic, merged by joint name."""

import numpy as np
import pytest
from bag_making import SECOND, T0, message, stamp, write_bag
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.episodes import read_episodes
from frame_ros.episodes.joint_merge import JointMerger
from frame_ros.reports.episode_check import check_episode
from frame_ros.robots import load_robot

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
    assert found == [(T0 + i * STEP, [i] * 4) for i in range(count)]


def test_an_even_motion_of_two_halves_stays_even():
    merger, sent = JointMerger(NAMES), []
    for i in range(100):
        for joints, shift in (('ab', 0), ('cd', STEP // 7)):
            at = i * STEP + shift
            sent.append((T0 + at, dict.fromkeys(joints, at / SECOND)))
    stamps, positions = zip(*states_of(merger, sent))
    speeds = np.diff(positions, axis=0) / (np.diff(stamps) / SECOND)[:, None]
    np.testing.assert_allclose(speeds, 1.0, rtol=1e-9)


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
    assert found[-1] == (T0 + STEP // 2, [1, 1, 1, 1])
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
    assert not [text for text in doubtful if 'joint_states' in text or 'pose' in text]


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
