# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Executed actions and observations out of a bag."""

import numpy as np
import pytest
from bag_making import T0, joints, stamp, write_bag
from robot_bags import (
    JOINTS,
    RATE,
    commands,
    image,
    inference,
    joint_state,
    robot_bag,
    robot_messages,
    step_stamp,
)

from frame_ros.bags.images.cameras import camera_topics
from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND
from frame_ros.episodes.observations import RecordedObservations
from frame_ros.episodes.recorded.actions import read_raw, recorded_actions
from frame_ros.episodes.recorded.chunks import recorded_chunks
from frame_ros.episodes.replay import BagReplay


def test_actions_are_those_between_start_and_end(tmp_path):
    outside = [('/joint_commands', T0 - SECOND, joint_state(T0 - SECOND, [9] * 6))]
    outside += [('/joint_commands', T0 + 9 * SECOND, joint_state(T0 + 9 * SECOND, [9] * 6))]
    path = robot_bag(tmp_path / 'bag', outside, count=30)
    actions = recorded_actions(path)
    assert actions.names == JOINTS and actions.instruction == 'pick' and len(actions) == 30
    np.testing.assert_array_equal(actions.positions, commands(30))
    assert actions.stamps.tolist() == [step_stamp(i) for i in range(30)]
    assert actions.episode_id == 'e1' and not actions.left_out


def test_what_is_not_usable_is_left_out_and_counted(tmp_path):
    sent = robot_messages(count=30)
    at = step_stamp(5)
    sent += [
        ('/joint_commands', at, joint_state(0, [1] * 6)),
        ('/joint_commands', at, joint_state(at + 5, [np.nan] * 6)),
        ('/joint_commands', at, joint_state(at + 6, [1] * 5)),
        ('/joint_commands', at, joint_state(at, [0.7] * 6)),
    ]
    actions = recorded_actions(write_bag(tmp_path / 'bag', sorted(sent, key=lambda m: m[1])))
    assert len(actions) == 30
    np.testing.assert_array_equal(actions.positions[5], commands(30)[5])
    assert actions.left_out == {
        'names and positions of different number': 1,
        'a position that is not finite': 1,
        'of the same stamp as the one before': 1,
    }


def test_arm_and_gripper_that_take_turns_are_one_table(tmp_path):
    sent = []
    for step in range(10):
        at = T0 + step * SECOND // 20
        sent.append(('/joint_commands', at, joint_state(at, [step, 2], ('a', 'b'))))
        sent.append(('/joint_commands', at, joint_state(at + 9, [step / 10], ('g',))))
    actions = recorded_actions(write_bag(tmp_path / 'bag', sent))
    assert actions.names == ('a', 'b', 'g') and len(actions) == 9
    np.testing.assert_allclose(actions.positions[0], [1, 2, 0.0])
    np.testing.assert_allclose(actions.positions[-1], [9, 2, 0.8])
    assert actions.left_out == {'before every joint was known': 1}


def test_one_episode_of_several_is_named(tmp_path):
    sent = robot_messages(count=20)
    sent += robot_messages(count=25, start=T0 + 5 * SECOND, episode_id='e2')
    path = write_bag(tmp_path / 'bag', sent)
    assert len(recorded_actions(path, 'e2')) == 25
    with pytest.raises(BagError, match='holds 2 episodes; name one of e1, e2'):
        recorded_actions(path)
    with pytest.raises(BagError, match="no episode 'e3'; it has e1, e2"):
        recorded_actions(path, 'e3')


def test_a_bag_without_commands_is_said(tmp_path):
    path = write_bag(tmp_path / 'bag', [('/joint_states', T0, joints(T0, 1.0))])
    with pytest.raises(BagError, match='no joint commands'):
        recorded_actions(path)
    with pytest.raises(BagError, match='does not exist'):
        recorded_actions(tmp_path / 'none')
    path = robot_bag(tmp_path / 'two')
    topics = {'action': '/joint_states'}
    assert len(recorded_actions(path, topics=topics)) == 29


# -- observations ----------------------------------------------------------------------


def opened(path, **options):
    (episode,) = read_raw(path)
    return RecordedObservations(episode, **options)


def test_joints_of_a_publisher_that_fell_silent_are_not_seen_for_ever(tmp_path):
    sent = []
    for step in range(40):
        at = T0 + step * SECOND // 20
        sent.append(('/joint_states', at, joint_state(at, [step, 2], ('a', 'b'))))
        if step < 20:
            sent.append(('/joint_states', at + 9, joint_state(at + 9, [step / 10], ('g',))))
    observations = opened(write_bag(tmp_path / 'bag', sent))
    table = observations.joints
    assert table.names == ('a', 'b', 'g') and (table.stamps[-1] - T0) / SECOND < 1.0 + 0.5
    assert table.left_out['with a joint silent for more than 0.5 s'] == 10
    assert observations.lack(T0 + 2 * SECOND).startswith('joint_states: older')


