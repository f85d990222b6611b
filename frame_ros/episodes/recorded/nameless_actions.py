# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Commands whose messages say neither joints nor interface: named by the user, and doubted.

They may as well be velocities or efforts. Positions are within the limits of the robot
(`joint_problems`), and the joints are near them soon.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.findings import MOST_LOST, Note
from frame_ros.bags.reader import Bag
from frame_ros.bags.recording_options import ACTION_JOINTS
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.joint_table import command_table, state_table
from frame_ros.bags.streams.joints import name_lists
from frame_ros.bags.streams.nameless import is_nameless, named
from frame_ros.core.plain_text import counted
from frame_ros.core.turns import nearest_turn
from frame_ros.robots.grippers import gripper_joints

# rad or m: joints that are commanded are, in half of the commands, nearer to these.
NEAR = 0.5
OTHER_INTERFACES = ('velocity', 'effort', 'torque', 'acceleration')


def with_named_actions(
    bag: Bag, streams: dict[str, Stream], joints: Sequence[str]
) -> dict[str, Stream]:
    """Returns the streams with names in actions that have none; without these actions where no
    joints are given, or another number of them.
    """
    action = streams.get('action')
    if action is None or not is_nameless(action):
        if action is not None and joints:
            bag.report(Note(f'{action.topic} names its joints: {ACTION_JOINTS} changes nothing'))
        return streams
    others = {role: stream for role, stream in streams.items() if role != 'action'}
    begin = f'{action.topic} ({action.message_type})'
    sizes = action.values['positions_count']
    if interface := interface_of(action.topic):
        bag.report(f'no action: {begin} is of the interface {interface} by its name, not positions')
        return others
    if not joints:
        bag.report(
            f'no action: {begin} has {values_in_words(sizes)} and no names: '
            f'{ACTION_JOINTS} A,B,... names the joints, in their order'
        )
        return others
    whole = named(action, tuple(joints))
    if not len(whole):
        bag.report(
            f'no action: {begin} has {values_in_words(sizes)}, but {ACTION_JOINTS} names '
            f'{counted(len(joints), "joint")}: {", ".join(joints)}'
        )
        return others
    if lost := len(action) - len(whole):
        text = (
            f'{action.topic}: of {counted(len(action), "message")} {lost:,} left out: with another '
            f'number of values than {len(joints)}'
        )
        bag.report(text if lost > MOST_LOST * len(action) else Note(text))
    bag.report(
        Note(
            f'{begin} says neither joints, interface nor time: its values are taken as positions '
            f'of {", ".join(joints)}, at the times at which they were received'
        )
    )
    return {**others, 'action': whole}


def interface_of(topic: str) -> str:
    """Returns the interface that the names of a topic and its controller have in them, if they have
    no position; '' for none. A namespace says nothing.
    """
    own = '/'.join(topic.lower().split('/')[-2:])
    found = next((name for name in OTHER_INTERFACES if name in own), '')
    return '' if 'position' in own else found


def interface_problems(streams: Mapping[str, Stream]) -> list[str]:
    """Returns, in words, why nameless actions cannot be positions of their joints, or that it is
    not known. Whole turns do not count: without the robot, as in data sets, it is not known which
    joints turn without end.
    """
    action, measured = streams.get('action'), streams.get('joint_states')
    if action is None or not is_nameless(action):
        return []
    unknown = _unmeasured(action, measured) if measured is not None else []
    found: list[str] = []
    if unknown:
        text = f'{action.topic}: no joint is measured of the name {" or ".join(unknown)}'
        is_of_gripper = set(unknown) <= set(gripper_joints(unknown))
        found = [Note(text) if is_of_gripper else f'{text}, which {ACTION_JOINTS} gives']
    return found + _doubts(action, measured)


def _unmeasured(action: Stream, measured: Stream) -> list[str]:
    known = {name for names in name_lists(measured.values) for name in names}
    commanded = dict.fromkeys(name for names in name_lists(action.values) for name in names)
    return [name for name in commanded if name not in known]


def _doubts(action: Stream, measured: Stream | None) -> list[str]:
    far = _far_joints(action, measured) if measured is not None else None
    if far is None:
        return [
            Note(
                f'{action.topic}: none of its joints was measured meanwhile, so it is not known '
                'whether its values are positions'
            )
        ]
    if not far:
        return []
    named_ones = ', '.join(f'{name} {distance:.2g}' for name, distance in far.items())
    return [
        f'{action.topic}: its values are far from where the joints are measured (median, rad or '
        f'm: {named_ones}): velocities or efforts, another order of the joints, or another unit'
    ]


def _far_joints(action: Stream, measured: Stream) -> dict[str, float] | None:
    """Returns joint -> median distance (rad or m) of its commands from where it was then, of those
    that are far; None where no joint was measured."""
    commands, states = command_table(action), state_table(measured)
    names = [name for name in commands.names if name in states.names]
    newest = np.searchsorted(states.stamps, commands.stamps, side='right') - 1
    is_known = newest >= 0
    if not names or not is_known.any():
        return None
    columns = [commands.names.index(name) for name in names]
    others = [states.names.index(name) for name in names]
    at = states.positions[newest[is_known]][:, others]
    sent = commands.positions[is_known][:, columns]
    sent = nearest_turn(sent, at, np.ones(len(names), np.bool_))
    distances = np.median(np.abs(sent - at), axis=0)
    return {name: d for name, d in zip(names, distances.tolist()) if d > NEAR}


def values_in_words(sizes: NDArray[np.int64]) -> str:
    """Returns '7 values', '6 or 7 values' of the lengths of messages."""
    *others, last = np.unique(sizes).tolist()
    return ''.join(f'{size} or ' for size in others) + counted(last, 'value')
