# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Criteria of an obstacle in a depth image."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError

Array = NDArray[np.float64]
FARTHEST = 65.0  # m that 16UC1 can express


@dataclass(frozen=True)
class Plane:
    """Of the base frame: only what has normal . p > offset (m) counts. normal: unit vector."""

    normal: tuple[float, float, float]
    offset: float


@dataclass(frozen=True)
class DepthOptions:
    """Criteria of an obstacle in a depth image.

    padding: m; what is this near to any link is the robot itself. As a consequence no distance
        below it is measured.
    depth_noise: m at 1 m of depth, growing with its square as that of stereo cameras does: what a
        depth may be wrong by. A pixel that would be within the padding if its depth were changed
        by no more than that is the robot too; one that would lie below the surface, or outside the
        workspace, if its depth were so much larger, does. 0: depths are right.
    min_range, max_range: m along the optical axis; what is beyond was not measured.
    surface_height: m, z in the base frame of a table or floor that the robot stands at; None: none.
        What lies no higher than surface_margin (m) above it is no obstacle.
    workspace: corners ((x, y, z), (x, y, z)) in m in the base frame, the lower first; what lies
        outside is no obstacle. None: no limit.
    planes: further limits; only what is beyond each of them counts.
    min_support: how many of a pixel's 8 neighbours must be at about its depth, for it to count; 0:
        single pixels count.
    smoothing: side in pixels, 3 or 5, of the square whose median is taken; 1: none.
    tolerance: m, and relative_tolerance: share of the nearer depth; two neighbours whose depths
        differ by more than the sum are not of about the same depth. For depths in mm the share
        counts in whole 256ths.
    min_valid_fraction: share of the pixels that must have a depth within range for anything to be
        measured; and of those around a link, for its distance to be.
    surroundings: m around a link that must be in view for its distance to be measured.
    needs_links_in_view: whether a link that is out of view counts as not measured. Without it the
        distance to what is seen stands for it.
    """

    padding: float = 0.01
    depth_noise: float = 0.01
    min_range: float = 0.1
    max_range: float = 3.0
    surface_height: float | None = None
    surface_margin: float = 0.01
    workspace: tuple[tuple[float, float, float], tuple[float, float, float]] | None = None
    planes: tuple[Plane, ...] = ()
    smoothing: int = 3
    min_support: int = 7
    tolerance: float = 0.004
    relative_tolerance: float = 0.008
    min_valid_fraction: float = 0.1
    surroundings: float = 0.05
    needs_links_in_view: bool = True

    def __post_init__(self) -> None:
        """Raises ValueRangeError for an impossible value."""
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueRangeError(f'{each.name} is {value}, it must be finite')
        for name in ('padding', 'depth_noise', 'tolerance', 'relative_tolerance', 'surroundings'):
            if getattr(self, name) < 0.0:
                raise ValueRangeError(f'{name} is {getattr(self, name)}, it must be 0 or more')
        if not 0.0 < self.min_range < self.max_range <= FARTHEST:
            raise ValueRangeError(
                f'the range is {self.min_range} to {self.max_range} m; needed is '
                f'0 < min_range < max_range <= {FARTHEST}'
            )
        if self.smoothing not in (1, 3, 5):
            raise ValueRangeError(f'smoothing is {self.smoothing}; it is 1 (none), 3 or 5 pixels')
        if not 0 <= self.min_support <= 8:
            raise ValueRangeError(f'min_support is {self.min_support} of 8 neighbours')
        if not 0.0 <= self.min_valid_fraction <= 1.0:
            raise ValueRangeError(
                f'min_valid_fraction is {self.min_valid_fraction}; it lies between 0 and 1'
            )
        self._check_workspace()

    def _check_workspace(self) -> None:
        if self.workspace is None:
            return
        lower, upper = (np.asarray(corner, np.float64) for corner in self.workspace)
        if lower.shape != (3,) or upper.shape != (3,) or not (lower < upper).all():
            raise ValueRangeError(
                f'the workspace is {self.workspace}; needed are its lower and its upper corner, '
                'each x, y, z in m'
            )

    def half_spaces(self) -> tuple[Array, Array]:
        """normals (P, 3) and offsets (P,) in m, in the base frame: what counts has
        normal . p > offset for all of them.
        """
        rows = [(*plane.normal, plane.offset) for plane in self.planes]
        if self.surface_height is not None:
            rows.append((0.0, 0.0, 1.0, self.surface_height + self.surface_margin))
        if self.workspace is not None:
            for axis in np.eye(3):
                lower, upper = (float(axis @ corner) for corner in self.workspace)
                rows += [(*axis, lower), (*-axis, -upper)]
        table = np.array(rows, np.float64).reshape(-1, 4)
        return table[:, :3], table[:, 3]
