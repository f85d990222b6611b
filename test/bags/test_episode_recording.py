# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of episodes from messages, without a node."""

import struct
from collections import deque

from attrs import evolve

from frame_ros.bags.definitions import find_definition
from frame_ros.bags.reader import Bag
from frame_ros.bags.recording.episode import EpisodeNames, EpisodeRecording
from frame_ros.bags.recording.options import RecordingLimits, RecordingOptions
from frame_ros.bags.recording.session import ReceivedMessage, RecordedTopic
from frame_ros.core.time import SECOND

T0 = 1_700_000_000 * SECOND
STRING = find_definition('std_msgs/msg/String')
TEXT, EVENTS, MAP = (RecordedTopic(name, STRING) for name in ('/text', '/own', '/map'))


class Origin:
    topics, skipped = [TEXT, MAP], {'/left_out': 'its type is unknown'}

    def __init__(self):
        self.counts = {}

    def lost(self):
        return dict(self.counts)

    def why_silent(self, name):
        return f'nobody publishes {name}'


def message(seconds, topic=TEXT):
    at = T0 + round(seconds * SECOND)
    return ReceivedMessage(topic, at, at, b'\0\1\0\0' + struct.pack('<I', 2) + b'x\0')


def test_a_bag_holds_what_came_shortly_before_and_during_its_episode(tmp_path):
    origin = Origin()
    MAP.latched = deque([message(-100.0, MAP)])
    options = RecordingOptions(pre_roll=0.5, limits=RecordingLimits(free=0))
    recording = EpisodeRecording(origin, options, EVENTS, ['/wrench'], print)
    folders = []
    for begin, level in ((0.0, 3), (10.0, 0)):
        recording.options = evolve(options, compression_level=level)  # for the next episode
        for seconds in (-1.0, -0.4, -0.1):
            recording.accept(message(begin + seconds))
        recording.open(tmp_path / f'bag_{level}', {}, T0 + round(begin * SECOND))
        recording.streams.begin(T0 + round(begin * SECOND))
        recording.accept(message(begin + 1.0))
        origin.counts['/text'] = origin.counts.get('/text', 0) + 2
        recording.streams.end(T0 + round((begin + 2.0) * SECOND))
        folder, lacks = recording.finish(recording.close(), {}, 1)
        assert lacks == [
            'messages never reached the recorder: 2 of /text',
            '/wrench sent nothing in the episode: nobody publishes /wrench',
        ]
        folders.append(folder)
    for folder in folders:
        bag = Bag(folder)
        counts = {name: len(topic) for name, topic in bag.topics.items()}
        assert counts == {'/own': 0, '/map': 1, '/text': 3}
        assert bag.sidecar['skipped'] == origin.skipped
    assert recording.close() is None


def test_names_of_episodes_are_those_of_no_folder(tmp_path):
    names = EpisodeNames()
    first, folder = names.new(tmp_path, ['left', 'episode'])
    assert folder == tmp_path / first and first.startswith('left_episode_')
    folder.with_name(f'{first}.partial').mkdir()
    assert EpisodeNames().new(tmp_path, ['left', 'episode'])[0] != first


def test_what_a_bag_lacks_is_said_by_reason(tmp_path):
    recording = EpisodeRecording(
        Origin(), RecordingOptions(limits=RecordingLimits(free=2**62)), EVENTS, [], print
    )
    MAP.latched = None
    recording.open(tmp_path / 'bag', {}, T0)
    recording.accept(message(1.0))
    recording.accept(message(1.1))
    _, (text,) = recording.finish(recording.close(), {}, 1)
    assert text.startswith('messages were dropped, because the disk had only')
    assert text.endswith('left: 2 of /text')
