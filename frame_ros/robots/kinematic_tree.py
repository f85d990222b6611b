# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joints of a URDF as a model of pinocchio."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from frame_ros.core.errors import MissingExtraError
from frame_ros.robots.description import Joint

Places = dict[str, tuple[int, Any]]


def import_pinocchio() -> Any:
    """Imports pinocchio.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import pinocchio
    except ImportError as error:
        raise MissingExtraError(
            'robots need pinocchio: sudo apt install ros-$ROS_DISTRO-pinocchio with a sourced '
            'ROS 2, or pip install pin'
        ) from error
    return pinocchio


def tree_model(
    joints: Iterable[Joint],
    base_link: str,
    moving: Collection[str] | None = None,
    held: Callable[[Joint], float] = lambda joint: 0.0,
) -> tuple[Any, Places]:
    """Returns a pinocchio model without masses and frames, and where it has the links.

    It is made joint by joint, because pinocchio's own reader needs limits at every joint, and gives
    a continuous joint two coordinates.

    Args:
        joints: each after those that carry it.
        moving: names of those that move; None: all that can.
        held: the position, rad or m, of a joint that does not move but could.

    Returns:
        The model, and link -> (index of the model's joint that carries it, its placement there).
    """
    pinocchio = import_pinocchio()
    model = pinocchio.Model()
    places: Places = {base_link: (0, pinocchio.SE3.Identity())}
    for joint in joints:
        parent, placement = places[joint.parent]
        if joint.is_moving and (moving is None or joint.name in moving):
            placement = placement * placement_of(joint)
            parent = model.addJoint(parent, _joint_model(joint), placement, joint.name)
            placement = pinocchio.SE3.Identity()
        else:
            placement = placement * placement_of(joint, held(joint) if joint.is_moving else 0.0)
        places[joint.child] = (parent, placement)
    return model, places


def placement_of(joint: Joint, position: float = 0.0) -> Any:
    """Returns the placement of a joint's child in its parent at a position, rad or m."""
    pinocchio = import_pinocchio()
    placed = pinocchio.SE3(joint.rotation, joint.translation)
    if not joint.is_moving or position == 0.0:
        return placed
    if joint.kind == 'prismatic':
        return placed * pinocchio.SE3(np.eye(3), joint.axis * position)
    turned = pinocchio.AngleAxis(position, joint.axis).toRotationMatrix()
    return placed * pinocchio.SE3(turned, np.zeros(3))


def _joint_model(joint: Joint) -> Any:
    pinocchio = import_pinocchio()
    slides = joint.kind == 'prismatic'
    if joint.axis[2] == 1.0:
        return pinocchio.JointModelPZ() if slides else pinocchio.JointModelRZ()
    kinds = (pinocchio.JointModelRevoluteUnaligned, pinocchio.JointModelPrismaticUnaligned)
    return kinds[slides](*joint.axis)
