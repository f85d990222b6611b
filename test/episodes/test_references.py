# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""References from demonstration bags, and episodes of bags with targets processed against them."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from attrs import evolve
from bag_making import T0, episode_messages, event, joints, message, pose, stamp, write_bag

from frame_ros.bags.streams.form import Stream
from frame_ros.core.errors import BagError, FrameRosError, ValueRangeError
from frame_ros.core.events import EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes import PipelineOptions, Reference, load_references, read_episodes
from frame_ros.episodes.metric_pipeline.recorded_grasp import grasp_of
from frame_ros.episodes.processing import run_pipeline, settings_of
from frame_ros.episodes.reference import mean_reference
from frame_ros.metrics import (
    absolute_trajectory_error,
    mean_trajectory,
    optimal_trajectory_difference,
    relative_trajectory_error,
)
from frame_ros.reports.parity.comparison import compare_live

PERIOD = SECOND // 50
PUT = PipelineOptions(ot_task='put_in', pose_frame='base')
# What metrics nodes recorded when they decided by themselves.
DECIDED = {
    'grasp.source': 'position', 'grasp.joint': 'grip', 'grasp.closed': 0.2, 'grasp.opened': 0.25,
    'grasp.debounce': 0.0,
}  # fmt: skip


@pytest.fixture()
def demonstration(tmp_path):
    return write_bag(tmp_path / 'demonstration', episode_messages(50))


def failed(folder, name='failed'):
    messages = episode_messages(20)[:-1]
    end = T0 + 20 * PERIOD
    return write_bag(folder / name, [*messages, ('/episode_events', end, event(
        end, EventType.END, outcome=2))])  # fmt: skip


def test_a_reference_is_the_way_from_start_to_end_at_the_steps(demonstration):
    (reference,) = load_references([demonstration])
    assert reference.stamps == pytest.approx([i / 50 for i in range(50)])
    assert reference.positions == tuple((0.001 * i, 0.0, 0.0) for i in range(50))
    assert reference.origin == f'e1 ({demonstration})'
    assert load_references(demonstration) == [reference]


def test_poses_between_steps_and_bad_ones_are_left_out(tmp_path):
    messages = episode_messages(10)
    extra = [
        ('/ee_pose', T0 + i * PERIOD + 5000, pose(T0 + i * PERIOD + 100, 9.0)) for i in range(3)
    ]
    bad = [
        ('/ee_pose', T0 + 5 * PERIOD + 10, pose(T0 + 5 * PERIOD + 7, float('nan'))),
        ('/ee_pose', T0 + 5 * PERIOD + 20, pose(0, 9.0)),
        ('/ee_pose', T0 + 60 * PERIOD, pose(T0 + 60 * PERIOD, 9.0)),
    ]
    # A pose 100 ns behind a step is the newest at the next one only where nothing newer is.
    bag = write_bag(tmp_path / 'bag', messages + extra + bad)
    (reference,) = load_references([bag])
    assert reference.positions == tuple((0.001 * i, 0.0, 0.0) for i in range(10))


def test_without_steps_every_pose_counts(tmp_path):
    messages = [m for m in episode_messages(30) if m[0] != '/joint_commands']
    (reference,) = load_references([write_bag(tmp_path / 'bag', messages)])
    assert len(reference.stamps) == 30


def test_only_successful_ones_unless_all_are_asked_for(tmp_path, demonstration):
    failed(tmp_path)
    assert len(load_references([tmp_path])) == 1
    assert len(load_references([tmp_path], only_successful=False)) == 2
    assert len(load_references([demonstration, demonstration])) == 2


def test_the_mean_is_that_of_the_metrics(tmp_path, demonstration):
    failed(tmp_path)
    both = load_references([tmp_path], only_successful=False)
    (mean,) = load_references([tmp_path], only_successful=False, mean=True)
    stamps, positions = mean_trajectory([(np.array(r.stamps), np.array(r.positions)) for r in both])
    np.testing.assert_array_equal(mean.stamps, stamps)
    np.testing.assert_array_equal(mean.positions, positions)
    assert mean.origin.startswith('mean of 2: e1 (')


def test_a_reference_knows_its_frame():
    there, here = (Reference((0.0, 1.0), ((0.0,) * 3, (1.0,) * 3), f, f) for f in ('a', 'b'))
    nowhere = replace(there, frame='')
    assert mean_reference([there, nowhere]).frame == 'a' and mean_reference([nowhere]).frame == ''
    with pytest.raises(ValueRangeError, match='in the frames a, b'):
        mean_reference([there, here])
    assert Reference.from_mapping(asdict(there)) == there
    older = {name: value for name, value in asdict(there).items() if name != 'frame'}
    assert Reference.from_mapping(older) == nowhere