def test_an_observation_holds_the_newest_of_everything(tmp_path):
    observations = opened(robot_bag(tmp_path / 'bag', image_every=3, cameras=('front', 'wrist')))
    assert list(observations.cameras) == ['front', 'wrist']
    seen = observations.at(step_stamp(8), 0.5)
    assert (seen.images['front'][:, :, 0] == 6).all() and seen.images['wrist'].shape == (12, 16, 3)
    np.testing.assert_array_equal(seen.joint_positions, commands(30)[7])
    assert seen.joint_names == JOINTS and seen.instruction == 'pick' and seen.executed == 0.5
    assert seen.oldest_stamp == step_stamp(6) - 1_000_000
    assert (observations.at(step_stamp(9)).images['front'][:, :, 0] == 9).all()


def test_what_is_missing_or_old_is_said(tmp_path):
    path = robot_bag(tmp_path / 'bag', image_every=20)
    observations = opened(path, max_age=0.2)
    assert observations.lack(step_stamp(1)) == ''
    assert observations.lack(step_stamp(10)) == 'front: older than 0.2 s'
    assert observations.lack(T0 - SECOND) == 'joint_states: none yet'
    with pytest.raises(BagError, match='front: older than'):
        observations.at(step_stamp(10))
    with pytest.raises(BagError, match='no images of wrist; it has images of front'):
        opened(path, cameras=('wrist',))
    with pytest.raises(BagError, match="no pose 'object': /object_pose was not recorded"):
        opened(path, poses=('object',))
    with pytest.raises(BagError, match='no joint_states'):
        opened(write_bag(tmp_path / 'b', [m for m in robot_messages() if m[0] != '/joint_states']))


def test_images_that_change_their_size_are_an_error(tmp_path):
    at = step_stamp(20) + 5_000_000
    path = robot_bag(tmp_path / 'bag', [('/front/image_raw', at, image(at, 1, (8, 6)))])
    with pytest.raises(BagError, match='has 8x6 pixels, the first 16x12'):
        opened(path).at(at + 1_000_000)


def test_cameras_are_pictures_of_the_own_robot(tmp_path):
    depth = image(T0, 1)
    for name, value in (('encoding', '16UC1'), ('step', 32), ('data', np.zeros(384, np.uint8))):
        object.__setattr__(depth, name, value)
    sent = [
        ('/front/image_raw', T0, image(T0, 1)),
        ('/front/depth/image_raw', T0, depth),
        ('/left/wrist/image_raw', T0, image(T0, 1)),
    ]
    bag = Bag(write_bag(tmp_path / 'bag', sent))
    assert camera_topics(bag, '/left') == {'wrist': '/left/wrist/image_raw'}
    assert list(camera_topics(bag)) == ['front', 'left/wrist']


def test_poses_are_read_with_their_orientation(tmp_path):
    from bag_making import message

    sent = [
        ('/object_pose', T0, message(
            'geometry_msgs/msg/PoseStamped', header__stamp=stamp(T0), pose__position__y=0.2,
            pose__orientation__z=1.0))
    ]  # fmt: skip
    seen = opened(robot_bag(tmp_path / 'bag', sent), poses=('object',)).at(T0)
    np.testing.assert_array_equal(seen.poses['object'], [0, 0.2, 0, 0, 0, 1, 0])


def test_recorded_chunks_begin_where_they_were_executed(tmp_path):
    wanted = commands(30)
    sent = [
        inference(2, wanted[2:10], ready=5),
        inference(9, wanted[12:20], ready=12, execution_mode='synchronous'),
        inference(40, wanted[:4]),
    ]
    broken = inference(6, wanted[:4])
    object.__setattr__(broken[2], 'horizon', 3)
    (episode,) = read_raw(robot_bag(tmp_path / 'bag', [*sent, broken]))
    chunks, left_out = recorded_chunks(episode)
    assert [chunk.start for chunk in chunks] == [step_stamp(2), step_stamp(12)]
    np.testing.assert_array_equal(chunks[0].actions, wanted[2:10])
    assert chunks[0].dt == 1 / RATE and chunks[0].names == JOINTS
    assert left_out == {'chunk of wrong size': 1}
    (episode,) = read_raw(robot_bag(tmp_path / 'none'))
    with pytest.raises(BagError, match='no policy_inference'):
        recorded_chunks(episode)


