# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the detector of releases and drops."""

from __future__ import annotations

from frame_ros.core.options import option, options


@options
class DetectorOptions:
    """Releases and drops in the telemetry of the gripper. A share is of the gripper's opening, from
    closed on nothing (0) to its limit (1).
    """

    joint: str = option('', "joint of the gripper; '': that of the robot's profile")
    edge: float = option(
        0.1, 'change of the target that is an edge, as a share', above=0.0, at_most=1.0
    )
    closed_band: float = option(
        0.02,
        'opening below which it is closed on nothing, as a share; 0: the margin of the '
        "robot's profile",
        at_least=0.0,
        below=1.0,
    )
    squeeze: float = option(
        0.015,
        'opening beyond the target, as a share, at which something is between the fingers; 0: any '
        'opening above the closed band counts as holding',
        at_least=0.0,
        below=1.0,
    )
    hold_time: float = option(
        0.3, 'shortest time for which something is held', unit='s', at_least=0.0
    )
    plateau_time: float = option(
        0.15, 'shortest time for which the target stays open, or closed', unit='s', at_least=0.0
    )
    still: float = option(
        0.25, 'fastest change of the opening while something is held, shares per s', above=0.0
    )
    slump_time: float = option(
        0.4, 'longest time of a fall from the held band into the closed one', unit='s', above=0.0
    )
    drop_time: float = option(
        0.15, 'time for which it is then closed on nothing', unit='s', at_least=0.0
    )
    period: float = option(0.02, 'of the samples that are looked at', unit='s', above=0.0)
    gap: float = option(0.5, 'longest gap that a stream may have', unit='s', above=0.0)
    displacement: float = option(
        0.04,
        'way from the grasp to the release of something that was moved',
        unit='m',
        at_least=0.0,
    )
    goal_radius: float = option(
        0.08,
        'radius around goal_pose that is the target zone, if none is given',
        unit='m',
        above=0.0,
    )
    collect_radius: float = option(
        0.05,
        'horizontal distance within which a later grasp collects something dropped',
        unit='m',
        at_least=0.0,
    )
