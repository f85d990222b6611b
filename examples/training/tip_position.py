# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The tip position of an arm in torch, so that a loss on its path reaches the joints."""

from __future__ import annotations

import torch

from frame_ros.robots import Robot
from frame_ros.robots.description import parse_urdf


class TipPosition:
    """Joint positions (..., N) rad or m -> position (..., 3) m of the robot's tip in its base
    frame; differentiable, on the device and in the precision of its input.

    The joints are `robot.joint_names`. Works from the tip to the base: a point of the child's frame
    is turned about the joint's axis (Rodrigues' formula), or moved along it, and put into the
    parent's frame.
    """

    def __init__(self, robot: Robot) -> None:
        chain = parse_urdf(robot.urdf).chain(robot.tip_link)
        self._joints = [
            (
                joint.kind if joint.is_moving else 'fixed',
                torch.tensor(joint.axis),
                torch.tensor(joint.rotation),
                torch.tensor(joint.translation),
            )
            for joint in reversed(chain)
        ]

    def __call__(self, q: torch.Tensor) -> torch.Tensor:
        point = q.new_zeros(*q.shape[:-1], 3)
        column = q.shape[-1]
        for kind, *constants in self._joints:
            axis, rotation, translation = (constant.to(q) for constant in constants)
            if kind != 'fixed':
                column -= 1
                value = q[..., column : column + 1]
                point = point + axis * value if kind == 'prismatic' else _turned(point, axis, value)
            point = point @ rotation.T + translation
        return point


def _turned(point: torch.Tensor, axis: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    cosine, sine = torch.cos(angle), torch.sin(angle)
    along = (point @ axis)[..., None] * axis
    across = torch.linalg.cross(axis.expand_as(point), point)
    return along + (point - along) * cosine + across * sine
