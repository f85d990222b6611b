# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names of a robot's links in tf, where a prefix keeps two robots apart."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FrameNames:
    """prefix: tf's prefix of the robot's link names, such as 'left/'."""

    prefix: str = ''

    def of(self, link: str) -> str:
        """Returns the frame of a link; '' for ''."""
        return f'{self.prefix}{link}' if link else ''

    def link(self, frame: str) -> str:
        """Returns the link of a frame, which may lack the prefix if its driver does not know it."""
        return frame.lstrip('/').removeprefix(self.prefix.lstrip('/'))
