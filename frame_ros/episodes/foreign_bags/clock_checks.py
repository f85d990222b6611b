# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streams that were stamped by different clocks, so that no sample of one belongs to the other, or
by one that was set back, so that their order by stamp is not that in which they came.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.form import Stream
from frame_ros.core.stamps import FAR_RUN
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


def set_back_problems(streams: Mapping[str, Stream]) -> list[str]:
    """Returns, in words, the streams whose clock was set back, as by a simulation that began again.

    streams: role -> stream.
    """
    found = (set_back_text(streams[role]) for role in (*CHECKED, 'action') if role in streams)
    return list(dict.fromkeys(filter(None, found)))


def set_back_text(stream: Stream) -> str:
    """Says by how much, and when, the clock of a stream was set back; '' if it was not."""
    order = np.argsort(stream.received, kind='stable')
    order = order[(stream.stamps[order] > 0) & (stream.received[order] > 0)]
    stamps, received = stream.stamps[order], stream.received[order]
    place = _set_back_at(stamps)
    if place < 0 or received[0] == received[-1]:  # of one time alone the order is not known
        return ''
    by = (int(stamps[:place].max()) - int(stamps[place])) / SECOND
    after = (int(received[place]) - int(received[0])) / SECOND
    return (
        f'{stream.topic}: its clock was set back by {by:.1f} s, {after:.1f} s after its first '
        f'message: by their stamps messages of both times stand in turns; {TAKE_RECEIVE}'
    )


def _set_back_at(stamps: NDArray[np.int64]) -> int:
    """Returns the place of the first of several messages in turn, stamped (T,) ns, that follow each
    other more than 1 s before one that came earlier; -1 without. One alone is an error of its own.
    """
    if len(stamps) < FAR_RUN:
        return -1
    is_back = np.maximum.accumulate(stamps) - stamps > SECOND
    is_next = is_back[1:] & is_back[:-1] & (np.diff(stamps) >= 0)
    runs = np.lib.stride_tricks.sliding_window_view(is_next, FAR_RUN - 1).all(axis=1)
    return int(runs.argmax()) if runs.any() else -1


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