ODD = 'with a joint that other messages lack'


@pytest.mark.parametrize(
    ('names', 'place'),
    [((*JOINTS[:5], 'griper'), 0), ((*JOINTS[:5], 'griper'), 20), ((*JOINTS, 'finger'), 20)],
)
def test_a_message_with_an_odd_joint_is_skipped_and_counted(names, place, tmp_path):
    """Rows had begun behind it, and measured joints had ended half a second later."""
    sent, at = robot_messages(count=60), step_stamp(place) + 5
    odd = joint_state(at, np.zeros(len(names)), names)
    sent += [('/joint_commands', at, odd), ('/joint_states', at, odd)]
    path = write_bag(tmp_path / 'bag', sorted(sent, key=lambda m: m[1]))
    actions = recorded_actions(path)
    assert actions.names == JOINTS and len(actions) == 60 and actions.left_out == {ODD: 1}
    (episode,) = read_raw(path)
    observed = RecordedObservations(episode, cameras=()).joints
    assert observed.names == JOINTS and len(observed) == 61 and observed.left_out == {ODD: 1}


def test_a_message_without_joints_and_names_in_changing_order_cost_no_other_row(tmp_path):
    """Some drivers publish an empty message first; a dictionary's order may change each time."""
    rng, sent = np.random.default_rng(0), []
    for topic, at, content in robot_messages(count=60):
        if topic in ('/joint_commands', '/joint_states'):
            order = rng.permutation(len(content.name))
            names, positions = np.array(content.name)[order].tolist(), content.position[order]
            content = joint_state(at, positions, names)
        sent.append((topic, at, content))
    at = step_stamp(30) + 5
    odd = joint_state(at, np.zeros(len(JOINTS) + 1), [*JOINTS, 'odd'])
    none = joint_state(at - 1, np.zeros(0), [])
    sent += [('/joint_commands', at, odd), ('/joint_commands', at - 1, none)]
    path = write_bag(tmp_path / 'bag', sorted(sent, key=lambda m: m[1]))
    actions = recorded_actions(path)
    assert set(actions.names) == set(JOINTS) and len(actions) == 60
    assert actions.left_out.pop(ODD) == 1 and sum(actions.left_out.values()) <= 1


def test_a_message_that_lacks_a_joint_costs_no_other_row(tmp_path):
    sent, at = robot_messages(count=60), step_stamp(20) + 5
    short = joint_state(at, np.zeros(5), JOINTS[:5])
    sent += [('/joint_commands', at, short), ('/joint_states', at, short)]
    path = write_bag(tmp_path / 'bag', sorted(sent, key=lambda m: m[1]))
    actions = recorded_actions(path)
    assert actions.names == JOINTS and len(actions) >= 60
    assert actions.stamps[0] == step_stamp(0)
    (episode,) = read_raw(path)
    observed = RecordedObservations(episode, cameras=()).joints
    assert observed.names == JOINTS and len(observed) >= 60


def test_a_command_of_all_joints_at_the_begin_holds(tmp_path):
    sent = [('/joint_commands', T0, joint_state(T0, [0, 0, 0.5], ('a', 'b', 'g')))]
    for step in range(1, 40):
        at = T0 + step * SECOND // 20
        sent.append(('/joint_commands', at, joint_state(at, [step, 2], ('a', 'b'))))
    actions = recorded_actions(write_bag(tmp_path / 'bag', sent))
    assert actions.names == ('a', 'b', 'g') and not actions.left_out
    np.testing.assert_allclose(actions.positions[-1], [39, 2, 0.5])


def test_a_gripper_that_is_commanded_once_is_a_joint(tmp_path):
    sent = [('/joint_commands', T0 + 1, joint_state(T0 + 1, [0.5], ('g',)))]
    for step in range(40):
        at = T0 + step * SECOND // 20
        sent.append(('/joint_commands', at, joint_state(at, [step, 2], ('a', 'b'))))
    actions = recorded_actions(write_bag(tmp_path / 'bag', sorted(sent, key=lambda m: m[1])))
    assert actions.names == ('a', 'b', 'g') and ODD not in actions.left_out


def test_a_replay_says_what_it_leaves_out(tmp_path):
    at, sent = step_stamp(5) + 5, robot_messages(count=30)
    sent.append(('/joint_commands', at, joint_state(at, [np.nan] * 6)))
    path = write_bag(tmp_path / 'bag', sorted(sent, key=lambda m: m[1]))
    policy = BagReplay.make(BagReplay.Options(folder=str(path)))
    (note,) = policy.notes
    assert note == 'commands of the recording left out: 1 × a position that is not finite'
