# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Observations of a robot at a time of a recorded episode, as a policy gets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.images.cameras import Camera, camera_topics, feature_name
from frame_ros.bags.reader import Bag
from frame_ros.bags.recording_options import MAX_AGE
from frame_ros.bags.streams.joint_table import left_out_text, state_table
from frame_ros.bags.streams.poses import ORIENTATION, POSITION
from frame_ros.bags.streams.table import STREAMS
from frame_ros.core.errors import BagError, ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.foreign_bags.clock_checks import TAKE_RECEIVE, set_back_text
from frame_ros.episodes.recorded.robot import continuous_joints
from frame_ros.policies.protocol import Observation

POSE_FIELDS = (*POSITION, *ORIENTATION)
JOINTS = 'joint_states'


class RecordedObservations:
    """The observations of one recorded episode: of every input the newest at or before a stamp.

    Args:
        episode: as `read_bag` or `read_episodes` gives it.
        cameras: the requested ones, of the robot or shared (at the root), by the names of
        `camera_topics` or those of data sets (`feature_name`); None: all of the robot.
        poses: the requested poses. 'object' and 'goal' are on the topics of these roles, others on
            `<name>_pose`.
        max_age: s, that an input may be old.
        instruction: None: the recorded one.
        bag: the episode's, if it is open already.

    cameras: camera -> Camera.

    Raises:
        BagError: the bag cannot be opened, or lacks joint states, a camera or a pose that is
        wanted.
        ValueRangeError: max_age is not positive.
    """

    def __init__(
        self,
        episode: Episode,
        cameras: Sequence[str] | None = None,
        poses: Sequence[str] = (),
        max_age: float = MAX_AGE,
        instruction: str | None = None,
        bag: Bag | None = None,
    ) -> None:
        if not max_age > 0:
            raise ValueRangeError(f'max_age is {max_age} s; it must be positive')
        self._episode, self._max_age = episode, max_age
        recorded = str(episode.attributes.get('instruction') or '')
        self.instruction = recorded if instruction is None else instruction
        stream = episode.streams.get('joint_states')
        if stream is None or not len(stream):
            raise BagError(
                f'{episode.path}: no joint_states, so no observation can be made of it; if they '
                'are on another topic, name it: --topic joint_states=TOPIC'
            )
        if text := set_back_text(stream):
            raise BagError(f'{episode.path}: {text}')
        self.joints = state_table(stream, continuous_joints(episode))
        if not len(self.joints):
            why = '' if (stream.stamps > 0).any() else f' (no stamp); {TAKE_RECEIVE}'
            raise BagError(f'{episode.path}: none of the {len(stream)} joint_states is usable{why}')
        episode.add_note(left_out_text(stream, self.joints))
        bag = bag or Bag(episode.path, is_by_receipt=episode.is_by_receipt)
        self.cameras = self._open_cameras(bag, cameras)
        self._poses = {name: self._read_pose(bag, name) for name in poses}

    @property
    def namespace(self) -> str:
        """The robot's namespace, by the topics of its episode."""
        for role, row in STREAMS.items():
            stream = self._episode.streams.get(role)
            for name in row.topics if stream is not None else ():
                if stream is not None and stream.topic.endswith(f'/{name}'):
                    return stream.topic[: -len(name) - 1]
        return ''

    def lack(self, stamp: int) -> str:
        """Returns what is missing or too old at a stamp (ns), in words; '' if nothing is."""
        for name, stamps in self._all_stamps().items():
            index = _newest(stamps, stamp)
            if index < 0:
                return f'{name}: none yet'
            if (stamp - int(stamps[index])) / SECOND > self._max_age:
                return f'{name}: older than {self._max_age:g} s'
        return ''

    def at(self, stamp: int, executed: float = float('nan')) -> Observation:
        """Returns the observation at a stamp (ns). A picture that cannot be decoded is
        replaced by the one before. executed: s, passed on.

        Raises:
            BagError: something is missing or too old (`lack`), or a picture cannot be used.
        """
        if problem := self.lack(stamp):
            raise BagError(f'{self._episode.path}: no observation at {stamp} ns: {problem}')
        newest = {name: _newest(stamps, stamp) for name, stamps in self._all_stamps().items()}
        newest.update(self._whole_pictures(stamp))
        oldest = min(int(s[newest[name]]) for name, s in self._all_stamps().items())
        return Observation(
            stamp=stamp,
            oldest_stamp=oldest,
            joint_names=self.joints.names,
            joint_positions=self.joints.positions[newest[JOINTS]].copy(),
            images={name: camera.picture(newest[name]) for name, camera in self.cameras.items()},
            poses={name: rows[newest[name]].copy() for name, (_, rows) in self._poses.items()},
            instruction=self.instruction,
            executed=executed,
        )

    def damage(self, stamp: int) -> str:
        """Returns what cannot be decoded at a stamp (ns) at which nothing lacks, in words."""
        try:
            self._whole_pictures(stamp)
        except BagError as error:
            return str(error)
        return ''

    def _whole_pictures(self, stamp: int) -> dict[str, int]:
        oldest = stamp - round(self._max_age * SECOND)
        return {
            name: camera.newest_whole(_newest(camera.stamps, stamp), oldest)
            for name, camera in self.cameras.items()
        }

    def _all_stamps(self) -> Mapping[str, NDArray[np.int64]]:
        return {
            JOINTS: self.joints.stamps,
            **{name: camera.stamps for name, camera in self.cameras.items()},
            **{name: stamps for name, (stamps, _) in self._poses.items()},
        }

    def _open_cameras(self, bag: Bag, wanted: Sequence[str] | None) -> dict[str, Camera]:
        own = found = camera_topics(bag, self.namespace)
        if wanted is not None and self.namespace:
            # A camera shared by several robots is at the root.
            found = {**camera_topics(bag), **own}
        topics = {**{feature_name(name): topic for name, topic in found.items()}, **found}
        names = list(own) if wanted is None else list(wanted)
        if missing := [name for name in names if name not in topics]:
            raise BagError(
                f'{bag.path}: no images of {", ".join(missing)}; it has images of '
                f'{", ".join(found) or "no camera"}; choose with --cameras A,B,...'
            )
        return {name: Camera(bag, name, topics[name]) for name in names}

    def _read_pose(self, bag: Bag, name: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        stream = self._episode.streams.get(name)
        topic = stream.topic if stream is not None else f'{self.namespace}/{name}_pose'
        if topic not in bag.topics or not len(bag.topics[topic]):
            raise BagError(f'{bag.path}: no pose {name!r}: {topic} was not recorded')
        _, columns = bag.columns(topic, ['header.stamp', *POSE_FIELDS])
        stamps = columns['header.stamp']
        rows = np.stack([columns[path] for path in POSE_FIELDS], axis=1)
        is_usable = np.isfinite(rows).all(axis=1) & (stamps > 0)
        order = np.flatnonzero(is_usable)[np.argsort(stamps[is_usable], kind='stable')]
        if not len(order):
            raise BagError(f'{bag.path}: {topic} has no usable pose')
        return stamps[order], rows[order]


def _newest(stamps: NDArray[np.int64], stamp: int) -> int:
    """Returns the index of the newest at or before a stamp; -1: none."""
    return int(np.searchsorted(stamps, stamp, side='right')) - 1
