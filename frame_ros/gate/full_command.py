# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Completes commands to some of an arm's joints for controllers that need all of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import RobotError
from frame_ros.gate.records import Known
from frame_ros.gate.stream import NEAR

Array = NDArray[np.float64]


class FullCommand:
    """The commanded places of the joints `names` of an arm.

    A joint that a command leaves out stays where it was last commanded, or, before any command,
    where it was measured when the stream began. After more than `longest` s without a command, a
    joint of `arm` that is measured elsewhere was moved by something else, and stays where it is, as
    does one that may be elsewhere after a silence of its driver; a gripper keeps its grip.
    """

    def __init__(self, names: Sequence[str], arm: Collection[str], longest: float) -> None:
        self._index = {name: i for i, name in enumerate(names)}
        self._near = np.where([name in arm for name in names], NEAR, math.inf)
        self._longest, self._last = longest, -math.inf
        self._places: Array = np.full(len(names), math.nan)

    def complete(
        self,
        names: Sequence[str],
        positions: ArrayLike,
        measured: Array,
        time: float,
        known: Known | None = None,
    ) -> dict[str, float]:
        """Returns the command with the places of the joints that it leaves out, where they are
        known.

        Args:
            positions: (K,) rad or m.
            measured: (D,), NaN where unknown.
            time: s, of a steady clock.
            known: as of an `Output`.

        Raises:
            RobotError: a joint that is left out may be elsewhere.
        """
        if time - self._last > self._longest:
            is_far = np.abs(measured - self._places) > self._near
            self._places = np.where(is_far, measured, self._places)
        self._places = np.where(np.isnan(self._places), measured, self._places)
        if known is not None:
            self._forget_lost(names, known)
        self._last = time
        self._places[[self._index[name] for name in names]] = positions
        places = zip(self._index, self._places.tolist(), strict=True)
        return {name: place for name, place in places if not math.isnan(place)}

    def _forget_lost(self, names: Sequence[str], known: Known) -> None:
        """Forgets the places at which joints may not be held; raises RobotError if one of them is
        left out of a command.
        """
        is_lost = known.are_lost(self._places)
        self._places[is_lost] = math.nan
        for name, k in self._index.items():
            if is_lost[k] and name not in names:
                raise RobotError(f'{name} may be elsewhere than it was sent')
