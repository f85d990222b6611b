# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Progress towards the target: the optimal trajectory difference (VLA-UQ eq. 26-29)."""

from __future__ import annotations

from typing import Any

from frame_ros.core.errors import ShapeError
from frame_ros.metrics.arrays import (
    Array,
    as_points,
    check_same_shape,
    check_variant,
    like,
    norm,
    pad_nan,
)


def optimal_trajectory_difference(
    tcp: Any,
    target: Any,
    goal: Any = None,
    grasped: Any = None,
    second_term: str = 'object_to_goal',
) -> Array:
    """OT: q_t = (1 + d_t - d_t-1) / 2, d the share of the initial distance left. Eq. 26-29.

    Picking (no goal): the distance from the TCP to the target object. Moving, putting: before the
    grasp that plus the distance from the object to the goal; once grasped, from the TCP to the
    goal. Below 0.5: the TCP came closer.

    Args:
        tcp: (T, 3), m, T >= 2.
        target: (T, 3), position of the object, m.
        goal: (T, 3), where it has to go, m; None for picking.
        grasped: (T,) booleans; needed with a goal.
        second_term: 'object_to_goal'; or 'tcp_to_goal', as eq. 27 is printed.

    Returns:
        (T,), NaN in the first step; NaN throughout if the initial distance is 0.

    Raises:
        ShapeError: shapes that do not match, fewer than 2 samples, goal without grasped or the
        reverse. ValueRangeError: a value is not finite, or an unknown second term.
    """
    xp, _ = as_points(tcp, 2, 'tcp')
    distances = remaining_distance(tcp, target, goal, grasped, second_term)
    initial = distances[..., :1]
    began = initial > 0
    left = xp.where(began, distances / xp.where(began, initial, 1.0), xp.nan)
    return pad_nan(xp, 0.5 * (1.0 + left[..., 1:] - left[..., :-1]), 1)


def remaining_distance(
    tcp: Any,
    target: Any,
    goal: Any = None,
    grasped: Any = None,
    second_term: str = 'object_to_goal',
) -> Array:
    """The distance left, (T,) m; arguments as of `optimal_trajectory_difference`."""
    check_variant(second_term, ('object_to_goal', 'tcp_to_goal'))
    xp, points = as_points(tcp, 1, 'tcp')
    thing = like(points, target, 'target')
    check_same_shape(points, thing, ('tcp', 'target'))
    reach = norm(xp, points - thing)
    if goal is None and grasped is None:
        return reach
    if goal is None or grasped is None:
        missing = 'goal' if goal is None else 'grasped'
        raise ShapeError(f'{missing} is missing; goal and grasped are expected together')
    end = like(points, goal, 'goal')
    check_same_shape(points, end, ('tcp', 'goal'))
    held = like(points, grasped, 'grasped') != 0
    if tuple(held.shape) != tuple(reach.shape):
        raise ShapeError(f'grasped has shape {tuple(held.shape)}; {tuple(reach.shape)} is expected')
    to_goal = norm(xp, points - end)
    carry = to_goal if second_term == 'tcp_to_goal' else norm(xp, thing - end)
    return xp.where(held, to_goal, reach + carry)
