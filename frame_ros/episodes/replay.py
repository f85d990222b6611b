# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy that replays the joint commands of a bag."""

from __future__ import annotations

from pathlib import Path

from frame_ros.bags.recording_options import TopicChoice
from frame_ros.core.options import option, options
from frame_ros.episodes.recorded.actions import read_raw, recorded_actions
from frame_ros.policies.replay import ReplayOptions, ReplayPolicy


@options
class BagReplayOptions(ReplayOptions, TopicChoice):
    """Options of the replay of a bag."""

    folder: str = option('', 'a bag, or a folder of bags')
    episode_id: str = option('', 'which of several episodes; empty: there is only one')


class BagReplay(ReplayPolicy):
    """Replays the joint commands of one episode in a bag."""

    Options = BagReplayOptions
    needs = {'folder': 'a bag, or a folder of bags'}

    @classmethod
    def make(cls, options: BagReplayOptions) -> ReplayPolicy:
        """Reads the actions.

        Raises:
            FrameRosError: there is no bag, or nothing in it can be replayed.
        """
        found = recorded_actions(
            Path(options.folder).expanduser(),
            options.episode_id,
            namespace=options.namespace,
            topics=options.topics,
            stamps=options.stamps,
            action_joints=options.action_joints,
        )
        policy = ReplayPolicy(
            found.stamps, found.positions, found.names, options, options.folder, found.continuous
        )
        if found.left_out:
            why = ', '.join(f'{count:,} × {reason}' for reason, count in found.left_out.items())
            policy.notes = (*policy.notes, f'commands of the recording left out: {why}')
        return policy

    @classmethod
    def check(cls, options: BagReplayOptions) -> None:
        """Reads the bag once, without the options that choose in it.

        Raises:
            BagError: there is no bag, or one cannot be read.
        """
        read_raw(Path(options.folder).expanduser())
