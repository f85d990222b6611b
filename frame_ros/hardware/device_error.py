# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The error of a device that does not answer."""

from __future__ import annotations

from frame_ros.core.errors import AbsentError


class DeviceError(AbsentError):
    """A device does not answer, or not as it should. is_gone: the port is gone, retrying is
    pointless.
    """

    def __init__(self, text: str, is_gone: bool = False) -> None:
        super().__init__(text)
        self.is_gone = is_gone
