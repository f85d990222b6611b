# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""ROS names."""

from __future__ import annotations

import re

from frame_ros.core.errors import SetupError

NAMESPACE = re.compile(r'/?([A-Za-z_]\w*(/[A-Za-z_]\w*)*)?/?', re.ASCII)


def check_namespace(text: str) -> None:
    """Checks a namespace, which may be empty.

    Raises:
        SetupError: ROS refuses it.
    """
    if not NAMESPACE.fullmatch(text) or '__' in text:
        raise SetupError(
            f'{text!r} is not a valid ROS namespace; it must be words of letters, digits and _, '
            'such as left or cell_1/left'
        )
