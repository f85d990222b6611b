# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Measured joints that are taken as the actions, in whole where they were published in parts."""

from __future__ import annotations

from frame_ros.bags.findings import Note
from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.controller_states import CONTROLLER_TYPE
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.joint_table import is_in_parts, merged_states
from frame_ros.episodes.recorded.robot import continuous_of


def with_whole_actions(
    bag: Bag, streams: dict[str, Stream], robot: str | None
) -> dict[str, Stream]:
    """Returns the streams with measured joints as the actions in whole, where they come in parts,
    as from an arm and its gripper. A live node counted each part.
    """
    action, joints = streams.get('action'), streams.get('joint_states')
    if action is None or joints is None or action.topic != joints.topic:
        return streams
    if action.message_type == CONTROLLER_TYPE:
        return streams  # its set points, which are no measured joints
    if not is_in_parts(action):
        return streams
    whole = merged_states(action, continuous_of(robot))
    if whole is action:
        return streams
    bag.report(
        Note(
            f'{action.topic}: its messages have different joints, which were merged by their '
            f'stamps: {len(action):,} messages are {len(whole):,} steps'
        )
    )
    return {**streams, 'action': whole}
