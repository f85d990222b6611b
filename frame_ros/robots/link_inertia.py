# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Masses and inertias of a robot's links, from its URDF."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import RobotError
from frame_ros.robots.description import rotation_from_rpy
from frame_ros.robots.robot import Robot

Array = NDArray[np.float64]
# Of the largest inertia about an axis: less than that below 0 is rounding.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class LinkInertia:
    """The inertia of a link."""

    mass: float  # kg
    centre_of_mass: Array  # (3,) m in the link's frame
    inertia: Array  # (3, 3) kg m^2 about the centre of mass, in the link's axes


def link_inertias(robot: Robot) -> dict[str, LinkInertia]:
    """Returns the inertias in a robot's URDF; links without one are left out.

    Raises:
        RobotError: a mass is negative or a number cannot be read.
    """
    found = {}
    for link in ElementTree.fromstring(robot.urdf).findall('link'):
        inertial = link.find('inertial')
        if inertial is not None:
            found[str(link.get('name'))] = _inertia(inertial, str(link.get('name')))
    return found


def _inertia(inertial: ElementTree.Element, link: str) -> LinkInertia:
    origin = inertial.find('origin')
    try:
        mass = float(inertial.find('mass').get('value'))  # type: ignore[union-attr, arg-type]
        centre, angles = (
            [float(part) for part in ('0 0 0' if text is None else text).split()]
            for text in (None if origin is None else origin.get(name) for name in ('xyz', 'rpy'))
        )
        tensor = inertial.find('inertia')
        xx, xy, xz, yy, yz, zz = (
            0.0 if tensor is None else float(tensor.get(name, 0.0))
            for name in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
        )
        rotation = rotation_from_rpy(*angles)
    except (AttributeError, TypeError, ValueError) as error:
        raise RobotError(f'the <inertial> of {link} cannot be read: {error}') from error
    matrix = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    if not 0.0 <= mass < math.inf or len(centre) != 3 or not np.isfinite(matrix).all():
        raise RobotError(f'the <inertial> of {link} has a mass of {mass} kg at {centre}')
    inertia = possible_inertia(rotation @ matrix @ rotation.T, f'the <inertial> of {link}')
    return LinkInertia(mass, np.array(centre), inertia)


def possible_inertia(inertia: Array, what: str) -> Array:
    """Returns the inertia (3, 3), kg m^2, with rounding errors below 0 removed.

    Raises:
        RobotError: it is negative about an axis, or not finite.
    """
    if not np.isfinite(inertia).all():
        raise RobotError(f'{what} has an inertia that is not finite')
    least, _, most = np.linalg.eigvalsh(inertia)
    if not least >= -_ROUNDING * most:
        raise RobotError(f'{what} has an inertia of {least:.3g} kg m^2 about an axis; none is < 0')
    return inertia + max(-2.0 * float(least), 0.0) * np.eye(3)


def scaled(
    inertias: dict[str, LinkInertia], scales: Mapping[str, float], robot: Robot
) -> dict[str, LinkInertia]:
    """Returns inertias whose masses are multiplied by `scales`, link -> factor.

    Raises:
        RobotError: there is no such link, or a factor is not above 0.
    """
    for link, scale in scales.items():
        if link not in robot.links or not 0.0 < scale < math.inf:
            raise RobotError(f'the mass of {link!r} is to be scaled by {scale}')
    return {
        link: LinkInertia(
            scales.get(link, 1.0) * each.mass,
            each.centre_of_mass,
            scales.get(link, 1.0) * each.inertia,
        )
        for link, each in inertias.items()
    }
