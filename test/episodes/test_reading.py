# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags to episodes: roles, namespaces, several episodes, cut and foreign bags."""

import json

import numpy as np
import pytest
from bag_making import T0, episode_messages, joints, message, pose, serialised, stamp, write_bag
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from frame_ros.bags.definitions import MessageDefinition, find_definition
from frame_ros.bags.reader import Bag
from frame_ros.bags.writer import BagWriter
from frame_ros.core.errors import BagError
from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes import processing, reading
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.topic_statistics import topic_statistics


def only(path, **options):
    (episode,) = read_episodes(path, **options)
    return episode


def said(episode, text):
    return any(text in problem for problem in episode.problems)


def test_an_episode_has_its_streams_events_and_attributes(tmp_path):
    path = write_bag(tmp_path / 'bag', episode_messages(50), {'policy': 'p', 'episode_id': 'e1'})
    episode = only(path)
    assert episode.episode_id == 'e1' and episode.attributes['policy'] == 'p'
    assert [e.type for e in episode.events] == [EventType.START, EventType.END]
    assert episode.events[1].outcome is Outcome.SUCCESS
    poses = episode.streams['pose']
    assert poses.values['position'].shape == (50, 3) and poses.values['orientation'].shape == (
        50,
        4,
    )
    assert poses.stamps[1] - poses.stamps[0] == SECOND // 50
    assert poses.received[0] == poses.stamps[0] + 1000
    np.testing.assert_array_equal(episode.streams['action'].values['positions'][:, 1], -0.1)
    assert episode.streams['action'].values['names'][0].tolist() == ['joint_0', 'joint_1']
    assert not episode.is_truncated
    assert len(episode.metrics['quality']['stamp']) == 50 and episode.summary['steps'] == 50


def test_joint_states_of_different_length_keep_their_lengths(tmp_path):
    sent = [('/joint_states', T0 + i, joints(T0 + i, *range(i % 3))) for i in range(9)]
    episode = only(write_bag(tmp_path / 'bag', sent))
    values = episode.streams['joint_states'].values
    assert values['positions_count'].tolist() == [0, 1, 2] * 3
    assert np.isnan(values['positions'][1, 1]) and values['positions'][2].tolist() == [0.0, 1.0]


def test_live_metrics_are_read_by_field(tmp_path):
    live = [
        ('/quality_metrics', T0 + i, message(
            'frame_ros/msg/QualityMetrics', header__stamp=stamp(T0 + i), pl=float(i), is_static=True
        ))
        for i in range(3)
    ]  # fmt: skip
    stream = only(write_bag(tmp_path / 'bag', episode_messages(5) + live)).live['quality']
    assert stream.values['pl'].tolist() == [0.0, 1.0, 2.0] and stream.values['is_static'].all()
    assert stream.stamps.tolist() == [T0, T0 + 1, T0 + 2]


@pytest.mark.parametrize('role', ['contact', 'proximity'])
def test_ground_truth_is_taken_only_where_it_is_named(tmp_path, role):
    kind = {'contact': 'ContactState', 'proximity': 'Proximity'}[role]
    topic = f'/ground_truth/{role}'
    truth = (topic, T0, message(f'frame_ros/msg/{kind}'))
    path = write_bag(tmp_path / 'a', [*episode_messages(3), truth])
    episode = only(path)
    assert role not in episode.streams
    assert said(episode, f'no {role}: {role} was not recorded; {topic} is what the simulator knows')
    assert only(path, topics={role: topic}).streams[role].topic == topic
    settings = message('std_msgs/msg/String', data=json.dumps({'topics': {role: topic}}))
    named = write_bag(
        tmp_path / 'b', [('/metrics_config', T0, settings), *episode_messages(3), truth]
    )
    assert only(named).streams[role].topic == topic  # the run's own settings name it
    both = write_bag(tmp_path / 'c', [*episode_messages(3), truth, (f'/{role}', *truth[1:])])
    assert only(both).streams[role].topic == f'/{role}'


def test_topics_can_be_named(tmp_path):
    sent = [('/arm/commands', T0, joints(T0, 1.0)), ('/arm/tool', T0, pose(T0))]
    path = write_bag(tmp_path / 'bag', sent)
    assert said(only(path), 'none of the known topics')
    episode = only(path, topics={'action': '/arm/commands', 'pose': '/arm/tool'})
    assert set(episode.streams) == {'pose', 'action'}


