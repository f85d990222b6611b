# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Commands without names and header (Float64MultiArray), as of forward_command_controller."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.reader import STAMP, Bag
from frame_ros.bags.repeated_rows import repeated
from frame_ros.bags.streams.form import Stream
from frame_ros.core.errors import BagError

NAMELESS_TYPE = 'std_msgs/msg/Float64MultiArray'


def read_nameless(bag: Bag, topic: str) -> tuple[NDArray, dict[str, NDArray]]:
    """Returns receive times and values, in the form of joint commands of no names."""
    received, columns = bag.columns(topic, ['data'])
    if len(received) and 'data' not in columns:
        raise BagError(f'{topic}: its {NAMELESS_TYPE} lacks data')
    count = len(received)
    return received, {
        STAMP: received.copy(),
        'name': np.zeros((count, 0), '<U1'),
        'name.count': np.zeros(count, np.int64),
        'position': columns.get('data', np.zeros((0, 0))),
        'position.count': columns.get('data.count', np.zeros(0, np.int64)),
    }


def is_nameless(stream: Stream) -> bool:
    """Returns whether the messages of a stream of commands say neither joints nor interface."""
    return stream.message_type == NAMELESS_TYPE


def named(stream: Stream, joints: tuple[str, ...]) -> Stream:
    """Returns the commands with as many values as joints, with the names of these."""
    own = stream.select(stream.values['positions_count'] == len(joints))
    sizes = repeated(len(joints), len(own))
    values = {
        'names': repeated(np.array(joints), len(own)),
        'names_count': sizes,
        'positions': own.values['positions'][:, : len(joints)],
        'positions_count': sizes,
    }
    return replace(own, values=values)
