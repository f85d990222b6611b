# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Completes commands to some of an arm's joints for controllers that need all of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import RobotError
from frame_ros.gate.measured_turns import SIDE
from frame_ros.gate.stream import NEAR

Array = NDArray[np.float64]


class FullCommand:
    """The commanded places of the joints `names` of an arm.

    A joint that a command leaves out stays where it was last commanded, or, before any command,
    where it was measured when the stream began. After more than `longest` s without a command, a
    joint of `arm` that is measured elsewhere was moved by something else, and stays where it is; a
    gripper keeps its grip. endless: joints that turn without end.
    """

    def __init__(
        self,
        names: Sequence[str],
        arm: Collection[str],
        longest: float,
        endless: Collection[str] = (),
    ) -> None:
        self._index = {name: i for i, name in enumerate(names)}
        self._near = np.where([name in arm for name in names], NEAR, math.inf)
        self._is_endless = np.array([name in endless for name in names], dtype=bool)
        self._longest, self._last = longest, -math.inf
        self._places: Array = np.full(len(names), math.nan)

    def complete(
        self,
        names: Sequence[str],
        positions: ArrayLike,
        measured: Array,
        time: float,
        shown: Array | None = None,
        is_at_rest: bool = False,
    ) -> dict[str, float]:
        """Returns the command with the places of the joints that it leaves out, where they are
        known.

        Args:
            positions: (K,) rad or m.
            measured: (D,), NaN where unknown.
            time: s, of a steady clock.
            shown: (D,) as of an `Output`.
            is_at_rest: whether the arm is to be at rest.

        Raises:
            RobotError: the place of a joint that is left out may be whole turns away.
        """
        if time - self._last > self._longest:
            is_near = np.abs(measured - self._places) <= self._near
            self._places = np.where(is_near | np.isnan(measured), self._places, measured)
        if shown is not None:
            self._check_turns(names, shown, is_at_rest)
        self._last = time
        self._places[[self._index[name] for name in names]] = positions
        places = zip(self._index, self._places.tolist(), strict=True)
        return {name: place for name, place in places if not math.isnan(place)}

    def _check_turns(self, names: Sequence[str], shown: Array, is_at_rest: bool) -> None:
        """Raises RobotError if the driver of a joint that is left out may count it elsewhere."""
        away = np.abs(shown - self._places)
        is_uncounted = self._is_endless & ((away > SIDE) | (np.isnan(shown) & is_at_rest))
        is_uncounted &= np.isfinite(self._places)
        for name, k in self._index.items():
            if is_uncounted[k] and name not in names:
                raise RobotError(f'the driver of {name} may count its turns elsewhere')