def test_two_arms_in_one_bag(tmp_path):
    sent = [
        (f'/{arm}{topic}', at, m)
        for arm in ('left', 'right')
        for topic, at, m in episode_messages(5)
    ]
    sent += [('/right/joint_states', T0, joints(T0, 1.0))]
    path = write_bag(tmp_path / 'bag', sent)
    episode = only(path)
    assert episode.streams['pose'].topic == '/right/ee_pose' and said(episode, 'others: /left')
    left = only(path, namespace='left')
    assert left.streams['pose'].topic == '/left/ee_pose' and 'joint_states' not in left.streams
    assert len(left.events) == 2


def test_a_drivers_deeper_joint_states_are_found(tmp_path):
    path = write_bag(
        tmp_path / 'bag', [*episode_messages(3), ('/franka/joint_states', T0, joints(T0, 1.0))]
    )
    assert only(path).streams['joint_states'].topic == '/franka/joint_states'


def settings(topics, **values):
    return message('std_msgs/msg/String', data=json.dumps({'topics': topics, **values}))


def test_topics_that_the_metrics_node_used_are_found(tmp_path):
    used = {'pose': '/tracker/tool', 'action': '/follower/joint_commands', 'contact': '/ft/contact'}
    sent = [
        ('/metrics_config', T0, settings(used, near_distance=0.3)),
        ('/tracker/tool', T0, pose(T0)),
        ('/ee_pose', T0, pose(T0)),
        ('/follower/joint_commands', T0, joints(T0, 1.0)),
        ('/ft/contact', T0, message('frame_ros/msg/ContactState')),
        ('/contact', T0, message('frame_ros/msg/ContactState')),
    ]
    path = write_bag(tmp_path / 'bag', sent)
    episode = only(path)
    assert {role: stream.topic for role, stream in episode.streams.items()} == used
    assert json.loads(episode.attributes['metrics_config'])['near_distance'] == 0.3
    assert not said(episode, 'several robots')
    episode = only(path, topics={'pose': '/ee_pose'})
    assert episode.streams['pose'].topic == '/ee_pose'
    assert episode.streams['action'].topic == '/follower/joint_commands'


def test_each_arms_metrics_node_names_its_topics(tmp_path):
    sent = []
    for arm in ('left', 'right'):
        used = {'pose': f'/cell/{arm}_tool', 'action': f'/{arm}/joint_commands'}
        sent += [
            (f'/{arm}/metrics_config', T0, settings(used, gap=0.1 if arm == 'left' else 0.2)),
            (f'/cell/{arm}_tool', T0, pose(T0)),
            (f'/{arm}/joint_commands', T0, joints(T0, 1.0)),
        ]
    path = write_bag(tmp_path / 'bag', sent)
    for arm, gap in (('left', 0.1), ('right', 0.2)):
        episode = only(path, namespace=arm)
        assert episode.streams['pose'].topic == f'/cell/{arm}_tool'
        assert episode.streams['action'].topic == f'/{arm}/joint_commands'
        assert json.loads(episode.attributes['metrics_config'])['gap'] == gap


