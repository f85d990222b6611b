# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded positions that are in another unit than m."""

from __future__ import annotations

import numpy as np

from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.poses import LARGEST, POSE_TYPE
from frame_ros.core.time import SECOND
from frame_ros.robots import Robot

# No tip of an arm is faster, m/s, nor goes further without its base, m.
FASTEST = 10.0
WIDEST = 3.0
# A tip on a base that does not move is at most so far from it in m, in cm, in mm.
IN_METRES, IN_CENTIMETRES, IN_MILLIMETRES = 5.0, 150.0, 5000.0
# Single samples may be odd: shares of them that are left out at the upper end.
MOST_ODD = 0.01


def unit_problems(pose: Stream | None, robot: Robot | None) -> list[str]:
    """Returns, in words, why positions of a stream of poses cannot be in m; at most one. robot:
    whose tip it is, if that is known.
    """
    if pose is None or pose.message_type != POSE_TYPE or len(pose) < 3:
        return []
    places = np.asarray(pose.values['position'], np.float64)
    is_sound = (np.abs(places) < LARGEST).all(axis=1) & (pose.stamps > 0)
    stamps, first = np.unique(pose.stamps[is_sound], return_index=True)
    places = places[is_sound][first]
    if len(places) < 3:
        return []
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    speed = float(np.quantile(steps / (np.diff(stamps) / SECOND), 1.0 - MOST_ODD))
    width = float(np.linalg.norm(np.ptp(places, axis=0)))
    reach = 2.0 * reach_of(robot) if robot is not None else np.inf
    if not (width > reach or (width > WIDEST and speed > FASTEST)):
        return []
    far = float(np.quantile(np.linalg.norm(places, axis=1), 1.0 - MOST_ODD))
    than = ''
    if robot is not None:
        than = f' ({robot.name or "the robot"} reaches places at most {reach:.3g} m apart)'
    return [
        f'{pose.topic}: positions {width:.4g} m apart{than}, at up to {speed:.3g} m/s: '
        f'{_likely_unit(far)}'
    ]


def _likely_unit(far: float) -> str:
    if IN_METRES < far <= IN_MILLIMETRES:
        unit, factor = ('cm', 100) if far <= IN_CENTIMETRES else ('mm', 1000)
        return (
            f'they look like {unit}; a PoseStamped is in m, and lengths, speeds and jerk are then '
            f'{factor:,} times too large'
        )
    return 'another unit, another frame, stamps that jitter, or a base that moves'


def reach_of(robot: Robot) -> float:
    """Returns a distance (m) beyond which the tip cannot be from the base: all links stretched."""
    chain = robot.description.chain(robot.tip_link)
    slides = [max(abs(j.lower), abs(j.upper)) for j in chain if j.kind == 'prismatic']
    return float(sum(np.linalg.norm(joint.translation) for joint in chain) + sum(slides))
