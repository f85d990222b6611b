# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Mapping between the joints of a LeRobot device, in its names and units, and ours in rad."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.robots.joint_units import joint_units

POSITION, VELOCITY = '.pos', '.vel'


class JointMapping:
    """Our rad = sign * (the device's position in rad) + offset, joint by joint.

    Attributes:
        names: our joints, in the device's order.
        keys: of their positions in LeRobot's dictionaries.
        limits: (D, 2) rad.
        is_gripper: (D,).
    """

    def __init__(
        self,
        features: Iterable[str],
        limits: Mapping[str, tuple[float, float]],
        grippers: Mapping[str, tuple[float, float]],
        units: str = 'degrees',
        names: Mapping[str, str] | None = None,
        signs: Mapping[str, float] | None = None,
        offsets: Mapping[str, float] | None = None,
    ) -> None:
        """Maps the joints of `features`.

        Args:
            features: keys of the device's observation or action.
            limits: of the robot's joints, rad.
            grippers: those of them that are a gripper's -> closed and open position.
            names: the device's name of a joint -> ours.
            signs, offsets: our joint -> value (offsets in rad).

        Raises:
            SetupError: the device has no joint positions or a joint unknown to the robot, or a
                mapping names an unknown joint.
            ValueRangeError: the units are not known.
        """
        self.keys = tuple(key for key in features if key.endswith(POSITION))
        if not self.keys:
            raise SetupError(
                f'the device gives {", ".join(features) or "nothing"}, which are no joint '
                f'positions (<joint>{POSITION})'
            )
        theirs = [key.removesuffix(POSITION) for key in self.keys]
        renamed = dict(names or {})
        _check_names('joint_names', renamed, theirs)
        self.names = tuple(renamed.get(name, name) for name in theirs)
        unknown = [name for name in self.names if name not in limits]
        if unknown:
            raise SetupError(
                f"the device's joint {unknown[0]!r} is not one of the robot's ({', '.join(limits)})"
                '; choose the robot it is, or name its joint by joint_names: theirs=ours'
            )
        self.limits = np.array([limits[name] for name in self.names])
        self.is_gripper = np.array([name in grippers for name in self.names], dtype=bool)
        ends = {name: grippers[name] for name in self.names if name in grippers}
        self._units = joint_units(units, self.names, ends)
        self._signs = _vector('joint_signs', signs, self.names, 1.0)
        self._offsets = _vector('joint_offsets', offsets, self.names, 0.0)
        if not np.isin(self._signs, (-1.0, 1.0)).all():
            raise SetupError(f'joint_signs are 1 or -1, not {dict(signs or {})}')

    @property
    def device_grippers(self) -> list[str]:
        """The device's names of the joints that are a gripper's."""
        pairs = zip(self.keys, self.is_gripper, strict=True)
        return [key.removesuffix(POSITION) for key, is_gripper in pairs if is_gripper]

    def positions(self, values: Mapping[str, Any]) -> NDArray[np.float64]:
        """Returns (D,) rad of the device's dictionary."""
        given = np.array([values[key] for key in self.keys], dtype=np.float64)
        return self._signs * self._units.to_radians(given) + self._offsets

    def values(self, positions: NDArray[np.float64]) -> dict[str, float]:
        """Returns the device's dictionary of positions (D,) rad."""
        given = self._units.to_policy(self._signs * (positions - self._offsets))
        return {key: float(value) for key, value in zip(self.keys, given, strict=True)}

    def rates(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns (D,) rad/s of rates (D,) in the device's units per second."""
        return self._signs * values / self._units.scale

    def signed(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns values (D,) along the device's axes as values along ours."""
        return self._signs * values


def _vector(
    what: str, given: Mapping[str, float] | None, names: tuple[str, ...], default: float
) -> NDArray[np.float64]:
    _check_names(what, given or {}, names)
    return np.array([float((given or {}).get(name, default)) for name in names])


def _check_names(what: str, given: Iterable[str], names: Iterable[str]) -> None:
    unknown = [name for name in given if name not in list(names)]
    if unknown:
        raise SetupError(f'{what} names {unknown[0]!r}; the joints are {", ".join(names)}')
