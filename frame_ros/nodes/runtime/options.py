# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options that several nodes have."""

from __future__ import annotations

from frame_ros.core.options import option, options


@options
class ManagedOptions:
    """A lifecycle node."""

    autostart: bool = option(
        True, 'configure and activate at start; false: wait for `ros2 lifecycle set`'
    )
