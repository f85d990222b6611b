# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the place of a force-torque sensor in the link that carries it."""

from __future__ import annotations

from math import pi

from frame_ros.core.options import option, options, rule

FARTHEST = 2.0  # m from a link's origin: more was given in mm


@options
class MountPlaceOptions:
    """Place of the sensor in its link."""

    mount_xyz: tuple[float, ...] = option(
        (0.0, 0.0, 0.0),
        "the sensor's origin in its link",
        unit='m',
        at_least=-FARTHEST,
        at_most=FARTHEST,
        lengths=(3,),
    )
    mount_rpy: tuple[float, ...] = option(
        (0.0, 0.0, 0.0),
        "the sensor's axes in its link, as in a URDF",
        unit='rad',
        lengths=(3,),
    )

    @rule('mount_rpy', '3 angles in rad, none beyond 2 pi (45 degrees are 0.7854 rad)')
    def _is_in_radians(self) -> bool:
        return all(abs(angle) <= 2.0 * pi for angle in self.mount_rpy)
