# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Limits of drawn scenes."""

from __future__ import annotations

from frame_ros.core.options import option, options
from frame_ros.scenes.surroundings import LARGEST_IMAGE, LEAST_IMAGE


@options
class SceneLimits:
    """Limits that a scene must keep."""

    attempts: int = option(
        2000, 'draws for one scene at most, after which its number is left out', at_least=1
    )
    visible: float = option(
        0.5,
        'share of what a camera could see of target and receptacle that nothing hides, and that '
        'lies in the picture',
        above=0.0,
        at_most=1.0,
    )
    width: int = option(
        320,
        "pixels in a row of the cameras' images",
        at_least=LEAST_IMAGE,
        at_most=LARGEST_IMAGE[0],
    )
    height: int = option(240, 'pixels in a column', at_least=LEAST_IMAGE, at_most=LARGEST_IMAGE[1])
