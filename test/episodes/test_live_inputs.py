# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Since when the live metrics node received a stream."""

import numpy as np

from frame_ros.bags.streams.form import Stream
from frame_ros.episodes.live_inputs import NEVER, heard_since


def stream(*stamps):
    return Stream('/a', 'x', np.array(stamps, np.int64), np.array(stamps, np.int64), {})


def test_messages_without_a_stamp_are_none_of_before():
    assert heard_since({'pose': stream(0, 100, 200)}, {'/a': 100}, 0) == {}
    assert heard_since({'pose': stream(0, 100, 200)}, {'/a': 150}, 0) == {'pose': 150}
    assert heard_since({'pose': stream(100, 200)}, {'/a': NEVER}, 0) == {'pose': NEVER}
    assert heard_since({'pose': stream(0)}, {'/a': NEVER}, 0) == {}
    assert heard_since({'pose': stream(100)}, {}, 0) == {}


def test_of_a_stream_that_begins_after_the_last_readiness_nothing_is_known():
    recorded = {'pose': stream(0, 100, 200)}
    assert heard_since(recorded, {'/a': NEVER}, 0, said=99) == {}
    assert heard_since(recorded, {'/a': NEVER}, 0, said=101) == {'pose': NEVER}
    assert heard_since(recorded, {'/a': 150}, 0, said=99) == {'pose': 150}


def test_what_came_live_before_the_episode_began_is_not_late():
    recorded = {'pose': stream(100, 200, 300)}
    assert heard_since(recorded, {'/a': 150}, begin=180) == {}
    assert heard_since(recorded, {'/a': 190}, begin=180) == {'pose': 190}
