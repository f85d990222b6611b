# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The video of a bag, made by a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rclpy.node import Node


def start_video(bag: Path, topic: str) -> subprocess.Popen[bytes]:
    """Begins to make an MP4 of an image topic, by its absolute name, at low priority; of a bag
    without it, none.

    Raises:
        OSError: the process cannot be started.
    """
    command = [sys.executable, '-m', 'frame_ros.episodes.export.video', str(bag), '--topic', topic]
    command += ['--if-recorded', '--nice', '10']
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)


class EpisodeVideos:
    """Videos of finished episodes, each made by a process of its own."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._running: list[subprocess.Popen[bytes]] = []

    def make(self, bag: Path, topic: str) -> None:
        """Begins the video of a topic of images; empty: none. Names are relative to the node's."""
        if not topic:
            return
        if not topic.startswith('/'):
            topic = self._node.get_namespace().rstrip('/') + '/' + topic
        try:
            self._running.append(start_video(bag, topic))
        except OSError as error:
            self._node.get_logger().warning(f'no video of {bag}: {error}')

    def look(self) -> None:
        """Lets go of those that are made."""
        self._running = [video for video in self._running if video.poll() is None]