def test_what_is_no_reference_is_named(tmp_path):
    no_poses = write_bag(tmp_path / 'blind', [m for m in episode_messages(5) if m[0] != '/ee_pose'])
    with pytest.raises(BagError, match=r'blind: no poses of the TCP'):
        load_references([no_poses])
    late = [m for m in episode_messages(5) if m[0] != '/ee_pose']
    late += [('/ee_pose', T0 + SECOND, pose(T0 + SECOND))]
    with pytest.raises(BagError, match=r'late: no pose of the TCP from the START to the END'):
        load_references([write_bag(tmp_path / 'late', late)])
    with pytest.raises(BagError, match=r'failed: of its 1 episode none ended in success'):
        load_references([failed(tmp_path)])
    with pytest.raises(BagError, match='nothing_here'):
        load_references([tmp_path / 'nothing_here'])
    with pytest.raises(BagError, match='no reference is given'):
        load_references([])
    one = write_bag(tmp_path / 'one', episode_messages(1))
    with pytest.raises(FrameRosError, match='reference 0'):
        load_references([one], mean=True)


def test_bags_without_references_can_be_compared_with_some(tmp_path, demonstration):
    shifted = [
        (topic, at, pose(at - 1000, 0.002 * ((at - 1000 - T0) // PERIOD)))
        if topic == '/ee_pose' else (topic, at, content)
        for topic, at, content in episode_messages(40)
    ]  # fmt: skip
    bag = write_bag(tmp_path / 'run', shifted)
    (plain,) = read_episodes(bag)
    assert np.isnan(plain.metrics['quality']['ate']).all() and plain.references == ()
    references = load_references([demonstration])
    (episode,) = read_episodes(bag, references=references)
    tcp, wanted = (np.outer(np.arange(40), [step, 0.0, 0.0]) for step in (0.002, 0.001))
    quality = episode.metrics['quality']
    assert quality['ate'][-1] == pytest.approx(float(absolute_trajectory_error(tcp, wanted)))
    assert quality['rte'][-1] == pytest.approx(float(relative_trajectory_error(tcp, wanted)))
    assert set(quality['ate_reference']) == {0} and episode.references == tuple(references)
    assert settings_of(episode).references == tuple(references)
    assert episode.summary['quality']['ate'] == quality['ate'][-1]


# -- whole bags with targets -----------------------------------------------------------


def target(at, position, frame='base'):
    content = message('geometry_msgs/msg/PoseStamped', header__stamp=stamp(at))
    content.header.frame_id = frame
    for axis, value in zip('xyz', position):
        object.__setattr__(content.pose.position, axis, value)
    return content


def contact(at, is_held):
    links = ['left_finger', 'right_finger'] if is_held else ['left_finger']
    count = len(links)
    return message(
        'frame_ros/msg/ContactState', header__stamp=stamp(at), in_contact=True, links=links,
        others=['cube'] * count, is_expected=np.ones(count, bool), reasons=[''] * count,
    )  # fmt: skip


def gripper(at, position):
    content = joints(at, position)
    content.name[0] = 'grip'
    return content


def held_at(i):
    return 15 <= i < 35


def target_bag(folder, config, known=None, with_goal=True, options=DECIDED, decisions=()):
    """An episode with object, goal, and both kinds of evidence of a grasp."""
    messages = episode_messages(50)
    facts = {'topics': {}, 'known': known or {}}
    if options.get('grasp.source') == 'contact':
        facts['topics']['gripper'] = '/contact'
    text = json.dumps(json.loads(config.to_json()) | options | facts)
    messages.append(('/metrics_config', T0 - 1, message('std_msgs/msg/String', data=text)))
    for i in range(50):
        at = T0 + i * PERIOD
        messages.append(('/object_pose', at + 10, target(at, (0.3, 0.001 * i, 0.0))))
        messages.append(('/joint_states', at + 10, gripper(at, 0.1 if held_at(i) else 0.5)))
        messages.append(('/contact', at + 10, contact(at, held_at(i))))
        if with_goal:
            messages.append(('/goal_pose', at + 10, target(at, (0.0, 0.4, 0.1))))
    messages += decisions
    return write_bag(folder, sorted(messages, key=lambda m: m[1]))


def expected_ot():
    i = np.arange(50)
    tcp, thing = np.outer(i, [0.001, 0, 0]), np.outer(i, [0, 0.001, 0]) + [0.3, 0, 0]
    goal = np.zeros((50, 3)) + [0.0, 0.4, 0.1]
    return optimal_trajectory_difference(tcp, thing, goal, np.array([held_at(k) for k in i]))


def test_a_goal_holds_through_the_later_episodes_of_a_bag(tmp_path):
    """Said once before the first, anew within the second: each starts from the newest before it."""
    config = evolve(PUT, max_goal_age=0.0)
    facts = DECIDED | {'known': {'goal': [T0 + 21 * SECOND, 0.0, 0.9, 0.1, 'base']}}
    text = json.dumps(json.loads(config.to_json()) | facts)
    sent = [('/metrics_config', T0, message('std_msgs/msg/String', data=text))]
    for at, y in ((T0 - SECOND, 0.4), (T0 + 21 * SECOND, 0.9)):
        sent.append(('/goal_pose', at, target(at, (0.0, y, 0.1))))
    begins = [T0 + k * 20 * SECOND for k in range(3)]
    for k, begin in enumerate(begins):
        sent += episode_messages(50, begin, f'e{k}')
        for i in range(50):
            at = begin + i * PERIOD
            sent.append(('/object_pose', at, target(at, (0.3, 0.001 * i, 0.0))))
            sent.append(('/joint_states', at, gripper(at, 0.1 if held_at(i) else 0.5)))
    episodes = list(read_episodes(write_bag(tmp_path / 'bag', sorted(sent, key=lambda m: m[1]))))
    starts = [episode.metrics['quality']['ot_step'][:20] for episode in episodes]
    np.testing.assert_allclose(starts[0], expected_ot()[:20], rtol=1e-12)
    np.testing.assert_allclose(starts[1], starts[0], rtol=1e-12)
    assert np.isfinite(starts[2][1:]).all() and abs(starts[2][5] - starts[0][5]) > 1e-6


@pytest.mark.parametrize('source', ['position', 'contact'])
def test_ot_of_a_bag_is_the_batch_form(tmp_path, source):
    options = DECIDED | {'grasp.source': source}
    (episode,) = read_episodes(target_bag(tmp_path / 'bag', PUT, options=options))
    np.testing.assert_allclose(episode.metrics['quality']['ot_step'], expected_ot(), rtol=1e-12)
    assert episode.metrics['quality']['is_grasped'].tolist() == [held_at(i) for i in range(50)]
    assert ('gripper' in episode.streams) == (source == 'contact')
    assert not episode.problems


def test_names_of_earlier_versions_are_read(tmp_path):
    options = {
        'grasp_source': 'position', 'gripper_joint': 'grip', 'gripper_closed': 0.2,
        'gripper_open': 0.25, 'grasp_debounce': 0.0,
    }  # fmt: skip
    (episode,) = read_episodes(target_bag(tmp_path / 'bag', PUT, options=options))
    np.testing.assert_allclose(episode.metrics['quality']['ot_step'], expected_ot(), rtol=1e-12)


@pytest.mark.parametrize(
    ('wrong', 'problem'),
    [
        ({'grasp_source': ''}, "source is ''; it must be position, effort"),
        ({'gripper_smaller_is_closed': 1}, 'must be true or false'),
        ({'grasp.closed': 0.5}, 'closed is 0.5; it must be below'),
        ({'effort_on': 0.1, 'effort_off': 0.5}, 'effort_off is 0.5'),
    ],
)
def test_recorded_options_that_cannot_be_are_noted(tmp_path, wrong, problem):
    given = {name: value for name, value in DECIDED.items() if name != 'grasp.source'} | wrong
    (episode,) = read_episodes(target_bag(tmp_path / 'bag', PUT, options=given))
    (text,) = [each for each in episode.problems if 'the grasp cannot be decided' in each]
    assert problem in text and not episode.metrics['quality']['is_grasped'].any()
    unasked = evolve(PUT, ot_task='')
    (episode,) = read_episodes(target_bag(tmp_path / 'unasked', unasked, options=given))
    assert not episode.problems


def test_a_recorded_decision_is_taken_whatever_the_gripper_did(tmp_path):
    decisions = [
        ('/grasp', at + 5, message('frame_ros/msg/GraspState', header__stamp=stamp(at), state=state,
                                   reason='' if state else 'unseen'))
        for at, state in ((T0 + i * PERIOD, 2 if i < 10 else 1 if i < 40 else 0) for i in range(50))
    ]  # fmt: skip
    (episode,) = read_episodes(target_bag(tmp_path / 'bag', PUT, decisions=decisions))
    quality = episode.metrics['quality']
    assert quality['is_grasped'].tolist() == [i < 10 for i in range(50)]
    assert np.isfinite(quality['ot_step'][1:40]).all() and np.isnan(quality['ot_step'][40:]).all()
    assert 'gripper' not in episode.streams


def test_without_recorded_decisions_and_options_none_stands_in_for_what_was_live(tmp_path):
    (episode,) = read_episodes(target_bag(tmp_path / 'bag', PUT, options={}))
    joints = episode.streams['joint_states'].values
    joints['names'] = np.where(joints['names'] == 'grip', 'gripper', joints['names'])
    episode.attributes['robot'] = 'so101'
    assert grasp_of(episode) is None
    del episode.attributes['metrics_config']  # a bag of others
    assert set(grasp_of(episode).values['state'].tolist()) == {1, 2}


def test_a_goal_that_was_said_before_the_recording_is_in_the_settings(tmp_path):
    known = {'goal': [T0 - 500 * SECOND, 0.0, 0.4, 0.1, 'base']}
    bag = target_bag(tmp_path / 'bag', PUT, known, with_goal=False)
    (episode,) = read_episodes(bag)
    np.testing.assert_allclose(episode.metrics['quality']['ot_step'], expected_ot(), rtol=1e-12)
    strict = evolve(PUT, max_goal_age=1.0)
    (episode,) = read_episodes(target_bag(tmp_path / 'strict', strict, known, with_goal=False))
    assert np.isnan(episode.metrics['quality']['ot']).all()


@pytest.mark.parametrize('known', [[], {'goal': 3}, {'goal': []}, {'goal': ['x', 1, 2, 3, '']}])
def test_settings_with_nonsense_for_what_was_known_are_survived(tmp_path, known):
    (episode,) = read_episodes(target_bag(tmp_path / 'bag', PUT, known))
    np.testing.assert_allclose(episode.metrics['quality']['ot_step'], expected_ot(), rtol=1e-12)


def test_the_frame_of_a_bag_is_that_of_its_poses(tmp_path):
    messages = [
        (topic, at, target(at - 1000, (0.001 * ((at - 1000 - T0) // PERIOD), 0, 0), 'tool_base'))
        if topic == '/ee_pose' else (topic, at, content)
        for topic, at, content in episode_messages(10)
    ]  # fmt: skip
    (episode,) = read_episodes(write_bag(tmp_path / 'bag', messages))
    assert episode.streams['pose'].frame_id == 'tool_base'


def as_live(episode, references=()):
    """The episode as recorded by a live node with these references."""
    config = evolve(settings_of(episode), references=tuple(references))
    columns, _ = run_pipeline(episode, config)
    values = columns.metrics()['quality']
    stamps = values.pop('stamp')
    values['episode_id'] = np.full(len(stamps), 'e1')
    episode.live = {
        'quality': Stream(
            '/quality_metrics', 'frame_ros/msg/QualityMetrics', stamps, stamps, values
        )
    }


def test_references_given_at_reading_are_no_disagreement_with_live(tmp_path, demonstration):
    bag = target_bag(tmp_path / 'bag', PUT)
    (episode,) = read_episodes(bag, references=load_references([demonstration]))
    as_live(episode)
    rows = {row.field: row for row in compare_live(episode)}
    assert not {'ate', 'rte', 'ate_reference', 'rte_reference'} & set(rows)
    assert rows['ot'].holds and rows['is_grasped'].holds and all(r.holds for r in rows.values())


def test_recorded_references_give_the_same_again(tmp_path, demonstration):
    references = tuple(load_references([demonstration]))
    bag = target_bag(tmp_path / 'bag', evolve(PUT, references=references))
    (episode,) = read_episodes(bag)
    as_live(episode, references)
    rows = {row.field: row for row in compare_live(episode)}
    assert all(
        rows[name].holds
        for name in ('ate', 'rte', 'ate_reference', 'rte_reference', 'ot', 'is_grasped')
    )
    assert np.isfinite(episode.metrics['quality']['ate']).all()


def test_references_are_checked():
    with pytest.raises(FrameRosError, match='2 stamps and 1 positions'):
        Reference((0.0, 1.0), ((0.0, 0.0, 0.0),))
    with pytest.raises(FrameRosError, match='not finite'):
        Reference((float('nan'),), ((0.0, 0.0, 0.0),))
