# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A bag of an arm's joint states, commands and wrenches that grows while it is measured."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.messages import MessageMaker
from frame_ros.bags.writer import PARTIAL_SUFFIX, BagWriter
from frame_ros.core.time import SECOND

Array = NDArray[np.float64]
TYPES = {
    'joint_states': 'sensor_msgs/msg/JointState',
    'joint_commands': 'sensor_msgs/msg/JointState',
    'wrench': 'geometry_msgs/msg/WrenchStamped',
}


class _Added(NamedTuple):
    """One message to write. stamp: ns."""

    topic: str
    stamp: int
    values: dict[str, Any]


class MotionBag:
    """Writes what comes, from any thread, as soon as the disk takes it, so that whatever ends the
    program leaves it.

    It never disturbs what it records: it writes in a thread of its own, so that a slow disk delays
    no command; if the disk refuses, `problem` says so and nothing more is written.

    Attributes:
        folder: the bag's; the name given, with a number where that is taken.
        problem: why it is not whole; ''.
    """

    def __init__(self, folder: Path, metadata: Mapping[str, object]) -> None:
        """Raises BagError: the folder cannot be made."""
        self.folder = _free_name(folder)
        self.problem = ''
        self._writer = BagWriter(self.folder, metadata)
        self._makers = {kind: MessageMaker(kind) for kind in dict.fromkeys(TYPES.values())}
        self._channels: dict[str, int] = {}
        self._first = self._last = 0
        self._added: queue.Queue[_Added | None] = queue.Queue()
        self._thread = threading.Thread(target=self._write, name='motion_bag', daemon=True)
        self._thread.start()

    @property
    def duration(self) -> float:
        """Returns s from the first to the last stamp."""
        return (self._last - self._first) / SECOND

    @property
    def counts(self) -> dict[str, int]:
        """Returns topic -> messages, once all that was added is written."""
        self._added.join()
        return self._writer.counts()

    def add_joints(
        self,
        topic: str,
        stamp: int,
        names: Sequence[str],
        positions: Array,
        velocities: Array | None = None,
        efforts: Array | None = None,
    ) -> None:
        """Adds one joint state or command: stamp in ns, (N,) each, which stay as they are.
        Velocities and efforts of which none is known are left out.
        """
        known = {'velocity': velocities, 'effort': efforts}
        given = {k: v for k, v in known.items() if v is not None and np.isfinite(v).any()}
        values = {'name': list(names), 'position': positions, **given}
        self._added.put(_Added(topic, stamp, values))

    def add_wrench(self, topic: str, stamp: int, values: Array) -> None:
        """Adds one wrench: stamp in ns, (6,) N and N m, which stay as they are."""
        wrench = {'force': values[:3], 'torque': values[3:]}
        self._added.put(_Added(topic, stamp, {'wrench': wrench}))

    def _write(self) -> None:
        """Writes in the bag's own thread, until None is added."""
        while (added := self._added.get()) is not None:
            try:
                if not self.problem:
                    self._write_one(added)
            finally:
                self._added.task_done()
        self._added.task_done()

    def _write_one(self, added: _Added) -> None:
        topic, stamp, values = added
        kind = TYPES[topic]
        try:
            data = self._makers[kind].data(header={'stamp': stamp}, **values)
            if topic not in self._channels:
                self._channels[topic] = self._writer.add_topic(f'/{topic}', kind)
            self._writer.write(self._channels[topic], stamp, data)
        except Exception as error:  # of the disk, or of what was measured: the motion goes on
            self.problem = f'from {self.duration:.0f} s on nothing was written: {error}'
            return
        self._first = self._first or stamp
        self._last = max(self._last, stamp)

    def _end(self) -> None:
        if self._thread.is_alive():
            self._added.put(None)
            self._thread.join()

    def finish(self) -> Path:
        """Closes it and returns its folder. Raises BagError: it cannot be finished, and stays as
        far as it was written.
        """
        self._end()
        return self._writer.finish({'problem': self.problem} if self.problem else None)

    def discard(self) -> None:
        """Deletes it, not yet finished."""
        self._end()
        self._writer.discard()


def _free_name(folder: Path) -> Path:
    """Returns the first of folder, folder-2, ... that is not there, finished or not."""
    names = (folder.with_name(f'{folder.name}-{number}') for number in count(2))
    while any(map(os.path.lexists, (folder, folder.with_name(folder.name + PARTIAL_SUFFIX)))):
        folder = next(names)
    return folder
