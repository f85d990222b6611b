# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names of a robot's links in tf, where a prefix keeps two robots apart."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FrameNames:
    """prefix: what tf has in front of the names of the robot's links, such as 'left/'."""

    prefix: str = ''

    def of(self, link: str) -> str:
        """The frame of a link; '' of ''."""
        return f'{self.prefix}{link}' if link else ''

    def link(self, frame: str) -> str:
        """The link of a frame. A driver that knows of no prefix names the link itself."""
        return frame.lstrip('/').removeprefix(self.prefix.lstrip('/'))
