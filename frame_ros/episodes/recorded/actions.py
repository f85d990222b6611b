# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The executed actions of a recorded episode, for replay and evaluation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.find_bags import find_bags
from frame_ros.bags.reader import Bag
from frame_ros.bags.recording_options import HEADER, RecordedUnits
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.joint_table import command_table, left_out_text
from frame_ros.bags.streams.poses import POSE_TYPE
from frame_ros.core.errors import BagError
from frame_ros.core.events import EventType
from frame_ros.core.plain_text import counted
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.foreign_bags.clock_checks import TAKE_RECEIVE, set_back_text
from frame_ros.episodes.reading import read_bag
from frame_ros.episodes.recorded.robot import continuous_joints


@dataclass(frozen=True)
class RecordedActions:
    """The actions of one episode, from START to END."""

    names: tuple[str, ...]  # D joints
    stamps: NDArray[np.int64]  # (T,) ns, increasing
    positions: NDArray[np.float64]  # (T, D), rad or m
    instruction: str = ''
    episode_id: str = ''
    path: Path = Path()
    attributes: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)  # reason -> unused messages
    continuous: tuple[str, ...] = ()  # those of the joints that turn without end

    def __len__(self) -> int:
        return len(self.stamps)


def recorded_actions(
    path: str | os.PathLike[str],
    episode_id: str = '',
    *,
    namespace: str | None = None,
    topics: Mapping[str, str] | None = None,
    stamps: str = HEADER,
    action_joints: Sequence[str] = (),
) -> RecordedActions:
    """Returns the actions of one recorded episode.

    Args:
        path: a bag, or a folder of bags.
        episode_id: which of several; '' if there is only one.
        namespace, topics, stamps, action_joints: as of `read_episodes`.

    Raises:
        BagError: no bag, no such episode, several where none is named, or no usable command in it.
    """
    episodes = read_raw(path, namespace, topics, stamps=stamps, action_joints=action_joints)
    return actions_of(_chosen(episodes, path, episode_id))


def read_raw(
    path: str | os.PathLike[str],
    namespace: str | None = None,
    topics: Mapping[str, str] | None = None,
    robot: str | None = None,
    joint_units: RecordedUnits | None = None,
    stamps: str = HEADER,
    action_joints: Sequence[str] = (),
) -> list[Episode]:
    """Returns the episodes of a bag, or of the bags in a folder, without their metrics.

    Raises:
        BagError: there is no bag, or one cannot be read.
    """
    bags = [Bag(bag) for bag in find_bags(os.fspath(path))]
    return [
        episode
        for bag in bags
        for episode in read_bag(
            bag,
            namespace=namespace,
            topics=topics,
            robot=robot,
            joint_units=joint_units,
            stamps=stamps,
            action_joints=action_joints,
        )
    ]


def actions_of(episode: Episode) -> RecordedActions:
    """Returns the actions of an episode that was read.

    Raises:
        BagError: it has no usable command between START and END.
    """
    stream = episode.streams.get('action')
    name = episode.episode_id or episode.path.name
    if stream is None or not len(stream):
        noted = [problem for problem in episode.problems if problem.startswith('no action: ')]
        raise BagError(
            f'{episode.path}: no joint commands in {name}, so nothing can be replayed or compared; '
            'if they are on another topic, name it: --topic action=TOPIC'
            + ''.join(f' ({problem})' for problem in noted)
        )
    if stream.message_type == POSE_TYPE:
        raise BagError(
            f'{episode.path}: {stream.topic} holds poses; to replay, compare or export a recording '
            'takes joint commands or joint states: --topic action=TOPIC'
        )
    begin, end = bounds_of(episode)
    inside = (stream.stamps >= begin) & (stream.stamps <= end)
    continuous = continuous_joints(episode)
    part = _part(stream, inside)
    if text := set_back_text(part):
        raise BagError(f'{episode.path}: {text}')
    table = command_table(part, continuous)
    if not len(table):
        why = ', '.join(f'{what}: {count}' for what, count in table.left_out.items())
        raise BagError(
            f'{episode.path}: none of the {len(stream)} joint commands is usable between START '
            f'and END of {name}' + (f' ({why})' if why else '') + _advice(stream)
        )
    episode.add_note(left_out_text(part, table))
    return RecordedActions(
        table.names,
        table.stamps,
        table.positions,
        str(episode.attributes.get('instruction') or ''),
        episode.episode_id,
        episode.path,
        dict(episode.attributes),
        table.left_out,
        tuple(name for name in table.names if name in continuous),
    )


def _advice(stream: Stream) -> str:
    return '' if (stream.stamps > 0).any() else f'; {TAKE_RECEIVE}'


def problems_of_recording(episode: Episode) -> list[str]:
    """Returns remarks for the user before actions and observations are used, as 'bag: problem'. The
    bag was cut, has no END, is of one robot of several, .... Missing poses of the TCP are not
    needed, and left out.
    """
    return [
        f'{episode.path.name}: {" ".join(problem.split())}'
        for problem in episode.problems
        if not problem.startswith('no pose')
    ]


def is_ended(episode: Episode) -> bool:
    """Returns whether the recording's end is the episode's. It has an END, or its whole bag, not
    cut, is taken as an episode.
    """
    kinds = {event.type for event in episode.events}
    if EventType.END in kinds:
        return True
    return EventType.START not in kinds and not episode.is_truncated


def _part(stream: Stream, inside: NDArray[np.bool_]) -> Stream:
    values = {name: column[inside] for name, column in stream.values.items()}
    return Stream(
        stream.topic, stream.message_type, stream.stamps[inside], stream.received[inside], values
    )


def _chosen(episodes: Sequence[Episode], path: str | os.PathLike[str], episode_id: str) -> Episode:
    names = [episode.episode_id for episode in episodes]
    if episode_id:
        found = [episode for episode in episodes if episode.episode_id == episode_id]
        if not found:
            raise BagError(f'{path} has no episode {episode_id!r}; it has {", ".join(names)}')
        return found[0]
    if len(episodes) != 1:
        raise BagError(
            f'{path} holds {counted(len(episodes), "episode")}; name one of {", ".join(names)}'
        )
    return episodes[0]
