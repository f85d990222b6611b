# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Places around a robot that no sensor saw, and how near they are to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.proximity.surroundings import NEAR, Surroundings

Array = NDArray[np.float64]
States = NDArray[np.uint8]

# How a place was seen. Of two cameras' the lesser counts: what one sees is seen, and a camera that
# looks there gives a better reason than one that does not. NO_PLACE: the robot is there, or what is
# not observed on purpose, such as the table.
SEEN, NO_PLACE, HIDDEN, HOLE, TOO_NEAR, PADDED, OUT_OF_VIEW = range(7)
REASONS = {
    HIDDEN: 'hidden behind something',
    HOLE: 'behind holes of the depth image',
    TOO_NEAR: 'nearer to the camera than its range',
    PADDED: 'within the padding of the robot',
    OUT_OF_VIEW: "out of every camera's view",
}
IN_PADDING = 'what is near may reach into the padding'


@dataclass(frozen=True)
class Unseen:
    """States of N places around L links: seen, or why not.

    Attributes:
        around: the places.
        states: (N,) SEEN, NO_PLACE, or why a place was not seen.
        is_at_padding: (L,) whether something was found so near to the link that its nearest part
            may have been taken for the robot.
        margin: m by which a place must be nearer than what was seen to make it partial.
        reach: m from a link to which places were looked at.
    """

    around: Surroundings
    states: States
    is_at_padding: NDArray[np.bool_]
    margin: float
    reach: float

    @cached_property
    def observed(self) -> Array:
        """(L,) share of the places up to 0.1 m that was seen; NaN if there are none."""
        around = self.around
        is_counted = (around.distances <= NEAR) & (self.states != NO_PLACE)
        owners = around.owners[is_counted]
        every = np.bincount(owners, minlength=around.count)
        seen = self.states[is_counted] == SEEN
        found = np.bincount(owners, weights=seen, minlength=around.count)
        with np.errstate(invalid='ignore'):
            result: Array = np.where(every > 0, found / every, np.nan)
        return result

    @cached_property
    def distances(self) -> Array:
        """(L,) m to the nearest place that was not seen; infinite if there is none."""
        result = np.full(self.around.count, np.inf)
        rows = self.states > NO_PLACE
        np.minimum.at(result, self.around.owners[rows], self.around.distances[rows])
        result[self.is_at_padding] = 0.0
        return result

    def is_nearer(self, measured: Array) -> NDArray[np.bool_]:
        """Returns (L,) whether a place that was not seen is nearer to a link than what was.

        measured: (L,) m, NaN where nothing was found: then all within reach counts.
        """
        result: NDArray[np.bool_] = self.distances < self._limits(measured)
        return result | self.is_at_padding

    def reasons(self, measured: Array) -> tuple[str, ...]:
        """Returns (L) why a link's distance is partial, in words; '' if it is not."""
        limits, is_partial = self._limits(measured), self.is_nearer(measured)
        around, found = self.around, []
        is_counted = (self.states > NO_PLACE) & (around.distances < limits[around.owners])
        for link in range(around.count):
            words = [IN_PADDING] if self.is_at_padding[link] else []
            own = is_counted & (around.owners == link)
            kinds = np.bincount(self.states[own], minlength=OUT_OF_VIEW + 1)
            words += [REASONS[kind] for kind in np.argsort(-kinds, kind='stable') if kinds[kind]]
            found.append(', '.join(words) if is_partial[link] else '')
        return tuple(found)

    def _limits(self, measured: Array) -> Array:
        limits: Array = np.where(np.isnan(measured), self.reach, measured) - self.margin
        return np.minimum(limits, self.reach)


def seen_by_any(unseen: Sequence[Unseen]) -> Unseen | None:
    """Returns what at least one camera saw; None without any. Those of other places than the first,
    as after a change of options, count as not having looked.
    """
    if not unseen:
        return None
    first = unseen[0]
    same = [each for each in unseen if first.around.is_same(each.around)]
    states = reduce(np.minimum, (each.states for each in same))
    is_at_padding = reduce(np.logical_or, (each.is_at_padding for each in same))
    return replace(first, states=states, is_at_padding=is_at_padding)
