# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Since when the live metrics node received a stream."""

import numpy as np

from frame_ros.episodes.data import Stream
from frame_ros.episodes.live_inputs import NEVER, heard_since


def stream(*stamps):
    return Stream('/a', 'x', np.array(stamps, np.int64), np.array(stamps, np.int64), {})


def test_messages_without_a_stamp_are_none_of_before():
    assert heard_since({'pose': stream(0, 100, 200)}, {'/a': 100}) == {}
    assert heard_since({'pose': stream(0, 100, 200)}, {'/a': 150}) == {'pose': 150}
    assert heard_since({'pose': stream(100, 200)}, {'/a': NEVER}) == {'pose': NEVER}
    assert heard_since({'pose': stream(0)}, {'/a': NEVER}) == {}
    assert heard_since({'pose': stream(100)}, {}) == {}
