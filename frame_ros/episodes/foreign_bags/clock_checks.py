# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streams that were stamped by different clocks, so that no sample of one belongs to the other."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.form import Stream
from frame_ros.core.time import SECOND

# Streams that come all the time, whose samples a step takes by their stamps.
CHECKED = ('pose', 'joint_states', 'contact', 'proximity', 'inference')

# The advice where header stamps are of no use.
TAKE_RECEIVE = '--stamps receive takes the times at which they were received'


def clock_problems(streams: Mapping[str, Stream]) -> list[str]:
    """Returns, in words, the streams whose stamps share no time with those of the actions although
    the messages were received in the same time.

    streams: role -> stream.
    """
    action = streams.get('action')
    problems: dict[str, str] = {}
    for role in CHECKED:
        stream = streams.get(role)
        if stream is None or action is None or stream.topic in (action.topic, *problems):
            continue
        received = stream.received, action.received
        stamps = _set(stream), _set(action)
        if _overlap(*received, slack=0) and not _overlap(*stamps, slack=SECOND):
            problems[stream.topic] = (
                f'{stream.topic} is stamped {_span(stamps[0])}, {action.topic} {_span(stamps[1])}, '
                f'though both were received in the same time: two clocks, so no step has a {role}; '
                f'{TAKE_RECEIVE}'
            )
    return list(problems.values())


def stamp_problems(streams: Mapping[str, Stream]) -> list[str]:
    """Returns, in words, the streams none of whose messages has a stamp, or all the same."""
    problems: dict[str, str] = {}
    for role in (*CHECKED, 'action'):
        stream = streams.get(role)
        if stream is None or len(stream) < 2 or stream.topic in problems:
            continue
        if not len(_set(stream)):
            what = 'no message has a stamp'
        elif len(np.unique(stream.stamps)) == 1:
            what = 'all messages have the same stamp'
        else:
            continue
        problems[stream.topic] = f'{stream.topic}: {what}; {TAKE_RECEIVE}'
    return list(problems.values())


def _set(stream: Stream) -> NDArray[np.int64]:
    return stream.stamps[stream.stamps > 0]


def _overlap(first: NDArray[np.int64], second: NDArray[np.int64], slack: int) -> bool:
    """Returns whether two ranges of time overlap, or are `slack` ns apart at most; True if one is
    empty, as nothing is known then."""
    if not (len(first) and len(second)):
        return True
    return bool(max(first.min(), second.min()) <= min(first.max(), second.max()) + slack)


def _span(stamps: NDArray[np.int64]) -> str:
    ends = (int(stamp) // SECOND for stamp in (stamps.min(), stamps.max()))
    dates = (datetime.fromtimestamp(end, timezone.utc) for end in ends)
    return ' to '.join(f'{date:%Y-%m-%d %H:%M:%S}' for date in dates)