def test_each_episode_of_a_bag_has_the_settings_of_its_own_start(tmp_path):
    """The node publishes its settings at every START, and latched when it is started again."""
    sent = []
    for number, distance in enumerate((0.1, 0.2, 0.3)):
        start = T0 + 10 * number * SECOND
        sent += episode_messages(20, start, f'e{number}')
        config = settings({}, near_distance=distance)
        # Started again in between: after the END of the one, before the START of the next.
        sent.append(('/metrics_config', start - 2 * SECOND, config))
        # The third hears its START too late: the settings that it was started with hold.
        sent.append(('/metrics_config', start + SECOND // 100, config) if number < 2 else sent[-1])
    sent.sort(key=lambda item: item[1])
    episodes = list(read_episodes(write_bag(tmp_path / 'bag', sent)))
    near = [json.loads(e.attributes['metrics_config'])['near_distance'] for e in episodes]
    assert near == [0.1, 0.2, 0.3]


def test_another_topic_than_the_metrics_node_used_is_said(tmp_path):
    config = ('/metrics_config', T0, settings({'pose': '/tracker/tool', 'action': 7}))
    episode = only(write_bag(tmp_path / 'bag', [config, *episode_messages(3)]))
    assert episode.streams['pose'].topic == '/ee_pose' and len(episode.streams['action']) == 3
    assert said(episode, 'pose: the metrics node used /tracker/tool')
    assert not said(episode, 'action: the metrics node')


# -- bags that are not ours ------------------------------------------------------------


def test_an_empty_bag_is_an_episode_with_a_problem(tmp_path):
    assert said(only(write_bag(tmp_path / 'bag', [])), 'holds no messages')


def test_another_packages_bag_names_its_topics(tmp_path):
    sent = [('/chatter', T0, message('std_msgs/msg/String', data='x'))]
    episode = only(write_bag(tmp_path / 'bag', sent))
    assert said(episode, '/chatter') and episode.streams == {}


def test_a_topic_of_another_type_is_left_out_and_said(tmp_path):
    sent = [*episode_messages(3), ('/contact', T0, message('std_msgs/msg/String'))]
    episode = only(write_bag(tmp_path / 'bag', sent))
    assert 'contact' not in episode.streams and said(
        episode, 'should be frame_ros/msg/ContactState'
    )


def _other_version(path, definition, **fields):
    name = 'frame_ros/msg/Proximity'
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(definition, name))
    content = store.types[name](**fields)
    with BagWriter(path) as writer:
        channel = writer.add_topic('/proximity', name, MessageDefinition(name, definition, ''))
        writer.write(channel, T0, bytes(store.serialize_cdr(content, name)))
    return path


def test_the_definitions_in_the_bag_decide(tmp_path):
    older = 'float64 extra\nint32 sec\nfloat64 distance\n'
    path = _other_version(tmp_path / 'bag', older, extra=1.0, sec=2, distance=0.25)
    episode = only(path)
    assert 'proximity' not in episode.streams
    assert said(episode, 'lacks header.stamp') and said(episode, 'another version')
    assert Bag(path).columns('/proximity')[1]['distance'].tolist() == [0.25]


def test_an_unreadable_definition_is_said(tmp_path):
    with BagWriter(tmp_path / 'bag') as writer:
        name = 'frame_ros/msg/Proximity'
        channel = writer.add_topic(
            '/proximity', name, MessageDefinition(name, 'float64 [ oops', '')
        )
        writer.write(channel, T0, b'\0\1\0\0')
    assert said(only(tmp_path / 'bag'), '/proximity cannot be read')


def test_one_bad_bag_does_not_hide_the_others(tmp_path):
    write_bag(tmp_path / 'a', episode_messages(3))
    (tmp_path / 'b').mkdir()
    (tmp_path / 'b' / 'b.mcap').write_text('not mcap at all')
    write_bag(tmp_path / 'c', episode_messages(3))
    a, b, c = read_episodes(tmp_path)
    assert a.streams and c.streams and not b.streams and said(b, 'not an MCAP file')
    with pytest.raises(BagError, match='not an MCAP file'):
        list(read_episodes(tmp_path / 'b'))


NESTED = '[' * 100_000


def test_a_sidecar_that_is_nested_without_end_is_ignored(tmp_path):
    path = write_bag(tmp_path / 'a', episode_messages(3))
    (path / 'episode.json').write_text(NESTED)
    episode = only(path)
    assert said(episode, 'episode.json cannot be read') and episode.summary['steps'] == 3


def test_settings_that_are_nested_without_end_are_ignored(tmp_path):
    config = ('/metrics_config', T0, message('std_msgs/msg/String', data=NESTED))
    episode = only(write_bag(tmp_path / 'a', [config, *episode_messages(3)]))
    assert said(episode, 'nested') and episode.summary['steps'] == 3


@pytest.mark.parametrize('stage', ['reading', 'processing'])
def test_whatever_fails_in_one_bag_does_not_hide_the_others(tmp_path, monkeypatch, stage):
    for name in 'abc':
        write_bag(tmp_path / name, episode_messages(3))
    module, name = {
        'reading': (reading, 'divide'),
        'processing': (processing, 'process_episode'),
    }[stage]
    whole, calls = getattr(module, name), []

    def fails_second(*arguments, **options):
        calls.append(name)
        if len(calls) == 2:
            raise RecursionError('too deep')
        return whole(*arguments, **options)

    monkeypatch.setattr(module, name, fails_second)
    a, b, c = read_episodes(tmp_path)
    assert a.summary['steps'] == c.summary['steps'] == 3
    assert b.metrics == {} and b.summary == {} and bool(b.streams) == (stage == 'processing')
    assert said(b, 'RecursionError') and said(b, str(tmp_path / 'b'))
    calls[:] = ['first']
    with pytest.raises(BagError, match='RecursionError'):
        list(read_episodes(tmp_path / 'b'))


def test_a_stream_of_unreadable_messages_is_as_one_not_recorded(tmp_path):
    with BagWriter(tmp_path / 'bag') as writer:
        commands = writer.add_topic('/joint_commands', 'sensor_msgs/msg/JointState')
        poses = writer.add_topic('/ee_pose', 'geometry_msgs/msg/PoseStamped')
        for i in range(5):
            writer.write(commands, T0 + i, b'\x07\x07\x07\x07')
            writer.write(poses, T0 + i, serialised(pose(T0 + i)))
    episode = only(tmp_path / 'bag')
    assert set(episode.streams) == {'pose'}
    assert said(episode, '5 unreadable messages left out')
    assert said(episode, 'no action: nothing on /joint_commands could be read')


def _live_of_another_version(path, definition, **fields):
    name = 'frame_ros/msg/QualityMetrics'
    types = get_types_from_msg(definition, name)
    with BagWriter(path) as writer:
        store = get_typestore(Stores.ROS2_JAZZY)
        store.register(types)
        full = MessageDefinition(name, definition, '')
        if 'header' in definition:
            text = find_definition('std_msgs/msg/Header').text
            full = MessageDefinition(
                name, f'{definition}\n{"=" * 80}\nMSG: std_msgs/Header\n{text}', ''
            )
            time = store.types['builtin_interfaces/msg/Time'](sec=T0 // SECOND, nanosec=5)
            fields['header'] = store.types['std_msgs/msg/Header'](stamp=time, frame_id='')
        channel = writer.add_topic('/quality_metrics', name, full)
        content = store.types[name](**fields)
        writer.write(channel, T0 + 9, bytes(store.serialize_cdr(content, name)))
        for topic, received, sent in episode_messages(3):
            channel = writer.add_topic(topic, sent.__msgtype__)
            writer.write(channel, received, serialised(sent))
    return path


def test_live_metrics_of_another_version_keep_what_they_have(tmp_path):
    older = 'std_msgs/Header header\nuint32 step\nfloat64 pl\nfloat64 wobble\n'
    path = _live_of_another_version(tmp_path / 'a', older, step=3, pl=0.5, wobble=1.5)
    episode = only(path)
    live = episode.live['quality']
    assert live.stamps.tolist() == [T0 + 5]
    assert {name: value.tolist() for name, value in live.values.items()} == {
        'step': [3], 'pl': [0.5], 'wobble': [1.5]
    }  # fmt: skip
    (problem,) = [p for p in episode.problems if 'another version' in p]
    assert problem.endswith('not known here: wobble')
    assert ' episode_id,' in problem and ' ps,' in problem and ' pl,' not in problem
    assert 'header,' not in problem
    live = only(_live_of_another_version(tmp_path / 'b', 'float64 pl\n', pl=0.5)).live['quality']
    assert live.stamps.tolist() == [T0 + 9] and live.values['pl'].tolist() == [0.5]


def test_damaged_side_files_are_said_and_ignored(tmp_path):
    path = write_bag(tmp_path / 'bag', episode_messages(3), {'policy': 'p'})
    (path / 'metadata.yaml').write_text('{[')
    (path / 'episode.json').write_text('[1, 2')
    episode = only(path)
    assert episode.attributes['policy'] == 'p' and len(episode.streams['pose']) == 3
    assert said(episode, 'metadata.yaml cannot be read')
    assert said(episode, 'episode.json cannot be read')
    (path / 'metadata.yaml').write_text('[1]')
    (path / 'episode.json').write_text('[1, 2]')
    episode = only(path)
    assert said(episode, 'metadata.yaml cannot be read')
    assert said(episode, 'episode.json cannot be read')


@pytest.mark.parametrize(
    'metadata, words',
    [
        ('[1]', 'it holds no information on a bag'),
        ('{"rosbag2_bagfile_information": {"relative_file_paths": [1]}}', 'a list of file names'),
        ('{"rosbag2_bagfile_information": {"custom_data": "x"}}', 'custom_data must be a mapping'),
        ('a: ' + '[' * 80, 'line 1: it is nested 65 levels'),
        (b'\xff', 'it is not UTF-8'),
    ],
)
def test_side_files_that_are_ignored_say_why_in_words(tmp_path, metadata, words):
    path = write_bag(tmp_path / 'bag', episode_messages(3), {'policy': 'p'})
    content = metadata if isinstance(metadata, bytes) else metadata.encode()
    (path / 'metadata.yaml').write_bytes(content)
    (path / 'episode.json').write_text('[1, 2]')
    episode = only(path)
    assert episode.attributes['policy'] == 'p' and len(episode.streams['pose']) == 3
    ignored = [text for text in episode.problems if 'was ignored: ' in text]
    assert len(ignored) == 2 and words in ignored[0] and 'a mapping' in ignored[1]
    assert not any('Error' in text for text in ignored)


def test_messages_the_recorder_dropped_are_counted(tmp_path):
    path = write_bag(tmp_path / 'bag', episode_messages(3))
    sidecar = json.loads((path / 'episode.json').read_text())
    sidecar.update(
        dropped={'/front/image_raw': 7},
        lost={'/ee_pose': 2},
        skipped={'/x': 'why'},
        silent={'/wrench': 'nobody'},
    )
    (path / 'episode.json').write_text(json.dumps(sidecar))
    episode = only(path)
    assert episode.data_quality['recorder.dropped'] == 7
    assert episode.data_quality['recorder.lost'] == 2
    assert episode.data_quality['recorder.skipped_topics'] == 1
    assert episode.data_quality['recorder.silent_topics'] == 1
    assert said(episode, '/front/image_raw: 7')


# -- statistics, computed poses -------------------------------------------------------------


def test_statistics_count_what_is_irregular(tmp_path):
    stamps = [0, 10, 20, 20, 15, 30, 40, 200, 210, 220]
    at = [T0 + n * 1_000_000 if n else 0 for n in stamps]
    received = (np.maximum.accumulate(np.maximum(at, T0)) + 1000).tolist()
    received[-1] += SECOND
    sent = [('/ee_pose', r, pose(t)) for r, t in zip(received, at)]
    sent.append(('/chatter', T0, message('std_msgs/msg/String')))
    statistics = topic_statistics(Bag(write_bag(tmp_path / 'bag', sent)))
    got = statistics['/ee_pose']
    assert (got.count, got.zero, got.duplicate, got.backward, got.gaps, got.late) == (
        10,
        1,
        1,
        1,
        1,
        1,
    )
    assert got.rate == pytest.approx(100.0) and got.longest_gap == pytest.approx(0.16)
    assert statistics['/chatter'].count == 1


def test_poses_are_computed_where_they_were_not_recorded(tmp_path):
    robots = pytest.importorskip('frame_ros.robots')
    robot = robots.load_robot('so101')
    q = np.linspace(0.1, 0.3, len(robot.joint_names))
    content = message(
        'sensor_msgs/msg/JointState', header__stamp=stamp(T0), name=['other', *robot.joint_names],
        position=np.array([9.0, *q]),
    )  # fmt: skip
    path = write_bag(tmp_path / 'bag', [('/joint_states', T0, content)])
    assert 'pose' not in only(path).streams
    episode = only(path, robot='so101')
    position, orientation = robot.forward(q)
    np.testing.assert_array_equal(episode.streams['pose'].values['position'], [position])
    np.testing.assert_array_equal(episode.streams['pose'].values['orientation'], [orientation])
    assert said(episode, 'computed from /joint_states')
    assert said(only(path, robot='nobody'), 'could not be computed')


def test_episodes_do_not_depend_on_the_chunks(tmp_path):
    fine = only(write_bag(tmp_path / 'fine', episode_messages(20), flush_every=1))
    coarse = only(write_bag(tmp_path / 'coarse', episode_messages(20), flush_every=1000))
    for role in fine.streams:
        assert (fine.streams[role].stamps == coarse.streams[role].stamps).all()
